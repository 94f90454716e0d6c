//! Tables as lines: each cell stays within its own column. What is too wide for the terminal goes on below, so that no
//! line is folded and no column meets another.

use thru_app::words::without_middle;

use crate::text::{cut, width, wrap};
use crate::tone::Tone;

/// Columns between two cells.
const GAP: usize = 2;
/// Columns by which lines below the first are indented.
const INDENT: usize = 2;
/// The fewest columns for the last cell beside the others.
const LEAST: usize = 20;

/// The way in which a long last cell is made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Long {
    /// Its end is left out.
    Cut,
    /// Its middle is left out: what tells keys and paths apart is their end.
    Middle,
    /// It goes on in the next line.
    Wrapped,
}

/// A cell with its tone.
pub type Cell = (Tone, String);

/// A table in the making.
#[derive(Clone, Debug)]
pub struct Table {
    /// The headings; those of numbers begin with `>` and are aligned on the right.
    headings: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    long: Long,
}

/// Columns that share a line, with their widths.
type Group = Vec<(usize, usize)>;

impl Table {
    /// An empty table with these headings; those of numbers begin with `>`.
    pub fn new(headings: impl Into<Vec<&'static str>>, long: Long) -> Self {
        Self { headings: headings.into(), rows: Vec::new(), long }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// The table in lines of at most so many columns, painted.
    pub fn lines(&self, columns: usize, paint: impl Fn(Tone, &str) -> String) -> Vec<String> {
        let groups = self.groups(columns);
        let heading = |column: &usize| self.headings[*column].trim_start_matches('>').to_owned();
        let all: Vec<usize> = (0..self.headings.len()).collect();
        let headings: Vec<Cell> = all.iter().map(|at| (Tone::Plain, heading(at))).collect();
        let mut lines: Vec<String> = self.put(&headings, &groups, &|_, text| text.to_owned());
        lines.iter_mut().for_each(|line| *line = paint(Tone::Quiet, line));
        lines.extend(self.rows.iter().flat_map(|row| self.put(row, &groups, &paint)));
        lines
    }

    /// The columns by the lines that they go on.
    fn groups(&self, columns: usize) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let (mut used, last) = (0, self.headings.len().saturating_sub(1));
        for (at, heading) in self.headings.iter().enumerate() {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|(_, text)| width(text));
            let widest = cells.chain([width(heading.trim_start_matches('>'))]).max().unwrap_or(0);
            let is_free = at == last && !heading.starts_with('>');
            // What has its middle left out is there to be told apart: rather on a line of its own, and whole.
            let needed =
                if is_free && self.long != Long::Middle { widest.min(LEAST) } else { widest };
            match groups.last_mut() {
                Some(group) if used + GAP + needed <= columns => {
                    used += GAP;
                    group.push((at, widest.min(columns.saturating_sub(used))));
                }
                _ => {
                    used = if groups.is_empty() { 0 } else { INDENT };
                    groups.push(vec![(at, widest.min(columns.saturating_sub(used)))]);
                }
            }
            used += needed;
        }
        groups
    }

    /// A row in its lines.
    fn put(
        &self,
        row: &[Cell],
        groups: &[Group],
        paint: &dyn Fn(Tone, &str) -> String,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let mut line = " ".repeat(if number == 0 { 0 } else { INDENT });
            let mut used = line.len();
            let mut more = Vec::new();
            for (place, &(at, columns)) in group.iter().enumerate() {
                let Some((tone, text)) = row.get(at) else { continue };
                if place > 0 {
                    line.push_str(&" ".repeat(GAP));
                    used += GAP;
                }
                let is_last = at + 1 == self.headings.len();
                let text = match self.long {
                    _ if width(text) <= columns => text.clone(),
                    // By characters; few keys have wide ones.
                    Long::Middle if is_last => cut(&without_middle(text, columns), columns),
                    Long::Wrapped if is_last => {
                        let mut parts = wrap(text, columns).into_iter();
                        let first = parts.next().unwrap_or_default();
                        more.extend(
                            parts.map(|part| format!("{:used$}{}", "", paint(*tone, &part))),
                        );
                        first
                    }
                    _ => cut(text, columns),
                };
                let rest = " ".repeat(columns.saturating_sub(width(&text)));
                let text = paint(*tone, &text);
                match self.headings[at].starts_with('>') {
                    true => line.push_str(&(rest + &text)),
                    false => line.push_str(&(text + &rest)),
                }
                used += columns;
            }
            lines.push(line.trim_end_matches(' ').to_owned());
            lines.append(&mut more);
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(table: &Table, columns: usize) -> String {
        table.lines(columns, |_, text| text.to_owned()).join("\n")
    }

    fn table(long: Long) -> Table {
        let mut table = Table::new(["NAME", ">TURNS", "KEY"], long);
        let cell = |text: &str| (Tone::Plain, text.to_owned());
        table.row([cell("rocket"), cell("7"), cell("dir:/home/one/projects/rocket")]);
        table.row([cell("数据库"), cell("1,200"), cell("dir:/home/two/projects/rocket")]);
        table
    }

    #[test]
    fn cells_stay_within_their_columns() {
        insta::assert_snapshot!(shown(&table(Long::Cut), 60), @"
        NAME    TURNS  KEY
        rocket      7  dir:/home/one/projects/rocket
        数据库  1,200  dir:/home/two/projects/rocket
        ");
        insta::assert_snapshot!(shown(&table(Long::Middle), 40), @"
        NAME    TURNS
          KEY
        rocket      7
          dir:/home/one/projects/rocket
        数据库  1,200
          dir:/home/two/projects/rocket
        ");
        insta::assert_snapshot!(shown(&table(Long::Cut), 30), @"
        NAME    TURNS
          KEY
        rocket      7
          dir:/home/one/projects/rock…
        数据库  1,200
          dir:/home/two/projects/rock…
        ");
        let mut wrapped = Table::new(["NAME", "WHAT"], Long::Wrapped);
        let cell = |text: &str| (Tone::Plain, text.to_owned());
        wrapped.row([
            cell("claude-cli"),
            cell("your own `claude`, on the account it is signed in to"),
        ]);
        insta::assert_snapshot!(shown(&wrapped, 40), @"
        NAME        WHAT
        claude-cli  your own `claude`, on the
                    account it is signed in to
        ");
        for columns in 10..70 {
            for long in [Long::Cut, Long::Middle] {
                let lines = table(long).lines(columns, |_, text| text.to_owned());
                assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            }
        }
    }
}
