//! A segment: vectors in an immutable, memory-mapped file.
//!
//! | part | format |
//! |---|---|
//! | header, 64 bytes | `thruvecs`, version (u32), dimensions (u32), vectors (u64), hash of the model (16 bytes), checksum of header and keys (16 bytes), 8 zeros |
//! | keys | a u64 for each vector, ascending |
//! | signs | a bit for each component, see [`Quantised`] |
//! | scales | an f32 for each vector |
//! | values | an i8 for each component |
//! | checksum | BLAKE3 of everything before, 32 bytes |
//!
//! Numbers are little-endian. Every part begins at a multiple of 64 bytes, one line of the processor's
//! cache, padded with zeros.
//!
//! Opening a segment only checks its header and keys. The rest is checked on request, and before any of
//! it is copied to another segment: it may be hundreds of megabytes, and a damaged vector spoils one
//! answer at most.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tantivy::Directory;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{MmapDirectory, OwnedBytes};

use super::quantised::Quantised;
use super::scope::Rows;
use super::{Query, SegmentProblem, Shape, kernel};

pub(super) const HEADER_LENGTH: usize = 64;
pub(super) const CHECKSUM_LENGTH: usize = blake3::OUT_LEN;
const ALIGNMENT: usize = 64;
const MAGIC: &[u8; 8] = b"thruvecs";
/// The format version. Segments of another version are made again.
const VERSION: u32 = 1;
/// The length of the header before its checksum.
const CHECKED_LENGTH: usize = 40;

/// The reason why a file cannot be used.
pub(super) enum Flaw {
    /// The file is gone: another process merged it.
    Gone,
    /// The file could not be read this time.
    Unreadable(String),
    /// The file is not a complete segment of this shape, and never will be.
    Damaged(String),
}

/// The positions of the parts of a segment.
pub(super) struct Sections {
    keys: Range<usize>,
    signs: Range<usize>,
    scales: Range<usize>,
    values: Range<usize>,
    checksum: Range<usize>,
}

impl Sections {
    /// Returns `None` if there are more vectors than a file, or a row number, can hold.
    pub(super) fn new(vectors: u64, dimensions: usize) -> Option<Self> {
        let vectors = usize::try_from(u32::try_from(vectors).ok()?).ok()?;
        let part = |after: usize, width: usize| {
            let start = after.checked_next_multiple_of(ALIGNMENT)?;
            Some(start..start.checked_add(vectors.checked_mul(width)?)?)
        };
        let keys = part(HEADER_LENGTH, size_of::<u64>())?;
        let signs = part(keys.end, dimensions / 8)?;
        let scales = part(signs.end, size_of::<f32>())?;
        let values = part(scales.end, dimensions)?;
        let start = values.end.checked_next_multiple_of(ALIGNMENT)?;
        Some(Self {
            keys,
            signs,
            scales,
            values,
            checksum: start..start.checked_add(CHECKSUM_LENGTH)?,
        })
    }

    /// Returns the starts of keys, signs, scales, values and checksum.
    pub(super) const fn starts(&self) -> [usize; 5] {
        let Self { keys, signs, scales, values, checksum } = self;
        [keys.start, signs.start, scales.start, values.start, checksum.start]
    }
}

/// Returns the header of a segment with these keys, as bytes.
pub(super) fn header(shape: &Shape, vectors: u64, keys: &[u8]) -> [u8; HEADER_LENGTH] {
    let mut header = [0; HEADER_LENGTH];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(shape.dimensions as u32).to_le_bytes());
    header[16..24].copy_from_slice(&vectors.to_le_bytes());
    header[24..CHECKED_LENGTH].copy_from_slice(&shape.model);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header[..CHECKED_LENGTH]).update(keys);
    header[CHECKED_LENGTH..][..16].copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    header
}

/// One vector of a segment.
pub(super) struct Row<'a> {
    pub(super) signs: &'a [u8],
    pub(super) scale: f32,
    pub(super) values: &'a [u8],
}

impl<'a> From<&'a Quantised> for Row<'a> {
    fn from(vector: &'a Quantised) -> Self {
        Self { signs: &vector.signs, scale: vector.scale, values: &vector.values }
    }
}

/// An open segment. It stays readable for as long as it is held, even if the file is removed.
pub(super) struct Segment {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    dimensions: usize,
    sections: Sections,
    bytes: OwnedBytes,
}

impl Segment {
    /// Opens the segment of this name, which must have this shape.
    pub(super) fn open(
        folder: &MmapDirectory,
        path: PathBuf,
        number: u64,
        shape: &Shape,
    ) -> Result<Self, Flaw> {
        let name = Path::new(path.file_name().unwrap_or_default());
        // Tantivy provides a safe way to map files; it does not keep more of them than we hold.
        let file = folder.open_read(name).map_err(|error| match error {
            OpenReadError::FileDoesNotExist(_) => Flaw::Gone,
            other => Flaw::Unreadable(other.to_string()),
        })?;
        let bytes = file.read_bytes().map_err(|error| Flaw::Unreadable(error.to_string()))?;
        let sections = sections(&bytes, shape).map_err(Flaw::Damaged)?;
        Ok(Self { number, path, dimensions: shape.dimensions, sections, bytes })
    }

    /// Returns the number of its vectors.
    pub(super) fn len(&self) -> usize {
        self.sections.keys.len() / size_of::<u64>()
    }

    /// Returns its keys in order, each as often as it has vectors.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.raw_keys().iter().map(|key| u64::from_le_bytes(*key))
    }

    pub(super) fn key(&self, row: usize) -> Option<u64> {
        self.raw_keys().get(row).map(|key| u64::from_le_bytes(*key))
    }

    /// Returns the rows of one key.
    pub(super) fn rows_of(&self, key: u64) -> Range<usize> {
        let keys = self.raw_keys();
        let start = keys.partition_point(|other| u64::from_le_bytes(*other) < key);
        let count =
            keys[start..].iter().take_while(|other| u64::from_le_bytes(**other) == key).count();
        start..start + count
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        !self.rows_of(key).is_empty()
    }

    /// Returns the vector in a row below [`Segment::len`].
    pub(super) fn row(&self, row: usize) -> Row<'_> {
        let (signs, values) = (self.dimensions / 8, self.dimensions);
        Row {
            signs: &self.part(&self.sections.signs)[row * signs..][..signs],
            scale: self.scale(row),
            values: &self.part(&self.sections.values)[row * values..][..values],
        }
    }

    /// Calls `each` with the keys of `rows` and their similarities to a query of the same shape.
    pub(super) fn similarities(&self, query: &Query, rows: &Rows, mut each: impl FnMut(u64, f32)) {
        let (keys, Query(query)) = (self.raw_keys(), query);
        let mut products = vec![0; rows.len()];
        let values = self.part(&self.sections.values);
        kernel::dot_products(&query.values, values, rows, &mut products);
        let mut similarity = |row: usize, product: i32| {
            each(u64::from_le_bytes(keys[row]), product as f32 * (query.scale * self.scale(row)));
        };
        match rows {
            Rows::All(_) => (0..).zip(products).for_each(|(row, product)| similarity(row, product)),
            Rows::Some(rows) => {
                rows.iter()
                    .zip(products)
                    .for_each(|(row, product)| similarity(*row as usize, product));
            }
        }
    }

    /// Writes the number of signs in which each of the `rows` differs from a query of the same shape to
    /// `into`.
    pub(super) fn distances(&self, query: &Query, rows: &Rows, into: &mut [u16]) {
        kernel::distances(&query.0.signs, self.part(&self.sections.signs), rows, into);
    }

    /// Reads everything and returns the problem, if there is one.
    pub(super) fn verify(&self) -> Result<(), SegmentProblem> {
        let content = &self.bytes[..self.sections.checksum.start];
        if blake3::hash(content).as_bytes()[..] == *self.part(&self.sections.checksum) {
            return Ok(());
        }
        let detail = "its content does not match its checksum".to_owned();
        Err(SegmentProblem { path: self.path.clone(), detail })
    }

    fn scale(&self, row: usize) -> f32 {
        let scales = self.part(&self.sections.scales).as_chunks().0;
        f32::from_le_bytes(scales[row])
    }

    fn raw_keys(&self) -> &[[u8; 8]] {
        self.part(&self.sections.keys).as_chunks().0
    }

    fn part(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }
}

/// Returns the number of dimensions in a header, if it is one of a segment.
pub(super) fn dimensions_in(header: &[u8; HEADER_LENGTH]) -> Option<usize> {
    let number = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    (header.starts_with(MAGIC) && number(8) == VERSION).then(|| number(12) as usize)
}

/// Returns the positions of the parts, if the bytes are a segment of this shape.
fn sections(bytes: &[u8], shape: &Shape) -> Result<Sections, String> {
    let Some(found) = bytes.first_chunk::<HEADER_LENGTH>() else {
        return Err(format!("it has {} bytes, fewer than a header", bytes.len()));
    };
    let number = |at: usize| {
        let four = [found[at], found[at + 1], found[at + 2], found[at + 3]];
        u32::from_le_bytes(four)
    };
    if !found.starts_with(MAGIC) {
        return Err("it is not a vector segment".to_owned());
    }
    if number(8) != VERSION {
        return Err(format!("its format version is {}; this build supports {VERSION}", number(8)));
    }
    if number(12) as usize != shape.dimensions {
        let wanted = shape.dimensions;
        return Err(format!("its vectors have {} dimensions instead of {wanted}", number(12)));
    }
    if found[24..CHECKED_LENGTH] != shape.model {
        return Err("its vectors are of another model".to_owned());
    }
    let vectors = u64::from(number(20)) << 32 | u64::from(number(16));
    let sections = Sections::new(vectors, shape.dimensions)
        .filter(|sections| sections.checksum.end == bytes.len())
        .ok_or_else(|| format!("{vectors} vectors do not make {} bytes", bytes.len()))?;
    if *found != header(shape, vectors, &bytes[sections.keys.clone()]) {
        return Err("its keys do not match their checksum".to_owned());
    }
    let keys = bytes[sections.keys.clone()].as_chunks::<8>().0;
    if !keys.is_sorted_by_key(|key| u64::from_le_bytes(*key)) {
        return Err("its keys are not in order".to_owned());
    }
    Ok(sections)
}
