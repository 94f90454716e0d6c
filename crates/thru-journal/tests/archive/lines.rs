//! Lines go in and come out.

use proptest::prelude::*;
use thru_journal::Error;
use thru_journal::archive::{Block, SourcePosition};

use super::{at, clean, fixture, read_from};

#[test]
fn a_transcript_grows_over_several_openings() {
    let fixture = fixture();
    assert!(fixture.archive.reader(&fixture.entry).unwrap().is_none());

    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!((appender.position(), appender.carry(), appender.lines()), (None, None, 0));
    let block = clean(b"{\"n\":0}").map(|line| [line, b"\n{\"n\":1}\n".to_vec()].concat());
    appender.append(Block::Clean(&block), at(16), Some("state".to_owned())).unwrap();
    appender.sync().unwrap();
    drop(appender);

    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    assert_eq!(appender.position(), Some(&at(16)));
    assert_eq!((appender.carry(), appender.lines(), appender.cut()), (Some("state"), 2, 0));
    appender.append(Block::Verbatim(b"{\"n\":2}\n"), at(24), None).unwrap();
    appender.mark(at(30), None).unwrap();
    drop(appender);

    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(reader.info(), Some(&fixture.info));
    assert_eq!((reader.position(), reader.carry(), reader.lines()), (Some(&at(30)), None, 3));
    let verbatim: Vec<bool> = reader.blocks().iter().map(|block| block.verbatim).collect();
    assert_eq!(verbatim, [false, true, false]);
    assert_eq!(read_from(&mut reader, 0), b"{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(read_from(&mut reader, 1), b"{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(read_from(&mut reader, 3), b"");
    assert_eq!(reader.read_line(2).unwrap().as_deref(), Some(b"{\"n\":2}".as_slice()));
    assert_eq!(reader.read_line(3).unwrap(), None);
    assert_eq!(reader.read_block(2).unwrap(), Some(Vec::new()));
    assert_eq!(reader.read_block(3).unwrap(), None);
}

#[test]
fn any_zstd_tool_prints_the_transcript() {
    let fixture = fixture();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    appender.mark(at(0), None).unwrap();
    appender.append(Block::Verbatim(b"one\ntwo\n"), at(8), None).unwrap();
    appender.append(Block::Verbatim(b"three\n"), at(14), None).unwrap();
    let file = std::fs::File::open(fixture.archive.path(&fixture.entry)).unwrap();
    assert_eq!(zstd::stream::decode_all(file).unwrap(), b"one\ntwo\nthree\n");
}

#[test]
fn blocks_can_be_prepared_by_other_threads() {
    let fixture = fixture();
    let texts: Vec<Vec<u8>> = (0..8_u8).map(|n| vec![b'a' + n; 1000]).collect();
    let prepared = std::thread::scope(|scope| {
        let workers: Vec<_> = texts
            .iter()
            .map(|text| {
                let archive = &fixture.archive;
                scope.spawn(move || {
                    let block = [text.as_slice(), b"\n"].concat();
                    archive.compressor().unwrap().prepare(Block::Verbatim(&block)).unwrap()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    for block in &prepared {
        assert_eq!(block.lines(), 1);
        appender.append_prepared(block, at(0), None).unwrap();
    }
    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    for (number, text) in (0..).zip(&texts) {
        assert_eq!(reader.read_line(number).unwrap().as_ref(), Some(text));
    }
}

#[test]
fn a_line_may_be_longer_than_any_block_should_be() {
    let fixture = fixture();
    let mut line = vec![b'x'; 12 << 20];
    line.push(b'\n');
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    appender.append(Block::Verbatim(&line), at(1), None).unwrap();
    drop(appender);
    let mut reader = fixture.archive.reader(&fixture.entry).unwrap().unwrap();
    assert_eq!(reader.read_block(0).unwrap(), Some(line));
}

#[test]
fn half_a_line_is_refused() {
    let fixture = fixture();
    let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
    let refused = appender.append(Block::Verbatim(b"whole\nhalf"), at(1), None);
    assert!(matches!(refused, Err(Error::Unrecordable(_))));
    assert_eq!(appender.lines(), 0);
}

#[test]
fn positions_say_whether_the_source_is_still_the_same() {
    let source = b"{\"session\":1}\n{\"n\":2}\n";
    let position = SourcePosition::after(14, &source[..14], &source[..14]);
    assert!(position.fits(&mut std::io::Cursor::new(source)).unwrap());
    assert!(!position.fits(&mut std::io::Cursor::new(b"{\"session\":2}\n{\"n\":2}\n")).unwrap());
    assert!(!position.fits(&mut std::io::Cursor::new(&source[..7])).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_is_appended_can_be_read(
        blocks in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8), 0..6),
        from in 0_u64..20,
    ) {
        let fixture = fixture();
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for block in blocks {
            // Each line is one: without newlines inside.
            let block: Vec<Vec<u8>> =
                block.into_iter().map(|line| line.into_iter().filter(|&b| b != b'\n').collect()).collect();
            let text: Vec<u8> = block.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
            let mut appender = fixture.archive.appender(&fixture.entry, &fixture.info).unwrap();
            prop_assert_eq!(appender.lines(), lines.len() as u64);
            appender.append(Block::Verbatim(&text), at(text.len() as u64), None).unwrap();
            lines.extend(block);
        }
        let Some(mut reader) = fixture.archive.reader(&fixture.entry).unwrap() else {
            prop_assert!(lines.is_empty());
            return Ok(());
        };
        prop_assert_eq!(reader.lines(), lines.len() as u64);
        for (number, line) in (0..).zip(&lines) {
            prop_assert_eq!(reader.read_line(number).unwrap(), Some(line.clone()));
        }
        let from = from.min(lines.len() as u64);
        let rest: Vec<(u64, Vec<u8>)> = reader
            .blocks_from(from)
            .flat_map(|lines| lines.unwrap().iter().map(|(n, l)| (n, l.to_vec())).collect::<Vec<_>>())
            .collect();
        let expected: Vec<(u64, Vec<u8>)> = (from..).zip(lines[from as usize..].iter().cloned()).collect();
        prop_assert_eq!(rest, expected);
    }
}
