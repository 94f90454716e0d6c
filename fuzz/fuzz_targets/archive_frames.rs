//! An archive file with arbitrary content: it can be read to its end and appended to, and no corrupt
//! line is returned.
//!
//! The first byte selects how the rest is used:
//!
//! - `A`: bytes that follow a valid archive;
//! - `F`: sections `header NUL lines NUL`, forged with a matching checksum. In the header, `$L`, `$R`,
//!   `$C` and `$H` stand for the actual number of lines, raw and compressed length, and hash;
//! - anything else: the whole file, including this byte.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use thru_core::{Agent, SessionId, SourceKind};
use thru_fuzz::{as_clean, empty_directory, seal};
use thru_journal::Error;
use thru_journal::archive::{Archive, Block, EntryName, Fingerprint, SourceInfo, SourcePosition};

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| empty_directory("archive"));

/// Three blocks as an appender writes them, and their number of lines.
static VALID: LazyLock<(Vec<u8>, u64)> = LazyLock::new(|| {
    let archive = Archive::new(ROOT.join("valid"));
    let mut appender = archive.appender(&entry(), &info()).unwrap();
    for n in 0..3_u64 {
        let text = format!("{{\"n\":{n}}}\n{{\"text\":\"a line of block {n}\"}}\n");
        appender
            .append(Block::Verbatim(text.as_bytes()), position(n), Some(n.to_string()))
            .unwrap();
    }
    (fs::read(archive.path(&entry())).unwrap(), appender.lines())
});

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((b'A', garbage)) => {
            let (valid, lines) = &*VALID;
            check(&[valid, garbage].concat(), *lines, true);
        }
        Some((b'F', sections)) => check(&forge(sections), 0, false),
        _ => check(data, 0, true),
    }
});

fn entry() -> EntryName {
    EntryName::new("claude-code/-home-ada-orrery/s.jsonl").unwrap()
}

fn info() -> SourceInfo {
    SourceInfo {
        agent: Agent::ClaudeCode,
        session: SessionId::new("s"),
        kind: SourceKind::Main,
        path: "/home/ada/.claude/projects/-home-ada-orrery/s.jsonl".to_owned(),
    }
}

fn position(end: u64) -> SourcePosition {
    SourcePosition::after(end, b"", b"")
}

/// Checks a file. `sure` is the number of lines that must be readable whatever follows them.
fn check(file: &[u8], sure: u64, honest: bool) {
    let archive = Archive::new(ROOT.join("read"));
    let path = archive.path(&entry());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, file).unwrap();

    let Some(lines) = read(&archive, sure, honest) else { return };
    let _ = usual(archive.verify(&entry()));
    assert_eq!(fs::read(&path).unwrap(), file, "reading changed the file");

    // Appending cuts off invalid blocks, and everything read before can be read afterwards.
    let Some(mut appender) = usual(archive.appender(&entry(), &info())) else { return };
    let number = appender.lines();
    assert!(number >= sure && number <= lines);
    let appended = usual(appender.append(Block::Verbatim(b"more\n"), position(99), None)).is_some();
    drop(appender);
    let after = read(&archive, sure, honest).expect("an entry that was read before");
    if appended {
        assert_eq!(after, number + 1);
        let mut reader = archive.reader(&entry()).unwrap().unwrap();
        assert_eq!(reader.read_line(number).unwrap().as_deref(), Some(b"more".as_slice()));
    }
    let _ = usual(archive.rewrite(&entry(), |_| as_clean(b"x")));
    read(&archive, sure, honest);
}

/// Reads everything in every way. Returns the number of lines, or `None` if the entry is refused.
fn read(archive: &Archive, sure: u64, honest: bool) -> Option<u64> {
    let mut reader = usual(archive.reader(&entry()))?.expect("a file that was just written");
    let blocks: Vec<(u64, u64)> =
        reader.blocks().iter().map(|block| (block.first_line, block.lines)).collect();
    for (index, &(first, lines)) in blocks.iter().enumerate() {
        let bytes = usual(reader.read_block(index));
        // A few lines of each block: both ends, and one beyond.
        for line in [first, first.saturating_add(lines / 2), first.saturating_add(lines)] {
            let _ = usual(reader.read_line(line));
        }
        assert!(bytes.is_some() || first >= sure, "a block before the garbage is lost");
    }
    for line in 0..sure {
        assert!(matches!(reader.read_line(line), Ok(Some(_))), "line {line} is lost");
    }
    let mut numbers = Vec::new();
    for lines in reader.blocks_from(0) {
        let Some(lines) = usual(lines) else { continue };
        for (number, text) in lines.iter() {
            assert!(!text.contains(&b'\n'));
            numbers.push(number);
        }
    }
    // A forged header may state any number of lines.
    if honest {
        assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
    }
    let _ = (reader.info(), reader.position(), reader.carry(), reader.torn(), reader.damage());
    Some(reader.lines())
}

/// Returns a result unless it is one of the expected errors for foreign bytes. Fails on any other error.
fn usual<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Corrupt { .. } | Error::Newer { .. } | Error::Unrecordable(_)) => None,
        Err(error) => panic!("an unexpected error: {error:?}"),
    }
}

fn forge(sections: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut parts = sections.split(|&byte| byte == 0);
    while let Some(header) = parts.next() {
        let raw = parts.next().unwrap_or_default();
        let frame = if raw.is_empty() { Vec::new() } else { zstd::bulk::compress(raw, 1).unwrap() };
        let lines = raw.iter().filter(|&&byte| byte == b'\n').count();
        let header = String::from_utf8_lossy(header)
            .replace("$L", &lines.to_string())
            .replace("$R", &raw.len().to_string())
            .replace("$C", &frame.len().to_string())
            .replace("$H", &Fingerprint::hash(raw).to_string())
            .replace('\n', " ");
        let header = seal(header.as_bytes());
        file.extend_from_slice(&0x184D_2A54_u32.to_le_bytes());
        file.extend_from_slice(&(header.len() as u32).to_le_bytes());
        file.extend_from_slice(&header);
        file.extend_from_slice(&frame);
    }
    file
}
