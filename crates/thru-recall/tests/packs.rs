//! Packs of a project with years of history: they hold what counts, within every limit.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::time::Duration;

use jiff::tz::TimeZone;
use thru_core::{
    Agent, Concept, Digest, FileState, Id, Layout, MemoryKind, Observation, ObservationType,
    ProjectKey, SessionFacts, SessionId, SessionKey, SourceKind, Speaker, Statement, Summary,
    Timestamp, WorkOutcome, estimated_tokens,
};
use thru_recall::{
    Disk, Gap, LONGEST_PACK, Limits, MeaningUse, Occasion, Pack, PackRequest, PendingEmbedding,
    Presence, SearchRequest, SearchResults, pack, search, without_embedding,
};
use thru_redact::{Redactor, Report};
use thru_store::index::{Collection, IndexWriter, TextIndex};
use thru_store::vectors::{ModelFolder, VectorWriter};
use thru_store::{MemoryRow, NewMemory, Store};

const NOW: &str = "2026-11-20T12:00:00Z";
const PLACE: &str = "/home/ada/rocket";

/// A disk with one file changed an hour ago, and all others years ago.
struct Working(&'static str);

impl Disk for Working {
    fn look(&self, path: &str, _root: Option<&str>) -> Presence {
        let at = if path == self.0 { "2026-11-20T11:00:00Z" } else { "2020-01-01T00:00:00Z" };
        Presence::There { modified: at.parse().ok() }
    }

    fn content(&self, _path: &str, _root: Option<&str>) -> Option<Id> {
        None
    }
}

struct Memory {
    folder: tempfile::TempDir,
    store: Store,
    sessions: usize,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let generation = Id::derive(&[b"test"]);
        let store = Store::open_to_write(&layout, generation, &mut |_, _, _| {}).unwrap();
        Self { folder, store, sessions: 0 }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.folder.path())
    }

    /// Writes a session with these observations, and a summary of how it ended; returns its row.
    fn session(&mut self, branch: &str, observations: &[Observation], summary: Summary) -> i64 {
        self.sessions += 1;
        let id = SessionId::new(format!("session-{}", self.sessions));
        let batch_key = SessionKey { agent: Agent::ClaudeCode, id };
        let mut batch = self.store.begin().unwrap();
        let row = batch.session(&batch_key).unwrap();
        let entry = format!("claude-code/{}.jsonl", self.sessions);
        let source = batch.source(&entry, &entry, SourceKind::Main, Some(row)).unwrap();
        let facts = SessionFacts {
            directory: Some(PLACE.to_owned()),
            branch: Some(branch.to_owned()),
            last: summary.at,
            ..SessionFacts::default()
        };
        batch.merge_facts(row, source, facts).unwrap();
        batch.directory(PLACE, &ProjectKey::directory(PLACE)).unwrap();
        batch.place_session(row, PLACE).unwrap();
        let mut memories: Vec<NewMemory> = observations
            .iter()
            .map(|observation| {
                let files = observation.files_modified.iter().map(|path| FileState {
                    path: path.clone(),
                    modified: true,
                    at: observation.at,
                    content: None,
                });
                NewMemory::observation(observation, false, files.collect())
            })
            .collect();
        memories.push(NewMemory::summary(&summary, Vec::new()));
        let memories = Redactor::builtin().clean_text("", &mut Report::default()).map(|_| memories);
        batch.put_memories(row, Some(&summary.title), &memories).unwrap();
        batch.commit().unwrap();
        row
    }

    fn index(&mut self) {
        let mut index = IndexWriter::open(&self.layout(), &self.store, 1, 20_000_000).unwrap();
        index.catch_up(&self.store).unwrap();
        index.commit().unwrap();
        index.finish().unwrap();
    }

    fn pack(&self, occasion: Occasion, session: Option<i64>, limits: Limits) -> Pack {
        self.pack_meaning(occasion, session, limits, without_embedding("sealed"))
    }

    fn pack_meaning(
        &self,
        occasion: Occasion,
        session: Option<i64>,
        limits: Limits,
        meaning: PendingEmbedding<'_>,
    ) -> Pack {
        let key = ProjectKey::directory(PLACE);
        let project = self.store.project_by_key(&key).unwrap();
        let request = PackRequest {
            projects: project.into_iter().collect(),
            project: Some("rocket".to_owned()),
            occasion,
            session,
            told: Default::default(),
            snapshot: None,
            branch: Some("feat/retry".to_owned()),
            now: NOW.parse().unwrap(),
            zone: TimeZone::UTC,
            disk: &Working("/home/ada/rocket/src/lock.rs"),
            limits,
        };
        pack(&self.layout(), &self.store, &Redactor::builtin(), &request, meaning).unwrap()
    }

    /// Gives every memory a vector: that in whose title this stands the vector `near`, all others one
    /// that has nothing to do with any question.
    fn embed(&self, title: &str, near: [f32; 2]) {
        let index =
            TextIndex::open_collection(&self.layout(), &self.store, Collection::Memories).unwrap();
        let texts = index.newest_texts(&self.store, usize::MAX, |_| true).unwrap().newest;
        let rows: Vec<i64> = texts.iter().map(|text| text.row).collect();
        let texts = self.store.keyed_texts(Collection::Memories, &rows).unwrap();
        let vectors = texts.into_iter().map(|text| {
            let [x, y] = if text.text.contains(title) { near } else { [0.0, 1.0] };
            (text.key, vec![vector(x, y)])
        });
        let folder = ModelFolder::at(&self.layout().vectors(), MODEL).unwrap();
        let mut writer = VectorWriter::open(&folder.path, DIMENSIONS, MODEL).unwrap();
        writer.add(vectors.collect()).unwrap();
    }

    fn search(&self, query: &str, limit: usize, meaning: PendingEmbedding<'_>) -> SearchResults {
        let request = SearchRequest {
            query: query.to_owned(),
            limit,
            memories: 3,
            ..SearchRequest::default()
        };
        search(&self.layout(), &self.store, &Redactor::builtin(), &request, meaning).unwrap()
    }
}

/// The name of an invented model, and the dimensions of its vectors.
const MODEL: &str = "by-hand";
const DIMENSIONS: usize = 8;

fn vector(x: f32, y: f32) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    (vector[0], vector[1]) = (x, y);
    vector
}

/// A query embedding along the first axis.
fn meant<'a>() -> PendingEmbedding<'a> {
    Box::new(|| Ok((MODEL.to_owned(), vector(1.0, 0.0))))
}

fn observation(title: &str, kind: ObservationType, at: &str) -> Observation {
    Observation {
        files_modified: vec![format!("{PLACE}/src/other.rs")],
        sources: vec![Id::derive(&[b"passage", title.as_bytes()])],
        at: at.parse().ok(),
        raw_tokens: 1_000,
        ..Observation::new(Id::derive(&[title.as_bytes()]), 1, kind, title.to_owned())
    }
}

fn summary(title: &str, at: &str, outcome: WorkOutcome) -> Summary {
    let said = |text: &str| Statement {
        text: text.to_owned(),
        sources: vec![Id::derive(&[text.as_bytes()])],
    };
    Summary {
        sections: Default::default(),
        id: Id::derive(&[b"summary", title.as_bytes()]),
        title: title.to_owned(),
        digest: Digest {
            request: Some(said("Make the uploads survive a locked database")),
            completed: vec![said("Retries wait with jitter")],
            next_steps: vec![said("Measure it under load")],
            outcome,
            ..Digest::default()
        },
        turns: Vec::new(),
        at: at.parse().ok(),
        raw_tokens: 1_000,
    }
}

fn day(number: i64) -> String {
    let now: Timestamp = NOW.parse().unwrap();
    Timestamp::from_second(now.as_second() - number * 86_400).unwrap().to_string()
}

/// Three years of housekeeping, with a decision, a rule and some unfinished work in them.
fn three_years() -> Memory {
    let mut memory = Memory::new();
    for number in (1..=700).rev() {
        let at = day(number);
        let chore = format!("Bump dependency number {number} of the lock file");
        let mut observations = vec![observation(&chore, ObservationType::Change, &at)];
        let mut outcome = WorkOutcome::Completed;
        let mut branch = "main";
        match number {
            690 => {
                let title = "Lock per file, because one lock for all made projects wait";
                let mut old = observation(title, ObservationType::Decision, &at);
                old.files_modified = vec![format!("{PLACE}/src/lock.rs")];
                observations.push(old);
            }
            600 => {
                let mut rule = observation(
                    "Always run cargo fmt before committing",
                    ObservationType::Decision,
                    &at,
                );
                rule.is_rule = true;
                rule.speaker = Speaker::Person;
                rule.concepts.insert(Concept::Pattern);
                observations.push(rule);
            }
            5 => outcome = WorkOutcome::Blocked,
            40 => {
                branch = "feat/retry";
                observations.push(observation(
                    "Give the retry loop a budget of two seconds",
                    ObservationType::Feature,
                    &at,
                ));
            }
            _ => {}
        }
        memory.session(branch, &observations, summary(&format!("Session {number}"), &at, outcome));
    }
    memory.index();
    memory
}

fn memories(pack: &Pack) -> impl Iterator<Item = &MemoryRow> {
    pack.lines.iter().filter_map(|line| line.memory.as_ref())
}

fn titles(pack: &Pack) -> Vec<&str> {
    memories(pack).map(|memory| memory.title.as_str()).collect()
}

#[test]
fn years_of_history_are_told_by_value_and_within_every_limit() {
    let memory = three_years();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let told = titles(&pack);
    for wanted in ["Always run cargo fmt before committing", "Session 1"] {
        assert!(told.contains(&wanted), "{wanted}: {}", pack.text.get());
    }
    // A decision of years ago about other files is left to questions.
    assert!(!told.iter().any(|title| title.starts_with("Lock per file")), "{}", pack.text.get());
    assert!(!pack.text.get().contains("Session 2"), "{}", pack.text.get());
    assert_eq!(pack.tokens, estimated_tokens(pack.text.get()));
    for tokens in [200, 400, 10_000] {
        let limits = Limits { start_tokens: tokens, observations: 200, ..Limits::default() };
        let pack = memory.pack(Occasion::Start, None, limits);
        assert!(pack.tokens <= tokens, "{} of {tokens}", pack.tokens);
        assert!(pack.text.get().chars().count() <= LONGEST_PACK);
        let told = titles(&pack);
        for wanted in [
            "Lock per file, because one lock for all made projects wait",
            "Give the retry loop a budget of two seconds",
        ] {
            assert_eq!(told.contains(&wanted), tokens > 400, "{wanted}: {}", pack.text.get());
        }
    }
}

#[test]
fn what_a_later_session_on_the_branch_saw_is_not_told_as_left_open() {
    let mut memory = Memory::new();
    let mut works = |branch: &str, title: &str, next: &str, days_ago: i64, outcome| {
        let at = day(days_ago);
        let done = observation(&format!("{title} is in place"), ObservationType::Change, &at);
        let mut summary = summary(title, &at, outcome);
        summary.digest.next_steps[0].text = next.to_owned();
        summary.digest.completed.clear();
        memory.session(branch, &[done], summary);
    };
    let unseen = "Not committed yet: feat: weigh the shelves";
    works("feat/scale", "Scales of the shelves", unseen, 2, WorkOutcome::Blocked);
    works("feat/gauge", "Gauge of the tank", "Calibrate `sensor.rs`", 3, WorkOutcome::Blocked);
    works("feat/lid", "Lid of the tank", "Final review", 3, WorkOutcome::Blocked);
    works("main", "Table of the pumps", "Sort it by pressure", 2, WorkOutcome::Blocked);
    works("main", "Colours of the valves", "None", 1, WorkOutcome::Completed);
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let open: Vec<&str> = pack
        .lines
        .iter()
        .filter(|line| line.reason.contains("did not finish"))
        .filter_map(|line| Some(line.memory.as_ref()?.title.as_str()))
        .collect();
    assert_eq!(open, ["Gauge of the tank"], "{}", pack.text.get());
}

#[test]
fn a_commit_that_the_last_session_did_not_see_made_is_not_told_as_next() {
    let mut memory = Memory::new();
    let mut built = summary("Bound the retries", &day(1), WorkOutcome::InProgress);
    built.digest.next_steps[0].text = "Not committed yet: feat: bound the retries".to_owned();
    memory.session("main", &[], built);
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let text = pack.text.get();
    assert!(text.contains("Bound the retries") && !text.contains("Not committed yet"), "{text}");
}

#[test]
fn a_request_that_was_given_up_is_no_last_session() {
    let mut memory = Memory::new();
    let built = summary("Bound the retries", &day(2), WorkOutcome::Completed);
    memory.session("main", &[], built);
    let mut given_up = summary("Look at the gauges", &day(1), WorkOutcome::Abandoned);
    given_up.digest.completed.clear();
    given_up.digest.next_steps.clear();
    memory.session("main", &[], given_up);
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    assert_eq!(titles(&pack).first(), Some(&"Bound the retries"), "{}", pack.text.get());
}

#[test]
fn earlier_sessions_are_told_on_their_branch() {
    let mut memory = Memory::new();
    let mut works = |branch: &str, title: &str, days_ago: i64| {
        let at = day(days_ago);
        let done = observation(&format!("{title} is in place"), ObservationType::Change, &at);
        memory.session(branch, &[done], summary(title, &at, WorkOutcome::Completed));
    };
    works("feat/retry", "Count the retries", 3);
    works("main", "Paint the gauges", 2);
    works("feat/retry", "Bound the retries", 1);
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let told = |title: &str| pack.text.get().contains(title);
    assert!(told("Bound the retries") && told("Count the retries"), "{}", pack.text.get());
    assert!(!told("Paint the gauges"), "{}", pack.text.get());
}

#[test]
fn a_start_is_told_how_the_last_session_ended_and_what_still_holds() {
    let mut memory = Memory::new();
    let said = |text: &str| {
        Some(Statement { text: text.to_owned(), sources: vec![Id::derive(&[text.as_bytes()])] })
    };
    let person = |title: &str, at: &str| Observation {
        speaker: Speaker::Person,
        ..observation(title, ObservationType::Decision, at)
    };
    let at = day(9);
    let general = person("Any gauge may be read twice", &at);
    let past = person("The third tank is painted blue", &at);
    let carried_out = person("Approved the plan: Gauges for every tank", &at);
    let built = summary("Gauges for every tank", &at, WorkOutcome::Completed);
    memory.session("feat/gauges", &[general, past, carried_out], built);
    let at = day(2);
    let report = said("The pump starts dry no more; `make bench` shows 40 ms.");
    let primed = Observation {
        report: report.clone(),
        ..observation("Prime the pump before it starts", ObservationType::Bugfix, &at)
    };
    let found = Observation {
        report,
        ..observation("The pump.rs valve opens too late", ObservationType::Discovery, &at)
    };
    let mut last = summary("Starts of the pump", &at, WorkOutcome::InProgress);
    last.digest.state = said("PR #12 merged");
    memory.session("fix/pump", &[primed, found], last);
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let lines: Vec<&str> = pack.lines.iter().map(|line| line.text.get().as_str()).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Starts of the pump (2026-11-18 on fix/pump, PR #12 merged): The pump starts dry no more; `make bench` shows 40 ms.
    Next: Measure it under load
    The user decided: Any gauge may be read twice [src/other.rs] (2026-11-11)
    ");
}

#[test]
fn a_title_stands_with_the_report_of_its_own_turn() {
    let at = day(1);
    let did = |turn: u32, title: &str, report: &str, file: &str| Observation {
        turn,
        report: Some(Statement { text: report.to_owned(), sources: Vec::new() }),
        files_modified: vec![format!("/home/ada/rocket/src/{file}")],
        ..observation(title, ObservationType::Feature, &at)
    };
    let work = [
        did(
            1,
            "Bound the retries",
            "They end after two seconds. `src/a.rs` — Adds a budget.",
            "a.rs",
        ),
        did(2, "Log the pauses", "Each pause stands in the log with its length.", "log.rs"),
        did(3, "Note what to log later", "The note is in the list.", "todo.md"),
    ];
    let told = |branch: &str| {
        let mut memory = Memory::new();
        let mut last = summary("Bound the retries", &at, WorkOutcome::Completed);
        last.digest.next_steps.clear();
        memory.session(branch, &work, last);
        memory.index();
        let pack = memory.pack(Occasion::Start, None, Limits::default());
        let lines: Vec<&str> = pack.lines.iter().map(|line| line.text.get().as_str()).collect();
        lines.join("\n")
    };
    insta::assert_snapshot!(told("main"), @"Bound the retries (2026-11-19, completed): They end after two seconds.");
    insta::assert_snapshot!(told("feat/retry"), @"
    Bound the retries (2026-11-19, completed): They end after two seconds.
    Then: Log the pauses: Each pause stands in the log with its length.
    ");
}

#[test]
fn filters_leave_out_what_is_not_wanted() {
    let memory = three_years();
    let feature = MemoryKind::Observation(ObservationType::Feature);
    let limits = Limits { kinds: vec![feature], last_summary: false, ..Limits::default() };
    let pack = memory.pack(Occasion::Start, None, limits);
    let others = memories(&pack).filter(|memory| {
        memory.kind != feature && memory.kind != MemoryKind::Summary && !memory.flags.is_rule
    });
    assert_eq!(others.count(), 0, "{}", pack.text.get());
    assert!(!pack.text.get().contains("Last session"));
    let limits = Limits { observations: 3, start_tokens: 5_000, ..Limits::default() };
    let pack = memory.pack(Occasion::Start, None, limits);
    let observations = memories(&pack)
        .filter(|memory| memory.kind != MemoryKind::Summary && !memory.flags.is_rule);
    assert_eq!(observations.count(), 3);
}

#[test]
fn a_resumed_session_is_told_what_happened_since_and_a_compacted_one_of_itself() {
    let memory = three_years();
    let sessions = memory.store.memories(&thru_store::MemoryFilter::default()).unwrap();
    let session =
        |title: &str| sessions.iter().find(|memory| memory.title == title).unwrap().session;
    let pack = memory.pack(Occasion::Resume, session("Session 3"), Limits::default());
    assert!(titles(&pack).contains(&"Session 1"), "{}", pack.text.get());
    assert!(!pack.text.get().contains("number 4 ") && pack.tokens <= 500);
    let limits = Limits { idle_timeout: Duration::from_hours(48), ..Limits::default() };
    let pack = memory.pack(Occasion::Resume, session("Session 1"), limits);
    assert_eq!(
        (pack.text.get().as_str(), pack.note.as_str()),
        ("", "silent: nothing happened since")
    );
    let pack = memory.pack(Occasion::Compact, session("Session 40"), Limits::default());
    assert!(pack.text.get().contains("This session so far"), "{}", pack.text.get());
    assert!(titles(&pack).contains(&"Give the retry loop a budget of two seconds"));
    assert!(!pack.text.get().contains("number 39 "));
}

#[test]
fn a_prompt_is_given_what_bears_on_it_or_nothing() {
    let memory = three_years();
    let prompt =
        |text: &str| memory.pack(Occasion::Prompt(text.to_owned()), None, Limits::default());
    let pack = prompt("why do we lock per file and not with one lock for all projects?");
    assert_eq!(titles(&pack), ["Lock per file, because one lock for all made projects wait"]);
    assert!(pack.tokens <= 500);
    for silent in ["continue", "write a haiku about the sea", "center the heading with css"] {
        assert_eq!(prompt(silent).text.get(), "", "{silent}");
    }
}

#[test]
fn a_prompt_is_given_the_latest_note_on_the_same_work() {
    let mut memory = Memory::new();
    for (title, days_ago) in [
        ("Design the handover of the kiln gauges", 3),
        ("Simplify the design: handover of kiln gauges by file", 2),
        ("Paint the shelves", 1),
    ] {
        let at = day(days_ago);
        let done = observation(title, ObservationType::Change, &at);
        memory.session("main", &[done], summary(title, &at, WorkOutcome::Completed));
    }
    memory.index();
    let prompt = Occasion::Prompt("how did we design the handover of the kiln gauges?".to_owned());
    let pack = memory.pack(prompt, None, Limits::default());
    assert_eq!(titles(&pack), ["Simplify the design: handover of kiln gauges by file"]);
}

#[test]
fn words_and_meaning_together_bear_on_a_prompt_where_each_is_too_little() {
    let memory = three_years();
    memory.embed("retry loop", [0.4, 0.9]);
    let prompt = || {
        Occasion::Prompt(
            "who decided how long the loop goes on before an upload is given up".into(),
        )
    };
    let titles_with = |meaning| {
        let pack = memory.pack_meaning(prompt(), None, Limits::default(), meaning);
        titles(&pack).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(titles_with(without_embedding("sealed")).is_empty());
    assert_eq!(titles_with(meant()), ["Give the retry loop a budget of two seconds"]);
}

#[test]
fn a_silent_prompt_does_not_wait_for_its_embedding() {
    let memory = three_years();
    for silent in ["continue", "center the heading with css"] {
        let meaning = Box::new(|| panic!("asked what it means"));
        let occasion = Occasion::Prompt(silent.to_owned());
        memory.pack_meaning(occasion, None, Limits::default(), meaning);
    }
    assert!(thru_recall::calls_for_memory("why does the retry wait"));
    assert!(!thru_recall::calls_for_memory("continue"));
}

#[test]
fn memories_are_found_by_meaning_alone_where_it_is_very_near() {
    let memory = three_years();
    let question = "patience exhausted, abandon";
    for (near, is_found, is_confident) in
        [([0.6, 0.8], true, true), ([0.52, 0.854], true, false), ([0.4, 0.916], false, false)]
    {
        let _ = std::fs::remove_dir_all(memory.layout().vectors());
        memory.embed("retry loop", near);
        for limit in [0, 5] {
            let answer = memory.search(question, limit, meant());
            let found: Vec<&str> =
                answer.memories.iter().map(|found| found.title.get().as_str()).collect();
            let expected = ["Give the retry loop a budget of two seconds"];
            assert_eq!(found, expected[..usize::from(is_found)], "{near:?}");
            assert_eq!(answer.is_confident(), is_confident, "{near:?}");
            assert!(
                matches!(answer.meaning_use, MeaningUse::Compared { .. }),
                "{:?}",
                answer.meaning_use
            );
        }
        assert!(memory.search(question, 0, without_embedding("sealed")).memories.is_empty());
    }
}

#[test]
fn an_answer_of_another_time_than_was_asked_about_is_not_sure() {
    let memory = three_years();
    let ask = |when| {
        let query = "the budget of the retry loop".to_owned();
        let request =
            SearchRequest { query, limit: 5, memories: 3, when, ..SearchRequest::default() };
        let meaning = without_embedding("sealed");
        search(&memory.layout(), &memory.store, &Redactor::builtin(), &request, meaning).unwrap()
    };
    let whenever = ask(None);
    assert!(whenever.is_confident() && whenever.gaps.is_empty());
    let at = whenever.memories[0].hit.memory.at.unwrap().as_millisecond();
    assert!(ask(Some((at, at + 1))).is_confident());
    let long_before = ask(Some((0, 1)));
    assert!(!long_before.is_confident());
    assert_eq!(long_before.gaps, [Gap::OtherTime]);
}

/// A decision of a person.
fn said(title: &str, days_ago: i64, is_rule: bool) -> Observation {
    let mut said = observation(title, ObservationType::Decision, &day(days_ago));
    said.speaker = Speaker::Person;
    said.is_rule = is_rule;
    said.concepts.insert(Concept::Pattern);
    said
}

#[test]
fn rules_hold_until_a_later_one_about_the_same_thing() {
    let mut memory = Memory::new();
    for (days, said) in [
        (9, said("Always use npm", 9, true)),
        (8, said("Always run the linter before committing", 8, true)),
        (7, said("Refused `just test:all`: too slow", 7, false)),
        (6, said("Keep the old importer for a while", 6, false)),
        (2, said("From now on use pnpm instead of npm", 2, true)),
        (1, said("Refused `just test:all`: use the unit tests", 1, false)),
    ] {
        let at = day(days);
        let title = format!("Session of {days} days ago");
        memory.session("main", &[said], summary(&title, &at, WorkOutcome::Completed));
    }
    memory.index();
    let pack = memory.pack(Occasion::Start, None, Limits::default());
    let lines: Vec<&str> = pack.text.get().lines().collect();
    let told = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(told("Always use npm"), 0, "{lines:?}");
    assert_eq!(told("From now on use pnpm"), 1, "{lines:?}");
    assert_eq!(told("Always run the linter"), 1, "{lines:?}");
    // Wished in two sessions: a rule, told once.
    let rules: Vec<&&str> = lines.iter().filter(|line| line.contains("just test:all")).collect();
    assert!(matches!(rules[..], [rule] if rule.contains('"')), "{rules:?}");
}
