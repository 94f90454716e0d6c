//! Escapes, marks and encodings: decodes bytes to text, and maps positions in that text back to the bytes.
//!
//! No table of positions is kept: mapping back walks the bytes again, so that a line of a hundred
//! megabytes full of escapes needs no more memory than its text. Nothing is ever rejected: anything but
//! a valid escape stands for itself, and bytes that are not UTF-8 stand for the replacement character.

use std::ops::Range;

use memchr::memchr;

use crate::edits::Edit;

/// The kind of escapes to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// The escapes of a JSON string.
    Json,
    /// Those of a URL.
    Percent,
    /// Those of mails: `=3D`, and line breaks behind an equals sign, which stand for nothing.
    Mail,
    /// Those of HTML, as far as they stand for marks.
    Entities,
    /// Those of a terminal, and characters without a width: they stand for nothing.
    Marks,
    /// No escapes: a backslash is a backslash.
    None,
}

/// A run of bytes and the text it stands for.
enum Piece<'a> {
    /// Text that stands for itself.
    Plain(&'a str),
    /// An escape or an invalid sequence of this many bytes, standing for one character or for none.
    Character { length: usize, character: Option<char> },
}

struct Pieces<'a> {
    rest: &'a [u8],
    escapes: Escapes,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let found = match self.escapes {
            Escapes::Json => escape(self.rest).map(|(length, character)| (length, Some(character))),
            Escapes::Percent => percent(self.rest).map(|character| (3, Some(character))),
            Escapes::Mail => mail(self.rest),
            Escapes::Entities => {
                entity(self.rest).map(|(length, character)| (length, Some(character)))
            }
            Escapes::Marks => mark(self.rest).map(|length| (length, None)),
            Escapes::None => None,
        };
        if let Some((length, character)) = found {
            self.rest = &self.rest[length..];
            return Some(Piece::Character { length, character });
        }
        // A backslash that begins no escape stands for itself: look for the next one after it.
        let next = match self.escapes {
            Escapes::Json => memchr(b'\\', &self.rest[1..]),
            Escapes::Percent => memchr(b'%', &self.rest[1..]),
            Escapes::Mail => memchr(b'=', &self.rest[1..]),
            Escapes::Entities => memchr(b'&', &self.rest[1..]),
            Escapes::Marks => self.rest[1..].iter().position(|byte| begins_mark(*byte)),
            Escapes::None => None,
        };
        let end = next.map_or(self.rest.len(), |at| at + 1);
        let run = &self.rest[..end];
        let piece = match std::str::from_utf8(run) {
            Ok(text) => Piece::Plain(text),
            Err(error) => {
                let (valid, invalid) = run.split_at(error.valid_up_to());
                match std::str::from_utf8(valid) {
                    Ok(text) if !text.is_empty() => Piece::Plain(text),
                    _ => Piece::Character {
                        length: error.error_len().unwrap_or(invalid.len()),
                        character: Some(char::REPLACEMENT_CHARACTER),
                    },
                }
            }
        };
        let length = match &piece {
            Piece::Plain(text) => text.len(),
            Piece::Character { length, .. } => *length,
        };
        self.rest = &self.rest[length..];
        Some(piece)
    }
}

/// Returns the length in bytes and the character of the escape that these bytes begin with.
fn escape(bytes: &[u8]) -> Option<(usize, char)> {
    if *bytes.first()? != b'\\' {
        return None;
    }
    let character = match *bytes.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(bytes),
        _ => return None,
    };
    Some((2, character))
}

fn unicode_escape(bytes: &[u8]) -> Option<(usize, char)> {
    let unit = code_unit(bytes)?;
    if let Some(character) = char::from_u32(unit) {
        return Some((6, character));
    }
    if (0xD800..0xDC00).contains(&unit)
        && let Some(low) = code_unit(&bytes[6..])
        && (0xDC00..0xE000).contains(&low)
        && let Some(character) = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    {
        return Some((12, character));
    }
    Some((6, char::REPLACEMENT_CHARACTER))
}

fn code_unit(bytes: &[u8]) -> Option<u32> {
    if bytes.get(..2)? != br"\u" {
        return None;
    }
    let mut unit = 0;
    for byte in bytes.get(2..6)? {
        unit = unit * 16 + char::from(*byte).to_digit(16)?;
    }
    Some(unit)
}

/// Returns the printable character or the blank that the first three bytes stand for in a URL.
fn percent(bytes: &[u8]) -> Option<char> {
    let [b'%', high, low, ..] = *bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let code = digit(high)? * 16 + digit(low)?;
    char::from_u32(code).filter(|character| matches!(character, ' '..='~'))
}

/// Returns the length and the character of the escape of a mail that these bytes begin with.
fn mail(bytes: &[u8]) -> Option<(usize, Option<char>)> {
    match bytes {
        [b'=', b'\n', ..] => Some((2, None)),
        [b'=', b'\r', b'\n', ..] => Some((3, None)),
        [b'=', high, low, ..] => {
            let character = percent(&[b'%', *high, *low]);
            character.map(|character| (3, Some(character)))
        }
        _ => None,
    }
}

/// The entities that stand for marks.
const ENTITIES: [(&[u8], char); 8] = [
    (b"&quot;", '"'),
    (b"&#34;", '"'),
    (b"&apos;", '\''),
    (b"&#39;", '\''),
    (b"&lt;", '<'),
    (b"&gt;", '>'),
    (b"&#61;", '='),
    (b"&amp;", '&'),
];

/// Returns the length and the character of the entity that these bytes begin with.
fn entity(bytes: &[u8]) -> Option<(usize, char)> {
    let (name, character) = ENTITIES.iter().find(|(name, _)| bytes.starts_with(name))?;
    Some((name.len(), *character))
}

/// The notations of the escape character in source code and JSON.
const ESCAPE_NAMES: [&[u8]; 5] = [br"\u001b", br"\u001B", br"\x1b", br"\033", br"\e"];

const fn begins_mark(byte: u8) -> bool {
    matches!(byte, 0 | 0x1b | b'\\' | 0xc2 | 0xe2 | 0xef)
}

/// Returns the length of the terminal's escape sequence, or of the character without a width, that these bytes begin with.
fn mark(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0, ..] => Some(1),
        [0x1b, rest @ ..] => Some(1 + sequence(rest).unwrap_or(0)),
        [0xc2, 0xad, ..] => Some(2),
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0..=0xa4, ..] | [0xef, 0xbb, 0xbf, ..] => {
            Some(3)
        }
        [b'\\', ..] => {
            let doubled = bytes.iter().take(8).take_while(|byte| **byte == b'\\').count() - 1;
            let name = &bytes[doubled..];
            let length = ESCAPE_NAMES.iter().find(|known| name.starts_with(known))?.len();
            let rest = &name[length..];
            (rest.first() == Some(&b'[')).then_some(())?;
            Some(doubled + length + sequence(rest)?)
        }
        _ => None,
    }
}

/// Returns the length of a terminal's escape sequence after its escape character.
fn sequence(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'[' => {
            let near = &bytes[1..bytes.len().min(32)];
            let length = near.iter().position(|byte| !matches!(byte, b' '..=b'?'))?;
            matches!(near[length], b'@'..=b'~').then_some(length + 2)
        }
        // A title or a link, up to its bell.
        b']' => {
            let near = &bytes[1..bytes.len().min(512)];
            let length = near.iter().position(|byte| matches!(byte, 7 | 0x1b | b'\n'))?;
            Some(length + 1 + usize::from(near[length] == 7))
        }
        b'(' | b')' => (bytes.len() > 1 && bytes[1].is_ascii_alphanumeric()).then_some(2),
        _ => None,
    }
}

/// Returns the text that the bytes stand for.
pub(crate) fn decode(bytes: &[u8], escapes: Escapes) -> String {
    let mut text = String::with_capacity(bytes.len());
    for piece in (Pieces { rest: bytes, escapes }) {
        match piece {
            Piece::Plain(plain) => text.push_str(plain),
            Piece::Character { character, .. } => text.extend(character),
        }
    }
    text
}

/// Converts edits of the decoded text into edits of the bytes. The edits must be sorted and disjoint.
pub(crate) fn to_bytes(bytes: &[u8], escapes: Escapes, mut edits: Vec<Edit>) -> Vec<Edit> {
    let mut way = Way { pieces: Pieces { rest: bytes, escapes }, text: 0, raw: 0, plain: 0 };
    for edit in &mut edits {
        let Range { start, end } = edit.range;
        edit.range = way.to(start)..way.to(end);
    }
    edits
}

/// A walk over the bytes that keeps track of the position in the decoded text.
struct Way<'a> {
    pieces: Pieces<'a>,
    text: usize,
    raw: usize,
    /// The length of the rest of the last plain piece.
    plain: usize,
}

impl Way<'_> {
    /// Returns the position in the bytes of a position in the decoded text. Positions must be
    /// ascending.
    fn to(&mut self, place: usize) -> usize {
        loop {
            let step = self.plain.min(place.saturating_sub(self.text));
            self.text += step;
            self.raw += step;
            self.plain -= step;
            if self.text >= place {
                return self.raw;
            }
            match self.pieces.next() {
                Some(Piece::Plain(plain)) => self.plain = plain.len(),
                Some(Piece::Character { length, character }) => {
                    self.text += character.map_or(0, char::len_utf8);
                    self.raw += length;
                }
                None => return self.raw,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edits::{Reason, apply};

    #[test]
    fn percents_stand_for_their_characters() {
        let decode = |text: &str| decode(text.as_bytes(), Escapes::Percent);
        assert_eq!(decode("a%3Db%2fc%20d%zz%"), "a=b/c d%zz%");
    }

    #[test]
    fn marks_stand_for_nothing() {
        let decode = |text: &str| decode(text.as_bytes(), Escapes::Marks);
        assert_eq!(decode("\u{1b}[1;32mg\u{200b}h\u{1b}[m\u{1b}(Bé\u{feff}\0"), "ghé");
        assert_eq!(decode(r"\u001b[0ma\\x1b[31mb\e[mc\033[1Kd \e \n"), r"abcd \e \n");
        assert_eq!(decode("\u{1b}]0;title\u{7}x\u{1b}"), "x");
        assert_eq!(decode("\u{1b}[é"), "[é");
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        let decode = |bytes: &[u8]| decode(bytes, Escapes::Json);
        assert_eq!(decode(br#"a\n\"\u003cb\/\\\ud83d\ude00"#), "a\n\"<b/\\\u{1f600}");
        assert_eq!(decode(br"\q\u12\ud800x\"), "\\q\\u12\u{fffd}x\\");
        assert_eq!(decode(b"a\xffb\xf0\x9f"), "a\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn the_way_back_finds_the_bytes(pieces in prop::collection::vec(
            prop::sample::select(vec![
                &b"abc"[..], br"\n", br"\u0041", br"\ud83d\ude00", br"\ud800", b"\xff", "é".as_bytes(), br"\\", br"\",
            ]), 0..12), cut in 0_usize..40, width in 0_usize..20)
        {
            let bytes = pieces.concat();
            let text = decode(&bytes, Escapes::Json);
            let start = text.floor_char_boundary(cut.min(text.len()));
            let end = text.ceil_char_boundary((start + width).min(text.len()));
            let edits = vec![Edit::new(start..end, Reason::Private)];
            let expected = crate::edits::apply_to_text(&text, &edits);
            let spliced = apply(&bytes, &to_bytes(&bytes, Escapes::Json, edits));
            // A lone surrogate or backslash may combine with the text after it.
            if !pieces.iter().any(|piece| *piece == br"\" || *piece == br"\ud800" || *piece == b"\xff") {
                prop_assert_eq!(decode(&spliced, Escapes::Json), expected);
            }
        }

        #[test]
        fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let text = decode(&bytes, Escapes::None);
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
