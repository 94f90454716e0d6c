//! Reads one segment line by line, sealed or not, in bounded memory whatever it contains.
//!
//! It must not interpret records.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr;
use zstd::stream::read::Decoder;

use super::cursor::{Cursor, Position, Read, START_BYTES, Start};
use super::record::MAX_RECORD_BYTES;
use super::segment;
use crate::checked;
use crate::error::{At, Result};

/// The longest line that can be a record.
const MAX_LINE: usize = MAX_RECORD_BYTES + checked::OVERHEAD;

/// The largest window of a sealed segment, as a power of two: more than we write, and no more memory
/// than a record may take.
const MAX_WINDOW_LOG: u32 = 24;

/// A segment being read.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) name: String,
    path: PathBuf,
    reader: BufReader<Content>,
    pub(super) read: Read,
    /// The last line read, without its newline.
    pub(super) line: Vec<u8>,
}

pub(super) enum Line {
    /// A complete line in [`Scan::line`].
    Whole,
    /// A line longer than any record; its content is not kept.
    TooLong,
    /// The segment ends before the line does.
    Unfinished,
    /// The sealed segment cannot be unpacked from here on.
    Broken,
    /// The segment ends here.
    End,
}

/// The source of the bytes.
enum Content {
    Plain(File),
    Sealed(Box<Decoder<'static, BufReader<File>>>),
    /// Everything was read before.
    Nothing,
}

/// The state of the buffer.
enum Next {
    /// There are bytes in the reader's buffer.
    Some,
    End,
    Broken,
}

impl Scan {
    /// Opens a segment at the position of the cursor; also returns true if that position no longer
    /// exists. Returns `None` if there is no such segment.
    pub(super) fn open(dir: &Path, name: String, cursor: &Cursor) -> Result<Option<(Self, bool)>> {
        let read = cursor.get(&name);
        let Some(mut scan) = Self::at_start(dir, name)? else { return Ok(None) };
        if read.bytes == 0 || scan.go_to(read)? {
            return Ok(Some((scan, false)));
        }
        let again = Self::at_start(dir, scan.name)?;
        Ok(again.map(|scan| (scan, true)))
    }

    pub(super) fn at_start(dir: &Path, name: String) -> Result<Option<Self>> {
        let path = dir.join(&name);
        let Some(content) = Content::open(&path)? else { return Ok(None) };
        let reader = BufReader::with_capacity(64 * 1024, content);
        Ok(Some(Self { name, path, reader, read: Read::default(), line: Vec::new() }))
    }

    /// Seeks to the position where a reader stopped. Returns false if this is not what it read.
    fn go_to(&mut self, read: Read) -> Result<bool> {
        let start = match self.reader.get_mut() {
            Content::Plain(file) => go_to_in_file(file, read.bytes).at(&self.path)?,
            Content::Sealed(_) | Content::Nothing => self.unpack_to(read.bytes)?,
        };
        let Some(start) = start.filter(|&start| read.start.is_none_or(|known| known == start))
        else {
            return Ok(false);
        };
        self.read = Read { start: Some(start), ..read };
        Ok(true)
    }

    fn unpack_to(&mut self, bytes: u64) -> Result<Option<Start>> {
        let read_before = self.reader.get_mut().unpacked_size().at(&self.path)? == Some(bytes);
        let (mut start, mut last, mut done) = (Vec::with_capacity(START_BYTES), b'\n', 0);
        while done < bytes {
            let Next::Some = self.fill()? else { return Ok(None) };
            let available = self.reader.buffer();
            let used = available.len().min(usize::try_from(bytes - done).unwrap_or(usize::MAX));
            let missing = START_BYTES.saturating_sub(start.len());
            start.extend_from_slice(&available[..used.min(missing)]);
            last = available[used - 1];
            self.reader.consume(used);
            done += used as u64;
            // Most segments were read to their ends long ago, which can be seen without unpacking.
            if read_before && start.len() == START_BYTES {
                self.reader = BufReader::new(Content::Nothing);
                return Ok(Some(Start::of(&start)));
            }
        }
        Ok((last == b'\n').then(|| Start::of(&start)))
    }

    pub(super) fn position(&self) -> Position {
        let Read { bytes, lines, .. } = self.read;
        Position { segment: self.name.clone(), line: lines + 1, offset: bytes }
    }

    pub(super) fn read_line(&mut self) -> Result<Line> {
        self.line.clear();
        let mut length = 0_u64;
        loop {
            match self.fill()? {
                Next::Some => {}
                Next::Broken => return Ok(Line::Broken),
                Next::End if length == 0 => return Ok(Line::End),
                Next::End => return Ok(Line::Unfinished),
            }
            let available = self.reader.buffer();
            let newline = memchr(b'\n', available);
            let part = &available[..newline.unwrap_or(available.len())];
            length += part.len() as u64;
            let fits = length <= MAX_LINE as u64;
            if fits {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                self.read.pass(&self.line, length + 1);
                return Ok(if fits { Line::Whole } else { Line::TooLong });
            }
        }
    }

    /// Fills the buffer, if anything is left. Always in chunks of the same size: so the part that can
    /// be unpacked before damage does not depend on where a reader starts.
    fn fill(&mut self) -> Result<Next> {
        loop {
            return match self.reader.fill_buf() {
                Ok([]) => self.reader.get_mut().end().at(&self.path),
                Ok(_) => Ok(Next::Some),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Not an error of the operating system, so one of the content.
                Err(error) if error.raw_os_error().is_none() => Ok(Next::Broken),
                Err(error) => Err(error).at(&self.path),
            };
        }
    }
}

/// Reads all bytes of a segment, unpacked, and whether they are complete; returns `None` if there is no
/// such segment.
pub(super) fn read_whole(path: &Path) -> Result<Option<(Vec<u8>, bool)>> {
    let Some(content) = Content::open(path)? else { return Ok(None) };
    let mut scan = Scan {
        name: String::new(),
        path: path.to_owned(),
        reader: BufReader::with_capacity(64 * 1024, content),
        read: Read::default(),
        line: Vec::new(),
    };
    let mut bytes = Vec::new();
    loop {
        match scan.fill()? {
            Next::Some => bytes.extend_from_slice(scan.reader.buffer()),
            Next::End => return Ok(Some((bytes, true))),
            Next::Broken => return Ok(Some((bytes, false))),
        }
        let used = scan.reader.buffer().len();
        scan.reader.consume(used);
    }
}

fn go_to_in_file(file: &mut File, bytes: u64) -> io::Result<Option<Start>> {
    if bytes > file.metadata()?.len() {
        return Ok(None);
    }
    let mut start = Vec::with_capacity(START_BYTES);
    file.by_ref().take(bytes.min(START_BYTES as u64)).read_to_end(&mut start)?;
    let mut last = [0];
    file.seek(SeekFrom::Start(bytes - 1))?;
    file.read_exact(&mut last)?;
    Ok((last == *b"\n").then(|| Start::of(&start)))
}

impl Content {
    /// Opens the sealed file of a segment, else the plain one.
    fn open(path: &Path) -> Result<Option<Self>> {
        let sealed = segment::sealed(path);
        // It may be sealed between the first and the second attempt, but only once.
        for path in [&sealed, path, &sealed] {
            let file = match File::open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.at(path)?,
            };
            return if path == sealed {
                Ok(Some(Self::Sealed(Box::new(unpacked(file).at(path)?))))
            } else {
                Ok(Some(Self::Plain(file)))
            };
        }
        Ok(None)
    }

    /// Returns the length in the header of a sealed segment from which nothing was read yet.
    fn unpacked_size(&mut self) -> io::Result<Option<u64>> {
        let Self::Sealed(decoder) = self else { return Ok(None) };
        let header = decoder.get_mut().fill_buf()?;
        Ok(zstd::zstd_safe::get_frame_content_size(header).ok().flatten())
    }

    /// Returns the end of the content; damage if a sealed segment has more, which is never written.
    fn end(&mut self) -> io::Result<Next> {
        if let Self::Sealed(decoder) = self
            && !decoder.get_mut().fill_buf()?.is_empty()
        {
            return Ok(Next::Broken);
        }
        Ok(Next::End)
    }
}

fn unpacked(file: File) -> io::Result<Decoder<'static, BufReader<File>>> {
    // Mostly only the start is read, to check that it is still the same segment.
    let file = BufReader::with_capacity(16 * 1024, file);
    let mut decoder = Decoder::with_buffer(file)?.single_frame();
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(decoder)
}

impl io::Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Sealed(decoder) => decoder.read(buffer),
            Self::Nothing => Ok(0),
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Sealed(_) => "Sealed",
            Self::Nothing => "Nothing",
        })
    }
}
