//! `thru redact`.

use insta::assert_snapshot;
use std::process::Command;

use crate::home::Home;
use crate::records::{Author, ONE, file};

const SECRET: &str = "acme-12345678";

/// The archived transcript as any zstd tool prints it; nothing where there is no such tool.
fn unpacked(home: &Home) -> Option<String> {
    let entry = home.data().join(format!("archive/claude-code/-home-ada-rocket/{ONE}.jsonl.zst"));
    let output = Command::new("zstd").arg("-dc").arg(entry).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_rule_added_later_takes_a_secret_out_of_everything() {
    let home = Home::new();
    let _settings = home.settings();
    let mut author = Author::of(ONE);
    author
        .asks(&format!("The licence is {SECRET}."))
        .runs("toolu_1", &format!("activate {SECRET}"));
    author.gets("toolu_1", &format!("{SECRET} is active")).says("Activated.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let ids = [home.id_of("licence"), home.id_of("activate active")];
    assert!(home.thru(&["show", &ids[0]]).stdout.contains(SECRET));
    if let Some(unpacked) = unpacked(&home) {
        assert_eq!(unpacked, author.text());
    }
    assert_snapshot!(home.shown(&["redact", "add", "acme", "acme-[0-9]{8}"]), @r"
    Added.
    Took 4 secrets out of 1 archived file.
    ");
    for id in &ids {
        for more in [&[][..], &["--source"], &["--json", "--source"]] {
            let ran = home.thru(&[&["show", id], more].concat()).expect(0);
            assert!(!ran.stdout.contains(SECRET), "{}", ran.stdout);
        }
    }
    assert!(!home.thru(&["search", "--all", SECRET]).stdout.contains(SECRET));
    let found = home.json(&["search", "--all", "--json", SECRET]);
    assert!(!found["sessions"].to_string().contains(SECRET), "{found}");
    if let Some(unpacked) = unpacked(&home) {
        assert!(!unpacked.contains(SECRET) && unpacked.contains("[redacted:acme]"));
    }
    home.thru(&["verify"]).expect(0);
    // Nor does it lie in any file of ours.
    let mut pending = vec![home.data()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    let text = String::from_utf8_lossy(&bytes);
                    assert!(!text.contains("12345678"), "{}", entry.path().display());
                }
            }
        }
    }
    // Removing the rule brings nothing back, and an import reads nothing again.
    assert_snapshot!(home.shown(&["redact", "remove", "acme"]), @"Removed. What it redacted stays redacted.");
    let again = home.json(&["import", "--json"]);
    assert_eq!(again["passages"], 0);
    assert!(!home.thru(&["show", &ids[0]]).stdout.contains(SECRET));
}

#[test]
fn rules_are_listed_tested_and_refused() {
    let home = Home::new();
    let _settings = home.settings();
    home.thru(&["redact", "add", "acme", "acme-[0-9]{8}"]).expect(0);
    let list = home.thru(&["redact", "list"]).expect(0).stdout;
    assert_snapshot!(list.lines().last().unwrap(), @"acme                   acme-[0-9]{8}");
    assert!(list.lines().count() > 20);
    assert_snapshot!(home.shown(&["redact", "test", "key acme-12345678, and <private>this</private>."]), @"key [redacted:acme], and [private].");
    assert_snapshot!(home.shown(&["redact", "add", "bad", "a(b"]), @r#"
    -- stderr --
    error: the pattern of the redaction rule "bad" cannot be used; correct or remove it: regex parse error:
        a(b
         ^
    error: unclosed group.
    -- exit 2 --
    "#);
    assert_snapshot!(home.shown(&["redact", "add", "Bad Name", "abc"]), @r#"
    -- stderr --
    error: the redaction rule "Bad Name" needs another name: 1 to 64 letters, digits, hyphens and underscores.
    -- exit 2 --
    "#);
    assert_snapshot!(home.shown(&["redact", "add", "empty", "x*"]), @r#"
    -- stderr --
    error: the pattern of the redaction rule "empty" matches empty text; make it ask for at least one character.
    -- exit 2 --
    "#);
    assert_snapshot!(home.shown(&["redact", "add", "token", "ghp_0123456789abcdefghijABCDEFGHIJ012345"]), @r"
    -- stderr --
    error: the pattern itself looks like a secret.
    hint: describe the secret's shape, such as `acme_[0-9a-f]{32}`, instead of spelling it out.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["redact", "remove", "nothing"]), @r"
    -- stderr --
    error: there is no rule of yours called `nothing`.
    hint: `thru redact list` lists them at its end.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["redact", "apply"]), @"Nothing that is kept had to be changed.");
    let journal = std::fs::read_dir(home.data().join("journal")).unwrap().flatten();
    for segment in journal {
        let bytes = std::fs::read(segment.path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("ghp_0123456789"));
    }
}

#[test]
fn what_is_allowed_is_kept() {
    let home = Home::new();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    assert!(!home.thru(&["redact", "test", token]).expect(0).stdout.contains(token));
    home.thru(&["config", "set", "redact.allow", "ghp_0123456789[a-zA-Z0-9]+"]).expect(0);
    assert!(home.thru(&["redact", "test", token]).expect(0).stdout.contains(token));
    // A pattern that cannot be used is an error, not a hole.
    home.thru(&["config", "set", "redact.allow", "a(b"]);
    home.thru(&["redact", "test", token]).expect(2);
}
