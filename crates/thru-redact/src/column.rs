//! Tables whose head names a secret and whose rows hold it: CSV, the output of a database client, Markdown, boxes.

use std::ops::Range;

use crate::checks::{is_uuid, looks_random};
use crate::names::{self, LONGEST, Telling};
use crate::value::{self, Manner};
use crate::{made, told};

/// The most rows that are read, and the most bytes of a row.
const ROWS: usize = 32;
const LONGEST_ROW: usize = 1024;

/// Stands for two and more blanks between cells.
const BLANKS: char = ' ';

/// The secrets of a column.
pub(crate) struct Column {
    /// Where its name stands.
    pub(crate) name: Range<usize>,
    pub(crate) secrets: Vec<Range<usize>>,
    pub(crate) rule: &'static str,
}

/// True if, in text or in raw JSON, the word at this position may name a column.
pub(crate) fn is_possible(bytes: &[u8], word: Range<usize>) -> bool {
    if is_of_logins(bytes, &word) {
        return true;
    }
    let rest = &bytes[word.end..bytes.len().min(word.end + LONGEST)];
    let name = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let after = rest[name..].iter().find(|byte| !matches!(byte, b' ' | b'"' | b'*' | b'`'));
    matches!(after, Some(b'|' | b',' | b';' | b'\t' | b'\n' | b'\r' | b'\\' | 0xe2))
        || rest[name..].starts_with(b"  ")
        || matches!(after, Some(b')')) && values_follow(rest)
}

/// True for `chpasswd`, which is given lines of users and their passwords.
fn is_of_logins(bytes: &[u8], word: &Range<usize>) -> bool {
    bytes[..word.start].ends_with(b"ch") && bytes[word.start..].starts_with(b"passwd")
}

/// True if the rows of a statement of SQL follow.
fn values_follow(rest: &[u8]) -> bool {
    rest.windows(6).any(|part| part.eq_ignore_ascii_case(b"values"))
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the secrets in the column that the word at this position names.
pub(crate) fn find(text: &str, word: Range<usize>, known: Option<Telling>) -> Option<Column> {
    let bytes = text.as_bytes();
    let before = bytes[..word.start].iter().rev().take(LONGEST);
    let start = word.start - before.take_while(|byte| is_name_byte(**byte)).count();
    let rest = bytes[word.end..].iter().take(LONGEST);
    let end = word.end + rest.take_while(|byte| is_name_byte(**byte)).count();
    names::judge(&bytes[start..end]).or(known)?;
    if let Some(column) = find_in_statement(text, &word) {
        return Some(column);
    }
    let row = row_at(text, word.start)?;
    let sign = sign_beside(text, &row, &word)?;
    let cells = cells(text, row.clone(), sign);
    let index = cells.iter().position(|cell| cell.start <= word.start && word.end <= cell.end)?;
    let name = trimmed(text, cells[index].clone());
    // The names of the columns, and not the arguments of a call.
    let is_name = |cell: &Range<usize>| {
        let name = &text[trimmed(text, cell.clone())];
        let is_part = |part: char| {
            part.is_alphanumeric()
                || matches!(part, '_' | '-')
                || part == ' ' && !matches!(sign, ',' | BLANKS)
        };
        let name = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name);
        name.chars().all(is_part) && name.len() <= LONGEST && (sign != ',' || !name.is_empty())
    };
    let is_head = cells.iter().skip(usize::from(index > 0)).all(is_name);
    if name.len() > LONGEST || cells.len() < 2 || !is_head {
        return None;
    }
    let written = &text.as_bytes()[name.clone()];
    let telling = names::judge(written).or(known)?;
    let mut secrets = Vec::new();
    let mut at = row.end;
    for _ in 0..ROWS {
        let Some(next) = text.get(at..).and_then(|rest| rest.find('\n')).map(|end| at + end + 1)
        else {
            break;
        };
        let Some(row) = row_at(text, next) else { break };
        at = row.end;
        if is_rule(&text[row.clone()]) {
            continue;
        }
        let others = self::cells(text, row, sign);
        if others.len() != cells.len() {
            break;
        }
        let cell = trimmed(text, others[index].clone());
        if text[cell.clone()] == text[name.clone()] {
            // The head again: its own rows are read from there.
            break;
        }
        let is_last = index + 1 == others.len();
        let cell = if is_last { first_word(text, cell) } else { cell };
        if let Some(part) =
            value::secret_part(telling, written, &text[cell.clone()], Manner::Setting)
        {
            secrets.push(cell.start + part.start..cell.start + part.end);
        }
    }
    (!secrets.is_empty()).then_some(Column { name, secrets, rule: telling.rule })
}

/// Returns the secrets in the row that this name begins, and below it the logins that it is given: `chpasswd`.
pub(crate) fn find_beside(text: &str, name: Range<usize>, is_password: bool) -> Vec<Range<usize>> {
    let Some(row) = row_at(text, name.start) else { return Vec::new() };
    let is_secret = |cell: &Range<usize>| {
        let value = &text[cell.clone()];
        let is_drawn = || {
            value.len() >= 16 && looks_random(value) && made::is_certain(value) && !is_uuid(value)
        };
        if is_password { told::is_password(value) || is_drawn() } else { is_drawn() }
    };
    let decoration = |part: char| part.is_whitespace() || "|│┃\"'`*".contains(part);
    if text[name.clone()].ends_with("chpasswd") {
        return logins(text, row.end);
    }
    if !text[row.start..name.start].trim_matches(decoration).is_empty() {
        return Vec::new();
    }
    let sign = ['│', '|', '\t'].into_iter().find(|sign| text[row.clone()].contains(*sign));
    let cells =
        cells(text, row, sign.unwrap_or(BLANKS)).into_iter().map(|cell| trimmed(text, cell));
    let others: Vec<_> = cells.filter(|cell| cell.start > name.start && !cell.is_empty()).collect();
    let found = others.iter().filter(|cell| is_secret(cell));
    if others.len() > 1 { found.cloned().collect() } else { Vec::new() }
}

/// Returns the passwords of the lines `user:VALUE` below this place.
fn logins(text: &str, end: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = end;
    for nth in 0..ROWS {
        let Some(row) = (at < text.len()).then(|| row_at(text, at + 1)).flatten() else { break };
        at = row.end;
        let cell = trimmed(text, row);
        let pair = text[cell.clone()].trim_start_matches("- ").split_once(':');
        match pair.filter(|(user, _)| !user.contains(' ')) {
            Some((_, value)) if made::is_certain(value) => {
                found.push(cell.end - value.len()..cell.end);
            }
            _ if nth > 3 || !found.is_empty() => break,
            _ => {}
        }
    }
    found
}

/// Returns the sign between the cells of a row that stands next to this word.
fn sign_beside(text: &str, row: &Range<usize>, word: &Range<usize>) -> Option<char> {
    let is_name = |part: char| part.is_alphanumeric() || " \"'*`_-".contains(part);
    let is_sign = |sign: &char| matches!(sign, '|' | '\u{2502}' | '\t' | ',' | ';');
    let after = text[word.end..row.end].chars().find(|part| !is_name(*part));
    let before = text[row.start..word.start].chars().rev().find(|part| !is_name(*part));
    let in_blanks = || {
        let is_name = |part: char| part.is_ascii_alphanumeric() || matches!(part, '_' | '-');
        text[word.end..row.end].trim_start_matches(is_name).starts_with("  ")
            || text[row.start..word.start].trim_end_matches(is_name).ends_with("  ")
    };
    after.filter(is_sign).or(before.filter(is_sign)).or_else(|| in_blanks().then_some(BLANKS))
}

/// Returns the secrets in `INSERT INTO t (a, NAME) VALUES (1, 'value'), (2, 'value')`.
fn find_in_statement(text: &str, word: &Range<usize>) -> Option<Column> {
    let floor = text.ceil_char_boundary(word.start.saturating_sub(LONGEST_ROW));
    let ceiling = text.floor_char_boundary(text.len().min(word.end + 2 * LONGEST_ROW));
    let open = floor + text[floor..word.start].rfind('(')?;
    let close = word.end + text[word.end..ceiling].find(')')?;
    let rest = text[close + 1..ceiling].trim_start();
    if !rest.get(..6)?.eq_ignore_ascii_case("values") {
        return None;
    }
    let index = text[open..word.start].matches(',').count();
    let name = text[open + 1..close].split(',').nth(index)?;
    let name = name.trim_matches(|part: char| !part.is_ascii_alphanumeric());
    let telling = names::judge(name.as_bytes())?;
    let mut secrets = Vec::new();
    let mut at = ceiling - rest.len() + 6;
    while let Some(row) =
        text[at..ceiling].trim_start_matches([' ', '\n', '\r', '\t', ',']).strip_prefix('(')
    {
        let start = ceiling - row.len();
        let (cells, end) = arguments(text, start, ceiling);
        let Some(cell) = cells.get(index) else { break };
        let cell = trimmed(text, cell.clone());
        let found =
            value::secret_part(telling, name.as_bytes(), &text[cell.clone()], Manner::Quoted);
        secrets.extend(found.map(|part| cell.start + part.start..cell.start + part.end));
        at = end;
    }
    (!secrets.is_empty()).then_some(Column { name: word.clone(), secrets, rule: telling.rule })
}

/// Returns the arguments up to the closing bracket, and its end. Quoted ones may hold commas and brackets.
fn arguments(text: &str, start: usize, ceiling: usize) -> (Vec<Range<usize>>, usize) {
    let (mut found, mut from, mut quoted) = (Vec::new(), start, false);
    for (at, part) in text[start..ceiling].char_indices() {
        match part {
            '\'' => quoted = !quoted,
            ',' | ')' if !quoted => {
                found.push(from..start + at);
                from = start + at + 1;
                if part == ')' {
                    break;
                }
            }
            _ => {}
        }
    }
    (found, from)
}

/// Returns the line around a position, if it is not too long.
fn row_at(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(LONGEST_ROW);
    let before = bytes[floor..at].iter().rev().take_while(|byte| **byte != b'\n').count();
    let rest = &bytes[at..bytes.len().min(at + LONGEST_ROW)];
    let length = rest.iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
    (before < LONGEST_ROW && length < LONGEST_ROW).then(|| at - before..at + length)
}

/// Returns what a cell begins with: behind the last one the end of what is around the table may stand.
fn first_word(text: &str, cell: Range<usize>) -> Range<usize> {
    let inner = &text[cell.clone()];
    let end = inner.find(|part: char| part == '<' || part.is_whitespace());
    cell.start..cell.start + end.unwrap_or(inner.len())
}

/// Returns the cells of a row.
fn cells(text: &str, row: Range<usize>, sign: char) -> Vec<Range<usize>> {
    if sign == BLANKS {
        return cells_in_blanks(text, row);
    }
    let mut start = row.start;
    let mut found = Vec::new();
    for cell in text[row].split(sign) {
        found.push(start..start + cell.len());
        start += cell.len() + sign.len_utf8();
    }
    found
}

/// Returns the cells of a row with two and more blanks between them.
fn cells_in_blanks(text: &str, row: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = row.start;
    while at < row.end {
        at += text[at..row.end].len() - text[at..row.end].trim_start_matches(' ').len();
        let end = text[at..row.end].find("  ").map_or(row.end, |length| at + length);
        if at < end {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// Returns a cell without its blanks and quotation marks.
fn trimmed(text: &str, cell: Range<usize>) -> Range<usize> {
    let is_around = |part: char| part.is_whitespace() || matches!(part, '"' | '*' | '`' | '\'');
    let inner = text[cell.clone()].trim_start_matches(is_around);
    let start = cell.end - inner.len();
    start..start + inner.trim_end_matches(is_around).len()
}

/// True for a line between rows.
fn is_rule(row: &str) -> bool {
    // The line may be numbered.
    let row = row.trim_start().trim_start_matches(|part: char| part.is_ascii_digit());
    !row.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let at = text.find("pass").or_else(|| text.find("key")).unwrap();
        let column = find(text, at..at + 4, None);
        column
            .map(|column| column.secrets)
            .unwrap_or_default()
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn the_rows_below_a_telling_name_are_read() {
        for (text, secrets) in [
            (
                "user,password,email\nbob,hunter2,b@x\namy,s3cr3t!,a@x\n",
                &["hunter2", "s3cr3t!"][..],
            ),
            (" name | pass \n------+------\n bob  | hunter2\n(1 row)\n", &["hunter2"]),
            ("| User | password |\n|---|---|\n| bob | `hunter2` |\n", &["hunter2"]),
            ("│ user │ password │\n├──────┼──────────┤\n│ bob  │ hunter2  │\n", &["hunter2"]),
            ("// user,password\n// bob,hunter2", &["hunter2"]),
            ("\tuser,password\n\tbob,hunter2", &["hunter2"]),
            ("user\tpassword\nbob\thunter2", &["hunter2"]),
            ("user     password\n-------- --------\nbob      hunter2", &["hunter2"]),
            (
                "INSERT INTO u (a, password) VALUES (1, 'hunter2'), (2, 's3c,r3t!');",
                &["hunter2", "s3c,r3t!"],
            ),
            ("INSERT INTO u (a, password) VALUES (1, ?)", &[]),
            ("login(user, password, None)\nlogin(a, b1, c)\n", &[]),
            ("user,password\nThen, hunter2, and so on\n", &[]),
            ("| password | string |\n|---|---|\n| token | required |\n", &[]),
        ] {
            assert_eq!(found(text), secrets, "{text}");
        }
    }
}
