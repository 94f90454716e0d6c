//! Writing a segment: completely, and to the disk before it gets its name.

use std::path::Path;

use thru_journal::files::Replacement;

use super::Shape;
use super::segment::{CHECKSUM_LENGTH, HEADER_LENGTH, Row, Sections, header};
use crate::error::{Result, StoreError};

/// Bytes collected before they are written.
const BUFFER: usize = 1 << 20;

/// Writes a segment of these keys, which are in ascending order, to `path`, replacing an existing file.
/// `row` returns the vector at each index of `keys` and is called for each several times: a segment
/// holds first all signs, then all scales, then all values.
pub(super) fn write_segment<'a>(
    path: &Path,
    shape: &Shape,
    keys: &[u64],
    row: impl Fn(usize) -> Row<'a>,
) -> Result<()> {
    let vectors = keys.len() as u64;
    let Some(sections) = Sections::new(vectors, shape.dimensions) else {
        let detail = format!("{vectors} are too many for one file");
        return Err(StoreError::Vectors { detail });
    };
    let [_, signs, scales, values, checksum] = sections.starts();
    let keys: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();

    let mut output = Output::new(path)?;
    output.write(&header(shape, vectors, &keys))?;
    output.write(&keys)?;
    let rows = 0..vectors as usize;
    output.pad_to(signs)?;
    rows.clone().try_for_each(|place| output.write(row(place).signs))?;
    output.pad_to(scales)?;
    rows.clone().try_for_each(|place| output.write(&row(place).scale.to_le_bytes()))?;
    output.pad_to(values)?;
    rows.clone().try_for_each(|place| output.write(row(place).values))?;
    output.pad_to(checksum)?;
    output.commit()
}

/// A file being written, and the hash of its content.
struct Output {
    file: Replacement,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
    written: usize,
}

impl Output {
    fn new(path: &Path) -> Result<Self> {
        let buffer = Vec::with_capacity(BUFFER + HEADER_LENGTH);
        Ok(Self {
            file: Replacement::begin(path)?,
            hasher: blake3::Hasher::new(),
            buffer,
            written: 0,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len();
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes zeros up to a position.
    fn pad_to(&mut self, position: usize) -> Result<()> {
        self.write(&vec![0; position - self.written])
    }

    fn flush(&mut self) -> Result<()> {
        self.hasher.update(&self.buffer);
        self.file.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Appends the checksum and gives the file its name.
    fn commit(mut self) -> Result<()> {
        self.flush()?;
        let checksum: [u8; CHECKSUM_LENGTH] = *self.hasher.finalize().as_bytes();
        self.file.write(&checksum)?;
        Ok(self.file.commit()?)
    }
}
