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
fn a_rule_that_matches_nearly_everywhere_is_added_only_by_one_who_means_it() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    for number in 0..30 {
        author.asks(&format!("Is the pump {number} on?"));
    }
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let refused = home.thru(&["redact", "add", "letter", "p"]).expect(2).stderr;
    assert!(
        refused.contains("matches in 30 of 30 passages") && refused.contains("--yes"),
        "{refused}"
    );
    home.thru(&["redact", "add", "one", "pump 7 "]).expect(0);
    home.id_of("pump");
    home.thru(&["redact", "add", "letter", "p", "--yes"]).expect(0);
    home.thru(&["search", "--all", "pump"]).expect(1);
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
    Rebuilt store and index; ids are unchanged.
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
    let doctor = home.thru(&["doctor"]).stdout;
    assert!(!doctor.contains("older rules"), "{doctor}");
}

#[test]
fn rules_are_listed_tested_and_refused() {
    let home = Home::new();
    let _settings = home.settings();
    home.thru(&["redact", "add", "acme", "acme-[0-9]{8}"]).expect(0);
    let list = home.thru(&["redact", "list"]).expect(0).stdout;
    assert_snapshot!(list.lines().last().unwrap(), @"acme                   acme-[0-9]{8}");
    assert!(list.lines().count() > 20);
    assert_snapshot!(home.shown(&["redact", "test", "key acme-12345678, and <private>this</private>."]), @"
    key [redacted:acme], and [private].

    acme: acme-[0-9]{8}
    ");
    assert_snapshot!(home.shown(&["redact", "add", "bad", "a(b"]), @r"
    -- stderr --
    error: the pattern is no regular expression: unclosed group.
    hint: correct it; `\` before a sign takes that sign as it is.
    -- exit 2 --
    ");
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
    hint: `thru redact list` lists them.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["redact", "--apply"]), @"
    Nothing stored had to be changed.
    Checked again: nothing is left.
    ");
    // A rule whose pattern matches itself stays as it is.
    home.shown(&["redact", "add", "itself", "itself_[a-z]+|itself_.{3,}"]);
    assert!(home.shown(&["redact", "--apply"]).contains("Checked again: nothing is left."));
    let journal = std::fs::read_dir(home.data().join("journal")).unwrap().flatten();
    for segment in journal {
        let bytes = std::fs::read(segment.path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("ghp_0123456789"));
    }
}

/// What every file of ours holds, unpacked where it is packed.
fn everything(home: &Home) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![home.data()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                pending.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            if path.extension().is_some_and(|extension| extension == "zst") {
                found.push((
                    format!("{} unpacked", path.display()),
                    zstd::decode_all(&bytes[..]).unwrap(),
                ));
            }
            found.push((path.display().to_string(), bytes));
        }
    }
    let database = rusqlite::Connection::open(home.data().join("memory.db")).unwrap();
    let mut blocks = database.prepare("SELECT data FROM text_blocks").unwrap();
    for block in blocks.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap() {
        found.push(("text block".to_owned(), zstd::decode_all(&block.unwrap()[..]).unwrap()));
    }
    found
}

fn places_of(home: &Home, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
    everything(home).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(place, _)| place).collect()
}

#[test]
fn a_given_text_is_taken_out_of_everything() {
    let home = Home::new();
    let _settings = home.settings();
    let mut author = Author::of(ONE);
    author
        .asks("The door opens with heron quartz, remember?")
        .runs("toolu_1", "open --with 'heron quartz'");
    author.gets("toolu_1", "heron\nquartz accepted").says("The door is open.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let id = home.id_of("door opens");
    // What lies beside journal, archive and store: a note, a copy of the store, an export.
    std::fs::write(home.data().join("run/note.jsonl"), "{\"a\":\"heron quartz\"}\n").unwrap();
    std::fs::copy(home.data().join("memory.db"), home.data().join("memory.before-v4.db")).unwrap();
    let export = home.data().join("export.jsonl");
    home.thru(&["export", "--out", export.to_str().unwrap()]).expect(0);
    assert!(places_of(&home, "quartz").len() > 3, "{:?}", places_of(&home, "quartz"));
    assert_snapshot!(home.shown(&["redact", "--scan"]), @"
    backup   1 file
             memory.before-v4.db

    The index holds words of the texts of the store and is made again with it.
    Nothing was changed; `--apply` removes it.
    ");
    assert_snapshot!(home.shown(&["redact", "--scan", "--text", "heron quartz"]), @"
    archive  3 lines: given 4
             session 11111111-aaaa-4aaa-8aaa-000000000001, lines 1, 2, 3
    store    9 texts: given 11
             memories
             memories of session 11111111-aaaa-4aaa-8aaa-000000000001
             passages
             passages of session 11111111-aaaa-4aaa-8aaa-000000000001, lines 1, 2
             sessions
             source_facts
    backup   1 file
             memory.before-v4.db
    file     2 files: given 9
             export.jsonl
             run/note.jsonl

    The index holds words of the texts of the store and is made again with it.
    Nothing was changed; `--apply` removes it.
    ");
    assert!(places_of(&home, "quartz").len() > 3, "a scan changes nothing");
    let before = home.json(&["sessions", "--json", "--all"]);
    // Read from standard input, so that it does not lie in the history of a shell.
    let mut command = home.command();
    command.args(["redact", "--apply", "--text", "-"]).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"heron quartz\n").unwrap();
    let ran = crate::home::Ran::from(child.wait_with_output().unwrap());
    assert_snapshot!(ran.expect(0).shown(), @"
    Took 4 secrets out of 1 archived file.
    Rebuilt store and index; ids are unchanged.
    Cleaned export.jsonl.
    Cleaned run/note.jsonl.
    Removed memory.before-v4.db, a copy of the store.
    Checked again: nothing is left.
    ");
    assert_eq!(places_of(&home, "quartz"), [] as [&str; 0]);
    // The same ids, and the rest as it was.
    let shown = home.thru(&["show", &id]).expect(0).stdout;
    assert!(shown.contains("The door opens with [redacted:given], remember?"), "{shown}");
    assert_eq!(
        home.json(&["sessions", "--json", "--all"])["sessions"][0]["id"],
        before["sessions"][0]["id"]
    );
    home.thru(&["verify"]).expect(0);
    home.thru(&["redact", "--scan", "--text", "heron quartz"]).expect(0);
    home.thru(&["search", "--all", "quartz"]).expect(1);
    // Nothing is read again.
    assert_eq!(home.json(&["import", "--json"])["passages"], 0);
}

#[test]
fn a_given_text_is_taken_out_of_what_was_told() {
    let home = Home::imported();
    home.tell(&["The door opens with heron quartz"]);
    home.thru(&["redact", "add", "quartz", "heron quartz [0-9]+"]).expect(0);
    home.thru(&["redact", "--apply", "--text", "heron quartz"]).expect(0);
    assert_eq!(places_of(&home, "quartz"), [] as [&str; 0]);
}

#[test]
fn what_newer_rules_find_is_told_and_taken_out() {
    let home = Home::new();
    let _settings = home.settings();
    // What was allowed when it was read stands for what older rules did not know.
    let token = ["gh", "p_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    home.thru(&["config", "set", "redact.allow", "ghp_.*"]).expect(0);
    let mut author = Author::of(ONE);
    author.asks(&format!("Use {token} to push.")).says("Pushed.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    assert!(!places_of(&home, &token).is_empty());
    std::fs::write(home.data().join("config.toml"), "").unwrap();
    assert_snapshot!(home.shown(&["redact", "--scan"]), @"
    archive  1 line: github-token 1
             session 11111111-aaaa-4aaa-8aaa-000000000001, line 1
    store    4 texts: github-token 4
             passages of session 11111111-aaaa-4aaa-8aaa-000000000001, line 1
             sessions
             source_facts

    The index holds words of the texts of the store and is made again with it.
    Nothing was changed; `--apply` removes it.
    ");
    let scan = home.json(&["redact", "--scan", "--json"]);
    assert_eq!(scan["places"][0]["line"], 1);
    assert!(!scan.to_string().contains(&token));
    assert_snapshot!(home.shown(&["redact", "--apply"]), @"
    Took 1 secret out of 1 archived file.
    Rebuilt store and index; ids are unchanged.
    Checked again: nothing is left.
    ");
    assert_eq!(places_of(&home, &token), [] as [&str; 0]);
    home.thru(&["redact", "--scan"]).expect(0);
}

#[test]
fn what_was_kept_exactly_goes_where_the_very_text_is_given() {
    let home = Home::new();
    home.thru(&["config", "set", "archive.verbatim", "true"]).expect(0);
    let mut author = Author::of(ONE);
    author.asks("The door opens with heron quartz.").says("Good.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let applied = home.json(&["redact", "--apply", "--json"]);
    assert_eq!(
        (applied["archived_files"].clone(), applied["verbatim"].clone()),
        (0.into(), 1.into())
    );
    let applied = home.json(&["redact", "--apply", "--json", "--text", "heron quartz"]);
    assert_eq!(
        (applied["archived_files"].clone(), applied["verbatim"].clone()),
        (1.into(), 0.into())
    );
    assert_eq!(places_of(&home, "quartz"), [] as [&str; 0]);
}

#[test]
fn a_text_that_cannot_be_taken_out_is_refused_or_told() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["redact", "--apply", "--text", "abc"]), @"
    -- stderr --
    error: a text of fewer than 4 characters occurs inside other words.
    hint: give more of it, or describe it in a rule.
    -- exit 2 --
    ");
    home.thru(&["config", "set", "redact.allow", "heron.*"]).expect(0);
    assert_snapshot!(home.shown(&["redact", "--apply", "--text", "heron quartz"]), @"
    -- stderr --
    error: your `redact.allow` says that this text is to be kept.
    hint: `thru config show redact.allow` shows it; take it out there first.
    -- exit 2 --
    ");
    // Names of files stay: by them a source is known again.
    let left = home.thru(&["redact", "--apply", "--text", &ONE[..13]]).expect(2).stdout;
    assert!(left.contains("Redaction does not reach what is left"), "{left}");
}

#[test]
fn nothing_is_taken_out_unless_that_is_asked_for() {
    let home = Home::imported();
    for option in ["--plain", "--color=never"] {
        let refused = home.thru(&["redact", option]).expect(2);
        assert!(refused.stderr.contains("<--scan|--apply>"), "{}", refused.shown());
    }
}

#[test]
fn what_is_allowed_is_kept() {
    let home = Home::new();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    assert!(!home.thru(&["redact", "test", token]).expect(0).stdout.contains(token));
    home.thru(&["config", "set", "redact.allow", "ghp_0123456789[a-zA-Z0-9]+"]).expect(0);
    assert!(home.thru(&["redact", "test", token]).expect(0).stdout.contains(token));
    // A pattern that cannot be used is refused at once, with the reason, and the list stays.
    let _settings = home.settings();
    let refused = home.thru(&["config", "set", "redact.allow", "a(b"]).expect(2);
    assert!(
        refused.stderr.contains("\"a(b\"") && refused.stderr.contains("unclosed group"),
        "{}",
        refused.shown()
    );
    assert!(home.thru(&["redact", "test", token]).expect(0).stdout.contains(token));
    // Nor is it a hole where a person wrote it into the file.
    std::fs::write(home.data().join("config.toml"), "redact.allow = [\"a(b\"]\n").unwrap();
    home.thru(&["redact", "test", token]).expect(2);
}

#[test]
fn a_rule_that_spells_its_text_out_leaves_hooks_at_work() {
    let home = crate::hooking::quiet();
    home.thru(&["redact", "add", "codename", "hunter2"]).expect(0);
    crate::hooking::prompt(&home, ONE, 1, "Does hunter2 hunt the heron?");
    let shown = home.thru(&["journal", "show", "--kind", "UserPromptSubmit"]).expect(0).stdout;
    assert!(shown.contains("Does [redacted:codename] hunt the heron?"), "{shown}");
    home.thru(&["redact", "--apply"]).expect(0);
    home.thru(&["redact", "--scan"]).expect(0);
}

#[test]
fn what_cannot_be_looked_into_is_not_said_to_be_clean() {
    let home = Home::imported();
    let segment = std::fs::read_dir(home.data().join("journal")).unwrap().flatten().next();
    let segment = segment.unwrap().path();
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    for mode in ["--scan", "--apply"] {
        let ran = home.thru(&["redact", mode]).expect(2);
        assert!(ran.stdout.contains("could not be checked"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("nothing is left"), "{}", ran.stdout);
    }
    // A user who names a text wants it gone, and the content of a damaged line is unknown.
    home.thru(&["redact", "--apply", "--text", "heron quartz"]).expect(0);
    home.thru(&["redact", "--scan"]).expect(0);
}

#[test]
fn an_export_is_an_export_whatever_it_is_called() {
    let home = Home::imported();
    std::fs::write(home.data().join("memory.jsonl"), "{\"a\":\"heron quartz\"}\n").unwrap();
    home.thru(&["redact", "--apply", "--text", "heron quartz"]).expect(0);
    let export = std::fs::read_to_string(home.data().join("memory.jsonl")).unwrap();
    assert!(!export.contains("quartz"), "{export}");
}
