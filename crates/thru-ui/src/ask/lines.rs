//! Entries whole, as lines: a memory, a passage, a session by its turns.

use thru_app::App;
use thru_app::ask::get::PassagePiece;
use thru_app::ask::memory::{WholeMemory, relative};
use thru_app::ask::session::{SessionEntry, SessionOutline, TurnOutline, Utterance};
use thru_app::words::{day_and_time, plural};
use thru_core::{Digest, Observation, Outcome, Statement};
use thru_store::MemoryBody;

use super::rows::speaker;
use crate::state::Line;
use crate::tone::Tone;

/// Lines shown of a prompt or a conclusion in a session.
const UTTERANCE: usize = 12;
/// Commands shown of a turn.
const COMMANDS: usize = 8;
/// Files shown of a session.
const FILES: usize = 20;

/// Lines in the making.
#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn add(&mut self, tone: Tone, text: impl Into<String>) {
        self.0.push(Line::new(tone, text));
    }

    fn gap(&mut self) {
        self.add(Tone::Plain, "");
    }

    fn list<'s>(&mut self, label: &str, statements: impl IntoIterator<Item = &'s Statement>) {
        let mut statements = statements.into_iter().peekable();
        if statements.peek().is_some() {
            self.gap();
            self.add(Tone::Heading, label);
        }
        for statement in statements {
            self.add(Tone::Plain, format!("- {}", statement.text));
        }
    }

    fn files(&mut self, label: &str, files: &[String], root: Option<&str>) {
        if files.is_empty() {
            return;
        }
        self.gap();
        self.add(Tone::Heading, label);
        for file in files {
            self.add(Tone::Plain, relative(file, root));
        }
    }
}

/// A memory.
pub(super) fn memory(app: &App, memory: &WholeMemory) -> Vec<Line> {
    let entry = &memory.entry;
    let mut lines = Lines::default();
    lines.add(Tone::Heading, entry.headline().get());
    let turn = if entry.turn > 0 { format!(" · turn {}", entry.turn) } else { String::new() };
    let mut about = vec![format!("{}{turn} · {}", entry.kind, day_and_time(entry.at, app.zone()))];
    about.extend(entry.marks());
    lines.add(Tone::Quiet, about.join(" · "));
    lines.add(Tone::Id, &entry.id);
    match &memory.session_entry {
        Some(session) => lines.add(Tone::Quiet, heading(session)),
        None => {
            let place = entry.project.as_ref().map_or("every project", |it| it.get());
            // The program that it was imported from stands above.
            let teller = entry.teller.as_ref().filter(|_| entry.imported.is_none());
            let teller = teller.map(|teller| format!(" · {teller}")).unwrap_or_default();
            lines.add(Tone::Quiet, format!("{place}{teller}"));
        }
    }
    if let Some(note) = memory.files.note() {
        lines.add(Tone::Bad, format!("{note}: it may no longer hold."));
    }
    let root = memory.directory();
    match memory.body.get() {
        MemoryBody::Observation(body) => observation(&mut lines, body, root),
        MemoryBody::Summary(body) => {
            digest(&mut lines, &body.digest, root);
            for (turn, digest) in &body.turns {
                let done = digest.completed.first().or(digest.request.as_ref());
                if let Some(done) = done {
                    lines.add(Tone::Quiet, format!("turn {turn}: {}", done.text));
                }
            }
        }
    }
    lines.0
}

fn observation(lines: &mut Lines, body: &Observation, root: Option<&str>) {
    if let Some(narrative) = &body.narrative {
        lines.gap();
        lines.add(Tone::Plain, &narrative.text);
    }
    lines.list("Asked", &body.asked);
    lines.list("Reported by the agent", &body.report);
    lines.list("Facts", &body.facts);
    lines.files("Changed", &body.files_modified, root);
    lines.files("Read", &body.files_read, root);
}

fn digest(lines: &mut Lines, digest: &Digest, root: Option<&str>) {
    lines.gap();
    lines.add(Tone::Plain, format!("Outcome: {}", digest.outcome.as_str()));
    lines.list("Request", &digest.request);
    lines.list("Investigated", &digest.investigated);
    lines.list("Learned", &digest.learned);
    lines.list("Decisions", &digest.decisions);
    lines.list("Done", &digest.completed);
    lines.list("State", &digest.state);
    lines.list("Next", &digest.next_steps);
    lines.list("Open", &digest.open_questions);
    lines.files("Files", &digest.files, root);
}

/// A passage.
pub(super) fn passage(app: &App, piece: &PassagePiece) -> Vec<Line> {
    let entry = &piece.entry;
    let mut lines = Lines::default();
    let when = day_and_time(entry.at, app.zone());
    let failed = entry.outcome == Some(Outcome::Failed);
    let tone = if failed { Tone::Bad } else { Tone::Heading };
    lines.add(tone, format!("{} · turn {} · {when}", speaker(entry), entry.turn));
    lines.add(Tone::Id, &entry.id);
    if let Some(session) = &piece.session {
        lines.add(Tone::Quiet, heading(session));
    }
    lines.gap();
    if let Some(command) = &entry.command {
        lines.add(Tone::Match, format!("$ {}", command.get()));
    }
    for line in entry.text.get().lines() {
        lines.add(Tone::Plain, line);
    }
    lines.0
}

/// A session by its turns.
pub(super) fn session(app: &App, outline: &SessionOutline) -> Vec<Line> {
    let session = &outline.session;
    let mut lines = Lines::default();
    lines.add(Tone::Heading, heading(session));
    lines.add(Tone::Id, session.id.as_str());
    let from = day_and_time(session.started, app.zone());
    let to = day_and_time(session.ended, app.zone());
    let turns = plural(session.turns.into(), "turn");
    let agent = session.agent.display_name();
    lines.add(Tone::Quiet, format!("{from} to {to} · {turns} · {agent}"));
    lines.add(Tone::Quiet, outline.standing.line(app.zone()));
    if let Some(MemoryBody::Summary(body)) = outline.digest.as_ref().map(|one| one.body.get()) {
        lines.list("Done", &body.digest.completed);
        lines.list("Next", &body.digest.next_steps);
    }
    for turn in &outline.turns {
        add_turn(&mut lines, app, turn);
    }
    let changed: Vec<String> = outline
        .files
        .iter()
        .filter(|file| file.modified > 0)
        .take(FILES)
        .map(|file| file.path.get().clone())
        .collect();
    lines.files("Files changed", &changed, session.root());
    lines.0
}

fn add_turn(lines: &mut Lines, app: &App, turn: &TurnOutline) {
    lines.gap();
    match &turn.prompt {
        Some(prompt) => {
            let when = day_and_time(prompt.at, app.zone());
            lines.add(Tone::Heading, format!("{}. You · {when}", turn.number));
            say(lines, prompt);
        }
        None => lines.add(Tone::Heading, "Without a prompt"),
    }
    for command in turn.commands.iter().take(COMMANDS) {
        let (mark, tone) = match command.outcome {
            Some(Outcome::Failed) => ("✗", Tone::Bad),
            Some(Outcome::Pending) => ("…", Tone::Quiet),
            _ => ("✓", Tone::Good),
        };
        let line = command.line.get().lines().next().unwrap_or_default();
        lines.add(tone, format!("  {mark} $ {line}"));
    }
    let shown: u64 = turn.commands.iter().take(COMMANDS).map(|one| u64::from(one.runs)).sum();
    if turn.tool_calls > shown {
        lines.add(Tone::Quiet, format!("  {} in all", plural(turn.tool_calls, "tool call")));
    }
    if let Some(conclusion) = &turn.conclusion {
        lines.add(Tone::Quiet, "  Agent");
        say(lines, conclusion);
    }
}

/// The start of what was said.
fn say(lines: &mut Lines, said: &Utterance) {
    let mut rest = said.text.get().lines();
    for line in rest.by_ref().take(UTTERANCE) {
        lines.add(Tone::Plain, format!("  {line}"));
    }
    let more = rest.count() as u64;
    if more > 0 {
        lines.add(
            Tone::Quiet,
            format!("  … {}; {} is all of it", plural(more, "more line"), said.id),
        );
    }
}

/// The project and the title of a session.
fn heading(session: &SessionEntry) -> String {
    let project = session.project.as_ref().map_or("no project", |name| name.get().as_str());
    let title = session.title.as_ref().map_or("untitled", |title| title.get().as_str());
    format!("{project} · {title}")
}
