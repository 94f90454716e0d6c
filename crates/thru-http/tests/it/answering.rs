//! Questions: the same bytes as every other surface prints, and routes that are as they are described.

use std::io::{Read, Write};
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use thru_app::answer;
use thru_app::ask::ProjectScope;
use thru_app::ask::get::{Get, Sources, get};
use thru_app::ask::search::{AnswerSize, Search, search};
use thru_app::ask::session::{Outline, outline};
use thru_app::ask::sessions::{ListSessions, list};
use thru_app::fresh::Freshness;
use thru_app::keep::export::{Export, export};
use thru_app::keep::projects::projects;
use thru_testkit::records::Author;

use crate::home::{Home, SESSION, Served, call};

fn printed(answer: &impl Serialize) -> String {
    answer::json(answer).unwrap() + "\n"
}

#[test]
fn answers_are_those_of_the_application_byte_for_byte() {
    let home = Home::new();
    let (served, app) = (home.serve(), home.app());
    let everywhere = ProjectScope::Everywhere;
    let request = Search {
        query: "importer lock".to_owned(),
        project: everywhere.clone(),
        size: AnswerSize::Passages(Some(5)),
        ..Search::default()
    };
    let found = search(&app, &request, call()).unwrap();
    assert!(found.shown_passages() > 0);
    assert_eq!(served.get("/api/v1/search?q=importer+lock&limit=5").body, printed(&found));
    let request = ListSessions {
        project: everywhere,
        agents: Vec::new(),
        since: None,
        until: None,
        cursor: None,
        limit: 50,
    };
    assert_eq!(
        served.get("/api/v1/sessions").body,
        printed(&list(&app, &request, call()).unwrap())
    );
    let request = Outline::new(SESSION, Freshness::Recorded);
    let whole = printed(&outline(&app, &request, call()).unwrap());
    assert_eq!(served.get(&format!("/api/v1/sessions/{}", &SESSION[..8])).body, whole);
    let projects = printed(&projects(&app, None, call()).unwrap());
    assert_eq!(served.get("/api/v1/projects").body, projects);
    let id = found.sessions[0].passages[0].entry.id.clone();
    let request =
        Get { ids: vec![id.clone()], sources: Sources::Records, freshness: Freshness::Recorded };
    let pieces = printed(&get(&app, &request, call()).unwrap());
    assert_eq!(served.get(&format!("/api/v1/memories/{id}?source=true")).body, pieces);
}

#[test]
fn a_thing_that_facts_name_is_shown_by_its_id() {
    let home = Home::new();
    let session = SESSION.replace("0001", "0003");
    let mut records = Author::of(&session);
    for (call, result) in [("c1", "error[E0277]: no lock"), ("c2", "test result: ok. 3 passed")] {
        records.asks("Test it").runs(call, "cargo test importer").gets(call, result).says("Done.");
    }
    home.add(&session, &records);
    let served = home.serve();
    let named = served.get("/api/v1/facts?history=true").json();
    let subject = &named["facts"][0]["subject"];
    let id = subject["id"].as_str().unwrap();
    let shown = served.get(&format!("/api/v1/entities/{id}")).json();
    assert_eq!((&shown["kind"], &shown["entity"]), (&"entity".into(), subject));
    let about = |fact: &&serde_json::Value| {
        [&fact["subject"]["id"], &fact["object"]["id"]].contains(&&subject["id"])
    };
    let all: Vec<_> = named["facts"].as_array().unwrap().iter().filter(about).collect();
    assert_eq!(shown["facts"].as_array().unwrap().iter().collect::<Vec<_>>(), all);
    let cut = served.get(&format!("/api/v1/entities/{id}?limit=1")).json();
    assert_eq!(
        (cut["facts"].as_array().unwrap().len(), &cut["more"]),
        (1, &(all.len() > 1).into())
    );
    for unknown in ["zzzzzzzzzzzzzzzz", "%00", "importer"] {
        assert_eq!(served.get(&format!("/api/v1/entities/{unknown}")).status, 404, "{unknown}");
    }
}

#[test]
fn the_turns_of_a_session_are_told_in_parts() {
    let home = Home::new();
    let session = SESSION.replace("0001", "0002");
    let mut records = Author::of(&session);
    for number in 1..=5 {
        records.asks(&format!("Water tree {number}")).says("Done.");
    }
    records.runs("c1", "make water").fails("c1", "Exit code 2\nno water");
    home.add(&session, &records);
    let served = home.serve();
    let numbers = |query: &str| {
        let part = served.get(&format!("/api/v1/sessions/{session}/turns{query}")).json();
        let turns = part["turns"].as_array().unwrap().iter();
        turns.map(|turn| turn["turn"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(""), [1, 2, 3, 4, 5]);
    assert_eq!(numbers("?limit=3"), [1, 2]);
    assert_eq!(numbers("?first=2&limit=2"), [2, 3]);
    assert_eq!(numbers("?first=9"), [] as [u64; 0]);
    let failures = |session: &str| {
        served.get(&format!("/api/v1/sessions/{session}/turns?limit=1")).json()["failures"].clone()
    };
    assert_eq!(failures(SESSION), serde_json::json!([]));
    assert_eq!(failures(&session), serde_json::json!([{ "turn": 5, "commands": 1 }]));
}

#[test]
fn lists_are_told_page_by_page_whatever_comes_in_between() {
    let home = Home::new();
    for number in 2..6 {
        let session = SESSION.replace("0001", &format!("000{number}"));
        let mut records = Author::of(&session).starting_at_record(number * 100);
        records
            .asks("Test it")
            .runs("c1", "cargo test importer")
            .fails("c1", &format!("error[E027{number}]: no lock"));
        home.add(&session, records.says("It fails."));
    }
    let served = home.serve();
    for text in ["Use pnpm", "Locks are short", "Never push to main"] {
        served.change("POST", "/api/v1/memories", &json!({ "text": text }));
    }
    for (path, list, id) in [
        ("/sessions?", "sessions", "id"),
        ("/memories?", "memories", "full_id"),
        ("/memories?state=told&", "memories", "full_id"),
        ("/facts?history=true&", "facts", "id"),
        ("/changed?span=2020-01-01..&", "facts", "id"),
        ("/problems?", "problems", "id"),
        ("/log?", "entries", "full_id"),
    ] {
        let page = |query: &str| {
            let answer = served.get(&format!("/api/v1{path}{query}")).json();
            let entries = answer[list].as_array().unwrap().iter();
            let ids: Vec<_> = entries.map(|one| one[id].as_str().unwrap().to_owned()).collect();
            (ids, answer["next"].as_str().map(str::to_owned))
        };
        let (whole, none) = page("limit=500");
        assert!(whole.len() > 2 && none.is_none(), "{path}: {whole:?}");
        let (mut told, mut next) = page("limit=2");
        while let Some(cursor) = next {
            let (ids, after) = page(&format!("limit=2&cursor={cursor}"));
            assert!(!ids.is_empty(), "{path}");
            told.extend(ids);
            next = after;
        }
        assert_eq!(told, whole, "{path}");
        assert_eq!(served.get(&format!("/api/v1{path}cursor=5b5d")).status, 400, "{path}");
    }
    // A course begins with what is earliest, and its pages go back from the latest.
    let course = |query: &str| {
        let answer = served.get(&format!("/api/v1/why?about=cargo+test+importer&{query}")).json();
        let ids: Vec<_> =
            answer["facts"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        (ids, answer["next"].as_str().map(str::to_owned))
    };
    let (whole, _) = course("limit=500");
    let (latest, cursor) = course("limit=2");
    let (before, _) = course(&format!("limit=500&cursor={}", cursor.unwrap()));
    assert_eq!([before, latest].concat(), whole);
    let (_, cursor) = {
        let answer = served.get("/api/v1/log?limit=1").json();
        (answer["entries"].clone(), answer["next"].as_str().unwrap().to_owned())
    };
    let second = served.get(&format!("/api/v1/log?limit=1&cursor={cursor}")).json();
    served.change("POST", "/api/v1/memories", &json!({ "text": "Ask before a release" }));
    assert_eq!(served.get(&format!("/api/v1/log?limit=1&cursor={cursor}")).json(), second);
}

#[test]
fn projects_of_one_name_are_told_apart_by_their_keys() {
    let home = Home::new();
    let keys = |served: &Served, path: &str, list: &str| {
        let answer = served.get(path).json();
        let entries = answer[list].as_array().unwrap().iter();
        entries.map(|one| one["project_key"].clone()).collect::<Vec<_>>()
    };
    let alone = keys(&home.serve(), "/api/v1/sessions", "sessions");
    assert_eq!(alone, [json!(null)]);
    let directory = home.path("other/rocket");
    std::fs::create_dir_all(&directory).unwrap();
    let session = SESSION.replace("0001", "0002");
    let mut records =
        Author::of(&session).starting_at_record(100).in_directory(directory.to_str().unwrap());
    records.asks("Test it").runs("c1", "cargo test").gets("c1", "test result: ok. 3 passed");
    home.add(&session, records.says("It passes."));
    let served = home.serve();
    let both = keys(&served, "/api/v1/sessions", "sessions");
    assert!(both.len() == 2 && both[0] != both[1], "{both:?}");
    for key in both {
        let query = format!("project={}", key.as_str().unwrap());
        assert_eq!(
            keys(&served, &format!("/api/v1/sessions?{query}"), "sessions"),
            std::slice::from_ref(&key)
        );
        let work = keys(&served, &format!("/api/v1/stats?since=2020-01-01&{query}"), "projects");
        assert_eq!(work, std::slice::from_ref(&key));
        let memories = keys(&served, &format!("/api/v1/memories?{query}"), "memories");
        assert!(memories.iter().all(|one| *one == key), "{memories:?}");
    }
}

#[test]
fn an_answer_that_a_client_has_is_not_sent_again() {
    let home = Home::new();
    let served = home.serve();
    let ask = |tag: &str| {
        let head = format!("{}If-None-Match: {tag}\r\n\r\n", served.authorised());
        served.send(&format!("GET /api/v1/memories HTTP/1.1\r\n{head}"))
    };
    let tag = |response: &crate::home::Response| {
        let mut lines = response.head.lines();
        lines.find_map(|line| line.strip_prefix("etag: ").map(str::to_owned))
    };
    // A store that was just written to has none.
    let settled = || {
        for _ in 0..100 {
            if let Some(tag) = tag(&served.get("/api/v1/memories")) {
                return tag;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("no tag");
    };
    // The minute may end in between.
    let is_known = || {
        let again = ask(&settled());
        again.status == 304 && again.body.is_empty() && tag(&again).is_some()
    };
    assert!(is_known() || is_known());
    let before = settled();
    assert_eq!(ask("\"another\"").status, 200);
    served.change("POST", "/api/v1/memories", &json!({ "text": "Use pnpm" }));
    let after = ask(&before);
    assert_eq!((after.status, tag(&after)), (200, None));
    assert_ne!(settled(), before);
    assert_eq!(tag(&served.get("/api/v1/search?q=lock")), None);
    // What a question brought up to date has none either, the next answer one that the client keeps.
    let facts = || {
        (0..100).find_map(|_| {
            sleep(Duration::from_millis(50));
            tag(&served.get("/api/v1/facts"))
        })
    };
    let is_kept = || {
        let head = format!("{}If-None-Match: {}\r\n\r\n", served.authorised(), facts().unwrap());
        let again = served.send(&format!("GET /api/v1/facts HTTP/1.1\r\n{head}"));
        again.status == 304 && again.body.is_empty()
    };
    assert!(is_kept() || is_kept());
}

#[test]
fn an_export_comes_whole_or_not_at_all() {
    let home = Home::new();
    let served = home.serve();
    let mut whole = Vec::new();
    export(&home.app(), &Export::default(), &mut whole, call()).unwrap();
    let whole = String::from_utf8(whole).unwrap();
    let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    // The first line tells the time.
    assert_eq!(lines(&served.get("/api/v1/export").body), lines(&whole));
    assert_eq!(served.get("/api/v1/export?project=none-of-ours").status, 404);
    served.change("POST", "/api/v1/memories", &json!({ "text": "Use pnpm\n# not npm" }));
    let read = served.get("/api/v1/export?format=md");
    assert!(read.head.contains("text/markdown"), "{read:?}");
    // A heading in a text is none of the export.
    let headings: Vec<_> = read.body.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings[..3], ["# Memory", "## Told", "### Use pnpm"], "{}", read.body);
    assert!(headings.len() > 4 && read.body.contains("> # not npm"), "{}", read.body);
}

#[test]
fn clients_that_do_not_read_their_export_keep_no_question_waiting() {
    let home = Home::new();
    let mut records = Author::of(&SESSION.replace("0001", "0002"));
    // More than the system keeps for a client that reads nothing.
    for number in 0..150 {
        let words: Vec<String> = (0..6_000).map(|word| format!("w{}", number * word)).collect();
        records.asks(&format!("Water tree {number}")).says(&words.join(" "));
    }
    home.add(&SESSION.replace("0001", "0002"), &records);
    let served = home.serve();
    let request = format!("GET /api/v1/export HTTP/1.1\r\n{}\r\n", served.authorised());
    let mut stalled: Vec<_> = (0..2).map(|_| served.connect()).collect();
    for stream in &mut stalled {
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(stream.read(&mut [0; 100]).unwrap(), 100);
    }
    for path in ["/api/v1/sessions", "/api/v1/status", "/api/v1/projects"] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
    assert_eq!(served.get("/api/v1/export").status, 503);
    drop(stalled);
    let is_free = || served.get("/api/v1/export").status == 200;
    assert!((0..100).any(|_| is_free() || {
        sleep(Duration::from_millis(50));
        false
    }));
}

#[test]
fn a_session_is_read_a_part_at_a_time() {
    let home = Home::new();
    let served = home.serve();
    let part = served.get(&format!("/api/v1/sessions/{SESSION}/passages?from=1&limit=1")).json();
    assert_eq!(part["total"], 3);
    assert_eq!(part["passages"].as_array().unwrap().len(), 1);
    assert_eq!(part["passages"][0]["kind"], "tool");
    // It is data, whatever it looks like.
    assert!(part["passages"][0]["text"].as_str().unwrap().contains("</script>"));
}

#[test]
fn what_is_asked_wrongly_is_a_problem_that_says_why() {
    let home = Home::new();
    let served = home.serve();
    for (path, status, kind) in [
        ("/api/v1/search", 400, "invalid"),
        ("/api/v1/search?q=x&colour=red", 400, "invalid"),
        ("/api/v1/search?q=x&type=poem", 400, "invalid"),
        ("/api/v1/search?q=x&since=someday", 400, "invalid"),
        ("/api/v1/search?q=x&limit=many", 400, "invalid"),
        ("/api/v1/search?q=x&project=none-of-ours", 404, "not_found"),
        ("/api/v1/memories/%ff", 400, "invalid"),
        ("/api/v1/memories/zzzzz", 404, "not_found"),
        ("/api/v1/sessions/ffffffff", 404, "not_found"),
        ("/api/v1/nothing", 404, "no_route"),
    ] {
        let response = served.get(path);
        let problem = response.json();
        assert_eq!((response.status, problem["kind"].as_str()), (status, Some(kind)), "{path}");
        assert_eq!(problem["status"], status);
        assert!(response.head.contains("application/problem+json"), "{response:?}");
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_number_that_is_none_is_named() {
    let problem = Home::new().serve().get("/api/v1/search?q=x&limit=many").json();
    assert_eq!(problem["detail"], "the parameters: `limit`: invalid digit found in string");
}

#[test]
fn a_search_finds_only_the_kinds_that_are_wanted() {
    let home = Home::new();
    let served = home.serve();
    for (name, kind) in [("prompt", "human"), ("answer", "assistant"), ("tool", "tool")] {
        let found =
            served.get(&format!("/api/v1/search?q=importer+lock&nearest=true&limit=1&type={name}"));
        let found = found.json();
        let passages = found["sessions"][0]["passages"].as_array().unwrap();
        let kinds: Vec<_> = passages.iter().map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, [kind], "{found}");
        assert_eq!(found["memories"].as_array().unwrap().len(), 0, "{found}");
    }
}

#[test]
fn a_problem_names_the_route_that_helps_and_the_step_for_programs() {
    let home = Home::new();
    let served = home.serve();
    let session = served.get(&format!("/api/v1/memories/{SESSION}")).json();
    assert_eq!(session["detail"], format!("`{SESSION}` is a session."));
    assert_eq!(session["advice"], format!("`GET /api/v1/sessions/{SESSION}` reads it."));
    assert_eq!(session["remedy"], json!({ "kind": "open_session", "value": SESSION }));
    let unknown = served.get("/api/v1/memories/zzzzz").json();
    assert_eq!(unknown["advice"], "`GET /api/v1/search` shows ids.");
    assert_eq!(unknown["remedy"], json!({ "kind": "see", "value": "ids" }));
    assert_eq!(served.get("/api/v1/nothing").json()["remedy"], json!(null));
}

#[test]
fn every_route_that_is_described_is_there() {
    let home = Home::new();
    let served = home.serve();
    let document = served.get("/api/v1/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 25, "{}", paths.len());
    for (path, operations) in paths.iter().filter(|(path, _)| !path.ends_with("/events")) {
        let named = path.replace("{id}", "zzzzz");
        for (method, operation) in operations.as_object().unwrap() {
            assert!(operation["summary"].as_str().is_some_and(|text| text.ends_with('.')));
            // No route takes a field like this: it is refused by the route itself, before anything is done.
            let response = match method.as_str() {
                "get" => served.get(&format!("{named}?no_such_field=1")),
                method => {
                    let body = serde_json::json!({ "no_such_field": 1 });
                    served.change(&method.to_uppercase(), &named, &body)
                }
            };
            assert_eq!(
                (response.status, response.json()["kind"].as_str()),
                (400, Some("invalid")),
                "{method} {path}"
            );
        }
    }
}

#[test]
fn questions_that_take_nothing_are_answered() {
    let home = Home::new();
    let served = home.serve();
    let document = served.get("/api/v1/openapi.json").json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let takes_nothing = operations["get"]["parameters"]
            .as_array()
            .is_some_and(|all| all.iter().all(|one| one["required"] != true));
        if takes_nothing {
            let response = served.get(path);
            assert_eq!(response.status, 200, "{path}: {response:?}");
        }
    }
}

#[test]
fn the_page_is_served_whole_and_only_once() {
    let home = Home::new();
    let served = home.serve();
    let page = served.get("/").body;
    assert!(page.contains("/assets/app.js"));
    let mut names = vec!["app.js".to_owned()];
    let mut seen = 0;
    let (mut bytes, mut packed_bytes) = (page.len(), 0);
    while let Some(name) = names.get(seen).cloned() {
        seen += 1;
        let response = served.get(&format!("/assets/{name}"));
        assert_eq!(response.status, 200, "{name}");
        bytes += response.body.len();
        for import in response.body.split("\"/assets/").skip(1) {
            let import = import.split('"').next().unwrap().to_owned();
            if !names.contains(&import) {
                names.push(import);
            }
        }
        let tag = response.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let again =
            format!("GET /assets/{name} HTTP/1.1\r\n{}If-None-Match: {tag}\r\n\r\n", served.host());
        assert_eq!(served.send(&again).status, 304);
        let packed = |quality: &str| {
            let codings = format!("Accept-Encoding: gzip, zstd{quality}\r\n");
            let request = format!("GET /assets/{name} HTTP/1.1\r\n{}{codings}\r\n", served.host());
            served.send(&request).head.to_lowercase()
        };
        let head = packed("");
        assert!(head.contains("content-encoding: zstd") && !head.contains(tag), "{head}");
        assert!(head.contains("vary: accept-encoding"), "{head}");
        assert!(!packed(";q=0").contains("content-encoding"));
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        packed_bytes += length.unwrap().parse::<usize>().unwrap();
    }
    assert!(packed_bytes < 45_000, "{packed_bytes}");
    assert!(names.len() > 5 && bytes < 150_000, "{names:?}: {bytes}");
    assert_eq!(served.get("/assets/../Cargo.toml").status, 404);
}
