//! Parsing of arguments as agents really write them: numbers as text, one text where a list is wanted,
//! `null` for nothing. Unambiguous values are accepted; anything else is rejected with the known
//! alternatives.

use std::str::FromStr;

use rmcp::model::JsonObject;
use serde_json::Value;
use thru_app::ask::get::{Get, Sources};
use thru_app::ask::graph::changed::Changed;
use thru_app::ask::graph::facts::Facts;
use thru_app::ask::graph::problems::ListProblems;
use thru_app::ask::search::{AnswerSize, Search};
use thru_app::ask::timeline::{Around, AroundWhat};
use thru_app::ask::unindexed::ListUnindexed;
use thru_app::ask::{EntryKind, ProjectScope};
use thru_app::fresh::Freshness;
use thru_app::ingest::sync_history::SyncHistory;
use thru_app::keep::close::{Close, Closer};
use thru_app::keep::forget::Forget;
use thru_app::keep::remember::Remember;
use thru_core::{Agent, MemoryKind, ObservationType};

use crate::tool::Tool;

/// Default and maximum number of search results.
const LIMIT: usize = 40;
const MOST_ROWS: usize = 100;
/// Default and maximum number of rows on each side of a timeline.
const DEPTH: usize = 3;
const MOST_DEPTH: usize = 50;
/// Most ids in one call.
const MOST_IDS: usize = 100;
/// Longest query, in characters: nothing longer is a question.
const LONGEST_QUERY: usize = 10_000;
/// Default number of days of history.
const DAYS: u32 = 7;

/// Default number of facts.
const FACTS: usize = 20;

/// A question to the graph.
pub(crate) enum AboutFacts {
    /// The facts about a thing.
    Facts(Facts),
    /// The facts that began and ended since a moment.
    Changed(Changed),
    /// The problems that are open.
    Problems(ListProblems),
}

/// Arguments that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mistake {
    #[error("`{name}` is missing. Arguments of {tool}: {known}.")]
    Missing { tool: &'static str, name: &'static str, known: String },
    #[error("{tool} has no argument {unknown}. It takes: {known}.")]
    Unknown { tool: &'static str, unknown: String, known: String },
    #[error("`{name}` must be {wanted}, not {given}.")]
    Unfit { name: &'static str, wanted: String, given: String },
}

/// The arguments of one call.
pub(crate) struct ToolArguments<'t> {
    tool: &'t Tool,
    given: JsonObject,
}

pub(crate) type Read<T> = Result<T, Mistake>;

impl<'t> ToolArguments<'t> {
    pub(crate) fn new(tool: &'t Tool, mut given: JsonObject) -> Self {
        given.retain(|_, value| !value.is_null());
        Self { tool, given }
    }

    /// Checks that every argument given was used.
    pub(crate) fn finish(self) -> Read<()> {
        if self.given.is_empty() {
            return Ok(());
        }
        let unknown: Vec<String> = self.given.keys().map(|name| format!("`{name}`")).collect();
        Err(Mistake::Unknown {
            tool: self.tool.name,
            unknown: unknown.join(", "),
            known: self.known(),
        })
    }

    fn known(&self) -> String {
        let names: Vec<&str> = self.tool.arguments.iter().map(|argument| argument.name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Read<Option<String>> {
        let text = match self.given.remove(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(flag)) => flag.to_string(),
            // A list of one text.
            Some(Value::Array(mut items)) if items.len() == 1 && items[0].is_string() => {
                match items.remove(0) {
                    Value::String(text) => text,
                    _ => return Ok(None),
                }
            }
            Some(other) => return Err(unfit(name, "text", &other)),
        };
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    pub(crate) fn required(&mut self, name: &'static str) -> Read<String> {
        let missing = Mistake::Missing { tool: self.tool.name, name, known: self.known() };
        self.text(name)?.ok_or(missing)
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Read<Option<usize>> {
        let Some(value) = self.given.remove(name) else { return Ok(None) };
        let read = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match read {
            // Far beyond every limit: it only means "all".
            Some(number) if number >= 0.0 && number.fract() == 0.0 => {
                Ok(Some(number.min(1e9) as usize))
            }
            _ => Err(unfit(name, "a whole number", &value)),
        }
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Read<Option<bool>> {
        let Some(value) = self.given.remove(name) else { return Ok(None) };
        let read = match &value {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => match number.as_f64() {
                Some(0.0) => Some(false),
                Some(1.0) => Some(true),
                _ => None,
            },
            Value::String(text) => match text.trim().to_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                "" => return Ok(None),
                _ => None,
            },
            _ => None,
        };
        read.map(Some).ok_or_else(|| unfit(name, "true or false", &value))
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Read<Vec<String>> {
        let texts = match self.given.remove(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(number) => Ok(number.to_string()),
                    other => Err(unfit(name, "a list of texts", other)),
                })
                .collect::<Read<_>>()?,
            // A list that was written as text.
            Some(Value::String(text)) => match serde_json::from_str::<Vec<String>>(&text) {
                Ok(texts) => texts,
                Err(_) => vec![text],
            },
            Some(Value::Number(number)) => vec![number.to_string()],
            Some(other) => return Err(unfit(name, "a list of texts", &other)),
        };
        Ok(texts.into_iter().filter(|text| !text.trim().is_empty()).collect())
    }

    /// Takes words, given as a list or as one text with blanks or commas between them.
    fn words(&mut self, name: &'static str) -> Read<Vec<String>> {
        let mut words: Vec<String> = Vec::new();
        for text in self.texts(name)? {
            for word in text.split([',', ' ', '\n', '`', '[', ']', '"']) {
                if !word.is_empty() && !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
        }
        Ok(words)
    }

    fn ids(&mut self) -> Read<Vec<String>> {
        let missing = Mistake::Missing { tool: self.tool.name, name: "ids", known: self.known() };
        let ids = self.words("ids")?;
        match ids.len() {
            0 => Err(missing),
            1..=MOST_IDS => Ok(ids),
            number => Err(Mistake::Unfit {
                name: "ids",
                wanted: format!("at most {MOST_IDS} ids"),
                given: number.to_string(),
            }),
        }
    }

    fn project(&mut self) -> Read<ProjectScope> {
        Ok(match self.text("project")? {
            None => ProjectScope::Here,
            Some(name) if matches!(name.trim(), "*" | "all") => ProjectScope::Everywhere,
            Some(name) => ProjectScope::Named(name.trim().to_owned()),
        })
    }

    fn parsed<T: FromStr>(name: &'static str, text: &str, known: &str) -> Read<T> {
        text.trim().to_lowercase().parse().map_err(|_| Mistake::Unfit {
            name,
            wanted: format!("one of {known}"),
            given: format!("`{text}`"),
        })
    }

    pub(crate) fn search(mut self) -> Read<Search> {
        let kinds: Vec<&str> =
            MemoryKind::all().map(MemoryKind::as_str).chain(["prompt", "answer", "tool"]).collect();
        let agents: Vec<&str> = Agent::ALL.iter().map(|agent| agent.as_str()).collect();
        let asked = Search {
            query: self.required("query")?.chars().take(LONGEST_QUERY).collect(),
            project: self.project()?,
            agents: self
                .text("agent")?
                .map(|agent| Self::parsed("agent", &agent, &agents.join(", ")))
                .transpose()?
                .into_iter()
                .collect(),
            kinds: self
                .words("type")?
                .iter()
                .map(|kind| Self::parsed::<EntryKind>("type", kind, &kinds.join(", ")))
                .collect::<Read<_>>()?,
            file: self.text("file")?,
            since: self.text("since")?,
            until: self.text("until")?,
            session: self.text("session")?,
            size: AnswerSize::Rows(self.number("limit")?.unwrap_or(LIMIT).clamp(1, MOST_ROWS)),
            nearest: self.flag("nearest")?.unwrap_or(false),
            ..Search::default()
        };
        self.finish().map(|()| asked)
    }

    pub(crate) fn timeline(mut self) -> Read<Around> {
        let kinds: Vec<&str> = MemoryKind::all().map(MemoryKind::as_str).collect();
        let missing = Mistake::Missing {
            tool: self.tool.name,
            name: "anchor` or `query",
            known: self.known(),
        };
        let id = self.text("anchor")?.map(|anchor| anchor.trim().to_owned());
        let query: Option<String> =
            self.text("query")?.map(|query| query.chars().take(LONGEST_QUERY).collect());
        let project = self.project()?;
        let anchor = match (id, query) {
            (Some(id), _) => Some(AroundWhat::Id(id)),
            (None, Some(query)) => Some(AroundWhat::Query { query, project }),
            (None, None) => None,
        };
        let before = self.number("depth_before")?.unwrap_or(DEPTH).min(MOST_DEPTH);
        let after = self.number("depth_after")?.unwrap_or(DEPTH).min(MOST_DEPTH);
        let kinds = self
            .words("type")?
            .iter()
            .map(|kind| Self::parsed("type", kind, &kinds.join(", ")))
            .collect::<Read<_>>()?;
        self.finish()?;
        let anchor = anchor.ok_or(missing)?;
        Ok(Around { anchor, before, after, kinds, agents: Vec::new() })
    }

    pub(crate) fn get(mut self) -> Read<Get> {
        let ids = self.ids()?;
        let sources = match self.flag("source")? {
            Some(true) => Sources::Passages,
            Some(false) | None => Sources::None,
        };
        let asked = Get { ids, sources, freshness: Freshness::Indexed };
        self.finish().map(|()| asked)
    }

    pub(crate) fn facts(mut self) -> Read<AboutFacts> {
        let about = self.text("about")?;
        let at = self.text("at")?;
        let since = self.text("since")?;
        let history = self.flag("history")?.unwrap_or(false);
        let project = self.project()?;
        let limit = self.number("limit")?.unwrap_or(FACTS).clamp(1, MOST_ROWS);
        self.finish()?;
        Ok(match (about, since) {
            (about, None) if about.is_some() || at.is_some() || history => {
                let (about, relations) = (about.unwrap_or_default(), Vec::new());
                AboutFacts::Facts(Facts {
                    about,
                    project,
                    relations,
                    at,
                    known: None,
                    history,
                    cursor: None,
                    limit,
                })
            }
            (_, Some(span)) => AboutFacts::Changed(Changed { span, project, cursor: None, limit }),
            (_, None) => AboutFacts::Problems(ListProblems { project, cursor: None, limit }),
        })
    }

    /// The start of the id of a session, or `latest`; and true if its content is wanted, to go on with its work.
    pub(crate) fn session(mut self) -> Read<(String, bool)> {
        let id = self.required("id")?.trim().to_owned();
        let resume = self.flag("resume")?.unwrap_or(false);
        self.finish().map(|()| (id, resume))
    }

    pub(crate) fn remember(mut self) -> Read<Remember> {
        let kinds: Vec<&str> = ObservationType::ALL.iter().map(|kind| kind.as_str()).collect();
        let asked = Remember {
            text: self.required("text")?,
            title: self.text("title")?,
            kind: self
                .text("type")?
                .map(|kind| Self::parsed("type", &kind, &kinds.join(", ")))
                .transpose()?
                .unwrap_or(ObservationType::Decision),
            // Only what a person says is a rule.
            is_rule: false,
            files: self.texts("files")?,
            scope: self.project()?,
            by_agent: true,
        };
        self.finish().map(|()| asked)
    }

    /// The memories to forget; and true if it is meant, not only to be shown.
    pub(crate) fn forget(mut self) -> Read<(Forget, bool)> {
        let forget = Forget::Memories(self.ids()?);
        let confirm = self.flag("confirm")?.unwrap_or(false);
        self.finish().map(|()| (forget, confirm))
    }

    pub(crate) fn close(mut self) -> Read<Close> {
        let session = self.text("session_id")?;
        let asked = Close { session, reason: self.text("reason")?, closer: Closer::Server };
        self.finish().map(|()| asked)
    }

    pub(crate) fn list_unindexed(mut self) -> Read<ListUnindexed> {
        let project = self.text("project_namespace")?;
        let asked = ListUnindexed {
            project: project.map_or(ProjectScope::Everywhere, ProjectScope::Named),
            agents: Vec::new(),
            active: true,
            inactive: self.flag("include_inactive")?.unwrap_or(true),
        };
        self.finish().map(|()| asked)
    }

    pub(crate) fn sync_history(mut self) -> Read<SyncHistory> {
        let days = self.number("days")?.map(|days| u32::try_from(days).unwrap_or(u32::MAX));
        let asked = SyncHistory {
            project: self.text("project")?,
            agents: Vec::new(),
            days: days.unwrap_or(DAYS),
            max_sessions: self.number("max_sessions")?,
        };
        self.finish().map(|()| asked)
    }
}

fn unfit(name: &'static str, wanted: &str, given: &Value) -> Mistake {
    Mistake::Unfit {
        name,
        wanted: wanted.to_owned(),
        given: given.to_string().chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn arguments(tool: &str, given: Value) -> ToolArguments<'static> {
        let Value::Object(given) = given else { panic!("{given}") };
        ToolArguments::new(Tool::named(tool).unwrap(), given)
    }

    fn mistake<T: std::fmt::Debug>(read: Read<T>) -> String {
        read.unwrap_err().to_string()
    }

    #[test]
    fn what_can_only_mean_one_thing_is_read() {
        let given = json!({ "query": 503, "limit": "7", "type": "Decision, prompt", "project": "all", "file": null });
        let asked = arguments("search", given).search().unwrap();
        assert_eq!((asked.query.as_str(), asked.size), ("503", AnswerSize::Rows(7)));
        assert_eq!(asked.project, ProjectScope::Everywhere);
        let kinds: Vec<&str> = asked.kinds.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(kinds, ["decision", "prompt"]);
        for ids in
            [json!("abcde,fghjk"), json!(["abcde", "fghjk"]), json!("[\"abcde\", \"fghjk\"]")]
        {
            let asked = arguments("get_observations", json!({ "ids": ids, "source": "yes" })).get();
            let asked = asked.unwrap();
            assert_eq!(
                (asked.ids, asked.sources),
                (vec!["abcde".into(), "fghjk".into()], Sources::Passages)
            );
        }
        for (limit, read) in [(json!(0), 1), (json!(1_000_000_000_u64), 100), (json!(5.0), 5)] {
            let asked = arguments("search", json!({ "query": "a", "limit": limit })).search();
            assert_eq!(asked.unwrap().size, AnswerSize::Rows(read));
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_with_what_is_known() {
        insta::assert_snapshot!(mistake(arguments("search", json!({})).search()), @"`query` is missing. Arguments of search: query, project, agent, type, file, since, until, session, limit, nearest.");
        let unknown = arguments("search", json!({ "query": "a", "dateStart": 1 })).search();
        insta::assert_snapshot!(mistake(unknown), @"search has no argument `dateStart`. It takes: query, project, agent, type, file, since, until, session, limit, nearest.");
        let kind = arguments("search", json!({ "query": "a", "type": ["fix"] })).search();
        insta::assert_snapshot!(mistake(kind), @"`type` must be one of bugfix, feature, refactor, change, discovery, decision, summary, prompt, answer, tool, not `fix`.");
        let agent = arguments("search", json!({ "query": "a", "agent": "emacs" })).search();
        insta::assert_snapshot!(mistake(agent), @"`agent` must be one of claude-code, codex, copilot, not `emacs`.");
        let limit = arguments("search", json!({ "query": "a", "limit": -1 })).search();
        insta::assert_snapshot!(mistake(limit), @"`limit` must be a whole number, not -1.");
        insta::assert_snapshot!(mistake(arguments("timeline", json!({})).timeline()), @"`anchor` or `query` is missing. Arguments of timeline: anchor, query, depth_before, depth_after, type, project.");
        let status = arguments("session_tracking_status", json!({ "verbose": true })).finish();
        insta::assert_snapshot!(mistake(status), @"session_tracking_status has no argument `verbose`. It takes: none.");
        let confirm = arguments("forget", json!({ "ids": "abcde", "confirm": "maybe" })).forget();
        insta::assert_snapshot!(mistake(confirm), @r#"`confirm` must be true or false, not "maybe"."#);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z_]{0,8}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_given_is_read_or_refused(value in any_json()) {
            let all = |tool: &str, names: &[&str]| {
                let given = names.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
                arguments(tool, Value::Object(given))
            };
            if let Ok(asked) = all("search", &["query", "type", "limit", "nearest", "project"]).search() {
                prop_assert!(matches!(asked.size, AnswerSize::Rows(1..=100)));
            }
            if let Ok(asked) = all("get_observations", &["ids", "source"]).get() {
                prop_assert!((1..=100).contains(&asked.ids.len()));
            }
            let _ = all("remember", &["text", "title", "files", "type"]).remember();
            let _ = all("session_tracking_sync_history", &["days", "max_sessions"]).sync_history();
        }
    }
}
