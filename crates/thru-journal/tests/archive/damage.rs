//! Anything cut off or changed on disk is detected, affects nothing else, and is never returned.

use std::fs;

use thru_journal::Error;
use thru_journal::archive::Block;

use super::{Fixture, at, fixture, read_from};

/// Returns four blocks of two lines, the end of each pair in the file, and the file.
fn four_blocks() -> (Fixture, Vec<Vec<u8>>, Vec<u64>, Vec<u8>) {
    let fixture = fixture();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    let mut lines = Vec::new();
    for n in 0..4_u64 {
        let block = [format!("{{\"n\":{n}}}"), format!("{{\"text\":\"{}\"}}", "ab".repeat(9))];
        let text: String = block.iter().map(|line| format!("{line}\n")).collect();
        appender.append(Block::Verbatim(text.as_bytes()), at(n + 1), Some(n.to_string())).unwrap();
        lines.extend(block.map(String::into_bytes));
    }
    drop(appender);
    let reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    let ends = reader.blocks().iter().map(|block| block.end()).collect();
    let file = fs::read(fixture.archive.path(&fixture.entry)).unwrap();
    (fixture, lines, ends, file)
}

#[test]
fn a_file_cut_off_anywhere_keeps_its_whole_blocks_and_grows_on() {
    let (fixture, lines, ends, file) = four_blocks();
    let path = fixture.archive.path(&fixture.entry);
    for cut in 0..=file.len() {
        fs::write(&path, &file[..cut]).unwrap();
        let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
        let mut expected = lines[..whole * 2].join(&b'\n');
        expected.extend((whole > 0).then_some(b'\n'));
        let boundary = cut == 0 || ends.contains(&(cut as u64));

        let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
        assert_eq!(read_from(&mut reader, 0), expected, "cut at {cut}");
        assert_eq!(reader.torn(), !boundary, "cut at {cut}");
        assert_eq!(reader.damage(), [], "cut at {cut}");

        let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
        let position = (whole > 0).then(|| at(whole as u64));
        assert_eq!(appender.position(), position.as_ref(), "cut at {cut}");
        assert_eq!(appender.lines(), whole as u64 * 2);
        assert_eq!(appender.cut() > 0, !boundary);
        appender.append(Block::Verbatim(b"more\n"), at(99), None).unwrap();
        drop(appender);

        let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
        expected.extend_from_slice(b"more\n");
        assert_eq!(read_from(&mut reader, 0), expected, "cut at {cut}");
        assert!(!reader.torn());
        assert_eq!(reader.info(), Some(&fixture.info), "cut at {cut}");
    }
}

#[test]
fn a_changed_byte_never_gives_wrong_lines() {
    let (fixture, lines, _, file) = four_blocks();
    let path = fixture.archive.path(&fixture.entry);
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&path, &changed).unwrap();

        let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
        let mut right = 0_usize;
        for (number, line) in (0..).zip(&lines) {
            match reader.read_line(number) {
                Ok(Some(read)) => {
                    assert_eq!(&read, line, "byte {at}, line {number}");
                    right += 1;
                }
                // After the end of a file whose last header is damaged.
                Ok(None) | Err(Error::Corrupt { .. }) => {}
                Err(error) => panic!("byte {at}, line {number}: {error}"),
            }
        }
        assert!(right >= lines.len() - 2, "byte {at}: one block is damaged, not more");
        let report = fixture.archive.verify(&fixture.entry).unwrap().unwrap();
        assert_eq!(report.lines, right as u64);
        let noticed = report.torn || !report.problems.is_empty();
        assert!(noticed || right == lines.len(), "byte {at} went unnoticed");
    }
}

#[test]
fn damage_in_the_middle_is_said_once_and_the_rest_goes_on() {
    let (fixture, _, ends, mut file) = four_blocks();
    file[ends[0] as usize + 20] ^= 1;
    fs::write(fixture.archive.path(&fixture.entry), &file).unwrap();

    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!((reader.lines(), reader.torn(), reader.damage().len()), (8, false, 1));
    assert_eq!((reader.damage()[0].offset, reader.damage()[0].len), (ends[0], ends[1] - ends[0]));
    let lines: Vec<_> = reader.blocks_from(0).collect();
    let firsts: Vec<Option<u64>> =
        lines.iter().map(|lines| lines.as_ref().ok().map(|lines| lines.first_line)).collect();
    assert_eq!(firsts, [Some(0), None, Some(4), Some(6)]);
    assert!(matches!(reader.read_line(3), Err(Error::Corrupt { .. })));

    let appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!((appender.lines(), appender.cut()), (8, 0), "whole blocks stay");
    drop(appender);
    let kept = fixture.archive.rewrite(&fixture.entry, |_| super::clean(b"x"));
    assert!(matches!(kept, Err(Error::Corrupt { .. })));
}

#[test]
fn blocks_that_a_power_cut_left_empty_are_read_again_from_the_source() {
    let (fixture, _, ends, mut file) = four_blocks();
    let path = fixture.archive.path(&fixture.entry);
    let reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    for block in &reader.blocks()[2..] {
        file[block.frame_offset as usize..block.end() as usize].fill(0);
    }
    fs::write(&path, &file).unwrap();
    let appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!((appender.lines(), appender.position()), (4, Some(&at(2))));
    assert_eq!((appender.cut(), appender.carry()), (ends[3] - ends[1], Some("1")));
    assert_eq!(fs::metadata(&path).unwrap().len(), ends[1]);

    // The file grew, but nothing of the growth was written.
    file.truncate(ends[1] as usize);
    file.resize(file.len() + 5000, 0);
    drop(appender);
    fs::write(&path, &file).unwrap();
    let appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!((appender.lines(), appender.cut()), (4, 5000));
}
