//! What a search answers besides passages.

use crate::home::Home;
use crate::records::{Author, ONE, TWO, file};

#[test]
fn a_time_at_which_nothing_like_the_question_was_said_is_told_by_its_sessions() {
    let home = Home::new();
    let mut gauge = Author::of(ONE);
    gauge
        .asks("Which gauge does the glaze kiln need?")
        .says("The glaze kiln needs the brass gauge: copper drifts.");
    home.write(&file(ONE), gauge.text());
    let mut shelf = Author::of(TWO);
    shelf.asks("Paint the shelf green").says("The shelf is green.");
    home.write(&file(TWO), shelf.text().replace("2026-03-01", "2026-03-05"));
    home.import();
    let found = home.search("the gauge of the glaze kiln on 2026-03-05");
    assert_eq!(found.remarks(), ["Nothing near this is of that time."]);
    let work = found.work.unwrap();
    let sessions: Vec<&str> = work.sessions.iter().map(|one| one.entry.id.as_str()).collect();
    assert_eq!((work.question, sessions), ("done", vec![TWO]));
    for other in ["the gauge of the glaze kiln on 2026-03-01", "the ferry to Avalon on 2026-03-05"]
    {
        assert!(home.search(other).work.is_none(), "{other}");
    }
    let of_agent = home.search("which gauge of the glaze kiln did codex get on 2026-03-05");
    assert!(of_agent.work.is_none(), "no session of Codex is of that day");
}
