//! `thru resume`: the command that goes on with a session, and the transcript that it needs.

use std::fs;

use crate::home::Home;
use crate::records::{Author, ONE, file};

#[test]
fn a_session_whose_transcript_is_gone_is_put_back_and_resumed() {
    let home = Home::new();
    let project = home.project();
    let mut author = Author::of(ONE).in_directory(project.to_str().unwrap());
    author.asks("Fix the lock.").says("It is fixed.");
    let transcript = home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    fs::remove_file(&transcript).unwrap();
    for id in ["latest", ONE] {
        let ran = home.inside(&["resume", "--print", id]).expect(0);
        let expected = format!("cd '{}' && claude --resume {ONE}\n", project.display());
        assert_eq!(ran.stdout, expected);
    }
    assert!(transcript.is_file());
    fs::remove_dir_all(project).unwrap();
    let ran = home.thru(&["resume", "--print", ONE]).expect(2);
    assert!(ran.stderr.contains("is gone"), "{}", ran.stderr);
}
