//! Models: what is sent, what is believed, what it may cost, and what happens where none answers.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thru_testkit::provider::{ModelServer, ReceivedRequest, Response, body, error, ollama};

use crate::answers::{is_about_session, session, willing};
use crate::home::{Home, Ran};
use crate::records::{Author, ONE, file};

/// A home with a session of two turns, and this model set.
pub(crate) fn home_with(server: &ModelServer) -> Home {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("Why does the oxidiser valve stay shut? The lock must be released when it opens.")
        .says("I look at the valve and its lock.")
        .runs("toolu_1", "cargo test valve")
        .gets("toolu_1", "error: the lock is held")
        .says("The lock was never released, so the valve stayed shut. Release the lock early.")
        .asks("Good. My token is ghp_abcdefghijklmnopqrstuvwxyz0123456789 and <private>my birthday</private>; run the tests again.")
        .runs("toolu_2", "cargo test valve")
        .gets("toolu_2", "test result: ok. 3 passed")
        .says("All tests pass now: the valve opens.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    set(&home, server);
    home
}

pub(crate) fn set(home: &Home, server: &ModelServer) -> Ran {
    home.thru(&["models", "set", "ollama", "--model", "llama3.2:3b", "--url", &server.url()])
        .expect(0)
}

pub(crate) const ALL: [&str; 3] = ["distil", "--since", "20 years ago"];

pub(crate) fn run(home: &Home) -> Ran {
    home.thru(&[&ALL[..], &["--run"]].concat())
}

#[test]
fn without_a_model_nothing_is_said_of_one() {
    let home = Home::imported();
    insta::assert_snapshot!(home.shown(&["models"]), @"
      PROVIDER    MODEL             KEY          WHAT
      anthropic   claude-haiku-4-5  missing      Anthropic's API
      openai      -                 missing      OpenAI's or a compatible API
      openrouter  -                 missing      OpenRouter
      claude-cli  haiku             none needed  your own `claude`
      ollama      -                 none needed  Ollama on this machine
      lmstudio    -                 none needed  LM Studio on this machine
      llamacpp    default           none needed  llama.cpp on this machine
      vllm        -                 none needed  vLLM on this machine

    None is set: memories are made without a model, and nothing is sent anywhere.
    ");
    assert!(!home.thru(&["status"]).expect(0).stdout.contains("models"));
    let remote =
        home.command().env("OLLAMA_HOST", "10.0.0.9:11434").arg("models").output().unwrap();
    let remote = String::from_utf8(remote.stdout).unwrap();
    let ollama = "ollama      -                 none needed  Ollama at http://10.0.0.9:11434";
    assert!(remote.contains(ollama), "{remote}");
    let refused = run(&home).expect(2);
    insta::assert_snapshot!(refused.shown(), @"
    -- stderr --
    error: no model is set.
    hint: `thru models` lists what can be set.
    -- exit 2 --
    ");
}

#[test]
fn what_it_costs_is_shown_before_anything_is_sent() {
    let server = willing();
    let home = home_with(&server);
    insta::assert_snapshot!(home.shown(&ALL), @"
    2 turns and 1 session: about 5,004 tokens to send and 1,050 to come back.
    With ollama llama3.2:3b: about $0.
    Remaining budget: 500,000 tokens today, 5,000,000 this month.
    Nothing was sent. --run sends it; what exceeds the budget waits.
    ");
    assert!(server.requests().is_empty());
}

#[test]
fn a_model_is_asked_once_about_each_turn_and_once_about_the_session() {
    let server = willing();
    let home = home_with(&server);
    insta::assert_snapshot!(run(&home).expect(0).shown(), @"
    2 turns and 1 session were looked at.
    3,150 tokens, $0.
    Statements dropped because the record does not hold what they name: 4.
    ");
    let asked = server.requests();
    let (sessions, turns): (Vec<_>, Vec<_>) =
        asked.iter().partition(|asked| is_about_session(asked));
    assert_eq!((turns.len(), sessions.len()), (2, 1));
    for one in &asked {
        let sent = String::from_utf8_lossy(&one.body);
        assert!(!sent.contains("ghp_abc") && !sent.contains("birthday"), "{sent}");
        assert!(body(one)["options"]["num_ctx"].is_u64());
    }
    // What the record does not hold is not believed; what was made without a model is kept.
    let id = home.memory_of("bugfix", "valve closed by a lock");
    let shown = home.shown(&["show", &id]);
    assert!(!shown.contains("9999") && !shown.contains("nowhere"), "{shown}");
    insta::with_settings!({ filters => vec![(r"\d+\.\d s", "[time]"), (r"[0-9a-z]{5}  bugfix", "[id]  bugfix"), (r"(Sources|released)  [0-9a-z ]+", "$1  [ids]")] }, {
        insta::assert_snapshot!(shown, @"
        rocket · Why the valve stayed shut   2026-03-01  11111111
        [id]  bugfix · turn 1 · 2026-03-01 09:00 · by a model · ~41t of 61
        made by llama3.2:3b (ollama, turn/2) · 1,050 tokens · $0 · [time] · 2 statements dropped

        The oxidiser valve was closed by a lock that nobody released
        The valve stayed shut because the lock was never released.
        Facts
          - The lock is released when the valve opens  wd5xb
        Concepts  problem-solution
        Sources  [ids]
        ");
    });
    // No model is asked twice, and a rebuild asks none.
    run(&home).expect(1);
    let before = home.json(&["show", "--json", &id]);
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(home.json(&["show", "--json", &id]), before);
    run(&home).expect(1);
    assert_eq!(server.requests().len(), asked.len());
    // The same model is not asked the same again, even on request.
    let again = home.thru(&[&ALL[..], &["--run", "--again", "--json"]].concat()).expect(0);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (again["done"]["reused"].as_u64(), server.requests().len()),
        (Some(3), asked.len()),
        "{again}"
    );
    insta::assert_snapshot!(home.shown(&["stats", "models"]), @"
    PROVIDER  MODEL        FOR      CAME OF IT  QUESTIONS  TOKENS  COST
    ollama    llama3.2:3b  session  answer              1   1,050    $0
    ollama    llama3.2:3b  turn     answer              2   2,100    $0
    in all                                              3   3,150    $0

    Memories replaced by those of a model: 1. They are kept.
    ");
}

#[test]
fn when_the_budget_is_spent_it_is_said_and_the_queue_is_kept() {
    let server = willing();
    let home = home_with(&server);
    home.thru(&["config", "set", "budget.daily_tokens", "3400"]).expect(0);
    let ran = run(&home).expect(0);
    let mut settings = home.filters();
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[midnight]");
    let _bound = settings.bind_to_scope();
    insta::assert_snapshot!(ran.shown(), @"
    1 turn and 0 sessions were looked at.
    1,050 tokens, $0.
    Statements dropped because the record does not hold what they name: 2.
    today's tokens are spent: the rest waits until [midnight] UTC.
    ");
    assert_eq!(server.requests().len(), 1);
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["models"]["waiting"], 2, "{status}");
    home.thru(&["config", "set", "budget.daily_tokens", "60000"]).expect(0);
    run(&home).expect(0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn without_an_answer_memories_stay_and_questions_wait() {
    let server = ModelServer::start([error(401, "authentication_error", "no such key")]).unwrap();
    let home = home_with(&server);
    let before = home.json(&["search", "--all", "--json", "valve"]);
    let ran = run(&home).expect(2);
    insta::assert_snapshot!(ran.shown(), @"
    0 turns and 0 sessions were looked at.
    0 tokens.
    Without a usable answer (`thru jobs` says why): 1.
    It ended early: ollama: authentication failed: no such key; store a key that is valid there.
    Memories stay as they were made without a model; the rest waits (`thru jobs`).
    -- exit 2 --
    ");
    assert_eq!(server.requests().len(), 1, "others would fail as well");
    assert_eq!(home.json(&["search", "--all", "--json", "valve"])["memories"], before["memories"]);
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["models"]["waiting"], 3, "{status}");
    assert_eq!(status["models"]["today"]["tokens"], 0, "nothing was spent");
}

#[test]
fn a_process_killed_while_asking_leaves_the_question_and_its_possible_cost() {
    let hanging = ModelServer::start([Response::silence()]).unwrap();
    let home = home_with(&hanging);
    let mut asking = home.command().args([&ALL[..], &["--run"]].concat()).spawn().unwrap();
    let started = Instant::now();
    while hanging.requests().is_empty() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(hanging.requests().len(), 1);
    asking.kill().unwrap();
    asking.wait().unwrap();
    let server = willing();
    set(&home, &server);
    run(&home).expect(0);
    assert_eq!(server.requests().len(), 3);
    let usage = home.json(&["stats", "models", "--json"]);
    let rows = usage["rows"].as_array().unwrap();
    let of = |outcome: &str| -> u64 {
        rows.iter()
            .filter(|row| row["outcome"] == outcome)
            .map(|row| row["questions"].as_u64().unwrap())
            .sum()
    };
    assert_eq!((of("unknown"), of("answer")), (1, 3), "{usage}");
    let observations = home.json(&["search", "--all", "--json", "--type", "bugfix", "valve lock"]);
    assert_eq!(observations["memories"].as_array().unwrap().len(), 1, "{observations}");
}

#[test]
fn the_name_that_other_programs_use_names_the_model_for_sessions() {
    let server = willing();
    let home = home_with(&server);
    let with_variable = |arguments: &[&str]| {
        let mut command = home.command();
        Ran::from(command.env("SUMMARY_MODEL", "qwen3:70b").args(arguments).output().unwrap())
    };
    let line = "Summaries of sessions: qwen3:70b (`SUMMARY_MODEL`).";
    assert!(with_variable(&["models"]).expect(0).stdout.contains(line));
    with_variable(&[&ALL[..], &["--run"]].concat()).expect(0);
    for asked in server.requests() {
        let model = if is_about_session(&asked) { "qwen3:70b" } else { "llama3.2:3b" };
        assert_eq!(body(&asked)["model"], model);
    }
    // The setting counts before it.
    home.thru(&["config", "set", "models.session_model", "small:1b"]).expect(0);
    let shown = with_variable(&["models"]).expect(0).stdout;
    assert!(shown.contains("small:1b (`models.session_model`)"), "{shown}");
}

#[test]
fn keys_are_kept_apart_and_never_shown() {
    use std::io::Write;
    let server = willing();
    let home = Home::imported();
    let missing = home.thru(&["models", "set", "anthropic"]).expect(2);
    insta::assert_snapshot!(missing.shown(), @"
    -- stderr --
    error: anthropic: there is no key; set ANTHROPIC_API_KEY or store one.
    hint: `thru models set anthropic --key` reads one from standard input.
    -- exit 2 --
    ");
    let keep = |key: &str| {
        let mut setting = home
            .command()
            .args(["models", "set", "anthropic", "--key", "--url", &server.url()])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        setting.stdin.take().unwrap().write_all(key.as_bytes()).unwrap();
        Ran::from(setting.wait_with_output().unwrap())
    };
    for answer in ["n\n", "\n", "no thanks, not now\n"] {
        keep(answer).expect(2);
        assert!(!home.data().join("keys/anthropic").exists(), "{answer:?}");
    }
    let ran = keep("sk-ant-secret-0123456789\n").expect(0);
    assert!(!ran.shown().contains("secret"), "{}", ran.shown());
    let config = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(!config.contains("secret") && config.contains("anthropic"), "{config}");
    let key = home.data().join("keys/anthropic");
    assert!(fs::read_to_string(&key).unwrap().contains("secret"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let models = home.thru_at(200, &["models", "--color", "never"]).expect(0).stdout;
    assert!(!models.contains("secret"));
    // The path of the key moves the last column of every line.
    let of_last =
        |line: &str| line.find("Anthropic's API").or(line.find("OpenRouter")).or(line.find("WHAT"));
    let columns: std::collections::BTreeSet<usize> = models.lines().filter_map(of_last).collect();
    assert_eq!(columns.len(), 1, "{models}");
    let off = home.thru(&["models", "off", "--forget-key"]).expect(0);
    assert!(
        off.stdout.contains("anthropic is no longer asked") && !key.exists(),
        "{}",
        off.shown()
    );
    // The address that is left is another provider's.
    let unclear = home.thru(&["models", "set", "llamacpp"]).expect(2);
    assert_eq!(
        unclear.stderr.replace(&server.url(), "URL"),
        "error: `models.url` is URL, from earlier settings.\n\
         hint: `--url URL` asks there, `--url ''` at the provider's usual address.\n"
    );
    home.thru(&["models", "set", "llamacpp", "--url", ""]).expect(0);
    assert_eq!(home.thru(&["config", "get", "models.url"]).expect(0).stdout.trim(), "");
}

/// What a model says of a turn in which a mutex was decided on.
fn mutex(asked: &ReceivedRequest, guarded: &str) -> Response {
    let made = json!({
        "observations": [{
            "type": "decision", "title": guarded,
            "narrative": "A mutex guards the writer.", "facts": [], "concepts": [],
            "files_read": [], "files_modified": [], "cite": [1],
        }],
        "summary": {
            "request": "Guard the writer", "investigated": [], "completed": [], "next_steps": [],
            "learned": ["A mutex guards the writer"],
        },
    });
    let whole = session().replace("Why the valve stayed shut", "A mutex for the writer");
    ollama(&if is_about_session(asked) { whole } else { made.to_string() })
}

/// A home with a session in which a mutex was decided on, twice, and a model that says so, too.
fn deciding(server: &ModelServer) -> Home {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("Guard the writer. Use a mutex for it from now on, never a channel.")
        .says("I decided to use a mutex for the writer because a channel would lose the order.")
        .runs("toolu_1", "cargo test writer")
        .gets("toolu_1", "test result: ok. 3 passed")
        .says("All tests of the writer pass.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    set(&home, server);
    home
}

/// What is told of mutexes: memories, the session's summary, and what was held when it was compacted, without
/// what the person asked.
fn of_mutexes(home: &Home) -> String {
    let found = home.json(&["search", "--all", "--json", "mutex"]);
    let loaded = home.shown(&["session", "load", ONE, "--plain"]);
    let memories = found["memories"].as_array().into_iter().flatten();
    let told = memories.map(|memory| memory["title"].as_str().unwrap().to_owned());
    let held = loaded.lines().filter(|line| line.contains("mutex") && !line.contains("Guard the"));
    told.chain(held.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

fn mutex_memories(home: &Home) -> Vec<String> {
    let found = home.json(&["search", "--all", "--json", "--type", "decision", "mutex"]);
    let memories = found["memories"].as_array().unwrap();
    memories.iter().map(|memory| memory["full_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_forgotten_is_not_told_by_a_model_nor_loaded() {
    let server =
        ModelServer::answering(|asked| mutex(asked, "The writer is guarded by a mutex")).unwrap();
    let home = deciding(&server);
    let memories = mutex_memories(&home);
    assert_eq!(memories.len(), 2, "{}", of_mutexes(&home));
    for memory in &memories {
        home.thru(&["forget", memory, "--yes"]).expect(0);
    }
    run(&home).expect(0);
    assert!(!server.requests().is_empty());
    assert_eq!(of_mutexes(&home), "");
}

#[test]
fn a_decision_that_a_model_found_is_marked_among_facts() {
    let server =
        ModelServer::answering(|asked| mutex(asked, "The writer is guarded by a mutex")).unwrap();
    let home = deciding(&server);
    let decided = || home.shown(&["facts", "--relation", "decided", "--all"]);
    assert!(decided().starts_with("No facts."), "{}", decided());
    run(&home).expect(0);
    assert!(decided().contains("Decided, as a model says: "), "{}", decided());
    home.thru(&["forget", &home.memory_of("decision", "writer guarded"), "--yes"]).expect(0);
    assert!(decided().starts_with("No facts."), "{}", decided());
}

#[test]
fn a_link_that_a_model_claims_is_marked_among_facts() {
    let made = json!({
        "observations": [{
            "type": "bugfix", "title": "Keep the order of the writer",
            "narrative": "The writer lost the order.", "facts": [], "concepts": [],
            "files_read": [], "files_modified": [], "cite": [1],
            "relations": [
                { "relation": "FIXED_BY", "subject": "TS2304", "object": "src/order.ts" },
                { "relation": "FIXED_BY", "subject": "TS2304", "object": "src/reader.ts" },
            ],
        }],
        "summary": {
            "request": "Mend the writer", "investigated": [], "completed": [], "next_steps": [],
            "learned": [],
        },
    });
    let server = ModelServer::answering(move |asked| {
        ollama(&if is_about_session(asked) { session() } else { made.to_string() })
    })
    .unwrap();
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("Mend the order of the writer.")
        .runs("toolu_1", "npm run typecheck 2>&1 | tail -20")
        .gets("toolu_1", "src/writer.ts(3,1): error TS2304: Cannot find name 'order'.")
        .runs("toolu_2", "sh mend.sh src/order.ts")
        .gets("toolu_2", "mended")
        .says("The writer keeps the order now.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    set(&home, &server);
    let fixed = || home.shown(&["facts", "--relation", "fixed_by", "--all"]);
    assert!(fixed().starts_with("No facts."), "{}", fixed());
    run(&home).expect(0);
    insta::assert_snapshot!(fixed(), @"
    wd5xb  2026-03-01 09:00  TS2304: Cannot find name 'order'. (src/writer.ts) was fixed by src/order.ts, as a model says

    1 fact. `thru show ID` shows the record.
    ");
}

#[test]
fn what_a_model_says_otherwise_is_not_told_beside_an_edit() {
    let server =
        ModelServer::answering(|asked| mutex(asked, "The writer is guarded by a mutex")).unwrap();
    let home = deciding(&server);
    let said = home.memory_of("decision", "lose the order");
    home.thru(&["edit", &said, "--title", "A lock file guards it", "--text", "A lock file."])
        .expect(0);
    run(&home).expect(0);
    let told = of_mutexes(&home);
    assert!(!told.contains("guarded by") && !told.contains("lose the order"), "{told}");
    assert_eq!(home.memory_of("decision", "lock file guards"), said);
}

#[test]
fn a_model_s_memory_that_is_forgotten_takes_its_twin_along() {
    let server =
        ModelServer::answering(|asked| mutex(asked, "The writer is guarded by a mutex")).unwrap();
    let home = deciding(&server);
    run(&home).expect(0);
    let made = home.memory_of("decision", "writer guarded");
    assert!(of_mutexes(&home).contains("lose the order"), "snapshots tell what the agent said");
    home.thru(&["forget", &made, "--yes"]).expect(0);
    let told = of_mutexes(&home);
    assert!(!told.contains("guarded by") && !told.contains("lose the order"), "{told}");
    // Neither does it come back with another answer, or with a rebuild.
    let other = ModelServer::answering(|asked| mutex(asked, "A mutex is the guard")).unwrap();
    home.thru(&["models", "set", "ollama", "--model", "other", "--url", &other.url()]).expect(0);
    home.thru(&[&ALL[..], &["--run", "--again"]].concat()).expect(0);
    home.thru(&["rebuild"]).expect(0);
    let told = of_mutexes(&home);
    assert!(!told.contains("guard") && !told.contains("lose the order"), "{told}");
}
