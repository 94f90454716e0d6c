//! A file of the archive, whatever is in it: it is read to its end, nothing wrong is handed out, and
//! it can be appended to.
//!
//! The first byte says what the rest is:
//!
//! - `A`: what stands behind a valid archive;
//! - `F`: sections `header NUL lines NUL`, forged with a checksum that fits. In the header, `$L`, `$R`,
//!   `$C` and `$H` stand for lines, raw and compressed length and hash as they really are;
//! - anything else: the whole file, this byte included.
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

/// Three blocks, as an appender writes them; and how many lines they have.
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
    SourcePosition::of(end, b"", b"")
}

/// `sure`: how many lines must be readable whatever stands behind them.
fn check(file: &[u8], sure: u64, honest: bool) {
    let archive = Archive::new(ROOT.join("read"));
    let path = archive.path(&entry());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, file).unwrap();

    let Some(lines) = read(&archive, sure, honest) else { return };
    let _ = usual(archive.verify(&entry()));
    assert_eq!(fs::read(&path).unwrap(), file, "reading changed the file");

    // Appending cuts off what is no block, and what was read before can be read afterwards.
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

/// Reads everything in every way; gives the number of lines, or nothing if the entry is refused.
fn read(archive: &Archive, sure: u64, honest: bool) -> Option<u64> {
    let mut reader = usual(archive.reader(&entry()))?.expect("a file that was just written");
    let blocks: Vec<(u64, u64)> =
        reader.blocks().iter().map(|block| (block.first_line, block.lines)).collect();
    for (index, &(first, lines)) in blocks.iter().enumerate() {
        let bytes = usual(reader.read_block(index));
        // A few lines of each block: its ends, and one beyond.
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
    // A forged header may say what it likes about the lines behind it.
    if honest {
        assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
    }
    let _ = (reader.info(), reader.position(), reader.carry(), reader.torn(), reader.damage());
    Some(reader.lines())
}

/// What the product may answer for bytes that it did not write. Anything else is a failure.
fn usual<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Corrupt { .. } | Error::Newer { .. } | Error::Unrecordable(_)) => None,
        Err(error) => panic!("an unusual answer: {error:?}"),
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
            .replace("$H", &Fingerprint::of(raw).to_string())
            .replace('\n', " ");
        let header = seal(header.as_bytes());
        file.extend_from_slice(&0x184D_2A54_u32.to_le_bytes());
        file.extend_from_slice(&(header.len() as u32).to_le_bytes());
        file.extend_from_slice(&header);
        file.extend_from_slice(&frame);
    }
    file
}
