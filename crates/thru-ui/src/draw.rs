//! The state as a screen: query, list and entry, the last line, windows above them.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Painted, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use thru_app::words::plural;

use crate::state::{Dialog, Focus, KEY, Line, Place, Shown, State};
use crate::text::{cut, one_line, rows, width};
use crate::tone::{Theme, Tone};

/// Columns of a row's label, and those that a list has at least to show it.
const LABEL: usize = 9;
const WITH_LABEL: usize = 30;
/// Columns that a list has at least to show ages.
const WITH_AGE: usize = 34;
/// The sign before the query.
const PROMPT: &str = "> ";

/// Draws the state.
pub(crate) fn draw(state: &State, theme: Theme, frame: &mut Frame<'_>) {
    let area = frame.area();
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    draw_query(state, theme, frame, top);
    draw_panes(state, theme, frame, middle);
    draw_last_line(state, theme, frame, bottom);
    match &state.dialog {
        Some(Dialog::Keys(first)) => draw_keys(state, *first, theme, frame, middle),
        Some(Dialog::Forget { question, .. }) => draw_question(question, theme, frame, middle),
        None => {}
    }
}

fn draw_query(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width);
    let place = place(state);
    let typed = width(PROMPT) + width(state.query.text());
    // The place goes where there is no room for it beside the query.
    let place = if typed + width(&place) + 3 <= columns { place } else { String::new() };
    let room = columns.saturating_sub(width(&place) + width(PROMPT) + 1);
    // The end of a long query is what is being typed.
    let before = tail(state.query.before(), room);
    let after = &state.query.text()[state.query.before().len()..];
    let text = cut(&format!("{before}{after}"), room);
    let gap = columns.saturating_sub(width(PROMPT) + width(&text) + width(&place));
    let line = Painted::from(vec![
        Span::styled(PROMPT, theme.style(Tone::Id)),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(place, theme.style(Tone::Quiet)),
    ]);
    frame.render_widget(Paragraph::new(line), area);
    if state.focus == Focus::List && state.dialog.is_none() && area.width > 0 {
        let column = (width(PROMPT) + width(before)).min(columns.saturating_sub(1));
        frame.set_cursor_position(Position::new(area.x + column as u16, area.y));
    }
}

/// The entries and the place that the list is about.
fn place(state: &State) -> String {
    let shown = match state.shown {
        Shown::All => "all",
        Shown::Memories => "memories",
        Shown::Sessions => "sessions",
    };
    let place = match (&state.place, &state.list.project) {
        (Place::Session(id), _) => format!("session {}", cut(id, 9)),
        (Place::Project, Some(name)) => format!("project {}", one_line(name, 24)),
        (Place::Project | Place::Everywhere, _) => "every project".to_owned(),
    };
    format!("{shown} · {place}")
}

/// The end of a text that fits into this many columns.
fn tail(text: &str, columns: usize) -> &str {
    let starts = text.char_indices().map(|(at, _)| &text[at..]);
    starts.into_iter().find(|rest| width(rest) <= columns).unwrap_or_default()
}

fn draw_panes(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let (list, detail) = state.panes();
    if detail == 0 {
        draw_list(state, theme, frame, area);
    } else if list == 0 {
        draw_detail(state, theme, frame, area);
    } else {
        let [left, line, right] = Layout::horizontal([
            Constraint::Length(list),
            Constraint::Length(2),
            Constraint::Fill(1),
        ])
        .areas(area);
        draw_list(state, theme, frame, left);
        let border = Block::new().borders(Borders::LEFT).style(theme.style(Tone::Quiet));
        frame.render_widget(border, line);
        draw_detail(state, theme, frame, right);
    }
}

fn draw_list(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width);
    let mut lines: Vec<Painted<'_>> = Vec::new();
    if let Some(Line { tone, text }) = &state.list.note {
        let style = theme.style(*tone);
        lines.extend(rows(text, columns).into_iter().map(|row| Painted::styled(row, style)));
        // On a low screen, the rows matter more.
        if !state.list.rows.is_empty() {
            lines.truncate(usize::from(area.height) / 3);
        }
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    let first = (state.selected + 1).saturating_sub(room);
    for (at, row) in state.list.rows.iter().enumerate().skip(first).take(room) {
        let label = match columns >= WITH_LABEL {
            true => format!("{} ", padded(&row.label, LABEL)),
            false => String::new(),
        };
        let age = if columns >= WITH_AGE { format!(" {}", row.age) } else { String::new() };
        // The entry that is being read may be none of the list.
        let is_chosen = at == state.selected && state.target() == Some(&row.target);
        let mark = if is_chosen { "> " } else { "  " };
        let title = columns.saturating_sub(width(mark) + width(&label) + width(&age));
        let title = padded(&one_line(&row.title, title), title);
        let line = Painted::from(vec![
            Span::raw(mark),
            Span::styled(label, theme.style(Tone::Quiet)),
            Span::raw(title),
            Span::styled(age, theme.style(Tone::Quiet)),
        ]);
        let style = match is_chosen && state.focus == Focus::List {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        };
        lines.push(line.style(style));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// Text cut or filled to exactly this many columns.
fn padded(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

fn draw_detail(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let rows = state.detail_rows();
    let height = usize::from(area.height);
    let first = state.scroll.min(rows.len().saturating_sub(height));
    let lines: Vec<Painted<'_>> = match state.row() {
        Some(row) if rows.is_empty() => {
            vec![Painted::styled(one_line(&row.title, area.width.into()), theme.style(Tone::Quiet))]
        }
        _ => rows
            .into_iter()
            .skip(first)
            .take(height)
            .map(|(tone, row)| Painted::styled(row, theme.style(tone)))
            .collect(),
    };
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_last_line(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width);
    let (tone, text) = match &state.message {
        _ if matches!(state.dialog, Some(Dialog::Keys(_))) => {
            (Tone::Quiet, help_hint(state, columns))
        }
        Some(message) => (message.tone, one_line(&message.text, columns)),
        None => (Tone::Quiet, hints(state, columns)),
    };
    frame.render_widget(Paragraph::new(Painted::styled(text, theme.style(tone))), area);
}

/// The keys that work while the help is shown.
fn help_hint(state: &State, columns: usize) -> String {
    let is_long = state.help_rows().len() > state.window().1;
    cut(if is_long { "Down more · Esc back" } else { "any key: back" }, columns)
}

/// The state of the list, and the keys that go on from here: as many as there is room for.
fn hints(state: &State, columns: usize) -> String {
    let found = match state.list.rows.len() as u64 {
        _ if state.list.is_waiting => "…".to_owned(),
        found => plural(found, "row"),
    };
    let keys: &[&str] = match state.focus {
        Focus::List => &["Enter read", "F1 keys", "Esc leave", "Tab kinds", "^R place"],
        Focus::Detail => &["Esc back", "F1 keys", "y copy", "r resume", "s session", "f forget"],
    };
    let mut line = found;
    for key in keys {
        if width(&line) + 3 + width(key) > columns {
            break;
        }
        line.push_str(" · ");
        line.push_str(key);
    }
    cut(&line, columns)
}

fn draw_keys(state: &State, first: usize, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = KEY - 3;
    let rows = state.help_rows().into_iter().skip(first).take(state.window().1);
    let lines = rows.map(|(key, does)| match does.as_str() {
        "" => Painted::styled(key, theme.style(Tone::Heading)),
        _ => Painted::from(vec![
            Span::styled(format!("  {key:columns$} "), theme.style(Tone::Id)),
            Span::raw(does),
        ]),
    });
    draw_window("Keys", lines.collect(), theme, frame, area);
}

fn draw_question(question: &str, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width).saturating_sub(4).clamp(1, 56);
    let mut lines: Vec<Painted<'_>> =
        rows(question, columns).into_iter().map(Painted::from).collect();
    // The answer stays in sight, however long the question.
    lines.truncate(usize::from(area.height).saturating_sub(3).max(1));
    lines.push(Painted::styled("y forget · any other key: no", theme.style(Tone::Id)));
    draw_window("Forget", lines, theme, frame, area);
}

/// A window in the middle, as large as its lines; without a frame where there is no room for one.
fn draw_window(
    title: &str,
    lines: Vec<Painted<'_>>,
    theme: Theme,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let widest = lines.iter().map(Painted::width).max().unwrap_or(0);
    // As `State::window` counts it.
    let has_frame = area.height > 4;
    let extra = if has_frame { 2 } else { 0 };
    let fit = |wanted: usize, room: u16| (wanted + extra).min(room.into()) as u16;
    let window = area.centered(
        Constraint::Length(fit(widest + extra, area.width)),
        Constraint::Length(fit(lines.len(), area.height)),
    );
    frame.render_widget(Clear, window);
    let mut paragraph = Paragraph::new(lines);
    if has_frame {
        let block = Block::bordered().title(title.to_owned());
        let padding = ratatui::widgets::Padding::horizontal(1);
        paragraph = paragraph.block(block.padding(padding).border_style(theme.style(Tone::Quiet)));
    }
    frame.render_widget(paragraph, window);
}
