//! The shapes of the records of a transcript. Their meaning is decided elsewhere.
//!
//! The format is internal to Claude Code and changes between versions: every field may be absent or of
//! another type, and fields not named here are skipped at the speed of the JSON scanner.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde_json::value::RawValue;

use crate::json::{self, Text, else_absent};

/// One line of a transcript.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) subtype: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) uuid: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) session_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) timestamp: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) cwd: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) version: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) git_branch: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) agent_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) request_id: Text<'a>,
    #[serde(rename = "sourceToolAssistantUUID", deserialize_with = "json::text")]
    pub(super) calling_record: Text<'a>,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_sidechain: bool,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_meta: bool,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_compact_summary: bool,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_api_error_message: bool,
    #[serde(borrow)]
    pub(super) origin: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::object")]
    pub(super) message: Option<Message<'a>>,
    #[serde(deserialize_with = "json::object")]
    pub(super) compact_metadata: Option<CompactMetadata<'a>>,
    #[serde(deserialize_with = "json::object")]
    pub(super) forked_from: Option<ForkedFrom<'a>>,
    #[serde(deserialize_with = "json::object")]
    pub(super) attachment: Option<Attachment<'a>>,
    #[serde(deserialize_with = "json::object")]
    pub(super) data: Option<Progress<'a>>,
    #[serde(deserialize_with = "json::text")]
    pub(super) custom_title: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) ai_title: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) summary: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) pr_url: Text<'a>,
    #[serde(deserialize_with = "json::count")]
    pub(super) pr_number: Option<u64>,
    #[serde(deserialize_with = "json::text")]
    pub(super) pr_repository: Text<'a>,
}

/// A message that a model read or wrote.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) model: Text<'a>,
    #[serde(deserialize_with = "json::object")]
    pub(super) usage: Option<Tokens>,
    #[serde(deserialize_with = "blocks")]
    pub(super) content: Vec<Block<'a>>,
}

/// The tokens of one answer. Every record of the answer repeats them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(deserialize_with = "json::count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) output_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cache_read_input_tokens: Option<u64>,
}

/// A part of a message: a text, a tool call, a tool's result, an image, a thought.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) text: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::text")]
    pub(super) tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_error: bool,
}

/// The details of a compaction in its boundary record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompactMetadata<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) trigger: Text<'a>,
    #[serde(deserialize_with = "json::count")]
    pub(super) pre_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) post_tokens: Option<u64>,
}

/// The origin of a copied record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) session_id: Text<'a>,
}

/// An addition to a prompt. Only texts that the user typed meanwhile (`queued_command`) are read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) origin: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) prompt: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_meta: bool,
}

/// A progress report of a running tool. Only a subagent's messages (`agent_progress`) are read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Progress<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) agent_id: Text<'a>,
    #[serde(deserialize_with = "json::object")]
    pub(super) message: Option<EmbeddedRecord<'a>>,
}

/// A subagent's record inside a progress record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EmbeddedRecord<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) uuid: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) timestamp: Text<'a>,
    #[serde(deserialize_with = "json::flag")]
    pub(super) is_meta: bool,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::object")]
    pub(super) message: Option<Message<'a>>,
}

impl<'a> Record<'a> {
    /// Parses a line that went through [`json::mend`]. The error says where the line stops being JSON.
    pub(super) fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        json::record(line)
    }
}

/// Maximum number of blocks read from one message. Real messages have a handful.
const BLOCKS: usize = 2_000;

/// Deserializes the blocks of a message, whose content may be a plain string; for `deserialize_with`.
fn blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Block<'de>>, D::Error> {
    struct BlocksVisitor;
    impl<'de> Visitor<'de> for BlocksVisitor {
        type Value = Vec<Block<'de>>;
        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(vec![Block::text(Cow::Borrowed(text))])
        }
        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![Block::text(Cow::Owned(text.to_owned()))])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut blocks = Vec::new();
            while blocks.len() < BLOCKS {
                let Some(AnyBlock(block)) = seq.next_element()? else {
                    return Ok(blocks);
                };
                blocks.push(block);
            }
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(blocks)
        }
        else_absent!(bool number object);
    }
    from.deserialize_any(BlocksVisitor)
}

impl<'a> Block<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        Self { kind: Some(Cow::Borrowed("text")), text: Some(text), ..Self::default() }
    }
}

/// An element of a message's content, of any type.
struct AnyBlock<'a>(Block<'a>);

impl<'de> Deserialize<'de> for AnyBlock<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AnyBlockVisitor;
        impl<'de> Visitor<'de> for AnyBlockVisitor {
            type Value = Block<'de>;
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Block::deserialize(MapAccessDeserializer::new(map))
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Block::text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Block::text(Cow::Owned(text.to_owned())))
            }
            else_absent!(bool number array);
        }
        from.deserialize_any(AnyBlockVisitor).map(AnyBlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_costs_only_its_field() {
        let line = r#"{"type":"user","uuid":7,"sessionId":[1,{"a":"b"}],"isMeta":"no","cwd":{},
            "origin":null,"message":{"id":true,"usage":"none","content":["a",7,[8],{"type":"text","text":"b"},null]}}"#;
        let record = Record::parse(line).unwrap();
        assert_eq!(record.kind.as_deref(), Some("user"));
        assert!(record.uuid.is_none() && record.session_id.is_none() && !record.is_meta);
        let texts: Vec<_> = record.message.unwrap().content.into_iter().map(|b| b.text).collect();
        let texts: Vec<_> = texts.iter().map(|text| text.as_deref()).collect();
        assert_eq!(texts, [Some("a"), None, None, Some("b"), None]);
    }

    #[test]
    fn what_is_no_object_is_a_record_without_a_type() {
        for line in ["7", "[1]", "\"x\"", "null"] {
            assert!(Record::parse(line).unwrap().kind.is_none(), "{line}");
        }
        assert!(Record::parse("{} {}").is_err());
        assert!(Record::parse("{\"type\":").is_err());
    }
}
