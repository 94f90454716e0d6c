//! Ids of derived things: a hash of their origin, shown as a short readable prefix.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Crockford's base 32 in lower case: no `i`, `l`, `o` or `u`, so that no two characters look alike.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The id of a derived thing: 80 bits of a BLAKE3 hash of its origin.
///
/// The same origin gives the same id on every machine and after every rebuild. Written out it is 16
/// characters; people and agents see the shortest prefix that is unique (five or more).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; Self::BYTES]);

impl Id {
    /// The length of an id in bytes.
    pub const BYTES: usize = 10;
    /// The length of an id written out in full.
    pub const CHARS: usize = 16;
    /// The shortest prefix that is ever shown.
    pub const MIN_PREFIX: usize = 5;

    /// Derives an id from `parts`, in order. Lengths are hashed too, so that `["ab", "c"]` and `["a",
    /// "bc"]` differ.
    pub fn derive(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..Self::BYTES]);
        Self(bytes)
    }

    /// Returns the id with exactly these bytes, as read from the store.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the id, which sort in the same order as its text.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Returns the first 52 bits as a number, for programs that name things by numbers: every number of JavaScript
    /// holds it exactly.
    pub fn number(&self) -> u64 {
        self.0.iter().take(7).fold(0, |number, byte| (number << 8) | u64::from(*byte)) >> 4
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; Self::CHARS];
        for (position, character) in text.iter_mut().enumerate() {
            *character = ALPHABET[usize::from(five_bits(&self.0, position))];
        }
        // The alphabet is ASCII, so the text is always valid UTF-8.
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-z]{16}$" })
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let prefix: IdPrefix = text.parse().map_err(serde::de::Error::custom)?;
        prefix.complete().ok_or_else(|| serde::de::Error::custom("an id has 16 characters"))
    }
}

/// The start of an id as a person types it. Upper case and Crockford's look-alikes (`o` for `0`, `i`
/// and `l` for `1`) are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix {
    text: String,
    low: Id,
    high: Id,
}

/// An error for text that cannot be the start of an id.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: ids are up to 16 digits and letters other than `u`")]
pub struct InvalidIdPrefix(String);

impl IdPrefix {
    /// Returns the smallest and the largest id with this prefix.
    pub const fn range(&self) -> (Id, Id) {
        (self.low, self.high)
    }

    /// Returns the start that ids with this [number](Id::number) share, as far as characters can tell it: 50 bits.
    /// `None` if no id has the number.
    pub fn of_number(number: u64) -> Option<Self> {
        let bytes = u128::from(number).checked_shl(28).filter(|_| number >> 52 == 0)?.to_be_bytes();
        let mut start = [0; Id::BYTES];
        start.copy_from_slice(&bytes[bytes.len() - Id::BYTES..]);
        Id(start).to_string()[..10].parse().ok()
    }

    /// Returns the prefix in its normal spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the id if the prefix is complete.
    pub fn complete(&self) -> Option<Id> {
        (self.text.len() == Id::CHARS).then_some(self.low)
    }
}

impl FromStr for IdPrefix {
    type Err = InvalidIdPrefix;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidIdPrefix(input.to_owned());
        if input.is_empty() || input.len() > Id::CHARS {
            return Err(invalid());
        }
        let mut text = String::with_capacity(input.len());
        let (mut low, mut high) = ([0u8; Id::BYTES], [0xffu8; Id::BYTES]);
        for (position, character) in input.chars().enumerate() {
            let normal = match character.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                other => other,
            };
            let value =
                ALPHABET.iter().position(|&a| char::from(a) == normal).ok_or_else(invalid)?;
            set_five_bits(&mut low, position, value as u8);
            set_five_bits(&mut high, position, value as u8);
            text.push(normal);
        }
        Ok(Self { text, low: Id(low), high: Id(high) })
    }
}

fn five_bits(bytes: &[u8; Id::BYTES], position: usize) -> u8 {
    (0..5).fold(0, |value, bit| {
        let at = position * 5 + bit;
        (value << 1) | ((bytes[at / 8] >> (7 - at % 8)) & 1)
    })
}

fn set_five_bits(bytes: &mut [u8; Id::BYTES], position: usize, value: u8) {
    for bit in 0..5 {
        let at = position * 5 + bit;
        let mask = 1 << (7 - at % 8);
        if (value >> (4 - bit)) & 1 == 1 {
            bytes[at / 8] |= mask;
        } else {
            bytes[at / 8] &= !mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(Id::derive(&[b"ab", b"c"]), Id::derive(&[b"a", b"bc"]));
        assert_eq!(Id::derive(&[b"ab", b"c"]), Id::derive(&[b"ab", b"c"]));
    }

    #[test]
    fn look_alikes_are_accepted() {
        let typed: IdPrefix = "O1Li0".parse().unwrap();
        assert_eq!(typed.as_str(), "01110");
    }

    #[test]
    fn text_that_is_no_id_is_refused() {
        for text in ["", "u", "hello world", "0123456789abcdef0", "ünïc"] {
            assert!(text.parse::<IdPrefix>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips_and_sorts_like_bytes(a: [u8; 10], b: [u8; 10]) {
            let (a, b) = (Id::from_bytes(a), Id::from_bytes(b));
            prop_assert_eq!(a.to_string().parse::<IdPrefix>().unwrap().complete(), Some(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn a_number_leads_back_to_its_id(bytes: [u8; 10]) {
            let id = Id::from_bytes(bytes);
            let prefix = IdPrefix::of_number(id.number()).unwrap();
            let (low, high) = prefix.range();
            prop_assert!(id.number() < 1 << 52 && low <= id && id <= high);
            prop_assert!(id.to_string().starts_with(prefix.as_str()) && prefix.as_str().len() == 10);
            prop_assert_eq!(IdPrefix::of_number(id.number() | 1 << 52), None);
        }

        #[test]
        fn every_prefix_holds_its_id(bytes: [u8; 10], length in 1usize..=16) {
            let id = Id::from_bytes(bytes);
            let prefix: IdPrefix = id.to_string()[..length].parse().unwrap();
            let (low, high) = prefix.range();
            prop_assert!(low <= id && id <= high);
        }
    }
}
