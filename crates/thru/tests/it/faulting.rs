//! What goes wrong around a daemon, and around a session that is being indexed: nothing is lost, nothing
//! is there twice, and the user has to do nothing about it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorded, Recorder, session_key};
use thru_core::{Agent, SessionId, SessionKey, Timestamp};
use thru_journal::journal::Journal;
use thru_lifecycle::Indexing;
use thru_recall::SearchRequest;
use thru_redact::Redactor;
use thru_store::{Episode, SessionState, Store};

use crate::home::Home;
use crate::hooking::{bash, hook, layout, prompt, stop, transcript};
use crate::records::{Author, ONE, TWO};

/// A daemon of a home, killed when dropped.
pub(crate) struct Daemon(Child);

impl Daemon {
    /// Starts one, and waits until it answers.
    pub(crate) fn of(home: &Home) -> Self {
        Self::by(home, home.command().args(["daemon", "run"]))
    }

    fn by(home: &Home, command: &mut Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let daemon = Self(child);
        eventually(|| status(home)["state"] == "running");
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn status(home: &Home) -> Value {
    home.json(&["daemon", "status", "--json"])
}

/// Waits until something holds; fails where it never does.
#[track_caller]
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "it never happened");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What was said with these words, as far as the store has it by now.
fn passages(home: &Home, words: &str) -> usize {
    // A daemon that has just been started makes the store at this moment.
    let Ok(store) = Store::open_to_read(&layout(home)) else { return 0 };
    let request = SearchRequest { query: words.to_owned(), limit: 50, ..SearchRequest::default() };
    let results = thru_recall::search(
        &layout(home),
        &store,
        &Redactor::builtin(),
        &request,
        thru_recall::without_embedding("not asked"),
    );
    results.map_or(0, |results| results.sessions.iter().map(|session| session.hits.len()).sum())
}

fn session_state(home: &Home, session: &str) -> (SessionState, Vec<Episode>) {
    let store = Store::open_to_read(&layout(home)).unwrap();
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) };
    let row = store.session_by_key(&key).unwrap().unwrap();
    (store.session_state(row).unwrap().unwrap(), store.episodes(row).unwrap())
}

/// The one episode that a session is indexed as now.
#[track_caller]
fn in_use(home: &Home, session: &str) -> Episode {
    let (state, episodes) = session_state(home, session);
    assert_eq!(state.indexing, Indexing::Indexed);
    let mut used = episodes.into_iter().filter(|episode| episode.retired.is_none());
    let episode = used.next().unwrap();
    assert!(used.next().is_none(), "two episodes are in use");
    assert_eq!(Some(episode.content), state.content.map(|content| content.hash));
    episode
}

fn said(session: &str, text: &str) -> String {
    Author::of(session).asks(text).says("Done.").text()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The system gives it nothing to watch with: then it looks itself, and says so.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_cannot_watch_polls_and_hooks_tell_it_what_they_know() {
    let home = Home::new();
    let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    let mut command = home.command();
    let program = command.get_program().to_owned();
    // A user of its own, who may watch nothing.
    let mut alone = Command::new("unshare");
    alone.args(["--user", "--map-root-user", "sh", "-c", script]);
    alone.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    alone.env("PATH", "/usr/bin:/bin").current_dir(home.folder().join("work"));
    let allowed = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "true"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: the system cannot limit what a process may watch");
        return;
    }
    command.args(["daemon", "run"]);
    write(&transcript(&home, ONE), &said(ONE, "Why is the periscope fogged?"));
    let _daemon = Daemon::by(&home, alone.arg(program).args(["daemon", "run"]));
    let told = status(&home);
    assert_eq!(told["daemon"]["watching"], "polling", "{told}");
    assert!(told["daemon"]["polling_because"].as_str().is_some_and(|why| !why.is_empty()));
    // What was there already it has looked at.
    eventually(|| passages(&home, "periscope") == 1);
    // What comes later it is told of by hooks, long before it looks again.
    write(&transcript(&home, TWO), &said(TWO, "Where is the sextant kept?"));
    stop(&home, TWO, "Done.");
    eventually(|| passages(&home, "sextant") == 1);
}

/// No watch covers the transcripts of an agent with another home.
#[test]
fn what_no_watcher_sees_comes_with_the_next_hook() {
    let home = Home::new();
    let elsewhere = home.folder().join(format!("elsewhere/{ONE}.jsonl"));
    let _daemon = Daemon::of(&home);
    write(&elsewhere, &said(ONE, "Why does the barometer fall?"));
    hook(&home, ONE, "Stop", json!({ "transcript_path": elsewhere }));
    eventually(|| passages(&home, "barometer") == 1);
    write(
        &elsewhere,
        &(said(ONE, "Why does the barometer fall?") + &later(ONE, "And the hygrometer?")),
    );
    hook(&home, ONE, "Stop", json!({ "transcript_path": elsewhere, "prompt_id": "later" }));
    eventually(|| passages(&home, "hygrometer") == 1);
    assert_eq!(passages(&home, "barometer"), 1);
}

fn later(session: &str, text: &str) -> String {
    Author::of(session).starting_at_record(50).asks(text).says("Done, too.").text()
}

/// What was read is remembered; what is put in its place is read.
#[test]
fn folders_that_are_deleted_while_they_are_watched_take_nothing_with_them() {
    let home = Home::new();
    write(&transcript(&home, ONE), &said(ONE, "Why is the periscope fogged?"));
    let _daemon = Daemon::of(&home);
    eventually(|| passages(&home, "periscope") == 1);
    // A project's folder, …
    fs::remove_dir_all(transcript(&home, ONE).parent().unwrap()).unwrap();
    write(&transcript(&home, TWO), &said(TWO, "Where is the sextant kept?"));
    eventually(|| passages(&home, "sextant") == 1);
    // … then the whole tree, twice.
    for (session, word) in [
        ("44444444-dddd-4ddd-8ddd-000000000004", "barometer"),
        ("55555555-eeee-4eee-8eee-000000000005", "hygrometer"),
    ] {
        fs::remove_dir_all(home.claude().join("projects")).unwrap();
        write(&transcript(&home, session), &said(session, &format!("Where is the {word}?")));
        eventually(|| passages(&home, word) == 1);
    }
    assert_eq!((passages(&home, "periscope"), passages(&home, "sextant")), (1, 1));
    assert_eq!(status(&home)["daemon"]["watching"], "events");
    home.thru(&["daemon", "stop"]).expect(0);
    home.thru(&["verify"]).expect(0);
}

/// A disk of some megabytes, where root may mount one.
#[cfg(target_os = "linux")]
pub(crate) struct SmallDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    pub(crate) fn mount(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(at.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// Fills the disk of a home, down to the last page.
#[cfg(target_os = "linux")]
pub(crate) fn fill(home: &Home) -> std::path::PathBuf {
    let path = home.data().join("filler");
    let mut file = fs::File::create(&path).unwrap();
    let mut size = 1024 * 1024;
    while size > 0 {
        if file.write_all(&vec![b'x'; size]).is_err() {
            size /= 2;
        }
    }
    path
}

/// The disk fills up while a session that was indexed is to be indexed anew: it stays what it was, as a
/// whole, and becomes the other when there is room.
#[cfg(target_os = "linux")]
#[test]
fn an_episode_is_replaced_as_a_whole_although_the_disk_is_full() {
    let home = Home::new();
    let Some(_disk) = SmallDisk::mount(&home.data(), "24m") else {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    };
    hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    prompt(&home, ONE, 1, "Why is the periscope fogged?");
    stop(&home, ONE, "It leaks.");
    hook(&home, ONE, "SessionEnd", json!({ "reason": "other" }));
    home.thru(&["intake"]).expect(0);
    let first = in_use(&home, ONE);

    hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    prompt(&home, ONE, 2, "Seal it, then.");
    bash(&home, ONE, "toolu_seal", "seal --all periscope", &"sealed\n".repeat(20_000));
    stop(&home, ONE, "It is sealed.");
    // Were it the same as the first, it would be taken for a copy of it.
    hook(&home, ONE, "SessionEnd", json!({ "reason": "logout" }));
    let filler = fill(&home);
    let failed = home.thru(&["intake"]);
    assert_ne!(failed.code, 0, "{}", failed.shown());
    assert!(failed.stderr.to_lowercase().contains("full"), "{}", failed.shown());
    let (_, episodes) = session_state(&home, ONE);
    assert_eq!(episodes, std::slice::from_ref(&first), "it is what it was, as a whole");

    fs::remove_file(&filler).unwrap();
    home.thru(&["intake"]).expect(0);
    let second = in_use(&home, ONE);
    assert_ne!(second.uuid, first.uuid);
    let (_, episodes) = session_state(&home, ONE);
    let retired: Vec<_> = episodes.iter().filter(|episode| episode.retired.is_some()).collect();
    assert_eq!(retired.len(), 1);
    assert_eq!((retired[0].uuid, retired[0].content), (first.uuid, first.content));
    home.thru(&["verify"]).expect(0);
}

/// A session that is closed is indexed by the command that closes it, also where all of it was brought in
/// and distilled before.
#[test]
fn a_close_indexes_what_it_closes() {
    for _ in 0..20 {
        let home = Home::new();
        hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
        prompt(&home, ONE, 1, "Why is the periscope fogged?");
        stop(&home, ONE, "It leaks.");
        home.thru(&["intake"]).expect(0);
        home.thru(&["close", ONE]).expect(0);
        in_use(&home, ONE);
    }
}

/// An answer never passes over records of hooks that could not be ingested.
#[cfg(target_os = "linux")]
#[test]
fn a_close_on_a_full_disk_does_not_say_that_nothing_happened() {
    let home = Home::new();
    let Some(_disk) = SmallDisk::mount(&home.data(), "24m") else {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    };
    prompt(&home, ONE, 1, "Why is the periscope fogged?");
    hook(&home, ONE, "SessionEnd", json!({ "reason": "other" }));
    home.thru(&["intake"]).expect(0);
    in_use(&home, ONE);
    prompt(&home, ONE, 2, "Seal it, then.");
    bash(&home, ONE, "toolu_seal", "seal --all periscope", &"sealed\n".repeat(20_000));
    let _filler = fill(&home);
    let closed = home.thru(&["close", ONE]);
    assert_ne!(closed.code, 0, "{}", closed.shown());
}

/// Plays a session whose events have these times, in seconds from now, and brings each in as it comes.
fn play_at(home: &Home, times: [i64; 7]) {
    let tool = json!({
        "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": { "command": "look" },
        "tool_response": "fog",
    });
    let asks = |id: &str, text: &str| json!({ "prompt_id": id, "prompt": text });
    let says = |id: &str, text: &str| json!({ "prompt_id": id, "last_assistant_message": text });
    let events = [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", asks("p1", "Why is the periscope fogged?")),
        ("PostToolUse", tool),
        ("Stop", says("p1", "It leaks.")),
        ("UserPromptSubmit", asks("p2", "Seal it, then.")),
        ("Stop", says("p2", "It is sealed.")),
        ("SessionEnd", json!({ "reason": "other" })),
    ];
    let now = Timestamp::now().as_second();
    for ((event, more), offset) in events.into_iter().zip(times) {
        record(home, event, more, Timestamp::from_second(now + offset).unwrap());
        home.thru(&["intake"]).expect(0);
        let (state, _) = session_state(home, ONE);
        assert!(!state.indexing.is_running(), "after {event}");
    }
}

const DAY: i64 = 24 * 3600;

/// The clock goes a day ahead, back, and ahead again in one session: it is indexed once, as what was
/// said in it, and a rebuild says the same.
#[test]
fn a_clock_that_jumps_by_a_day_indexes_a_session_once() {
    let home = Home::new();
    play_at(&home, [-DAY, 1 - DAY, -20, 2 - DAY, 3 - DAY, 4 - DAY, -10]);
    let episode = in_use(&home, ONE);
    assert_eq!(episode.messages, 5);
    assert_eq!(home.json(&["sessions", "--unindexed", "--json"])["sessions"], json!([]));
    home.thru(&["rebuild"]).expect(0);
    let again = in_use(&home, ONE);
    assert_eq!((again.uuid, again.content), (episode.uuid, episode.content));
    home.thru(&["verify"]).expect(0);
}

/// The clock was a day ahead for a moment, and is right again. A close then closes the session.
#[test]
fn a_session_whose_clock_was_ahead_can_be_closed() {
    let home = Home::new();
    play_at(&home, [0, 1, DAY, 2, 3, 4, 5]);
    home.thru(&["close", ONE]).expect(0);
    assert_eq!(in_use(&home, ONE).messages, 5);
}

/// Records an event as its hook would have at that time.
fn record(home: &Home, event: &str, more: Value, at: Timestamp) {
    let payload = crate::hooking::payload(home, ONE, event, more).to_string();
    let input = HookInput::parse(hooks::ADAPTERS[0], event, payload.as_bytes()).unwrap();
    let layout = layout(home);
    let journal = Journal::open(layout.journal(), "test").unwrap();
    let recorder = Recorder { journal: &journal, redactor: &Redactor::builtin(), skip_tools: &[] };
    let session = Session::at(&layout, &session_key(&input));
    let recorded = recorder.record(&input, payload.as_bytes(), &session, at).unwrap();
    assert_eq!(recorded, Recorded::Kept);
}

/// A transcript that no hook tells of.
fn grows_by_itself(home: &Home, session: &str, words: &str) {
    let project = home.project();
    let mut author = Author::of(session).in_directory(project.to_str().unwrap());
    author.asks(words);
    home.write(&crate::records::file(session), author.text());
}

#[test]
fn news_that_came_while_another_process_wrote_is_not_lost() {
    let home = Home::new();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    prompt(&home, TWO, 1, "Begin.");
    let _daemon = Daemon::of(&home);
    eventually(|| passages(&home, "begin") > 0);
    let held = fs::File::options().write(true).open(home.data().join("run/intake.lock")).unwrap();
    held.lock().unwrap();
    grows_by_itself(&home, ONE, "Who saw the heliotrope?");
    // Longer than the daemon waits for another writer.
    std::thread::sleep(Duration::from_secs(8));
    held.unlock().unwrap();
    eventually(|| passages(&home, "heliotrope") > 0);
}

#[test]
fn what_was_written_while_recording_paused_is_read_when_it_goes_on() {
    let home = Home::new();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    prompt(&home, TWO, 1, "Begin.");
    let _daemon = Daemon::of(&home);
    eventually(|| passages(&home, "begin") > 0);
    home.thru(&["capture", "pause"]).expect(0);
    grows_by_itself(&home, ONE, "Who saw the heliotrope?");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(passages(&home, "heliotrope"), 0);
    home.thru(&["capture", "resume"]).expect(0);
    eventually(|| passages(&home, "heliotrope") > 0);
}

/// Events that a full disk swallowed are told while they are lost, and counted until there is room.
#[cfg(target_os = "linux")]
#[test]
fn events_lost_on_a_full_disk_are_counted_and_told() {
    let home = Home::new();
    let Some(_disk) = SmallDisk::mount(&home.data(), "4m") else {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    };
    prompt(&home, ONE, 1, "Why is the periscope fogged?");
    let filler = fill(&home);
    let tool = |id: &str| {
        let more = json!({
            "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": "look" },
            "tool_response": "fog\n".repeat(3_000),
        });
        hook(&home, ONE, "PostToolUse", more).to_string()
    };
    assert!(tool("toolu_1").contains("could not record this"));
    assert_eq!(tool("toolu_2"), "null", "one message for many calls");
    let stop = || {
        let more =
            json!({ "prompt_id": "p1", "last_assistant_message": "It leaks. ".repeat(1_000) });
        hook(&home, ONE, "Stop", more).to_string()
    };
    assert!(stop().contains("could not record this"));
    let found = home.thru(&["doctor"]).stdout;
    assert!(found.contains("3 events could not be recorded"), "{found}");
    fs::remove_file(&filler).unwrap();
    let told = stop();
    assert!(
        told.contains("\"systemMessage\":\"Throughline: 3 events could not be recorded"),
        "{told}"
    );
    assert_eq!(stop(), "null", "once");
}
