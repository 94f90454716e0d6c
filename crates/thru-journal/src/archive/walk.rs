//! Finds the blocks of an archive file by their headers, without decompressing anything.
//!
//! The file is not trusted: sizes are checked before memory is allocated, and a damaged header is
//! skipped by searching for the next intact one. It must not change the file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem;

use super::header::{FRAME_START, Header, MAGIC, Unusable, payload_len};
use super::source::{Fingerprint, SourceInfo, SourcePosition};
use crate::error::{At, Error, Result};

/// The size of one read, which contains nearly every header completely.
const GLANCE: usize = 1024;

/// The size of the chunks in which a header is searched after damage.
const SEARCHED: usize = 64 * 1024;

/// One block of an archive file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// The number of its first line, counted from 0 in the entry.
    pub first_line: u64,
    /// The number of its lines; 0 if it only moves the source position.
    pub lines: u64,
    /// Its length before compression.
    pub raw_len: u64,
    /// Its length after compression.
    pub compressed_len: u64,
    /// The offset of its header in the file.
    pub offset: u64,
    /// The offset of its zstd frame in the file.
    pub frame_offset: u64,
    /// The fingerprint of the block before compression.
    pub hash: Fingerprint,
    /// The position in the source when it was written.
    pub position: SourcePosition,
    /// The state of the cleaner at that position, opaque to the archive.
    pub carry: Option<String>,
    /// True if it was kept as the agent wrote it.
    pub verbatim: bool,
    /// True if its last line has no newline.
    pub open: bool,
}

impl BlockInfo {
    /// Returns the number of the line after its last.
    pub const fn next_line(&self) -> u64 {
        self.first_line + self.lines
    }

    /// Returns the offset of its end in the file.
    pub const fn end(&self) -> u64 {
        self.frame_offset + self.compressed_len
    }

    fn new(header: Header, offset: u64, frame_offset: u64) -> Self {
        Self {
            first_line: header.first,
            lines: header.lines,
            raw_len: header.raw,
            compressed_len: header.compressed,
            offset,
            frame_offset,
            hash: header.hash,
            position: header.position,
            carry: header.carry,
            verbatim: header.verbatim,
            open: header.open,
        }
    }
}

/// An unreadable range of an archive file that is followed by whole blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its offset in the file.
    pub offset: u64,
    /// Its length.
    pub len: u64,
    /// A description of the problem.
    pub detail: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes from byte {}: {}", self.len, self.offset, self.detail)
    }
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) blocks: Vec<BlockInfo>,
    pub(super) source: Option<SourceInfo>,
    pub(super) damage: Vec<Damage>,
    /// The end of the last whole block.
    pub(super) end: u64,
    /// The number of bytes after that.
    pub(super) torn: u64,
}

impl Walk {
    /// Returns the number of the line after the last.
    pub(super) fn next_line(&self) -> u64 {
        self.blocks.last().map_or(0, BlockInfo::next_line)
    }
}

enum Found {
    /// A header, and the offset of its block, which may be incomplete.
    Header(Box<Header>, u64),
    /// Anything else, with a description of the problem.
    Nothing(String),
}

/// Walks the headers of a file.
pub(super) fn walk(file: &mut File, path: &Path) -> Result<Walk> {
    let len = file.metadata().at(path)?.len();
    let mut walk = Walk::default();
    let mut at = 0;
    while at < len {
        let detail = match find(file, path, at, len)? {
            Found::Header(mut header, frame) => {
                let next = frame.saturating_add(header.compressed);
                if next > len {
                    break;
                }
                if header.first >= walk.next_line() {
                    walk.source = walk.source.or(header.source.take());
                    walk.blocks.push(BlockInfo::new(*header, at, frame));
                    walk.end = next;
                    at = next;
                    continue;
                }
                "a block repeats lines".to_owned()
            }
            Found::Nothing(detail) => detail,
        };
        // Bytes are written in order, so an intact header further on means that these were damaged
        // later; none means that the writer was stopped here.
        let Some(next) = find_next(file, path, at + 1, len)? else {
            break;
        };
        walk.damage.push(Damage { offset: at, len: next - at, detail });
        at = next;
    }
    walk.torn = len - walk.end;
    // Damage between the last whole block and a header with an incomplete block is torn as well.
    walk.damage.retain(|damage| damage.offset < walk.end);
    Ok(walk)
}

/// Looks for a header at this offset.
fn find(file: &mut File, path: &Path, at: u64, len: u64) -> Result<Found> {
    let mut glance = [0; GLANCE];
    let got = read_at(file, at, &mut glance).at(path)?;
    let glance = &glance[..got];
    let Some((&start, begun)) = glance.split_first_chunk::<FRAME_START>() else {
        return Ok(Found::Nothing("a block header is cut off".to_owned()));
    };
    let Some(wanted) = payload_len(start) else {
        return Ok(Found::Nothing("a block header is missing".to_owned()));
    };
    let frame = at + FRAME_START as u64 + wanted as u64;
    if frame > len {
        return Ok(Found::Nothing("a block header is cut off".to_owned()));
    }
    let parsed = if let Some(payload) = begun.get(..wanted) {
        Header::parse(payload)
    } else {
        let mut payload = vec![0; wanted];
        let got = read_at(file, at + FRAME_START as u64, &mut payload).at(path)?;
        Header::parse(&payload[..got])
    };
    match parsed {
        Ok(header) => Ok(Found::Header(Box::new(header), frame)),
        Err(Unusable::Damaged(detail)) => Ok(Found::Nothing(detail)),
        Err(Unusable::Newer(detail)) => Err(Error::Newer { path: path.to_owned(), detail }),
    }
}

/// Returns the offset of the next intact header at or after `from`.
fn find_next(file: &mut File, path: &Path, from: u64, len: u64) -> Result<Option<u64>> {
    let finder = memmem::Finder::new(&MAGIC);
    let mut chunk = vec![0; SEARCHED];
    let mut at = from;
    while at < len {
        let got = read_at(file, at, &mut chunk).at(path)?;
        for candidate in finder.find_iter(&chunk[..got]) {
            let candidate = at + candidate as u64;
            if let Found::Header(..) = find(file, path, candidate, len)? {
                return Ok(Some(candidate));
            }
        }
        if got < SEARCHED {
            break;
        }
        // Step back a little: the magic number may cross the boundary.
        at += (got - (MAGIC.len() - 1)) as u64;
    }
    Ok(None)
}

/// Fills `buffer` from this offset; reads less only at the end of the file.
fn read_at(file: &mut File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads the compressed bytes of a block.
pub(super) fn read_frame(file: &mut File, block: &BlockInfo) -> io::Result<Vec<u8>> {
    // Never longer than the file was when it was walked.
    let mut frame = vec![0; usize::try_from(block.compressed_len).map_err(io::Error::other)?];
    let got = read_at(file, block.frame_offset, &mut frame)?;
    frame.truncate(got);
    Ok(frame)
}

/// Reads the bytes of a block with its header.
pub(super) fn read_pair(file: &mut File, block: &BlockInfo) -> io::Result<Vec<u8>> {
    let length = block.end() - block.offset;
    let mut pair = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    let got = read_at(file, block.offset, &mut pair)?;
    pair.truncate(got);
    Ok(pair)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::checked;

    /// Walks these bytes as a file and reads everything found.
    fn read_all(bytes: &[u8]) -> Result<Walk> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let walked = walk(&mut file, Path::new("x"))?;
        let mut zstd = super::super::block::Decompressor::new().unwrap();
        for block in &walked.blocks {
            let frame = read_frame(&mut file, block).unwrap();
            assert_eq!(frame.len() as u64, block.compressed_len);
            let _ = zstd.decompress(&frame, block.raw_len, block.hash);
        }
        Ok(walked)
    }

    /// Returns a header with a valid checksum and numbers that are never written.
    fn forged(first: u64, lines: u64, raw: u64, compressed: u64, v: u64) -> Vec<u8> {
        let print = Fingerprint::hash(b"");
        let json = format!(
            r#"{{"v":{v},"first":{first},"lines":{lines},"raw":{raw},"compressed":{compressed},"hash":"{print}","position":{{"end":1,"head":"{print}","tail":"{print}"}}}}"#
        );
        let mut frame = [MAGIC.as_slice(), &[0; 4]].concat();
        checked::seal(json.as_bytes(), &mut frame);
        let length = (frame.len() - FRAME_START) as u32;
        frame[4..8].copy_from_slice(&length.to_le_bytes());
        frame
    }

    #[test]
    fn a_newer_format_is_called_by_its_name() {
        let Err(error) = read_all(&forged(0, 0, 0, 0, 2)) else { unreachable!() };
        assert!(matches!(error, Error::Newer { .. }), "{error}");
        assert!(read_all(&forged(0, 0, 0, 0, 1)).unwrap().torn == 0);
    }

    #[test]
    fn a_header_is_found_across_the_seam_of_two_searches() {
        let whole = forged(0, 0, 0, 0, 1);
        for garbage in SEARCHED - 8..SEARCHED + 8 {
            let walked = read_all(&[vec![1; garbage], whole.clone()].concat()).unwrap();
            assert_eq!((walked.blocks.len(), walked.damage.len()), (1, 1), "{garbage}");
        }
    }

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..4, 0_u64..1 << 21, Just(1 << 30), Just(u64::MAX), any::<u64>()]
    }

    fn part() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            Just(MAGIC.to_vec()),
            any::<u32>().prop_map(|length| [MAGIC, length.to_le_bytes()].concat()),
            (number(), number(), number(), number()).prop_map(|(first, lines, raw, compressed)| {
                forged(first, lines, raw, compressed, 1)
            }),
        ]
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(parts in prop::collection::vec(part(), 0..12)) {
            let bytes = parts.concat();
            let walked = read_all(&bytes).unwrap();
            prop_assert_eq!(walked.end + walked.torn, bytes.len() as u64);
            for pair in walked.blocks.windows(2) {
                prop_assert!(pair[0].end() <= pair[1].offset);
                prop_assert!(pair[0].next_line() <= pair[1].first_line);
            }
        }
    }
}
