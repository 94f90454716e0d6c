//! Lenient JSON parsing: the input may be damaged or have an unexpected shape. Borrows where it can, and
//! knows no agent.
//!
//! A field of the wrong type is read as absent, so that the other fields of its record are not lost.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string; `None` if it is absent or of another type.
pub(crate) type Text<'a> = Option<Cow<'a, str>>;

/// Members kept of an array or object of unbounded size.
const MEMBERS: usize = 10_000;

/// Returns the line as text that a JSON parser accepts. Invalid UTF-8 and unpaired surrogates
/// (JavaScript writes them where it cuts a text) become replacement characters.
pub(crate) fn mend(line: &[u8]) -> Cow<'_, str> {
    // Tried first, as it is many times faster than the lossy conversion.
    let text = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    };
    let has_surrogates = memchr::memmem::find(text.as_bytes(), b"\\ud").is_some()
        || memchr::memmem::find(text.as_bytes(), b"\\uD").is_some();
    if has_surrogates { Cow::Owned(replace_lone_surrogates(&text)) } else { text }
}

fn replace_lone_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // A backslash and the character it escapes, which may be a backslash too.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

/// Returns the UTF-16 unit that `text` begins with, if it begins with `\uXXXX`.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.as_bytes().get(..4)?;
    digits
        .iter()
        .try_fold(0u16, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)? as u16))
}

/// Visitor methods that skip values of the named types and treat them as absent.
macro_rules! else_absent {
    () => {
        fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("anything")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (bool $($rest:tt)*) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        else_absent!($($rest)*);
    };
    (number $($rest:tt)*) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        else_absent!($($rest)*);
    };
    (string $($rest:tt)*) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        else_absent!($($rest)*);
    };
    (array $($rest:tt)*) => {
        fn visit_seq<A: ::serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<::serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
        else_absent!($($rest)*);
    };
    (object $($rest:tt)*) => {
        fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<::serde::de::IgnoredAny, ::serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
        else_absent!($($rest)*);
    };
}
pub(crate) use else_absent;

/// Deserializes a string; for `deserialize_with`.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Text<'de>, D::Error> {
    struct TextVisitor;
    impl<'de> Visitor<'de> for TextVisitor {
        type Value = Text<'de>;
        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Some(Cow::Borrowed(text)))
        }
        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(Cow::Owned(text.to_owned())))
        }
        else_absent!(bool number array object);
    }
    from.deserialize_any(TextVisitor)
}

/// Deserializes a flag, `false` if absent; for `deserialize_with`.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    struct FlagVisitor;
    impl<'de> Visitor<'de> for FlagVisitor {
        type Value = bool;
        fn visit_bool<E>(self, flag: bool) -> Result<bool, E> {
            Ok(flag)
        }
        else_absent!(number string array object);
    }
    from.deserialize_any(FlagVisitor)
}

/// Deserializes a count; for `deserialize_with`.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    struct CountVisitor;
    impl<'de> Visitor<'de> for CountVisitor {
        type Value = Option<u64>;
        fn visit_u64<E>(self, count: u64) -> Result<Self::Value, E> {
            Ok(Some(count))
        }
        fn visit_i64<E>(self, count: i64) -> Result<Self::Value, E> {
            Ok(u64::try_from(count).ok())
        }
        fn visit_f64<E>(self, count: f64) -> Result<Self::Value, E> {
            // The cast saturates.
            Ok((count >= 0.0).then_some(count as u64))
        }
        else_absent!(bool string array object);
    }
    from.deserialize_any(CountVisitor)
}

/// Deserializes an object; for `deserialize_with`.
pub(crate) fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = Option<T>;
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
        else_absent!(bool number string array);
    }
    from.deserialize_any(ObjectVisitor(PhantomData))
}

/// Parses a line that went through [`mend`]. Anything but an object is a record without a type. The
/// error says where the line stops being JSON.
pub(crate) fn record<'a, T: Deserialize<'a> + Default>(
    line: &'a str,
) -> Result<T, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_str(line);
    let record = object::<_, T>(&mut from)?;
    from.end()?;
    Ok(record.unwrap_or_default())
}

/// Parses a line with `read`. If that fails, normalises the line first, so that the last of several
/// members with one name counts, and tries again.
pub(crate) fn leniently<R>(line: &str, mut read: impl FnMut(&str) -> Option<R>) -> Option<R> {
    read(line).or_else(|| {
        let value = serde_json::from_str::<serde_json::Value>(line).ok()?;
        read(&value.to_string())
    })
}

/// Returns the raw elements of an array; none if `raw` is something else.
pub(crate) fn elements(raw: &str) -> Vec<&RawValue> {
    struct Elements<'a>(Vec<&'a RawValue>);
    impl<'de> Deserialize<'de> for Elements<'de> {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct ElementsVisitor;
            impl<'de> Visitor<'de> for ElementsVisitor {
                type Value = Vec<&'de RawValue>;
                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                    let mut elements = Vec::new();
                    while elements.len() < MEMBERS {
                        let Some(element) = seq.next_element()? else {
                            return Ok(elements);
                        };
                        elements.push(element);
                    }
                    while seq.next_element::<IgnoredAny>()?.is_some() {}
                    Ok(elements)
                }
                else_absent!(bool number string object);
            }
            from.deserialize_any(ElementsVisitor).map(Elements)
        }
    }
    serde_json::from_str::<Elements<'_>>(raw).map(|elements| elements.0).unwrap_or_default()
}

/// Returns the members of an object with their raw values; none if `raw` is something else.
pub(crate) fn members(raw: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);
    impl<'de> Deserialize<'de> for Members<'de> {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct MembersVisitor;
            impl<'de> Visitor<'de> for MembersVisitor {
                type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut members = Vec::new();
                    while members.len() < MEMBERS {
                        let Some(Key(key)) = map.next_key()? else {
                            return Ok(members);
                        };
                        members.push((key.unwrap_or_default(), map.next_value()?));
                    }
                    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                    Ok(members)
                }
                else_absent!(bool number string array);
            }
            from.deserialize_any(MembersVisitor).map(Members)
        }
    }
    serde_json::from_str::<Members<'_>>(raw).map(|members| members.0).unwrap_or_default()
}

/// Returns the string that `raw` holds, if it is one.
pub(crate) fn string(raw: &str) -> Text<'_> {
    serde_json::from_str::<Key<'_>>(raw).ok().and_then(|key| key.0)
}

/// A string that is borrowed if possible (a plain `Cow` always copies).
struct Key<'a>(Text<'a>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        text(from).map(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_pairs_kept() {
        let lone = r#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d","d":"\udc00\u0041\uD83D\ud83d\ude00"}"#;
        assert_eq!(
            mend(lone.as_bytes()),
            r#"{"a":"x\ufffd","b":"\ud83d\ude00","c":"\\ud83d","d":"\ufffd\u0041\ufffd\ud83d\ude00"}"#
        );
        assert!(serde_json::from_str::<serde_json::Value>(&mend(lone.as_bytes())).is_ok());
        for cut in ["\\", "\\u", "\\ud8", "\\ud83d\\", "\\ud83dä", "ä\\ä\\ud83d"] {
            mend(cut.as_bytes());
        }
    }

    #[test]
    fn what_is_sound_is_borrowed() {
        assert!(matches!(mend("{\"a\":\"ä\"}".as_bytes()), Cow::Borrowed(_)));
        assert!(matches!(string("\"abc\""), Some(Cow::Borrowed("abc"))));
        assert_eq!(mend(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn members_of_something_else_are_none() {
        assert_eq!(members(r#"{"a":1,"b":[2]}"#).len(), 2);
        assert_eq!(elements("[1,[2],{}]").len(), 3);
        for other in ["1", "null", "\"x\"", "tru"] {
            assert!(members(other).is_empty() && elements(other).is_empty(), "{other}");
        }
    }
}
