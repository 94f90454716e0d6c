//! The pack after a compaction: the session's content before it, from its snapshot.
//!
//! Each part has a share of the budget, so that a long list of one kind takes nothing from the others; the
//! remaining room goes to the rest of all parts in turn. Files, commands and names are packed densely: what
//! counts is that they are there verbatim.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{FileInPlay, Snapshot, SnapshotContent, Statement, file_name};
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

use super::render::{Part, Section, recorded};
use super::said::{alike, is_new};
use super::{Draft, LONGEST_PACK, PackRequest};
use crate::action::from_directory;
use crate::memories::normal;
use crate::tiers::Tier;

/// Characters per token, as tokens are estimated.
const TOKEN: usize = 4;

/// Characters of the frame and the headings.
const FRAME: usize = 800;

/// The share of the budget of each part, in percent.
const STATE: usize = 19;
const RULINGS: usize = 8;
const DECISIONS: usize = 17;
const FAILED: usize = 3;
const NEXT: usize = 5;
const FILES: usize = 24;
const COMMANDS: usize = 11;
const NAMES: usize = 10;
const RULES: usize = 4;

/// Maximum number of requests before the last one, and of names.
const REQUESTS: usize = 1;
const MOST_NAMES: usize = 20;

/// Characters of a line of names, and of a statement.
const LINE: usize = 160;
const STATEMENT: usize = 170;

/// Characters of a command.
const COMMAND: usize = 72;

/// Memories of the session that may be cited for lines of the snapshot.
const MEMORIES: usize = 300;

/// The lines of the pack, the most important first, project rules among them.
pub(super) fn drafts(
    store: &Store,
    request: &PackRequest<'_>,
    snapshot: &Snapshot,
    rules: Vec<Draft>,
) -> Result<(Vec<Draft>, String)> {
    let memories = Memories::of(store, request)?;
    let content = &snapshot.content;
    let budget = usize::try_from(request.limits.start_tokens).unwrap_or(usize::MAX);
    let room = budget.saturating_mul(TOKEN).min(LONGEST_PACK).saturating_sub(FRAME);
    let said = |part: Part, statements: &[Statement]| -> Vec<Draft> {
        let mut said = Vec::new();
        let statements = statements.iter().filter(|one| is_new(&one.text, &mut said));
        let texts: Vec<String> =
            statements.map(|statement| recorded(&statement.text, STATEMENT)).collect();
        texts.into_iter().map(|text| memories.draft(part, text)).collect()
    };
    let quoted = |statements: &[Statement]| -> Vec<Draft> {
        let texts = statements.iter().map(|one| (one, recorded(once(&one.text), STATEMENT)));
        texts
            .map(|(one, text)| {
                let memory = memories.about(&one.text);
                Draft { memory, ..memories.draft(Part::Rulings, format!("\"{text}\"")) }
            })
            .collect()
    };
    let mut known: HashSet<String> = content.rulings.iter().map(|one| normal(&one.text)).collect();
    let rules = rules.into_iter().filter(|rule| {
        rule.memory.as_ref().is_none_or(|memory| known.insert(normal(&memory.title)))
    });
    let directory = snapshot.directory.as_deref();
    let (names, others) = content.names.split_at(content.names.len().min(MOST_NAMES));
    let in_lines = |names: &[String], length| {
        lines_of(names.iter().map(|name| recorded(name, COMMAND)), length)
    };
    let mut seen = HashSet::new();
    let commands = content.commands.iter().map(|one| recorded(to_the_point(&one.text), COMMAND));
    let commands = commands.filter(|command| !command.is_empty() && seen.insert(command.clone()));
    let plain = |part: Part, texts: Vec<String>| -> Vec<Draft> {
        texts.into_iter().map(|text| Draft { memory: None, ..memories.draft(part, text) }).collect()
    };
    let mut parts = Parts { room, chosen: Vec::new(), left: Vec::new() };
    parts.take(STATE, state(content, &memories));
    parts.take(RULINGS, quoted(&content.rulings));
    parts.take(NEXT, said(Part::Next, &next(content)));
    let mut files = content.files.clone();
    // What was only looked at elsewhere comes last.
    let is_elsewhere = |file: &FileInPlay| {
        !file.modified && from_directory(&file.path, directory).starts_with(['/', '.'])
    };
    files.sort_by_key(is_elsewhere);
    parts.take(FILES, plain(Part::Files, grouped(&files, directory)));
    parts.take(NAMES, plain(Part::Names, in_lines(names, LINE)));
    let commands = commands.map(|command| format!("`{command}`")).collect();
    parts.take(COMMANDS, plain(Part::Commands, commands));
    parts.take(DECISIONS, said(Part::Decisions, &content.decisions));
    parts.take(FAILED, said(Part::Failed, &content.failed));
    parts.take(RULES, rules.collect());
    let mut drafts = parts.into_drafts();
    // Where there is little else to say, more names are worth their room.
    drafts.extend(plain(Part::Names, in_lines(others, LINE / 3)));
    Ok((drafts, format!("what the session held at {}", snapshot.at)))
}

/// The chosen lines, and those of each part that exceeded its share.
struct Parts {
    room: usize,
    chosen: Vec<Draft>,
    left: Vec<Vec<Draft>>,
}

impl Parts {
    /// Takes the lines of a part up to its share.
    fn take(&mut self, percent: usize, lines: Vec<Draft>) {
        let mut share = self.room * percent / 100;
        let mut left = Vec::new();
        for (place, line) in lines.into_iter().enumerate() {
            // The line, its bullet and its newline.
            let length = line.text.chars().count() + 3;
            let fits = share >= length && left.is_empty();
            share = share.saturating_sub(length);
            // Each part has its first line, however little room there is.
            if fits || place == 0 { self.chosen.push(line) } else { left.push(line) }
        }
        self.left.push(left);
    }

    /// All lines: the chosen ones, then the rest of each part in turn.
    fn into_drafts(self) -> Vec<Draft> {
        let mut drafts = self.chosen;
        let mut left: Vec<_> = self.left.into_iter().map(Vec::into_iter).collect();
        let mut next = 1;
        while next > 0 {
            let round: Vec<Draft> = left.iter_mut().filter_map(Iterator::next).collect();
            next = round.len();
            drafts.extend(round);
        }
        drafts
    }
}

/// A ruling without what it says twice, and without the description of the chosen option.
fn once(text: &str) -> &str {
    const BEGINNING: usize = 24;
    let begins = |text: &str| normal(text).chars().take(BEGINNING).collect::<String>();
    let text = match text.split_once("; ") {
        Some((first, rest)) if begins(first) == begins(rest) => rest,
        _ => text,
    };
    let answer = text.rfind("→ ").unwrap_or(text.len());
    text[answer..].find(" (").map_or(text, |end| &text[..answer + end])
}

/// A command without what is done with its output; a long one without the variables before it.
fn to_the_point(command: &str) -> &str {
    let ends = [" | ", " 2>", " > ", " && echo ", " || echo ", " &"];
    let end = ends.iter().filter_map(|end| command.find(end)).min();
    let mut command = command[..end.unwrap_or(command.len())].trim_end();
    let is_variable = |word: &str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    while command.chars().count() > COMMAND
        && let Some((word, rest)) = command.split_once(' ')
        && is_variable(word)
    {
        command = rest;
    }
    command
}

/// The memories of the session, by title.
struct Memories(HashMap<String, MemoryRow>);

impl Memories {
    fn of(store: &Store, request: &PackRequest<'_>) -> Result<Self> {
        let Some(session) = request.session else { return Ok(Self(HashMap::new())) };
        let found = store.memories(&MemoryFilter {
            session: Some(session),
            limit: Some(MEMORIES),
            ..MemoryFilter::default()
        })?;
        Ok(Self(found.into_iter().map(|memory| (normal(&memory.title), memory)).collect()))
    }

    /// Returns the memory that says the same, by which a reader can fetch it whole.
    fn about(&self, text: &str) -> Option<MemoryRow> {
        self.0.get(&normal(text)).cloned()
    }

    fn draft(&self, part: Part, text: String) -> Draft {
        Draft {
            memory: self.about(&text),
            section: Section::Snapshot(part),
            tier: Tier::Hot,
            reason: part.reason().to_owned(),
            text,
        }
    }
}

/// The subject, the requests, and the work done.
fn state(content: &SnapshotContent, memories: &Memories) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if !content.title.is_empty() {
        let text = format!("{} ({})", recorded(&content.title, 200), content.outcome.as_str());
        let memory = memories.about(&content.title);
        drafts.push(Draft { memory, ..memories.draft(Part::State, text) });
    }
    // Requests and work often repeat the title.
    let says_more = |one: &&Statement| !alike(&one.text, &content.title);
    let asked = content.objective.as_ref().filter(says_more).map(|one| ("User asked", one));
    let last = content.last_request.as_ref().map(|one| ("User asked last", one));
    let is_same = content.objective.as_ref().zip(content.last_request.as_ref());
    let is_same = is_same.is_some_and(|(a, b)| normal(&a.text) == normal(&b.text));
    // The objective may name two requests, both truncated.
    let begins = |one: &Statement| normal(&one.text).chars().take(80).collect::<String>();
    let told: Vec<String> =
        content.objective.iter().chain(&content.last_request).map(begins).collect();
    let mut said = Vec::new();
    for one in content.objective.iter().chain(&content.last_request) {
        is_new(&one.text, &mut said);
    }
    let earlier = content.requests.iter().filter(says_more);
    let earlier = earlier.filter(|one| !told.contains(&begins(one)));
    let earlier = earlier.filter(|one| is_new(&one.text, &mut said));
    let earlier = earlier.map(|one| ("User asked before", one));
    let last = last.filter(|_| !is_same).into_iter();
    for (label, statement) in asked.into_iter().chain(last).chain(earlier.take(REQUESTS)) {
        let text = format!("{label}: \"{}\"", recorded(&statement.text, STATEMENT));
        drafts.push(memories.draft(Part::State, text));
    }
    let lists =
        [("Done", &content.done), ("Found", &content.learned), ("Fixed", &content.resolved)];
    for (label, statements) in lists {
        drafts.extend(statements.iter().filter(says_more).map(|one| {
            let memory = memories.about(&one.text);
            let text = format!("{label}: {}", recorded(&one.text, STATEMENT));
            Draft { memory, ..memories.draft(Part::State, text) }
        }));
    }
    drafts
}

fn next(content: &SnapshotContent) -> Vec<Statement> {
    let known = content.context.iter().cloned();
    let open = content.open_questions.iter().map(|question| Statement {
        text: format!("Open question: {}", question.text),
        sources: question.sources.clone(),
    });
    content.next_steps.iter().cloned().chain(known).chain(open).collect()
}

/// Groups files by directory, relative to the directory of the session, with `*` for changed ones. The most
/// important file leads its directory, and directories are in the order of their leaders.
pub(super) fn grouped(files: &[FileInPlay], directory: Option<&str>) -> Vec<String> {
    const AT_ONCE: usize = 24;
    let mut lines = Vec::new();
    for files in files.chunks(AT_ONCE) {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for file in files {
            let path = from_directory(&file.path, directory);
            let name = file_name(path);
            let folder = path.strip_suffix(name).unwrap_or_default();
            let place = *places.entry(folder.to_owned()).or_insert_with(|| {
                groups.push((folder.to_owned(), Vec::new()));
                groups.len() - 1
            });
            let mark = if file.modified { "*" } else { "" };
            if let Some((_, names)) = groups.get_mut(place) {
                names.push(format!("{}{mark}", recorded(name, LINE / 2)));
            }
        }
        for (folder, names) in groups {
            let folder = recorded(&folder, LINE);
            let mark = if names.len() > 1 && !folder.is_empty() { ": " } else { "" };
            let named = lines_of(names.into_iter(), LINE).into_iter();
            lines.extend(named.map(|line| format!("{folder}{mark}{line}")));
        }
    }
    lines
}

/// Joins words with commas, on as many lines of at most this length as needed.
fn lines_of(words: impl Iterator<Item = String>, length: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + 2 <= length => {
                line.push_str(", ");
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}
