//! The daemon cleans what older rules left.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use thru_app::background::work::Ingesting;
use thru_core::SystemClock;
use thru_daemon::{Log, News, Work};
use thru_testkit::dump;

use crate::home::Home;
use crate::records::{Author, ONE, file};

#[test]
fn a_changed_rule_has_the_daemon_clean_what_is_kept_and_say_so() {
    // What was allowed when it was read stands for what older rules did not know.
    let token = ["gh", "p_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let home = Home::new();
    home.configure("redact.allow = [\"ghp_.*\"]\n");
    let mut author = Author::of(ONE);
    author.asks(&format!("Use {token} to push.")).says("Pushed.");
    home.write(&file(ONE), author.text());
    home.import();
    let holds = || {
        let layout = home.layout();
        [dump::archive(&layout), dump::store(&layout)].concat().iter().any(|it| it.contains(&token))
    };
    assert!(holds());
    home.configure("");
    let path = home.folder().join("daemon.log");
    let log = Arc::new(Log::open(&path, Arc::new(SystemClock)).unwrap());
    let mut work = Ingesting::new(&home.here(), &Arc::default(), &log);
    let mut step = |news: &News| {
        // In parts, between which others may write.
        while work.ingest(news, &AtomicBool::new(false)).unwrap().more {
            home.import();
        }
        work.status()["cleaned_again"].as_u64().unwrap()
    };
    assert_eq!(step(&News::everything()), 0, "it waits for a quiet moment");
    let cleaned = step(&News::default());
    assert!(cleaned > 0 && !holds());
    assert_eq!(step(&News::default()), cleaned, "once is enough");
    let log = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        log.matches("cleaned what is kept again by newer rules: 1 secret").count(),
        1,
        "{log}"
    );
    assert!(!log.contains(&token));
}
