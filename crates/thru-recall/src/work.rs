//! Questions about time and work, which are answered from sessions and not searched for words: "what did we do last
//! week", "what is still to do", "when did we last touch search.rs".

use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;
use thru_core::{MemoryKind, ObservationType, PassageKind, Summary, Timestamp};
use thru_store::index::{IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryBody, MemoryFilter, Newest, Result, SessionFilter, SessionRow, Store};

use crate::pack::cues;
use crate::query::is_stop_word;
use crate::query_time::find_query_time;
use crate::recorded::recorded;
use crate::search::is_order;
use crate::unfinished::{share, still_open, was_done, words};

/// Maximum number of sessions in an answer.
const MOST_SESSIONS: usize = 30;
/// Maximum number of deeds in an answer, over all sessions; each session may have one.
const MOST_DEEDS: usize = 24;
/// Deeds of a session from which they tell what it did, or one in so many turns; prompts that tell it beside fewer, …
const FEW_DEEDS: usize = 3;
const TURNS_OF_DEED: usize = 4;
const MOST_PROMPTS: usize = 10;
/// … and passages at its end among which these are looked for.
const WITHIN: usize = 2_000;
/// Number of sessions that tell where the work was left.
const LATEST: usize = 5;
/// The latest sessions that are looked through for open work.
const WITH_OPEN_WORK: usize = 60;
/// Maximum number of passages that touched a file and are read.
const MOST_TOUCHES: usize = 2_000;

/// Words around a question about work, beside stop words.
#[rustfmt::skip]
const FRAME: [&str; 72] = [
    "busy", "building", "built", "coding", "developing", "fixing", "focus", "focused", "making", "work", "worked", "working", "happen", "happened", "done", "finish", "finished", "accomplish", "accomplished", "achieve",
    "achieved", "get", "got", "going", "went", "start", "started", "made", "list", "show", "summarize", "summary", "session",
    "sessions", "everything", "us", "anything", "today", "was", "habe", "haben", "hab", "wir", "ich", "gemacht", "getan",
    "gearbeitet", "passiert", "geschehen", "geschah", "an", "am", "im", "in", "alles", "die", "der", "das", "woran",
    "wurde", "ist", "hast", "du", "change", "changed", "changes", "geändert",
    "branch", "think", "thinking", "thought", "thoughts",
];

/// Phrases that ask for open work.
#[rustfmt::skip]
const OPEN: [&str; 37] = [
    "remains to be done", "remains to do", "what remains", "i do next", "we do next", "still to do", "left to do", "to do next", "still open", "still pending", "still outstanding", "next steps", "open work",
    "unfinished work", "open todos", "open tasks", "left unfinished", "what's left on", "what's left for", "what's left in",
    "what's left", "what is left on", "what is left", "whats left", "pending todos", "pending tasks", "remaining todos",
    "remaining work", "todo list", "deferred", "postponed", "postpone", "what remained",
    "noch zu tun", "noch offen", "nächsten schritte", "offene aufgaben",
];
/// Phrases that ask where the work was left.
#[rustfmt::skip]
const LEFT_OFF: [&str; 17] = [
    "last time", "leave off", "left off", "where were we", "where was i", "i working on", "we working on", "was i doing", "were we doing",
    "i do last", "we do last", "last session", "latest session", "most recent session", "recent sessions",
    "stehen geblieben", "zuletzt gemacht",
];
/// Words of the longest question about open work: a longer text only speaks of it.
const LONGEST_OF_OPEN: usize = 10;
/// The share of the words of a question about open work that a step has to name; of its numbers all.
const NAMED: f64 = 0.6;
/// Words that name no part of the work.
const VAGUE: [&str; 8] =
    ["feature", "stuff", "thing", "things", "project", "part", "findings", "finding"];

/// A question about time or work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkQuestion {
    /// The sessions of a time.
    Done {
        /// Its first moment.
        from: Timestamp,
        /// The first moment after it.
        until: Timestamp,
        /// The project that the question names, in its own words.
        of: String,
    },
    /// The latest sessions.
    Latest {
        /// The project that the question names, in its own words.
        of: String,
    },
    /// The steps that sessions left open.
    Open {
        /// The words of the question that name a project or a part of the work.
        of: String,
    },
    /// The sessions that touched a file.
    Touched {
        /// The end of its path.
        file: String,
    },
}

/// A session in the answer to a question about work.
#[derive(Clone, Debug)]
pub struct WorkRow {
    /// The session.
    pub session: SessionRow,
    /// The time that it is listed under.
    pub at: Option<Timestamp>,
    /// What it did in the time that was asked about, beside what its title says.
    pub done: Vec<String>,
    /// The prompts of that time, where little is known of what it did.
    pub asked: Vec<String>,
    /// The steps that it left open, or recorded as open.
    pub steps: Vec<String>,
}

impl WorkRow {
    const fn at(at: Option<Timestamp>, session: SessionRow) -> Self {
        Self { session, at, done: Vec::new(), asked: Vec::new(), steps: Vec::new() }
    }
}

/// Reads a query as a question about work; `None` if it asks for more than time, work and one project.
pub fn work_question(query: &str, now: Timestamp, zone: &TimeZone) -> Option<WorkQuestion> {
    let lower = query.to_lowercase();
    if let Some(phrase) = OPEN.iter().find(|phrase| lower.contains(**phrase)) {
        let rest = lower.replacen(phrase, " ", 1);
        let of: Vec<&str> = subject(&rest).collect();
        let mut words = lower.split_whitespace();
        let is_short = words.clone().count() <= LONGEST_OF_OPEN && words.all(|word| word != "why");
        return is_short.then(|| WorkQuestion::Open { of: of.join(" ") });
    }
    if let Some(file) = touched_file(query, &lower) {
        return Some(WorkQuestion::Touched { file });
    }
    let Some(when) = find_query_time(query, now, zone) else {
        let phrase = LEFT_OFF.iter().find(|phrase| lower.contains(**phrase))?;
        let of = project_of(&lower.replacen(phrase, " ", 1))?;
        return Some(WorkQuestion::Latest { of });
    };
    let rest = format!("{} {}", &query[..when.place.start], &query[when.place.end..]);
    let rest = rest.to_lowercase();
    let of = project_of(&rest)?;
    Some(WorkQuestion::Done { from: when.from, until: when.until, of })
}

/// The words of a question that may name a project, where they are few enough. `text` is in lower case.
fn project_of(text: &str) -> Option<String> {
    let of: Vec<&str> = subject(text).collect();
    (of.len() <= 2).then(|| of.join(" "))
}

/// Returns a query without the words of the date in it; the query itself if nothing else is in it.
pub fn without_date(query: &str, now: Timestamp, zone: &TimeZone) -> String {
    let rest = find_query_time(query, now, zone).map(|when| {
        format!("{} {}", query[..when.place.start].trim(), query[when.place.end..].trim())
    });
    rest.filter(|rest| subject(&rest.to_lowercase()).next().is_some())
        .unwrap_or_else(|| query.to_owned())
}

/// The words that say what a question is about. `text` is in lower case.
fn subject(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ",;:!?\"'()".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| {
            word.contains(char::is_alphanumeric) && !is_stop_word(word) && !FRAME.contains(word)
        })
}

/// The file of "when did we last touch src/main.rs".
fn touched_file(query: &str, lower: &str) -> Option<String> {
    const DEEDS: [&str; 9] = [
        "touch",
        "change",
        "edit",
        "modif",
        "update",
        "geändert",
        "bearbeitet",
        "angefasst",
        "work on",
    ];
    let asks = (lower.contains("when") && lower.contains("last"))
        || (lower.contains("wann") && lower.contains("zuletzt"));
    if !asks || !DEEDS.iter().any(|deed| lower.contains(deed)) {
        return None;
    }
    cues(query).files.into_iter().next()
}

/// Answers a question about work in these projects (all of them where `None`): the latest first.
///
/// # Errors
/// Fails if the store or the index cannot be read.
pub fn work(
    store: &Store,
    index: &TextIndex,
    question: &WorkQuestion,
    projects: Option<&[i64]>,
) -> Result<Vec<WorkRow>> {
    match question {
        WorkQuestion::Done { from, until, .. } => {
            let filter = SessionFilter {
                projects: projects.map(<[i64]>::to_vec),
                since: Some(*from),
                until: Some(*until),
                limit: Some(MOST_SESSIONS),
                ..SessionFilter::default()
            };
            let sessions = store.sessions(&filter)?;
            let at = |session: &SessionRow| session.ended.map(|ended| within(ended, *until));
            let most = (MOST_DEEDS / sessions.len().max(1)).max(1);
            sessions
                .into_iter()
                .map(|session| {
                    let done = deeds(store, &session, Some(*from), Some(*until), most)?;
                    let few = FEW_DEEDS.max(session.turns as usize / TURNS_OF_DEED);
                    let room = if done.len() < few { most.min(MOST_PROMPTS) } else { 0 };
                    let room = room.saturating_sub(done.len());
                    let asked = prompts(store, &session, (*from, *until), room)?;
                    Ok(WorkRow { done, asked, ..WorkRow::at(at(&session), session) })
                })
                .collect()
        }
        WorkQuestion::Latest { .. } => latest(store, index, projects),
        WorkQuestion::Open { of } => open_work(store, index, of, projects),
        WorkQuestion::Touched { file } => touched(store, index, file, projects),
    }
}

/// The titles of what a session changed and decided in some time, the first first, but for those that its own title says.
fn deeds(
    store: &Store,
    session: &SessionRow,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    most: usize,
) -> Result<Vec<String>> {
    let filter =
        MemoryFilter { session: Some(session.row), since, until, ..MemoryFilter::default() };
    let title = session.title.as_deref().unwrap_or_default();
    let mut done: Vec<String> = Vec::new();
    for memory in store.memories(&filter)?.into_iter().rev() {
        let is_deed = matches!(memory.kind, MemoryKind::Observation(kind) if kind != ObservationType::Discovery);
        let is_told = title.starts_with(&memory.title) || done.contains(&memory.title);
        if is_deed && !memory.is_untitled() && !is_told {
            done.push(memory.title);
        }
    }
    done.truncate(most);
    Ok(done)
}

/// The prompts of a session in some time, the first first, but for its title.
fn prompts(
    store: &Store,
    session: &SessionRow,
    (from, until): (Timestamp, Timestamp),
    most: usize,
) -> Result<Vec<String>> {
    let title = session.title.as_deref().unwrap_or_default();
    let newest = Newest { kind: Some(PassageKind::Human), within: WITHIN, limit: WITHIN };
    let mut asked: Vec<String> = Vec::new();
    let found = if most > 0 { store.newest_passages(session.row, newest)? } else { Vec::new() };
    for passage in found.iter().rev() {
        let is_then = passage.at.is_some_and(|at| (from..until).contains(&at));
        if asked.len() == most || !is_then {
            continue;
        }
        let text = store.text_of(passage)?;
        // "Implement the following plan:" is told by the plan.
        let mut lines = text.lines().map(|line| line.trim_start_matches(['#', ' ']).trim_end());
        let line = lines.find(|line| !line.is_empty() && !line.ends_with(':')).unwrap_or_default();
        let is_told = !title.is_empty() && line.starts_with(title.trim_end_matches('…'));
        if !is_order(line) && !is_told && !asked.iter().any(|other| other == line) {
            asked.push(line.to_owned());
        }
    }
    Ok(asked)
}

/// The latest sessions with work, with the steps that they left open.
fn latest(store: &Store, index: &TextIndex, projects: Option<&[i64]>) -> Result<Vec<WorkRow>> {
    let filter = SessionFilter {
        projects: projects.map(<[i64]>::to_vec),
        limit: Some(MOST_SESSIONS),
        ..SessionFilter::default()
    };
    let mut open = open_work(store, index, "", projects)?;
    let mut found = Vec::new();
    for session in store.sessions(&filter)? {
        let made = MemoryFilter { session: Some(session.row), ..MemoryFilter::default() };
        let made = store.memories(&made)?;
        // Programs ask agents single questions: such a session is no work that was left.
        if session.turns < 2 && made.iter().all(|memory| memory.kind == MemoryKind::Summary) {
            continue;
        }
        let left = open.iter_mut().find(|row| row.session.row == session.row);
        let steps = left.map(|row| std::mem::take(&mut row.steps)).unwrap_or_default();
        found.push(WorkRow { steps, ..WorkRow::at(session.ended, session) });
        if found.len() == LATEST {
            break;
        }
    }
    Ok(found)
}

/// The time under which a session is listed that ended then: one of several days under the last of them before `until`.
fn within(ended: Timestamp, until: Timestamp) -> Timestamp {
    let last = Timestamp::from_millisecond(until.as_millisecond() - 1);
    last.map_or(ended, |last| ended.min(last))
}

/// Returns the last session before a time in these projects (in all of them where `None`).
///
/// # Errors
/// Fails if the store cannot be read.
pub fn last_before(
    store: &Store,
    time: Timestamp,
    projects: Option<&[i64]>,
) -> Result<Option<WorkRow>> {
    let filter = SessionFilter {
        projects: projects.map(<[i64]>::to_vec),
        until: Some(time),
        limit: Some(1),
        ..SessionFilter::default()
    };
    let Some(session) = store.sessions(&filter)?.pop() else { return Ok(None) };
    let done = deeds(store, &session, None, None, MOST_DEEDS / LATEST)?;
    Ok(Some(WorkRow { done, ..WorkRow::at(session.ended, session) }))
}

/// The steps that sessions left open or recorded, about the words that are asked for, and what no later session did of them.
fn open_work(
    store: &Store,
    index: &TextIndex,
    of: &str,
    projects: Option<&[i64]>,
) -> Result<Vec<WorkRow>> {
    let filter = MemoryFilter {
        projects: projects.map(<[i64]>::to_vec),
        kinds: Some(vec![MemoryKind::Summary]),
        limit: Some(WITH_OPEN_WORK),
        ..MemoryFilter::default()
    };
    let mut summaries: Vec<(Option<i64>, Option<i64>, Summary)> = Vec::new();
    for memory in store.memories(&filter)? {
        if let MemoryBody::Summary(summary) = store.body_of(&memory)? {
            summaries.push((memory.session, memory.project, *summary));
        }
    }
    let asked = part_of_work(of);
    let titles: HashMap<i64, &str> = summaries
        .iter()
        .filter_map(|(session, _, summary)| Some(((*session)?, summary.title.as_str())))
        .collect();
    // A list may be about more than the session that recorded it.
    let names = |session: i64, step: &str, is_alone: bool| {
        let title = titles.get(&session).copied().filter(|_| is_alone).unwrap_or_default();
        let told = part_of_work(&format!("{step} {title}"));
        let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
        let is_same = asked.iter().filter(is_number).all(|number| told.contains(number));
        asked.is_empty() || is_same && share(&asked, &told) >= NAMED
    };
    let mut open: Vec<(i64, Option<Timestamp>, Vec<String>)> = Vec::new();
    for (place, (session, project, summary)) in summaries.iter().enumerate() {
        let later = summaries[..place].iter().filter(|(_, other, _)| other == project);
        let later: Vec<&Summary> = later.map(|(_, _, summary)| summary).collect();
        if let (Some(session), Some(Some(step))) = (session, still_open(summary, &later))
            && names(*session, step, true)
        {
            open.push((*session, None, vec![step.to_owned()]));
        }
    }
    for mut list in recorded(store, index, projects)? {
        let later: Vec<&Summary> = summaries
            .iter()
            .filter(|(session, project, summary)| {
                *session != Some(list.session) && *project == list.project && summary.at > list.at
            })
            .map(|(_, _, summary)| summary)
            .collect();
        let is_alone = list.steps.len() == 1;
        list.steps.retain(|step| names(list.session, step, is_alone) && !was_done(step, &later));
        if !list.steps.is_empty() {
            open.push((list.session, list.at, list.steps));
        }
    }
    let rows = open.iter().map(|(session, ..)| *session).collect();
    let sessions = sessions_by_row(store, rows)?;
    let mut found: Vec<WorkRow> = Vec::new();
    for (session, at, steps) in open {
        let Some(session) = sessions.get(&session) else { continue };
        match found.iter_mut().find(|row| row.session.row == session.row) {
            Some(row) => row.steps.extend(steps),
            None => {
                let at = at.or(session.ended);
                found.push(WorkRow { steps, ..WorkRow::at(at, session.clone()) });
            }
        }
    }
    found.sort_by(|a, b| b.at.cmp(&a.at).then(a.session.row.cmp(&b.session.row)));
    found.truncate(MOST_SESSIONS);
    Ok(found)
}

/// The words that name a part of the work: those of a step, and numbers.
fn part_of_work(text: &str) -> HashSet<String> {
    let numbers = text.split(|c: char| !c.is_alphanumeric());
    let numbers = numbers.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let kept = text.split_whitespace().filter(|word| !VAGUE.contains(word));
    let mut found = words(&kept.collect::<Vec<_>>().join(" "));
    found.extend(numbers.map(str::to_owned));
    found
}

fn touched(
    store: &Store,
    index: &TextIndex,
    file: &str,
    projects: Option<&[i64]>,
) -> Result<Vec<WorkRow>> {
    let filter = IndexFilter { projects: projects.map(<[i64]>::to_vec), ..IndexFilter::default() };
    let no_words = QueryTerms::default();
    let mut rows = index.ask(&no_words, &filter)?.rows_touching(&[file.to_owned()])?;
    let surplus = rows.len().saturating_sub(MOST_TOUCHES);
    rows.drain(..surplus);
    let mut latest: HashMap<i64, Option<Timestamp>> = HashMap::new();
    for passage in store.passages_of_rows(&rows)? {
        let at = latest.entry(passage.session).or_default();
        *at = (*at).max(passage.at);
    }
    let sessions = sessions_by_row(store, latest.keys().copied().collect())?;
    let mut found: Vec<WorkRow> = sessions
        .into_values()
        .map(|session| WorkRow::at(latest.get(&session.row).copied().flatten(), session))
        .collect();
    found.sort_by(|a, b| b.at.cmp(&a.at).then(a.session.row.cmp(&b.session.row)));
    found.truncate(MOST_SESSIONS);
    Ok(found)
}

/// Returns the sessions of these rows, by row.
///
/// # Errors
/// Fails if the store cannot be read.
pub(crate) fn sessions_by_row(store: &Store, rows: Vec<i64>) -> Result<HashMap<i64, SessionRow>> {
    let filter = SessionFilter { rows: Some(rows), ..SessionFilter::default() };
    Ok(store.sessions(&filter)?.into_iter().map(|session| (session.row, session)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> String {
        let now: Timestamp = "2026-03-12T10:00:00Z".parse().unwrap();
        match work_question(query, now, &TimeZone::UTC) {
            Some(WorkQuestion::Done { from, until, of }) => {
                let (from, until) = (from.to_string(), until.to_string());
                format!("done {} {} {of}", &from[..10], &until[..10]).trim_end().to_owned()
            }
            Some(other) => format!("{other:?}"),
            None => "words".to_owned(),
        }
    }

    #[test]
    fn questions_about_work_are_told_from_others() {
        for (query, wanted) in [
            ("what did I work on last week", "done 2026-03-02 2026-03-09"),
            ("what happened on February 12?", "done 2026-02-12 2026-02-13"),
            ("yesterday", "done 2026-03-11 2026-03-12"),
            ("Was haben wir am 13. Februar gemacht?", "done 2026-02-13 2026-02-14"),
            ("what is still to do", r#"Open { of: "" }"#),
            ("what is still to do in rocket?", r#"Open { of: "rocket" }"#),
            ("Was ist noch zu tun?", r#"Open { of: "" }"#),
            ("when did we last touch src/main.rs?", r#"Touched { file: "src/main.rs" }"#),
            ("when was CHANGELOG.md last updated", r#"Touched { file: "CHANGELOG.md" }"#),
            ("what did we change on March 1 in rocket", "done 2026-03-01 2026-03-02 rocket"),
            ("what was I thinking about on March 1", "done 2026-03-01 2026-03-02"),
            ("what happened on the rocket branch on March 1", "done 2026-03-01 2026-03-02 rocket"),
            ("why did the import of big files fail last week", "words"),
            ("what did we decide about the lock", "words"),
            ("what did we postpone of the parser", r#"Open { of: "parser" }"#),
            ("why was the parser postponed", "words"),
            ("what's left on the parser", r#"Open { of: "parser" }"#),
            ("june 22 - what were we busy with", "done 2025-06-22 2025-06-23"),
            ("what was I building in September 2025", "done 2025-09-01 2025-10-01"),
            ("what remains to be done?", r#"Open { of: "" }"#),
            ("where did I leave off", r#"Latest { of: "" }"#),
            ("what were we working on in rocket", r#"Latest { of: "rocket" }"#),
            ("what did I do last week", "done 2026-03-02 2026-03-09"),
            ("when was the last time that the nightly build of main failed", "words"),
            ("which next steps did the review of the parser and lexer name last year", "words"),
            ("", "words"),
        ] {
            assert_eq!(read(query), wanted, "{query}");
        }
    }

    #[test]
    fn a_session_is_listed_under_a_day_that_was_asked_about() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let until = time("2026-02-14T00:00:00Z");
        assert_eq!(within(time("2026-02-15T03:00:00Z"), until), time("2026-02-13T23:59:59.999Z"));
        assert_eq!(within(time("2026-02-13T10:00:00Z"), until), time("2026-02-13T10:00:00Z"));
    }

    #[test]
    fn the_words_of_a_date_leave_the_query() {
        let now: Timestamp = "2026-03-12T10:00:00Z".parse().unwrap();
        let rest = |query: &str| without_date(query, now, &TimeZone::UTC);
        assert_eq!(rest("why did the import fail last week"), "why did the import fail ");
        assert_eq!(rest("what happened yesterday"), "what happened yesterday");
        assert_eq!(rest("the lock"), "the lock");
    }

    proptest! {
        #[test]
        fn any_text_is_read(query in "(\\PC|[\u{3000}\u{2003}\u{a0}\u{85}]|last |when |touch |yesterday){0,40}") {
            let now: Timestamp = "2026-03-12T10:00:00Z".parse().unwrap();
            work_question(&query, now, &TimeZone::UTC);
            without_date(&query, now, &TimeZone::UTC);
        }
    }
}
