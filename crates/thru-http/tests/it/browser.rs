//! The page in a real browser: Chromium, driven over WebDriver. Where there is none, the tests say so and pass.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod driver;

use std::io::{Read, Write};
use std::net::TcpListener;

use driver::Browser;
use serde_json::json;
use thru_testkit::records::Author;

use crate::home::{Home, SESSION};

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"> </script> \u{202e}gnp.exe";

/// Starts a browser, or says why there is none.
macro_rules! browser {
    () => {
        match Browser::start() {
            Some(browser) => browser,
            None => return eprintln!("skipped: there is no chromium with its chromedriver here"),
        }
    };
}

#[test]
fn a_link_opens_the_page_once_and_a_reload_keeps_it_open() {
    let browser = browser!();
    let home = Home::new();
    let served = home.serve();
    let link = served.server.link().unwrap();
    browser.open(&link);
    browser.wait_for("document.querySelector('.stream.live')");
    assert_eq!(browser.run("return location.href"), format!("{}/", served.server.origin()));
    assert!(
        !browser
            .run("return JSON.stringify(localStorage) + document.cookie")
            .to_string()
            .contains("token")
    );
    browser.open(&served.server.origin());
    browser.wait_for("document.querySelector('.stream.live')");
    browser.open("about:blank");
    browser.open(&link);
    browser.wait_for("document.querySelector('main').innerText.includes('used already')");
}

#[test]
fn by_keyboard_alone_a_memory_is_found_corrected_and_restored() {
    let browser = browser!();
    let home = Home::new();
    let served = home.serve();
    let told = served.change("POST", "/api/v1/memories", &json!({ "text": "Use pnpm, not npm" }));
    let path = format!("/api/v1/memories/{}", told.json()["full_id"].as_str().unwrap());
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('#query')");
    browser.press("/pnpm\u{e007}");
    // The first screen lists sessions: the row has to be the answer's.
    browser.wait_for("document.querySelector('[data-row] > a').innerText.includes('Use pnpm')");
    browser.run("document.activeElement.blur()");
    browser.press("j\u{e007}");
    browser.wait_for("document.querySelector('h1').innerText === 'Use pnpm, not npm'");
    browser.wait_for("document.querySelector('h1') === document.activeElement");
    browser.press("e");
    browser.wait_for("document.activeElement.name === 'title'");
    browser.run("document.activeElement.select()");
    browser.press(" yarn\u{e007}");
    browser.wait_for("document.querySelector('h1')?.innerText === 'yarn'");
    browser.wait_for("document.querySelector('[data-key=u]')");
    browser.press("u");
    browser.wait_for("document.querySelector('h1')?.innerText === 'Use pnpm, not npm'");
    // A correction of what changed meanwhile keeps what is typed, is refused, and says so.
    browser.press("e");
    browser.wait_for("document.activeElement.name === 'title'");
    browser.run("document.activeElement.select()");
    browser.press("Use deno");
    let elsewhere = served.change("PATCH", &path, &json!({ "title": "Use bun" }));
    assert_eq!(elsewhere.status, 200, "{elsewhere:?}");
    browser.wait_for("document.querySelector('h1')?.innerText === 'Use bun'");
    browser.wait_for("document.activeElement.value === 'Use deno'");
    browser.press("\u{e007}");
    browser.wait_for("document.querySelector('.trouble')?.innerText.includes('changed since')");
    assert_eq!(served.get(&path).json()["memories"][0]["title"], "Use bun");
    browser.open(&format!("{}/#/memories", served.server.origin()));
    browser.wait_for("document.querySelector('[data-row] > a')?.innerText.includes('Use bun')");
}

#[test]
fn what_was_recorded_is_shown_and_never_run() {
    let browser = browser!();
    let home = Home::new();
    let served = home.serve();
    let text = format!(
        "{HOSTILE}\n[click](javascript:alert(1)) [web](https://example.org)\n\n```\n{HOSTILE}\n```"
    );
    let told = served.change(
        "POST",
        "/api/v1/memories",
        &json!({ "title": "A note <b>bold</b>", "text": text }),
    );
    assert_eq!(told.status, 200, "{told:?}");
    let id = told.json()["full_id"].as_str().unwrap().to_owned();
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('.stream.live')");
    browser.run("window.violations = []; addEventListener('securitypolicyviolation', (one) => violations.push(one.blockedURI))");
    for screen in [
        format!("memory/{id}"),
        "memories".to_owned(),
        format!("session/{SESSION}"),
        "search?q=importer+lock".to_owned(),
        "sessions".to_owned(),
        "privacy".to_owned(),
    ] {
        browser.run(&format!("location.hash = '#/{screen}'"));
        browser.wait_for(
            "document.querySelector('h1') && !document.querySelector('.waiting, [aria-busy=true]')",
        );
        browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
        browser.wait_for("!document.querySelector('.waiting, [aria-busy=true]')");
        assert_eq!(browser.run("return document.querySelectorAll('main img, main script, main b, a[href^=javascript]').length"), 0);
        assert_eq!(browser.run("return document.title.includes('owned')"), false);
        assert_eq!(browser.run("return violations.length"), 0, "{screen}");
    }
    browser.run(&format!("location.hash = '#/memory/{id}'"));
    browser.wait_for(
        "document.querySelector('a[rel=\"noreferrer noopener\"]')?.href === 'https://example.org/'",
    );
}

#[test]
fn what_happens_shows_by_itself_also_after_the_server_was_away() {
    let browser = browser!();
    let home = Home::new();
    let served = home.serve();
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('.stream.live')");
    browser.run("location.hash = '#/memories'");
    browser
        .wait_for("document.querySelector('[role=status]') && !document.querySelector('.waiting')");
    served.change("POST", "/api/v1/memories", &json!({ "text": "Deploy on Fridays" }));
    browser.wait_for("document.querySelector('main').innerText.includes('Deploy on Fridays')");
    let port = served.port;
    drop(served);
    browser.wait_for("document.querySelector('.stream.away')");
    let again = home.serve_on(port);
    again.change("POST", "/api/v1/memories", &json!({ "text": "Or rather on Mondays" }));
    browser.wait_for("document.querySelector('.stream.live')");
    browser.wait_for("document.querySelector('main').innerText.includes('Or rather on Mondays')");
}

#[test]
fn a_thing_is_drawn_above_the_table_that_says_the_same() {
    let browser = browser!();
    let home = Home::new();
    let served = home.serve();
    let facts = served.get("/api/v1/facts?history=true").json();
    let thing = facts["facts"][0]["subject"]["key"].as_str().unwrap_or_else(|| panic!("{facts}"));
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('.stream.live')");
    let address = format!("#/facts?history=true&about=${{encodeURIComponent({})}}", json!(thing));
    browser.run(&format!("location.hash = `{address}`"));
    browser.wait_for("[...document.querySelectorAll('img.drawing')].filter((one) => one.naturalWidth > 0).length === 2");
    browser.wait_for("document.querySelector('main tbody tr')");
}

#[test]
fn the_turns_of_a_long_session_come_a_hundred_at_a_time() {
    let browser = browser!();
    let home = Home::new();
    let session = SESSION.replace("0001", "0002");
    let mut records = Author::of(&session);
    for number in 1..=120 {
        records.asks(&format!("Water tree {number}")).says("Done.");
    }
    home.add(&session, &records);
    let served = home.serve();
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('.stream.live')");
    let shown = "[...document.querySelectorAll('.turn')].map((one) => one.value).filter((_, at, all) => at === 0 || at === all.length - 1)";
    browser.run(&format!("location.hash = '#/session/{session}'"));
    browser.wait_for(&format!("{shown}.join() === '1,100'"));
    browser.run(
        "[...document.querySelectorAll('button')].find((one) => one.innerText === 'Later').click()",
    );
    browser.wait_for(&format!("{shown}.join() === '101,120'"));
    // A link to a turn opens the part that it stands in.
    browser.run(&format!("location.hash = '#/session/{session}?turn=7'"));
    browser.wait_for(&format!("{shown}.join() === '1,100'"));
    browser.run(&format!("location.hash = '#/session/{session}?turn=110'"));
    browser.wait_for("document.querySelector('.turn[data-turn=\"110\"]').getBoundingClientRect().top < innerHeight");
}

/// The variable with the path of axe-core, which `.ci/run browser` fetches.
const AXE: &str = "THRU_AXE";

#[test]
fn no_screen_has_a_serious_barrier_in_any_colours_and_width() {
    let browser = browser!();
    let Some(axe) = std::env::var_os(AXE) else {
        return eprintln!("skipped: {AXE} names no axe-core, which `bash .ci/run browser` fetches");
    };
    let home = Home::new();
    let served = home.serve();
    let told = served.change("POST", "/api/v1/memories", &json!({ "text": "Use `pnpm`, not npm" }));
    let id = told.json()["full_id"].as_str().unwrap().to_owned();
    let facts = served.get("/api/v1/facts?history=true").json();
    let thing = facts["facts"][0]["subject"]["key"].as_str().unwrap().to_owned();
    let passages = served.get(&format!("/api/v1/sessions/{SESSION}/passages")).json();
    let passage = passages["passages"][0]["full_id"].as_str().unwrap().to_owned();
    browser.open(&served.server.link().unwrap());
    browser.wait_for("document.querySelector('.stream.live')");
    browser.run(&std::fs::read_to_string(axe).unwrap());
    let ready =
        "document.querySelector('h1') && !document.querySelector('.waiting, [aria-busy=true]')";
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)] {
        browser.look_as(scheme, width);
        for screen in [
            "search".to_owned(),
            "search?q=importer+lock&project=rocket".to_owned(),
            "search?q=nothing&since=never".to_owned(),
            "memories".to_owned(),
            format!("memory/{id}"),
            format!("memory/{passage}"),
            "briefings?project=rocket".to_owned(),
            "sessions".to_owned(),
            format!("session/{SESSION}"),
            format!("facts?history=true&about=${{encodeURIComponent({})}}", json!(thing)),
            "projects".to_owned(),
            "today".to_owned(),
            "health".to_owned(),
            "privacy".to_owned(),
        ] {
            browser.run(&format!("location.hash = `#/{screen}`"));
            browser.wait_for(ready);
            // What is shown only when it is asked for.
            browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
            browser.run("document.querySelectorAll('main [data-key=o], main [data-key=e]').forEach((one) => one.click())");
            browser.wait_for(ready);
            let found = browser.run_until_called_back(
                "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(\
                 ({ violations }) => done(violations.filter((one) => ['serious', 'critical'].includes(one.impact))\
                 .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`)), (error) => done([String(error)]))",
            );
            assert_eq!(found, json!([]), "{screen}, {scheme}, {width}");
            // Tables scroll by themselves, the page does not.
            let beyond = "const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth > clientWidth";
            assert_eq!(browser.run(beyond), false, "{screen}, {scheme}, {width}");
        }
    }
}

#[test]
fn a_page_of_another_port_reads_nothing_and_changes_nothing() {
    let browser = browser!();
    let home = Home::new();
    // Where programs get in without a token, pages do not.
    home.set("[http]\nworker_api = \"full\"\n");
    let served = home.serve();
    let (ours, token) = (served.server.origin(), &served.token);
    let remembered = || served.get("/api/v1/memories").body + &served.get("/api/v1/sessions").body;
    let before = remembered();
    let evil = serve_page(&format!(
        "<form id=f method=post enctype=text/plain action='{ours}/api/v1/undo'><input name='{{}}'></form>\
         <script src='{ours}/assets/api.js'></script><iframe id=i src='{ours}/'></iframe><script>\
         window.got = []; const note = (name) => (what) => got.push(name + ':' + (what?.status ?? what?.type ?? what));\
         const bearer = {{ Authorization: 'Bearer {token}' }};\
         fetch('{ours}/api/v1/memories', {{ headers: bearer }}).then(note('fetch'), () => got.push('fetch refused'));\
         fetch('{ours}/health').then(note('plain'), () => got.push('plain refused'));\
         fetch('{ours}/api/v1/memories', {{ method: 'POST', mode: 'no-cors', headers: {{ 'Content-Type': 'text/plain' }}, body: '{{\"text\":\"evil\"}}' }}).then(note('blind'), () => got.push('blind refused'));\
         fetch('{ours}/api/prompts').then(note('prompts'), () => got.push('prompts refused'));\
         fetch('{ours}/api/sessions/init', {{ method: 'POST', mode: 'no-cors', body: '{{\"sessionId\":\"evil\",\"prompt\":\"evil\"}}' }}).then(note('report'), () => got.push('report refused'));\
         const events = new EventSource('{ours}/api/v1/events'); events.onerror = () => got.push('events refused'); events.onopen = note('events');\
         const socket = new WebSocket('{ours}/api/v1/events'.replace('http', 'ws')); socket.onerror = () => got.push('socket refused'); socket.onopen = note('socket');\
         </script>"
    ));
    browser.open(&evil);
    browser.wait_for("window.got?.length >= 7");
    let mut got: Vec<String> =
        serde_json::from_value(browser.run("return [...new Set(got)].sort()")).unwrap();
    got.retain(|one| !one.ends_with("refused"));
    // The browser tells nothing of what came back, and what came back is a refusal.
    assert!(got.iter().all(|one| matches!(one.as_str(), "blind:0" | "report:0")), "{got:?}");
    browser.run("document.querySelector('#f').submit()");
    browser.wait_for("document.readyState === 'complete' && document.body.innerText.includes('forbidden') || document.body.innerText.includes('may ask')");
    assert_eq!(remembered(), before);
}

/// Serves one page on a port of its own, as another local server would, and returns its address.
fn serve_page(page: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().take(10).flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}
