//! The keywords of secrets, tags, escapes and marks, and the pass over a text that finds all of them.
//!
//! The compiler makes the tables. A hook looks at a few kilobytes and ends: it reads the pages that it needs from the
//! program's file, where making the tables took a tenth of its time.

use std::ops::Range;

use crate::foreign;
use crate::rules::{Finder, Follows, RULES};
use crate::shape;
use crate::tags;

/// The target of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The rule at this position in [`RULES`].
    Rule(usize),
    Tag,
    /// An escape that may hide part of a keyword.
    Escape,
    /// An escape of a URL that may hide a part of a secret.
    Percent,
    /// A word that tells of the escapes of mails.
    Mail,
    /// An entity of HTML that may hide a part of a secret.
    Entity,
    /// A terminal's escape sequence or a character without a width, which may stand within a keyword or a secret.
    Mark,
}

/// What is looked for besides the keywords of the rules. Marks are written as they are and as JSON writes them.
const OTHERS: [(&[&str], Target); 7] = [
    (&["quoted-printable"], Target::Mail),
    (&tags::OPENINGS, Target::Tag),
    (&[r"\u00", r"\/"], Target::Escape),
    (&foreign::ESCAPED, Target::Escape),
    (&["%2f", "%3a", "%3d", "%2b", "%40", "%22"], Target::Percent),
    (&["&quot;", "&#34;", "&#39;", "&apos;", "password&gt;"], Target::Entity),
    (
        &[
            "\u{1b}[", "\u{1b}]", "\u{1b}(", r"\u001b", r"\x1b[", r"\033[", r"\e[", "\u{ad}",
            r"\u00ad", "\u{200b}", r"\u200b", "\u{200c}", r"\u200c", "\u{200d}", r"\u200d",
            "\u{200e}", r"\u200e", "\u{200f}", r"\u200f", "\u{2060}", r"\u2060", "\u{2061}",
            "\u{2062}", "\u{2063}", "\u{2064}", r"\u206", "\u{feff}", r"\ufeff", r"\u0000",
        ],
        Target::Mark,
    ),
];

/// A keyword, in lower case, with one target. One that has several comes several times.
#[derive(Clone, Copy)]
struct Keyword {
    word: &'static str,
    target: Target,
}

/// The index of what stands for a token that is known by its shape: it has no keyword.
const SHAPE: usize = COUNT;

/// All keywords, the longest first, those of one length in the order of the rules; and at last the [`SHAPE`].
static KEYWORDS: [Keyword; COUNT + 1] = {
    let mut sorted = [Keyword { word: "", target: Target::Rule(shape_rule()) }; COUNT + 1];
    let (mut at, mut length) = (0, LONGEST);
    while length > 0 {
        let mut group = 0;
        while group < GROUPS {
            let (words, target) = keywords_of(group);
            let mut nth = 0;
            while nth < words.len() {
                if words[nth].len() == length && !is_repeated(words, nth) {
                    sorted[at] = Keyword { word: words[nth], target };
                    at += 1;
                }
                nth += 1;
            }
            group += 1;
        }
        length -= 1;
    }
    assert!(at == COUNT, "a keyword is longer than the longest");
    sorted
};

const LONGEST: usize = 80;

const GROUPS: usize = RULES.len() + OTHERS.len();

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < GROUPS {
        let (words, _) = keywords_of(group);
        let mut nth = 0;
        while nth < words.len() {
            assert!(words[nth].len() >= 2, "a keyword is too short");
            count += !is_repeated(words, nth) as usize;
            nth += 1;
        }
        group += 1;
    }
    count
};

/// Returns the position of the rule for shapes.
const fn shape_rule() -> usize {
    let mut at = 0;
    while !matches!(RULES[at].finder, Finder::Shape) {
        at += 1;
    }
    at
}

const fn keywords_of(group: usize) -> (&'static [&'static str], Target) {
    match group < RULES.len() {
        true => (RULES[group].keywords, Target::Rule(group)),
        false => OTHERS[group - RULES.len()],
    }
}

/// Returns true if a word stands in the list before: the commands of one name stand in several groups.
const fn is_repeated(words: &[&str], nth: usize) -> bool {
    let mut before = 0;
    while before < nth {
        if is_equal(words[before].as_bytes(), words[nth].as_bytes()) {
            return true;
        }
        before += 1;
    }
    false
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The numbers that three and four folded bytes make.
const THREES: usize = 1 << 15;
const FOURS: usize = 1 << 20;

/// Returns the bits of a byte that are the same for small letters and capitals.
const fn folded(byte: u8) -> usize {
    (byte & 31) as usize
}

/// Returns the numbers of the first `count` folded bytes of what a keyword begins, the first and the one after the
/// last. Anything may follow a short one.
const fn beginnings(word: &str, count: usize) -> (usize, usize) {
    let bytes = word.as_bytes();
    let (mut number, mut at) = (0, 0);
    while at < count && at < bytes.len() {
        number = number << 5 | folded(bytes[at]);
        at += 1;
    }
    (number << (5 * (count - at)), (number + 1) << (5 * (count - at)))
}

/// A bit for each four [`folded`] bytes that begin a keyword and what may follow it.
static BY_FOUR: [u64; FOURS / 64] = {
    let mut bits = [0; FOURS / 64];
    let mut index = 0;
    while index < COUNT {
        let (mut four, end) = beginnings(KEYWORDS[index].word, 4);
        while four < end {
            bits[four / 64] |= 1_u64 << (four % 64);
            four += 1;
        }
        index += 1;
    }
    bits
};

/// For each three folded bytes the end in [`BY_THREE`] of the keywords that they begin; they start at the end of the
/// number before.
static ENDS: [u16; THREES] = {
    let mut ends = [0; THREES];
    let mut index = 0;
    while index < COUNT {
        let (mut three, end) = beginnings(KEYWORDS[index].word, 3);
        while three < end {
            ends[three] += 1;
            three += 1;
        }
        index += 1;
    }
    let mut three = 1;
    while three < THREES {
        ends[three] += ends[three - 1];
        three += 1;
    }
    ends
};

/// The indices of the keywords, in the order of the three folded bytes that they begin with.
static BY_THREE: [u16; ENDS[THREES - 1] as usize] = {
    let mut indices = [0; ENDS[THREES - 1] as usize];
    let mut ends = ENDS;
    let mut index = COUNT;
    while index > 0 {
        index -= 1;
        let (mut three, end) = beginnings(KEYWORDS[index].word, 3);
        while three < end {
            ends[three] -= 1;
            indices[ends[three] as usize] = index as u16;
            three += 1;
        }
    }
    indices
};

/// The first bytes of a keyword, to be compared with those of a text in one step.
#[derive(Clone, Copy)]
struct Head {
    bytes: u64,
    /// The bits that count: the case of letters does not.
    mask: u64,
    /// True if a keyword counts only in front of more of a token.
    is_open: bool,
}

static HEADS: [Head; COUNT] = {
    let mut heads = [Head { bytes: 0, mask: 0, is_open: false }; COUNT];
    let mut index = 0;
    while index < COUNT {
        heads[index] = head(KEYWORDS[index]);
        index += 1;
    }
    heads
};

const fn head(Keyword { word, target }: Keyword) -> Head {
    let word = word.as_bytes();
    let (mut bytes, mut mask, mut at) = (0, 0, 0);
    while at < 8 && at < word.len() {
        let bits = if word[at].is_ascii_alphabetic() { !0x20 } else { 0xff };
        bytes |= (word[at] as u64) << (8 * at);
        mask |= (bits as u8 as u64) << (8 * at);
        at += 1;
    }
    let follows = match target {
        Target::Rule(index) if matches!(RULES[index].finder, Finder::Pattern(_)) => {
            RULES[index].follows
        }
        _ => Follows::Word,
    };
    // A longer one may be followed by a line break within a token.
    let is_open = matches!(follows, Follows::Token(1..)) && word.len() < 8;
    Head { bytes, mask, is_open }
}

/// An occurrence of a keyword: its end above the index of the keyword, so that occurrences are in order of their ends, and of
/// those with one end the longest is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence(u64);

impl Occurrence {
    const fn new(end: usize, index: u16) -> Self {
        Self((end as u64) << 16 | index as u64)
    }

    pub(crate) const fn end(self) -> usize {
        (self.0 >> 16) as usize
    }

    fn keyword(self) -> &'static Keyword {
        &KEYWORDS[usize::from(self.0 as u16)]
    }

    pub(crate) fn target(self) -> Target {
        self.keyword().target
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.end() - self.keyword().word.len()..self.end()
    }

    /// Returns the occurrence in a part of the text, if it is there as a whole.
    pub(crate) fn within(self, part: &Range<usize>) -> Option<Self> {
        let range = self.range();
        (part.start <= range.start && range.end <= part.end)
            .then(|| Self(self.0 - ((part.start as u64) << 16)))
    }
}

/// Finds the keywords in a text, or in raw JSON, and tokens by their shape.
pub(crate) fn keywords(bytes: &[u8]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    shape::each(bytes, |end| found.push(Occurrence::new(end, SHAPE as u16)));
    let mut last = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        last = last << 5 | folded(*byte);
        let four = last % FOURS;
        if BY_FOUR[four / 64] >> (four % 64) & 1 == 1 && at >= 3 {
            find_at(bytes, at - 3, four >> 5, &mut found);
        }
    }
    let last = last % FOURS;
    // Less than four bytes are left.
    for left in (2..=bytes.len().min(3)).rev() {
        find_at(bytes, bytes.len() - left, (last << (5 * (3 - left))) % THREES, &mut found);
    }
    found.sort_unstable();
    found
}

/// Adds the keywords that begin at a position with these three folded bytes.
fn find_at(bytes: &[u8], at: usize, three: usize, found: &mut Vec<Occurrence>) {
    let start = three.checked_sub(1).map_or(0, |before| ENDS[before]);
    let near = bytes.get(at..at + 8).and_then(|near| near.try_into().ok());
    let text = u64::from_le_bytes(near.unwrap_or_else(|| {
        let mut near = [0; 8];
        let rest = &bytes[at..bytes.len().min(at + 8)];
        near[..rest.len()].copy_from_slice(rest);
        near
    }));
    for &index in &BY_THREE[usize::from(start)..usize::from(ENDS[three])] {
        let head = &HEADS[usize::from(index)];
        if (text ^ head.bytes) & head.mask != 0 {
            continue;
        }
        let word = KEYWORDS[usize::from(index)].word.as_bytes();
        let end = at + word.len();
        let is_whole = word.len() <= 8
            || bytes.get(at..end).is_some_and(|here| here.eq_ignore_ascii_case(word));
        if is_whole && (!head.is_open || bytes.get(end).is_some_and(|next| is_token(*next))) {
            found.push(Occurrence::new(end, index));
        }
    }
}

/// True for a byte that a token may go on with, in text or in raw JSON.
fn is_token(byte: u8) -> bool {
    crate::assignment::is_token_byte(byte) || matches!(byte, b'%' | b'$' | b'@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keywords_are_found_in_the_order_of_their_ends() {
        let mut text = String::new();
        for (number, Keyword { word, .. }) in KEYWORDS[..COUNT].iter().enumerate() {
            text.push_str(word);
            text.push_str(&word.to_uppercase());
            text.push_str([" ", "", "\u{e9}"][number % 3]);
            // Some begin within others.
            text.push_str(&word[..word.floor_char_boundary(word.len() / 2)]);
        }
        text.push_str(r"\/");
        let mut expected = Vec::new();
        for end in 0..=text.len() {
            let words = KEYWORDS.iter().zip(&HEADS).filter(|(Keyword { word, .. }, head)| {
                let start = end.checked_sub(word.len());
                let here = start.and_then(|start| text.as_bytes().get(start..end));
                let next = text.as_bytes().get(end);
                here.is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
                    && (!head.is_open || next.is_some_and(|next| is_token(*next)))
            });
            let words = words.map(|(Keyword { word, target }, _)| (end - word.len()..end, *target));
            expected.extend(words);
        }
        let found: Vec<_> = keywords(text.as_bytes())
            .into_iter()
            .map(|occurrence| (occurrence.range(), occurrence.target()))
            .filter(|(range, _)| !range.is_empty())
            .collect();
        assert!(found.len() > 2 * KEYWORDS.len());
        assert_eq!(found, expected);
    }

    #[test]
    fn a_keyword_of_several_rules_stands_for_each() {
        let rules = |word: &str| {
            let named = |rule: &&crate::rules::Rule| rule.keywords.contains(&word);
            RULES.iter().filter(named).count()
        };
        let (word, count) = KEYWORDS
            .iter()
            .map(|keyword| (keyword.word, rules(keyword.word)))
            .max_by_key(|(_, count)| *count)
            .unwrap();
        assert!(count > 1);
        let open = format!("{word}0");
        let targets: std::collections::HashSet<usize> = keywords(open.as_bytes())
            .into_iter()
            .filter(|occurrence| occurrence.range() == (0..word.len()))
            .filter_map(|occurrence| match occurrence.target() {
                Target::Rule(index) => Some(index),
                _ => None,
            })
            .collect();
        assert_eq!(targets.len(), count, "{word}");
    }
}
