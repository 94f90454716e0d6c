//! `thru search`: find where something was said or done.

use thru_app::Result;
use thru_app::ask::EntryKind;
use thru_app::ask::passage::PassageEntry;
use thru_app::ask::rank::ExplainRank;
use thru_app::ask::search::{
    AnswerSize, Found, NEAREST, RankedMemory, Search, Verdict, WorkDone, search,
};
use thru_core::{Concept, MemoryKind, Outcome as CallOutcome, Timestamp};
use thru_recall::{Snippet, TurnEnds};
use thru_redact::Clean;

use super::entries::{self, TableRow, date, session_heading, speaker};
use super::of_agents::OfAgents;
use super::{rank, shared, ui};
use crate::environment::Environment;
use crate::ui::{
    Outcome, Page, Tone, age, count, cut, day_and_time, made_of, meaning, one_line, plural,
    printable, width,
};

/// A query is text: nothing in it is syntax.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru search why does the importer lock the database\n  \
    thru search E0502 --file src/lib.rs\n  \
    thru search retry budget --since '2 weeks ago' --all\n  \
    thru search cache --type decision\n  \
    thru search retry budget --explain-id k3f9a\n  \
    thru search -i retry budget             search as you type\n\n\
    Searches the current project, or everything outside of one.")]
pub(crate) struct SearchArguments {
    /// What to look for
    #[arg(required_unless_present = "interactive")]
    query: Vec<String>,
    /// Search as you type, as in `thru ui`
    #[arg(long, short, conflicts_with_all = ["session", "file", "since", "until", "kinds", "concepts", "json"])]
    interactive: bool,
    #[command(flatten)]
    within: shared::InProjects,
    /// Only this session (the start of its id is enough)
    #[arg(long, short)]
    session: Option<String>,
    #[command(flatten)]
    of: OfAgents,
    /// Only passages that touched this file (the end of its path is enough)
    #[arg(long, short)]
    file: Option<String>,
    /// Not before: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    since: Option<String>,
    /// Before: as --since
    #[arg(long)]
    until: Option<String>,
    /// How many passages to show
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
    /// Show this many passages before and after each
    #[arg(long, short = 'C', default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=50))]
    context: u32,
    /// Only memories of this type: bugfix, feature, refactor, change, discovery, decision, summary
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<MemoryKind>,
    /// Only memories with this concept: how-it-works, why-it-exists, what-changed, problem-solution,
    /// gotcha, pattern, trade-off
    #[arg(long = "concept", value_name = "CONCEPT")]
    concepts: Vec<Concept>,
    /// Say what each score is made of
    #[arg(long)]
    explain: bool,
    /// Say why this passage or memory ranks where it does
    #[arg(long, value_name = "ID")]
    explain_id: Option<String>,
    /// Where nothing is a sure answer, show all that comes near, and not only the best of three sessions
    #[arg(long)]
    nearest: bool,
    /// Show the prompt that each passage answers, and how its turn ended
    #[arg(long)]
    turns: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl SearchArguments {
    /// A search for these words everywhere, and nothing else.
    pub(crate) fn for_query(query: &str) -> Self {
        Self {
            query: vec![query.to_owned()],
            within: shared::InProjects::all(),
            limit: Some(5),
            ..Self::default()
        }
    }

    fn request(&self) -> Search {
        Search {
            query: self.query.join(" "),
            project: self.within.scope(),
            session: self.session.clone(),
            agents: self.of.agents(),
            file: self.file.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            kinds: self.kinds.iter().copied().map(EntryKind::Memory).collect(),
            concepts: self.concepts.clone(),
            size: AnswerSize::Passages(self.limit.map(usize::from)),
            context: self.context,
            // A reader sees that it is not sure; a program is told so.
            nearest: self.nearest || !self.json,
            turns: match (self.turns, self.json) {
                (true, _) => TurnEnds::Both,
                // A program can ask for what it does not know.
                (false, true) => TurnEnds::None,
                (false, false) => TurnEnds::Answer,
            },
        }
    }
}

pub(crate) fn run(arguments: &SearchArguments, environment: &Environment) -> Result<Outcome> {
    if arguments.interactive {
        return ui::open(&arguments.query.join(" "), arguments.within.scope(), environment);
    }
    if let Some(id) = &arguments.explain_id {
        let request = ExplainRank {
            id: id.clone(),
            query: arguments.query.join(" "),
            project: arguments.within.scope(),
        };
        return rank::run(&request, arguments.json, environment);
    }
    let found = search(environment, &arguments.request(), environment.progress().call())?;
    let is_empty = found.verdict == Verdict::Nothing;
    let is_unsure = found.is_unsure() && !arguments.nearest;
    environment.answer(arguments.json, &found, |page| {
        for remark in found.remarks() {
            page.toned(Tone::Quiet, &printable(&remark));
        }
        if found.verdict == Verdict::Nearest {
            let line = match found.is_unsure() {
                true => format!("No sure match{}. The nearest:", scope(&found)),
                false => "Not sure, but this may answer it:".to_owned(),
            };
            page.toned(Tone::Bad, &line);
        }
        if let Some(work) = &found.work {
            show_work(page, work, environment);
        } else if is_empty {
            show_nothing(page, &found);
        } else if found.only_memories {
            let most = if is_unsure { NEAREST.0 } else { usize::MAX };
            show_memories(page, &found, most, environment);
        } else {
            remembered(page, &found, environment);
            show(page, &found, arguments, environment);
        }
        shared::show_prepared(page, &found.preparation);
    })?;
    let is_refused = is_empty || found.verdict == Verdict::Nearest && !arguments.nearest;
    Ok(Outcome::found(!is_refused))
}

/// The project that was searched, in words.
fn scope(found: &Found) -> String {
    found.project.as_ref().map_or_else(String::new, |name| format!(" in project {}", name.get()))
}

/// Sessions by day, the latest first.
fn show_work(page: &mut Page, work: &WorkDone, environment: &Environment) {
    if work.before.is_some() {
        let time = work.time.map_or_else(
            || "in that time".to_owned(),
            |(from, until)| {
                let last = Timestamp::from_millisecond(until.as_millisecond() - 1).unwrap_or(until);
                let (from, last) = (date(from, environment), date(last, environment));
                if from == last { format!("on {from}") } else { format!("from {from} to {last}") }
            },
        );
        page.line(format!("No session {time}. The last one before it:"));
    } else if work.sessions.is_empty() {
        return page.line("No session is known to have left anything open.");
    }
    let mut day = None;
    for session in work.sessions.iter().chain(&work.before) {
        let own = Some(session.at.map_or_else(|| "undated".to_owned(), |at| date(at, environment)));
        if own != day {
            page.gap();
            page.toned(Tone::Heading, own.as_deref().unwrap_or_default());
            day = own;
        }
        let entry = &session.entry;
        let project = entry.project.as_ref().map_or("no project", |name| name.get().as_str());
        let id = entry.id.short();
        let indent = id.len() + 4;
        let room = page.columns().saturating_sub(indent + 14).max(30);
        let id = page.paint(Tone::Id, &id);
        let text = one_line(&format!("{project} · {}", entries::title(entry)), room);
        page.line(format!(
            "  {id}  {text}  {}",
            page.paint(Tone::Quiet, &plural(entry.turns.into(), "turn"))
        ));
        for deed in &session.done {
            page.line(format!("{:indent$}{}", "", one_line(deed.get(), room + 12)));
        }
        for prompt in &session.asked {
            page.line(format!("       you: {}", one_line(prompt.get(), room + 12)));
        }
        for step in &session.steps {
            page.line(format!("    open: {}", one_line(step.get(), room)));
        }
    }
    page.gap();
    page.toned(Tone::Quiet, "`thru session show ID` shows what a session did.");
}

fn show_nothing(page: &mut Page, found: &Found) {
    page.line(format!("Nothing found{}.", scope(found)));
    if found.project.is_some() {
        page.line("Add `--all` to look in every project.");
    }
    if !found.known_files.is_empty() {
        let known = found.known_files.join(", ");
        page.line(format!("Files of that name that were touched: {known}"));
    }
}

/// The memories that answer, in a line each: what was made of the passages below.
fn remembered(page: &mut Page, found: &Found, environment: &Environment) {
    let shown: Vec<&RankedMemory> = found.shown_memories().collect();
    if shown.is_empty() {
        return;
    }
    let id_width = shown.iter().map(|memory| memory.entry.id.len()).max().unwrap_or(5);
    page.toned(Tone::Heading, "In short");
    for RankedMemory { entry, files, told, .. } in shown {
        let id = page.paint(Tone::Id, &format!("{:id_width$}", entry.id));
        let age = age(entry.at, environment.clock.now());
        let stale = files.note().map_or_else(String::new, |note| format!("  {note}"));
        let used = id_width + 17 + age.len() + width(&stale);
        let title = one_line(entry.listed().get(), page.columns().saturating_sub(used).max(20));
        let age = page.paint(Tone::Quiet, &age);
        let stale = page.paint(Tone::Bad, &stale);
        page.line(format!("  {id}  {:10}{title}  {age}{stale}", entry.kind));
        let indent = id_width + 14;
        let told = told.as_ref().map_or_else(Vec::new, |told| marked(page, told));
        for line in wrap(&told, page.columns().saturating_sub(indent).max(30)) {
            page.line(format!("{:indent$}{line}", ""));
        }
    }
}

/// Memories alone, as a table.
fn show_memories(page: &mut Page, found: &Found, most: usize, environment: &Environment) {
    let mut rows: Vec<TableRow<'_>> = found
        .shown_memories()
        .take(most)
        .map(|memory| TableRow { entry: &memory.entry, files: &memory.files, mark: ' ' })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.entry.at));
    entries::table(page, &rows, &mut String::new(), environment);
    page.gap();
    let line = "`thru show ID…` shows them in full, `thru timeline ID` what happened around one.";
    page.toned(Tone::Quiet, line);
}

fn show(page: &mut Page, found: &Found, arguments: &SearchArguments, environment: &Environment) {
    let passages = found.shown_passages();
    if passages == 0 {
        return page.gap();
    }
    let all = || found.sessions.iter().flat_map(|session| &session.passages);
    let id_width = all().map(|hit| hit.entry.id.len()).max().unwrap_or(5);
    let who_width = all().map(|hit| width(&speaker(&hit.entry))).max().unwrap_or(0).max(9);
    let widths = (id_width, who_width);
    let asks_when = found.asks_when();
    let when = |at| asks_when.then(|| day_and_time(at, environment.zone()));
    let is_unsure = found.is_unsure() && !arguments.nearest;
    for (session, hits) in found.shown_sessions(arguments.nearest) {
        page.gap();
        session_heading(page, &session.entry, environment);
        if arguments.explain {
            let score = &session.score;
            let line = format!("  session {:.2}: {}", score.total, made_of(&score.parts));
            page.toned(Tone::Quiet, &line);
        }
        for hit in hits {
            let own = hit.entry.ordinal;
            for before in hit.context.iter().filter(|one| one.ordinal < own) {
                page.line(context_line(page, before, id_width));
            }
            if let Some(prompt) = &hit.prompt {
                page.line(context_line(page, prompt, id_width));
            }
            let has_failed = hit.entry.outcome == Some(CallOutcome::Failed);
            let tone = if has_failed { Tone::Bad } else { Tone::Quiet };
            let who = page.paint(tone, &format!("{:who_width$}", speaker(&hit.entry)));
            snippet_lines(page, (&hit.entry.id, &who, when(hit.entry.at)), widths, &hit.snippet);
            if let (Some(result), Some(excerpt)) = (&hit.result, &hit.excerpt) {
                let who = format!("{:who_width$}", format!("→ {}", speaker(result)));
                let who = page.paint(Tone::Quiet, &who);
                snippet_lines(page, ("", &who, when(result.at)), widths, excerpt);
            }
            for after in hit.context.iter().filter(|one| one.ordinal > own) {
                page.line(context_line(page, after, id_width));
            }
            if arguments.explain {
                let line =
                    format!("#{} {:.2}: {}", hit.rank, hit.score.total, made_of(&hit.score.parts));
                page.toned(Tone::Quiet, &format!("  {:id_width$}  {line}", ""));
            }
        }
    }
    page.gap();
    let all = plural(found.sessions.len() as u64, "session");
    let shown = match is_unsure {
        true => format!("{} from", plural(passages as u64, "possible match")),
        false => format!("{} of", plural(passages as u64, "passage")),
    };
    let mut footer = format!("{shown} {all}{}", scope(found));
    if is_unsure {
        let further =
            found.shown_sessions(true).map(|(_, hits)| hits.len()).sum::<usize>() > passages;
        footer.push_str(if further { ": `--nearest` shows more" } else { ", none certain" });
    }
    if found.project.is_some() {
        footer.push_str(" (`--all` looks everywhere)");
    }
    page.toned(Tone::Quiet, &format!("{footer}. `thru show ID` shows one in full."));
    if arguments.explain {
        let terms = found.terms.join(" ");
        let line = format!(
            "Looked for: {terms}. {} passages looked at closely; confidence {:.2}.",
            count(found.considered as u64),
            found.confidence
        );
        page.toned(Tone::Quiet, &line);
        page.toned(Tone::Quiet, &meaning(&found.meaning));
    }
    if found.left_out > 0 {
        let line = format!(
            "{} new passages or memories are not in the index yet and were not searched; `thru intake` brings it up to date.",
            count(found.left_out)
        );
        page.toned(Tone::Bad, &line);
    }
}

fn snippet_lines(
    page: &mut Page,
    (id, who, when): (&str, &str, Option<String>),
    (id_width, who_width): (usize, usize),
    snippet: &Clean<Snippet>,
) {
    let when = when.map(|when| Word {
        painted: page.paint(Tone::Quiet, &when),
        plain: when,
        begins_line: false,
    });
    let snippet: Vec<Word> = when.into_iter().chain(marked(page, snippet)).collect();
    let id = page.paint(Tone::Id, &format!("{id:id_width$}"));
    let indent = id_width + who_width + 5;
    let lines = wrap(&snippet, page.columns().saturating_sub(indent).max(30));
    for (number, line) in lines.iter().enumerate() {
        match number {
            0 => page.line(format!("  {id}  {who} {line}")),
            _ => page.line(format!("{:indent$}{line}", "")),
        }
    }
}

fn context_line(page: &Page, passage: &PassageEntry, id_width: usize) -> String {
    let room = page.columns().saturating_sub(id_width + 14).max(30);
    let text = one_line(passage.text.get(), room);
    page.paint(Tone::Quiet, &format!("  {:id_width$}  {:9} {text}", "", speaker(passage)))
}

/// A piece of a line: its text, and whether it was looked for.
type Piece<'a> = (&'a str, bool);

/// The snippet in words, what was looked for painted.
fn marked(page: &Page, snippet: &Clean<Snippet>) -> Vec<Word> {
    let snippet = snippet.get();
    let mut words = Vec::new();
    let mut start = 0;
    for word in snippet.text.split_inclusive([' ', '\n']) {
        let begins_line = snippet.text[..start].ends_with('\n');
        let word = word.trim_end_matches([' ', '\n']);
        let range = start..start + word.len();
        start = range.end + 1;
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        let mut at = range.start;
        for mark in snippet.marks.iter().filter(|m| m.start < range.end && m.end > range.start) {
            let (from, to) = (mark.start.max(range.start), mark.end.min(range.end));
            pieces.push((&snippet.text[at..from], false));
            pieces.push((&snippet.text[from..to], true));
            at = to;
        }
        pieces.push((&snippet.text[at..range.end], false));
        let painted = pieces
            .iter()
            .map(|(text, found)| {
                let text = printable(text);
                if *found { page.paint(Tone::Match, &text) } else { text }
            })
            .collect();
        words.push(Word { painted, plain: printable(word), begins_line });
    }
    words
}

/// A word of a snippet, as it looks and as it reads.
struct Word {
    painted: String,
    plain: String,
    /// True for the first word of a line.
    begins_line: bool,
}

/// Puts words on lines of at most this many columns.
fn wrap(words: &[Word], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = usize::MAX;
    for word in words {
        let width = width(&word.plain);
        match lines.last_mut() {
            Some(line) if !word.begins_line && used.saturating_add(1 + width) <= columns => {
                line.push(' ');
                line.push_str(&word.painted);
                used += 1 + width;
            }
            // A bullet is not left alone by a word that is longer than a line.
            Some(line) if !word.begins_line && used <= 2 => {
                line.push(' ');
                line.push_str(&cut(&word.plain, columns.saturating_sub(used + 1)));
                used = columns;
            }
            _ => {
                let fits = width <= columns;
                lines.push(if fits { word.painted.clone() } else { cut(&word.plain, columns) });
                used = width;
            }
        }
    }
    lines
}
