//! Entries as files: names, locks, modes, whole replacement, rewriting.

use std::fs;

use thru_journal::Error;
use thru_journal::archive::{Archive, BLOCK_BYTES, Block};

use super::{at, clean, entry, fixture, info, read_from};

fn add(archive: &Archive, name: &str, text: &[u8]) {
    let mut appender = archive.appender(&entry(name), &info()).unwrap();
    appender.append(Block::Verbatim(text), at(text.len() as u64), None).unwrap();
}

#[test]
fn entries_are_found_again_by_their_names() {
    let fixture = fixture();
    assert_eq!(fixture.archive.entries().unwrap(), []);
    for name in ["codex/b.jsonl", "claude-code/p/a.jsonl", "claude-code/p/a:b?.jsonl", "top"] {
        add(&fixture.archive, name, b"x\n");
    }
    let root = fixture.archive.path(&entry("x")).parent().unwrap().to_owned();
    fs::write(root.join("top.zst.tmp-1-0"), "left by a killed process").unwrap();
    fs::write(root.join("notes.txt"), "not ours").unwrap();
    fs::create_dir(root.join("empty.zst")).unwrap();

    let entries = fixture.archive.entries().unwrap();
    let expected = [
        "claude-code/p/a.jsonl",
        entry("claude-code/p/a:b?.jsonl").as_str(),
        "codex/b.jsonl",
        "top",
    ]
    .map(entry);
    assert_eq!(entries, expected);
    for entry in &entries {
        assert_eq!(fixture.archive.verify(entry).unwrap().unwrap().lines, 1);
        let size = fs::metadata(fixture.archive.path(entry)).unwrap().len();
        assert_eq!(fixture.archive.size(entry).unwrap(), Some(size));
    }
    assert!(fixture.archive.remove(&entries[0]).unwrap());
    assert!(!fixture.archive.remove(&entries[0]).unwrap());
    assert_eq!(fixture.archive.size(&entries[0]).unwrap(), None);
    assert_eq!(fixture.archive.verify(&entries[0]).unwrap(), None);
    assert_eq!(fixture.archive.entries().unwrap(), expected[1..]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let fixture = fixture();
    add(&fixture.archive, "a/b", b"x\n");
    let file = fixture.archive.path(&entry("a/b"));
    let dir = file.parent().unwrap();
    std::os::unix::fs::symlink(dir, dir.join("loop")).unwrap();
    std::os::unix::fs::symlink(&file, dir.join("alias.zst")).unwrap();
    assert_eq!(fixture.archive.entries().unwrap(), [entry("a/b")]);
}

#[cfg(unix)]
#[test]
fn everything_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let fixture = fixture();
    add(&fixture.archive, "a/b", b"x\n");
    fixture.archive.replace(&entry("a/c"), &info(), Block::Verbatim(b"x"), at(1)).unwrap();
    let file = fixture.archive.path(&entry("a/b"));
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&fixture.archive.path(&entry("a/c"))), 0o600);
    for dir in file.ancestors().skip(1).take(2) {
        assert_eq!(mode(dir), 0o700);
    }
}

#[test]
fn one_appender_at_a_time() {
    let fixture = fixture();
    let held = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    let locked = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Locked { .. })));
    locked(fixture.archive.appender(&fixture.entry, &fixture.info).map(drop));
    locked(fixture.archive.remove(&fixture.entry).map(drop));
    locked(fixture.archive.rewrite(&fixture.entry, clean).map(drop));
    locked(fixture.archive.replace(&fixture.entry, &info(), Block::Verbatim(b""), at(0)));
    drop(held);
    fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
}

#[test]
fn an_attachment_is_replaced_as_a_whole() {
    let fixture = fixture();
    let large: Vec<u8> = (0..100_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
    for content in [large.as_slice(), b"no newline at the end", b"", b"a\nb"] {
        fixture.archive.replace(&fixture.entry, &info(), Block::Verbatim(content), at(7)).unwrap();
        let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
        assert_eq!(read_from(&mut reader, 0), content);
        assert_eq!((reader.info(), reader.position()), (Some(&info()), Some(&at(7))));
        assert!(reader.blocks().iter().all(|block| block.raw_len <= BLOCK_BYTES as u64));
    }
    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(reader.read_line(1).unwrap().as_deref(), Some(b"b".as_slice()));
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    let refused = appender.append(Block::Verbatim(b"c\n"), at(8), None);
    assert!(matches!(refused, Err(Error::Unrecordable(_))), "it would join the line before");
}

#[test]
fn new_rules_can_be_applied_to_what_is_archived() {
    let fixture = fixture();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    appender.append(Block::Verbatim(b"one\nsecret\n"), at(11), Some("c".to_owned())).unwrap();
    appender.mark(at(12), None).unwrap();
    appender.append(Block::Verbatim(b"three\r\n"), at(19), Some("d".to_owned())).unwrap();
    drop(appender);
    let before = fs::read(fixture.archive.path(&fixture.entry)).unwrap();

    assert!(!fixture.archive.rewrite(&fixture.entry, clean).unwrap());
    assert_eq!(fs::read(fixture.archive.path(&fixture.entry)).unwrap(), before);
    assert!(!fixture.archive.rewrite(&entry("nothing"), clean).unwrap());

    let hide = |line: &[u8]| {
        if line == b"secret" { clean(b"[hidden]") } else { clean(line) }
    };
    assert!(fixture.archive.rewrite(&fixture.entry, hide).unwrap());
    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(read_from(&mut reader, 0), b"one\n[hidden]\nthree\r\n");
    assert_eq!(reader.info(), Some(&fixture.info));
    let states: Vec<_> =
        reader.blocks().iter().map(|block| (block.position.end, block.carry.clone())).collect();
    assert_eq!(states, [(11, Some("c".to_owned())), (12, None), (19, Some("d".to_owned()))]);

    let leftover = fixture.archive.path(&fixture.entry).with_extension("zst.tmp-1-0");
    fs::write(leftover, "left by a killed process").unwrap();
    let several = fixture.archive.rewrite(&fixture.entry, |_| clean(b"a\nb"));
    assert!(matches!(several, Err(Error::Unrecordable(_))));
    let root = fixture.archive.path(&fixture.entry).parent().unwrap().to_owned();
    assert_eq!(fs::read_dir(root).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_to_be_full() {
    let fixture = fixture();
    let path = fixture.archive.path(&fixture.entry);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    let full = appender.append(Block::Verbatim(b"x\n"), at(2), None);
    assert!(matches!(full, Err(Error::DiskFull { .. })), "{full:?}");
    assert_eq!((appender.lines(), appender.position()), (0, None));
}
