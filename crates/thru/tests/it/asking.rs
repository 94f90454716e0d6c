//! `thru search`, `show`, `sessions`, `session show`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::Home;
use crate::records::{Author, ONE, TWO, file};

#[test]
fn a_search_shows_passages_by_session() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["search", "importer", "lock"]), @r#"
    In short
      z206b  summary   Why does the importer lock the database?  [age] 

    rocket · Why does the importer lock the database?   2026-03-01  11111111
      65z14  agent     The lock is taken once now.
      wd5xb  you       Why does the importer lock the database?

    2 passages of 1 session. `thru show ID` shows one in full.
    "#);
    assert_snapshot!(home.shown(&["search", "importer", "lock", "--explain", "-n", "1"]), @r#"
    In short
      z206b  summary   Why does the importer lock the database?  [age] 

    rocket · Why does the importer lock the database?   2026-03-01  11111111
      session 7.73: both-1 1.00 × 1.72 = 1.72; turn-3 1.00 × 1.29 = 1.29; turn-1 1.00 × 1.28 = 1.28; words-1 1.00 × 1.25 = 1.25; turn-2 1.00 × 1.19 = 1.19; passages 0.42 × -2.03 = -0.84; person 0.50 × 1.62 = 0.81; proximity 1.00 × 0.68 = 0.68; both-2 0.25 × 0.73 = 0.18; words-2 0.25 × 0.69 = 0.17
      wd5xb  you       Why does the importer lock the database?
             → agent   The lock is taken once now.
             #1 14.15: person 1.00 × 4.45 = 4.45; session 1.00 × 3.40 = 3.40; person-words 1.00 × -2.97 = -2.97; window 1.00 × 2.88 = 2.88; turn 1.00 × 2.70 = 2.70; words 1.00 × 2.19 = 2.19; session-score 1.00 × 1.50 = 1.50

    1 passage of 1 session. `thru show ID` shows one in full.
    Looked for: import lock. 7 passages looked at closely; confidence 0.81.
    Meaning: not compared, nothing is embedded yet: `thru embed` does it. Words alone were looked for.
    "#);
    assert_snapshot!(home.shown(&["search", "E0502", "--context", "1", "-n", "1"]), @"
    rocket · Why does the importer lock the database?   2026-03-01  11111111
             agent     Two writers open it at once. Let me look.
      aa6pe  Bash      command: cargo test --workspace
                       error[E0502]: cannot borrow `store` as mutable
             Edit      Edit file_path: /home/ada/rocket/src/store.rs new_string: b old_string: a The fi…

    1 passage of 1 session. `thru show ID` shows one in full.
    ");
    assert_snapshot!(home.shown(&["search", "wombats"]), @r"
    Nothing found.
    -- exit 1 --
    ");
}

#[test]
fn a_search_answers_as_json() {
    let home = Home::imported();
    let _settings = home.settings();
    let mut found = home.json(&["search", "irrigation", "--json", "-n", "1"]);
    found["sessions"][0]["passages"][0]["score"] = "[score]".into();
    found["confidence"] = "[confidence]".into();
    for memory in found["memories"].as_array_mut().unwrap() {
        memory["score"] = "[score]".into();
    }
    let text = serde_json::to_string_pretty(&found).unwrap();
    assert_snapshot!(text, @r#"
    {
      "confidence": "[confidence]",
      "is_confident": true,
      "kind": "search",
      "left_out": 0,
      "meaning": {
        "without": "nothing is embedded yet: `thru embed` does it"
      },
      "memories": [
        {
          "at": "2026-03-01T09:00:03Z",
          "coverage": 1.0,
          "edited": false,
          "files_changed_since": 0,
          "files_gone_since": 0,
          "full_id": "9n8s3x72qnb44p1n",
          "id": "9n8s3",
          "kind": "observation",
          "of_person": false,
          "outcome": null,
          "project": "orchard",
          "raw_tokens": 41,
          "refined": false,
          "rule": false,
          "score": "[score]",
          "session": "22222222-bbbb-4bbb-8bbb-000000000002",
          "superseded": false,
          "title": "Plan the irrigation for the young pear trees",
          "tokens": 22,
          "told": false,
          "turn": 1,
          "type": "change",
          "uncertain": false
        }
      ],
      "preparation": {
        "indexed": 0,
        "left_out": [],
        "records_left_out": false
      },
      "project": null,
      "query": "irrigation",
      "sessions": [
        {
          "agent": "claude-code",
          "branch": "main",
          "close_reason": "inactivity_timeout",
          "closed": "2026-03-01T09:30:04Z",
          "compactions": 0,
          "directory": "/home/ada/orchard",
          "ended": "2026-03-01T09:00:04Z",
          "episode_uuid": "r9f892zrbwwj02q5",
          "forked_from": null,
          "id": "22222222-bbbb-4bbb-8bbb-000000000002",
          "indexing": "indexed",
          "models": [
            "claude-test-1"
          ],
          "passages": [
            {
              "at": "2026-03-01T09:00:01Z",
              "command": null,
              "full_id": "skkwkay3ks4700wn",
              "id": "skkwk",
              "kind": "human",
              "outcome": null,
              "rank": 1,
              "records": [
                "22222222-0000-4000-8000-000000000001"
              ],
              "score": "[score]",
              "snippet": "Plan the irrigation for the young pear trees",
              "subagent": null,
              "text": "Plan the irrigation for the young pear trees",
              "tool": null,
              "turn": 1
            }
          ],
          "project": "orchard",
          "score": {
            "features": {
              "both-1": {
                "contribution": 1.72,
                "value": 1.0,
                "weight": 1.72
              },
              "passages": {
                "contribution": -0.5628355,
                "value": 0.27725887,
                "weight": -2.03
              },
              "person": {
                "contribution": 0.81,
                "value": 0.5,
                "weight": 1.62
              },
              "turn-1": {
                "contribution": 1.28,
                "value": 1.0,
                "weight": 1.28
              },
              "turn-2": {
                "contribution": 1.19,
                "value": 1.0,
                "weight": 1.19
              },
              "turn-3": {
                "contribution": 1.29,
                "value": 1.0,
                "weight": 1.29
              },
              "words-1": {
                "contribution": 1.25,
                "value": 1.0,
                "weight": 1.25
              }
            },
            "total": 6.9771643
          },
          "started": "2026-03-01T09:00:01Z",
          "state": "ended",
          "title": "Plan the irrigation for the young pear trees",
          "tokens": {
            "cache-creation": 2,
            "cache-read": 4,
            "input": 20,
            "output": 14
          },
          "turns": 1
        }
      ],
      "terms": [
        "irrig"
      ],
      "verdict": "found",
      "version": 1
    }
    "#);
    let nothing = home.thru(&["search", "wombats", "--json"]).expect(1);
    let nothing: serde_json::Value = serde_json::from_str(&nothing.stdout).unwrap();
    assert_eq!(nothing["sessions"], serde_json::json!([]));
}

#[test]
fn a_search_can_be_narrowed() {
    let home = Home::imported();
    for (arguments, code) in [
        (&["search", "-a", "plan", "--file", "plan.md"][..], 0),
        (&["search", "-a", "pears", "--file", "orchard/plan.md"], 0),
        (&["search", "-a", "pears", "--file", "store.rs"], 1),
        (&["search", "-a", "file", "--file", "store.rs"], 0),
        (&["search", "-a", "irrigation", "--since", "2026-03-01"], 0),
        (&["search", "-a", "irrigation", "--since", "2026-03-02"], 1),
        (&["search", "-a", "irrigation", "--until", "2026-03-01"], 1),
        (&["search", "-a", "irrigation", "--until", "2026-03-02", "--since", "2026-02"], 0),
        (&["search", "-a", "irrigation", "--session", "2222"], 0),
        (&["search", "-a", "irrigation", "--session", "1111"], 1),
        (&["search", "irrigation", "--project", "orchard"], 0),
        (&["search", "irrigation", "--project", "ORCHARD"], 0),
        (&["search", "irrigation", "--project", "dir:/home/ada/orchard"], 0),
        (&["search", "irrigation", "--project", "rocket"], 1),
    ] {
        let ran = home.thru(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.shown());
    }
}

#[test]
fn what_cannot_be_meant_is_an_error_with_advice() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["search", "x", "--project", "orchad"]), @r"
    -- stderr --
    error: there is no project `orchad`.
    hint: did you mean `orchard`? `thru projects` lists all.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["search", "x", "--project", "zzz"]), @r"
    -- stderr --
    error: there is no project `zzz`.
    hint: `thru projects` lists them.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["search", "x", "--session", "99"]), @r"
    -- stderr --
    error: there is no session `99`.
    hint: `thru sessions` lists them.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["search", "x", "--since", "soon"]), @r"
    -- stderr --
    error: `soon` is not a date: write `2026-03-01`, `yesterday`, `[age] ago` or `3d`.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["search"]), @r"
    -- stderr --
    error: the following required arguments were not provided:
      <QUERY>...

    Usage: thru search <QUERY>...

    For more information, try '--help'.
    -- exit 2 --
    ");
}

#[test]
fn before_the_first_import_it_says_so() {
    let home = Home::new();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["search", "x"]), @r"
    -- stderr --
    error: there is no memory at [folder]/home/memory.db.
    hint: run `thru up` to set everything up, or `thru import` only to read the history on this machine.
    -- exit 2 --
    ");
    home.thru(&["sessions"]).expect(2);
    home.thru(&["show", "abcde"]).expect(2);
    assert!(!home.data().exists());
}

#[test]
fn a_word_that_nothing_holds_is_read_as_one_that_is_known() {
    let home = Home::imported();
    let shown = home.shown(&["search", "--all", "why does the imprter lock the databse"]);
    let said = "for `imprter` read `importer`, for `databse` read `database`";
    assert!(shown.contains(said) && shown.contains("Why does the importer"), "{shown}");
    let found = home.json(&["search", "--all", "--json", "imprter"]);
    assert_eq!(found["corrections"][0]["read"], "importer");
    assert_eq!(found["query"], "imprter");
}

#[test]
fn where_nothing_is_sure_the_nearest_is_shown_and_marked() {
    let home = Home::imported();
    let query = ["search", "--all", "quantum lattice gauge theory of the lock"];
    let shown = home.thru(&query).expect(1).shown();
    let told = "Nothing mentions \"quantum\" or \"lattice\".\nNo sure match. The nearest:\n";
    assert!(shown.starts_with(told), "{shown}");
    assert!(shown.contains("Why does the importer lock the database?"), "{shown}");
    let all = home.thru(&[&query[..], &["--nearest"]].concat()).expect(0).shown();
    assert!(all.starts_with(told), "{all}");
}

#[test]
fn a_name_that_no_answer_mentions_is_told_first_and_makes_it_unsure() {
    let home = Home::new();
    let _settings = home.settings();
    let (mut one, mut two) = (Author::of(ONE), Author::of(TWO));
    one.asks("Where does the importer write its log?");
    two.asks("How do we test the billing page?");
    for number in 0..9 {
        one.says(&format!("The Kafka importer locks partition {number}, and writes log {number}."));
        two.says(&format!("The billing page shows invoice {number} in the Playwright test."));
    }
    one.says("Sentry is not set up. PostgreSQL is.");
    home.write(&file(ONE), one.text());
    home.write(&file(TWO), two.text());
    home.thru(&["import"]).expect(0);
    for (query, said) in [
        ("which log does the importer write", ""),
        ("where does the importer write to Postgres", ""),
        ("where does the importer write to GitLab", "Nothing mentions \"GitLab\"."),
        (
            "where does the importer write to Gitlab or Firebase",
            "Nothing mentions \"Gitlab\" or \"Firebase\".",
        ),
        ("what is the billing of Kafka", "No session speaks of both \"Kafka\" and \"billing\"."),
        (
            "how does the billing page show an invoice in Sentry",
            "\"Sentry\" is mentioned, but in nothing near this.",
        ),
        // Other words may stand for this one.
        ("which log does the importer create", ""),
    ] {
        let shown = home.thru(&["search", "--all", "-n", "3", query]).stdout;
        let expected = match said {
            "" => String::new(),
            _ => format!("{said}\nNo sure match. The nearest:\n"),
        };
        assert!(shown.starts_with(&expected), "{query}\n{shown}");
        let found = home.json(&["search", "--all", "-n", "3", "--json", "--nearest", query]);
        assert_eq!(found["is_confident"], said.is_empty(), "{found}");
        assert_eq!(found.get("gaps").is_none(), said.is_empty(), "{found}");
    }
}

#[test]
fn a_word_that_only_a_memory_holds_is_known() {
    let home = Home::imported();
    // One letter away from a word of the history.
    assert!(home.shown(&["search", "--all", "lock"]).contains("Why does the importer"));
    let told = home.tell(&["The lick opens at 900 degrees"]);
    for query in ["lick", "lick degrees 900"] {
        let found = home.json(&["search", "--all", "--json", query]);
        assert!(found.get("corrections").is_none(), "{found}");
        assert_eq!(found["memories"][0]["full_id"], told.as_str(), "{found}");
    }
    let found = home.json(&["search", "--all", "--json", "degreis"]);
    assert_eq!(found["corrections"][0]["read"], "degrees");
    // A letter between the stems of two words, and not a slip.
    home.tell(&["The notation is dense"]);
    let found = home.json(&["search", "--all", "--json", "--nearest", "notarize"]);
    assert!(found.get("corrections").is_none(), "{found}");
    home.tell(&["Do not arize the logs"]);
    let found = home.json(&["search", "--all", "--json", "--nearest", "notarize"]);
    assert!(found.get("corrections").is_none(), "{found}");
    // Two words are read for one where something holds both.
    for (compound, query) in [("airlock", "airlock"), ("lickdegrees", "lick degrees")] {
        home.tell(&["The air is dry"]);
        let found = home.json(&["search", "--all", "--json", compound]);
        let read = found["corrections"][0]["read"].as_str().unwrap_or(compound);
        assert_eq!(read, query, "{found}");
    }
}

#[test]
fn a_word_of_another_project_corrects_none() {
    let home = Home::imported();
    home.tell(&["The frobnicator hums at night"]);
    let all = home.json(&["search", "--all", "--json", "frobnicatr"]);
    assert_eq!(all["corrections"][0]["read"], "frobnicator", "{all}");
    let here = home.json(&["search", "--project", "orchard", "--json", "frobnicatr"]);
    assert!(here.get("corrections").is_none(), "{here}");
}

#[test]
fn what_is_known_in_another_project_only_is_told() {
    let home = Home::new();
    let _settings = home.settings();
    let (mut one, mut two) = (
        Author::of(ONE).in_directory("/home/ada/orchard"),
        Author::of(TWO).in_directory("/home/ada/rocket"),
    );
    one.asks("Why do the pears in the orchard freeze?");
    two.asks("Why does safari not show the frost of the rocket?");
    for number in 0..9 {
        one.says(&format!("The pears in row {number} of the orchard freeze because of the frost."));
        two.says(&format!("The kerberos ticket {number} of the rocket in safari is too old."));
    }
    one.asks("What stands at the end?");
    one.says("A telegraph.");
    home.write(&file(ONE), one.text());
    home.write(&file(TWO), two.text());
    home.thru(&["import"]).expect(0);
    let ask = |query: &str| {
        let found = home.json(&["search", "--project", "orchard", "-n", "1", "--json", query]);
        found["gaps"].clone()
    };
    let lacks = |word: &str| json!([{ "kind": "unknown", "word": word, "is_name": false }]);
    // Both are written in small letters elsewhere, so they are words.
    assert_eq!(ask("why do pears freeze in safari"), lacks("safari"));
    assert_eq!(ask("why do pears freeze in kerberos"), lacks("kerberos"));
    let unsaid = json!([{ "kind": "unsaid", "word": "telegraph" }]);
    assert_eq!(
        ask("do the pears in row 3 of the orchard freeze at the telegraph because of frost"),
        unsaid
    );
    assert_eq!(ask("why do pears freeze"), Value::Null);
}

#[test]
fn a_question_about_work_is_answered_with_sessions() {
    let home = Home::imported();
    assert_snapshot!(home.shown(&["search", "--all", "what did we change on 1 March 2026 in rocket?"]), @"
    2026-03-01
      11111111  rocket · Why does the importer lock the database?  2 turns
           you: Thanks. Does it survive a crash?

    `thru session show ID` shows what a session did.
    ");
    assert_snapshot!(home.shown(&["search", "--all", "what did we do in June 2026"]), @"
    No session from 2026-06-01 to 2026-06-30. The last one before it:

    2026-03-02
      33333333  rocket · Which pears ripen in September?  1 turn

    `thru session show ID` shows what a session did.
    ");
    assert_snapshot!(home.shown(&["search", "--all", "where did I leave off?"]), @"
    2026-03-01
      11111111  rocket · Why does the importer lock the database?  2 turns
      22222222  orchard · Plan the irrigation for the young pear trees  1 turn
        open: Not finished: plan the irrigation for the young pear trees

    `thru session show ID` shows what a session did.
    ");
    assert_snapshot!(home.shown(&["search", "--project", "dir:/home/ada/rocket", "what remains to be done"]), @"No session is known to have left anything open.");
    let found = home.json(&["search", "--all", "--json", "when did we last touch store.rs"]);
    assert_eq!(found["work"]["question"], "touched");
    assert_eq!(found["work"]["file"], "store.rs");
}

#[test]
fn a_query_is_text_and_never_a_syntax_to_get_wrong() {
    let home = Home::imported();
    let long = "lock ".repeat(20_000);
    for query in [
        "\"",
        "(",
        "a AND",
        "OR",
        "NOT x",
        "text:lock",
        "lock*",
        "^",
        "~2",
        "[a TO b]",
        "\\",
        "--",
        "'; DROP TABLE passages; --",
        "%_",
        "\u{202e}",
        "\u{0}x".trim_start_matches('\0'),
        "💥",
        "数据库",
        " ",
        "a",
        &long,
    ] {
        let ran = home.thru(&["search", "--all", "--", query]);
        assert!(ran.code < 2, "{query:.40}: {}", ran.shown());
    }
    home.thru(&["search", "--all", "\"importer\" (lock)"]).expect(0);
}

#[test]
fn where_one_stands_decides_where_to_look() {
    let home = Home::new();
    let _settings = home.settings();
    let project = home.folder().join("work/rocket");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(
        project.join(".git/config"),
        "[remote \"origin\"]\nurl = git@github.com:acme/rocket.git\n",
    )
    .unwrap();
    home.write(
        &file(ONE),
        Author::of(ONE).in_directory(project.to_str().unwrap()).asks("Where is the lock?").text(),
    );
    home.write(&file(TWO), crate::records::orchard().text());
    home.thru(&["import"]).expect(0);
    let inside = |arguments: &[&str]| {
        let output = home.command().current_dir(&project).args(arguments).output().unwrap();
        crate::home::Ran::from(output)
    };
    assert_snapshot!(inside(&["search", "irrigation"]).shown(), @r"
    Nothing found in project rocket.
    Add `--all` to look in every project.
    -- exit 1 --
    ");
    inside(&["search", "irrigation", "--all"]).expect(0);
    assert_snapshot!(inside(&["search", "lock"]).shown(), @"
    rocket · Where is the lock?   2026-03-01  11111111
      wd5xb  you       Where is the lock?

    1 passage of 1 session in project rocket (`--all` looks everywhere). `thru show ID` shows one in full.
    ");
    assert_snapshot!(inside(&["sessions"]).shown(), @"
    SESSION   LAST USED  STATE  PROJECT  TURNS  TITLE
    11111111  [age] ended  rocket       1  Where is the lock?

    1 session in project rocket. `thru session show ID` opens one.
    ");
}

#[test]
fn a_passage_is_shown_whole_and_with_its_source() {
    let home = Home::imported();
    let _settings = home.settings();
    let id = home.id_of("E0502 borrow");
    assert_snapshot!(home.shown(&["show", &id]), @r#"
    rocket · Why does the importer lock the database?   2026-03-01  11111111
    aa6pe  Bash · turn 1 · 2026-03-01 09:00

    Bash
    command: cargo test --workspace
    error[E0502]: cannot borrow `store` as mutable
    "#);
    assert_snapshot!(home.shown(&["show", &id[..6], "--source"]), @r#"
    rocket · Why does the importer lock the database?   2026-03-01  11111111
    aa6pe  Bash · turn 1 · 2026-03-01 09:00

    {"cwd":"/home/ada/rocket","gitBranch":"main","isSidechain":false,"message":{"content":[{"id":"toolu_1","input":{"command":"cargo test --workspace"},"name":"Bash","type":"tool_use"}],"id":"msg_11111111_3","model":"claude-test-1","role":"assistant","usage":{"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"input_tokens":10,"output_tokens":7}},"parentUuid":"11111111-0000-4000-8000-000000000002","requestId":"req_3","sessionId":"11111111-aaaa-4aaa-8aaa-000000000001","timestamp":"2026-03-01T09:00:03.000Z","type":"assistant","userType":"external","uuid":"11111111-0000-4000-8000-000000000003","version":"2.1.150"}
    {"cwd":"/home/ada/rocket","gitBranch":"main","isSidechain":false,"message":{"content":[{"content":"error[E0502]: cannot borrow `store` as mutable","tool_use_id":"toolu_1","type":"tool_result"}],"role":"user"},"parentUuid":"11111111-0000-4000-8000-000000000003","sessionId":"11111111-aaaa-4aaa-8aaa-000000000001","timestamp":"2026-03-01T09:00:04.000Z","toolUseResult":{"stderr":"","stdout":"error[E0502]: cannot borrow `store` as mutable"},"type":"user","userType":"external","uuid":"11111111-0000-4000-8000-000000000004","version":"2.1.150"}
    "#);
    assert_snapshot!(home.shown(&["show", &id, "--json"]), @r#"
    {
      "kind": "passages",
      "memories": [],
      "passages": [
        {
          "at": "2026-03-01T09:00:03Z",
          "command": "cargo test --workspace",
          "full_id": "aa6pe37cnmj655v0",
          "id": "aa6pe",
          "kind": "tool",
          "outcome": "succeeded",
          "records": [
            "11111111-0000-4000-8000-000000000003",
            "11111111-0000-4000-8000-000000000004"
          ],
          "session": {
            "agent": "claude-code",
            "branch": "main",
            "close_reason": "inactivity_timeout",
            "closed": "2026-03-01T09:30:09Z",
            "compactions": 0,
            "directory": "/home/ada/rocket",
            "ended": "2026-03-01T09:00:09Z",
            "episode_uuid": "cmm1p22my27pxync",
            "forked_from": null,
            "id": "11111111-aaaa-4aaa-8aaa-000000000001",
            "indexing": "indexed",
            "models": [
              "claude-test-1"
            ],
            "passages": 7,
            "project": "rocket",
            "started": "2026-03-01T09:00:01Z",
            "state": "ended",
            "title": "Why does the importer lock the database?",
            "tokens": {
              "cache-creation": 5,
              "cache-read": 10,
              "input": 50,
              "output": 35
            },
            "turns": 2
          },
          "subagent": null,
          "text": "Bash\ncommand: cargo test --workspace\nerror[E0502]: cannot borrow `store` as mutable",
          "tool": "Bash",
          "turn": 1
        }
      ],
      "version": 1
    }
    "#);
    let sources = home.json(&["show", &id, "--json", "--source"]);
    assert_eq!(sources["passages"][0]["source"].as_array().unwrap().len(), 2);
    // Upper case and look-alikes are read as what they look like.
    home.thru(&["show", &id.to_uppercase()]).expect(0);
}

#[test]
fn ids_that_name_nothing_or_too_much_are_errors_with_advice() {
    let home = Home::new();
    let _settings = home.settings();
    let mut author = Author::of(ONE);
    for number in 0..40 {
        author.says(&format!("Sentence number {number}."));
    }
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    assert_snapshot!(home.shown(&["show", "00000000"]), @"
    -- stderr --
    error: there is no memory or passage `00000000`.
    hint: `thru search` shows ids.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["show", "no id"]), @"
    -- stderr --
    error: `no id` is not an id: ids are up to 16 digits and letters other than `u`.
    -- exit 2 --
    ");
    // With forty passages two share their first character.
    let ran = (0..10)
        .map(|digit| home.thru(&["show", &digit.to_string()]))
        .find(|ran| ran.stderr.contains("several"));
    assert_eq!(ran.unwrap().code, 2);
}

#[test]
fn sessions_are_listed_latest_first() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["sessions"]), @"
    SESSION   LAST USED  STATE  PROJECT  TURNS  TITLE
    33333333  [age] ended  rocket       1  Which pears ripen in September?
    11111111  [age] ended  rocket       2  Why does the importer lock the database?
    22222222  [age] ended  orchard      1  Plan the irrigation for the young pear trees

    3 sessions. `thru session show ID` opens one.
    ");
    assert_snapshot!(home.shown(&["sessions", "--limit", "1"]), @"
    SESSION   LAST USED  STATE  PROJECT  TURNS  TITLE
    33333333  [age] ended  rocket       1  Which pears ripen in September?

    1 session; `--limit` shows more. `thru session show ID` opens one.
    ");
    assert_snapshot!(home.shown(&["sessions", "--json", "--limit", "1"]), @r#"
    {
      "kind": "sessions",
      "more": true,
      "next": "5b22323032362d30332d30325430393a30303a30305a222c2233333333333333332d636363632d346363632d386363632d303030303030303030303033225d",
      "sessions": [
        {
          "agent": "claude-code",
          "branch": null,
          "close_reason": "inactivity_timeout",
          "closed": "2026-03-02T09:30:00Z",
          "compactions": 0,
          "directory": "/home/ada/rocket",
          "ended": "2026-03-02T09:00:00Z",
          "episode_uuid": "vy5j4bbe8jfemhp2",
          "forked_from": null,
          "id": "33333333-cccc-4ccc-8ccc-000000000003",
          "indexing": "indexed",
          "models": [],
          "passages": 1,
          "project": "rocket",
          "started": "2026-03-02T09:00:00Z",
          "state": "ended",
          "title": "Which pears ripen in September?",
          "tokens": {
            "cache-creation": 0,
            "cache-read": 0,
            "input": 0,
            "output": 0
          },
          "turns": 1
        }
      ],
      "version": 1
    }
    "#);
    assert_snapshot!(home.shown(&["sessions", "--project", "orchard"]), @"
    SESSION   LAST USED  STATE  PROJECT  TURNS  TITLE
    22222222  [age] ended  orchard      1  Plan the irrigation for the young pear trees

    1 session in project orchard. `thru session show ID` opens one.
    ");
    home.thru(&["sessions", "--since", "tomorrow"]).expect(2);
    home.thru(&["sessions", "--since", "2030-01-01"]).expect(1);
}

#[test]
fn a_session_is_outlined() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["session", "show", "1111"]), @"
    rocket · Why does the importer lock the database?   2026-03-01  11111111
    2026-03-01 09:00 to 2026-03-01 09:00 · 2 turns · 7 passages
    Claude Code · 2.1.150 · claude-test-1 · branch main · 35 tokens written
    /home/ada/rocket
    ended 2026-03-01 10:00 · closed after inactivity · indexed
    kinds of work: building

    z206b  completed
       Done    The lock is taken once now.

    Where it is
       Task     Thanks. Does it survive a crash?
       Files    src/store.rs
       Tools    Edit, Bash
       Lately   [age] Ran: cargo test --workspace
                [age] Edited src/store.rs: 'a' -> 'b'
       Events   [age] prompt Why does the importer lock the database?
                [age] tool Bash
                [age] tool Edit
                [age] prompt Thanks. Does it survive a crash?

    1. You  2026-03-01 09:00  wd5xb
       Why does the importer lock the database?
       ✓ $ cargo test --workspace
       2 tool calls in all
       Agent  65z14
       The lock is taken once now.

    2. You  2026-03-01 09:00  28fza
       Thanks. Does it survive a crash?
       Agent  c1sh6
       Yes: the cursor moves with the rows.

    Files: 1 changed, 0 read
       src/store.rs  1 change
    ");
    assert_snapshot!(home.shown(&["session", "show", "2222", "--json"]), @r#"
    {
      "activity": {
        "building": 0.0,
        "configuring": 0.0,
        "documenting": 0.2,
        "exploring": 0.0,
        "fixing": 0.0,
        "refactoring": 0.0,
        "reviewing": 0.0,
        "testing": 0.0
      },
      "context": {
        "directory": "/home/ada/orchard",
        "entities": [],
        "events": [
          {
            "at": "2026-03-01T09:00:01Z",
            "event": "prompt",
            "note": "Plan the irrigation for the young pear trees",
            "tool": null
          },
          {
            "at": "2026-03-01T09:00:03Z",
            "event": "tool",
            "note": null,
            "tool": "Write"
          }
        ],
        "files": [
          {
            "at": "2026-03-01T09:00:03Z",
            "modified": true,
            "path": "plan.md"
          }
        ],
        "hot": [
          {
            "at": "2026-03-01T09:00:03Z",
            "id": "bgrjt",
            "summary": "Created plan.md (1 line)"
          }
        ],
        "last": "2026-03-01T09:00:03Z",
        "task": "Plan the irrigation for the young pear trees",
        "tools": [
          "Write"
        ]
      },
      "failed_commands": 0,
      "files": [
        {
          "modified": 1,
          "path": "/home/ada/orchard/plan.md",
          "touched": 1
        }
      ],
      "kind": "session",
      "session": {
        "agent": "claude-code",
        "branch": "main",
        "close_reason": "inactivity_timeout",
        "closed": "2026-03-01T09:30:04Z",
        "compactions": 0,
        "directory": "/home/ada/orchard",
        "ended": "2026-03-01T09:00:04Z",
        "episode_uuid": "r9f892zrbwwj02q5",
        "forked_from": null,
        "id": "22222222-bbbb-4bbb-8bbb-000000000002",
        "indexing": "indexed",
        "models": [
          "claude-test-1"
        ],
        "passages": 3,
        "project": "orchard",
        "started": "2026-03-01T09:00:01Z",
        "state": "ended",
        "title": "Plan the irrigation for the young pear trees",
        "tokens": {
          "cache-creation": 2,
          "cache-read": 4,
          "input": 20,
          "output": 14
        },
        "turns": 1
      },
      "standing": {
        "retired_episodes": [],
        "since": "2026-03-01T10:00:04Z"
      },
      "turns": [
        {
          "commands": [],
          "conclusion": {
            "at": "2026-03-01T09:00:02Z",
            "id": "4h0zc",
            "text": "Drip lines, twice a week; the clay keeps the water."
          },
          "prompt": {
            "at": "2026-03-01T09:00:01Z",
            "id": "skkwk",
            "text": "Plan the irrigation for the young pear trees"
          },
          "tool_calls": 1,
          "turn": 1
        }
      ],
      "version": 1
    }
    "#);
    assert_snapshot!(home.shown(&["session", "show", "absent"]), @r"
    -- stderr --
    error: there is no session `absent`.
    hint: `thru sessions` lists them.
    -- exit 2 --
    ");
    home.thru(&["session", "show", "", "--full"]).expect(2);
}

#[test]
fn what_a_transcript_holds_cannot_steer_the_terminal() {
    let home = Home::new();
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}evil\u{9b}31m \u{202e}reversed\u{8}\u{7f} words";
    let mut author = Author::of(ONE).in_directory("/home/ada/\u{1b}[31mred");
    author.asks(evil).says(evil).runs("toolu_1", evil).gets("toolu_1", evil);
    author.calls(
        "toolu_2",
        "\u{1b}[5mEdit",
        serde_json::json!({ "file_path": format!("/x/{evil}") }),
    );
    author.line(
        &serde_json::json!({ "type": "custom-title", "customTitle": evil, "sessionId": ONE })
            .to_string(),
    );
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let id = home.id_of("evil words");
    let commands: &[&[&str]] = &[
        &["search", "--all", "evil", "words", "-C", "3", "--explain"],
        &["search", "--all", "\u{1b}[2Jevil"],
        &["search", "x", "--project", "\u{1b}[2J"],
        &["sessions", "--all"],
        &["session", "show", "1111", "--full"],
        &["session", "show", "\u{1b}[2J"],
        &["projects"],
        &["projects", "rename", "\u{1b}[2J", "x"],
        &["show", &id],
        &["show", &id, "--source"],
        &["show", "\u{1b}[2J"],
        &["import", "\u{1b}[2J"],
        &["redact", "test", evil],
        &["verify"],
        &["rebuild"],
    ];
    for command in commands {
        let ran = home.thru(command);
        for text in [&ran.stdout, &ran.stderr] {
            let bad: Vec<char> = text
                .chars()
                .filter(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}')
                .collect();
            assert!(bad.is_empty(), "{command:?}: {text:?}");
        }
    }
}

#[test]
fn colour_is_for_those_who_want_it() {
    let home = Home::imported();
    assert!(!home.thru(&["sessions"]).stdout.contains('\u{1b}'));
    home.thru(&["config", "set", "output.color", "always"]).expect(0);
    assert!(home.thru(&["sessions"]).stdout.contains('\u{1b}'));
    assert!(!home.thru(&["sessions", "--plain"]).stdout.contains('\u{1b}'));
    assert!(!home.thru(&["sessions", "--json"]).stdout.contains('\u{1b}'));
    let asked = home.command().env("NO_COLOR", "1").arg("sessions").output().unwrap();
    // What is set says more than what is everywhere asked for.
    assert!(String::from_utf8_lossy(&asked.stdout).contains('\u{1b}'));
}

#[test]
fn calls_of_skipped_tools_are_no_results_and_are_kept_all_the_same() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    let todos =
        json!({ "todos": [{ "content": "Paint the zebrafish tank", "status": "pending" }] });
    author
        .asks("Go on with the aquarium")
        .calls("toolu_1", "TodoWrite", todos)
        .gets("toolu_1", "Todos have been modified")
        .runs("toolu_2", "aquarium --zebrafish")
        .gets("toolu_2", "3 fish")
        .says("There are three of them.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let found = home.json(&["search", "--all", "--json", "zebrafish"]);
    let shown = found["sessions"].to_string();
    assert!(shown.contains("--zebrafish") && !shown.contains("TodoWrite"), "{found}");
    let session = home.json(&["session", "show", ONE, "--json"]).to_string();
    assert!(session.contains("TodoWrite"), "{session}");
    let config = home.data().join("config.toml");
    std::fs::write(config, "[capture]\nskip_tools = [\"Bash\"]").unwrap();
    assert!(!home.shown(&["search", "--all", "zebrafish"]).contains("--zebrafish"));
}
