//! Merged blocks hold the same as separate ones.

use std::fs;

use proptest::prelude::*;
use thru_journal::Error;
use thru_journal::archive::{BLOCK_BYTES, Block};

use super::{Fixture, at, clean, fixture, read_from};

/// An entry that grew line by line.
fn grown(lines: u64) -> Fixture {
    let fixture = fixture();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    for n in 0..lines {
        let line =
            clean(format!("{{\"n\":{n}}}").as_bytes()).map(|line| [line, b"\n".to_vec()].concat());
        appender.append(Block::Clean(&line), at(n), Some(format!("carry {n}"))).unwrap();
    }
    drop(appender);
    fixture
}

#[test]
fn small_blocks_become_one_and_nothing_else_changes() {
    let fixture = grown(100);
    let path = fixture.archive.path(&fixture.entry);
    let before = zstd::decode_all(fs::read(&path).unwrap().as_slice()).unwrap();
    let done = fixture.archive.compact(&fixture.entry).unwrap().unwrap();
    assert_eq!((done.blocks_before, done.blocks), (100, 1));
    assert_eq!(done.bytes, fs::metadata(&path).unwrap().len());
    assert!(done.bytes * 10 < done.bytes_before);
    assert_eq!(zstd::decode_all(fs::read(&path).unwrap().as_slice()).unwrap(), before);
    assert_eq!(fixture.archive.compact(&fixture.entry).unwrap(), None);

    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(reader.info(), Some(&fixture.info));
    assert_eq!((reader.position(), reader.carry()), (Some(&at(99)), Some("carry 99")));
    assert_eq!(reader.read_line(70).unwrap().unwrap(), b"{\"n\":70}");
    assert_eq!(read_from(&mut reader, 98), b"{\"n\":98}\n{\"n\":99}\n");

    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!((appender.lines(), appender.carry()), (100, Some("carry 99")));
    appender.append(Block::Verbatim(b"more\n"), at(100), None).unwrap();
    assert!(matches!(fixture.archive.compact(&fixture.entry), Err(Error::Locked { .. })));
    drop(appender);
    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(reader.read_line(100).unwrap().unwrap(), b"more");
}

#[test]
fn little_to_save_is_left_alone() {
    let fixture = grown(10);
    assert_eq!(fixture.archive.compact(&fixture.entry).unwrap(), None);
    let none = super::entry("claude-code/none.jsonl");
    assert_eq!(fixture.archive.compact(&none).unwrap(), None);
}

#[test]
fn a_damaged_entry_is_left_as_it_is() {
    let fixture = grown(40);
    let path = fixture.archive.path(&fixture.entry);
    let whole = fs::read(&path).unwrap();
    for at in [20, whole.len() / 2, whole.len() - 3] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = fixture.archive.compact(&fixture.entry).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "byte {at}: {error}");
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
}

#[derive(Clone, Debug)]
enum Kind {
    Clean,
    Verbatim,
    Mark,
}

fn block() -> impl Strategy<Value = (Kind, usize, usize)> {
    let kind =
        prop_oneof![4 => Just(Kind::Clean), 1 => Just(Kind::Verbatim), 1 => Just(Kind::Mark)];
    let length =
        prop_oneof![30 => 0_usize..200, 1 => Just(BLOCK_BYTES / 2), 1 => Just(BLOCK_BYTES)];
    (kind, 1_usize..4, length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn however_an_entry_grew_it_reads_the_same(blocks in prop::collection::vec(block(), 0..60)) {
        let fixture = fixture();
        let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
        for (number, (kind, lines, length)) in blocks.iter().enumerate() {
            let text = format!("{number}{}\n", "x".repeat(*length)).repeat(*lines).into_bytes();
            let (position, carry) = (at(number as u64), (number % 2 == 0).then(|| number.to_string()));
            match kind {
                Kind::Clean => {
                    let text = clean(b"").map(|_| text);
                    appender.append(Block::Clean(&text), position, carry).unwrap();
                }
                Kind::Verbatim => appender.append(Block::Verbatim(&text), position, carry).unwrap(),
                Kind::Mark => appender.mark(position, carry).unwrap(),
            }
        }
        drop(appender);
        let look = || {
            let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
            let verbatim: Vec<bool> = reader
                .blocks()
                .iter()
                .flat_map(|block| vec![block.verbatim; block.lines as usize])
                .collect();
            let end = (reader.position().copied(), reader.carry().map(str::to_owned));
            let (info, lines) = (reader.info().cloned(), reader.lines());
            (read_from(&mut reader, 0), read_from(&mut reader, lines / 2), verbatim, end, info)
        };
        let before = look();
        let done = fixture.archive.compact(&fixture.entry).unwrap();
        prop_assert!(look() == before);
        let reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
        prop_assert_eq!(reader.blocks().len(), done.map_or(blocks.len(), |done| done.blocks));
        prop_assert_eq!(fixture.archive.compact(&fixture.entry).unwrap(), None);
    }
}
