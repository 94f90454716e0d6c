//! The tools: their descriptions for agents, and their calls. One table is both the schema that clients
//! see and the list of accepted arguments.

use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};
use thru_app::ask::get::{Sources, get};
use thru_app::ask::graph::changed::changed;
use thru_app::ask::graph::facts::facts;
use thru_app::ask::graph::problems::problems;
use thru_app::ask::search::search;
use thru_app::ask::session::{self, Load, Outline};
use thru_app::ask::status::status;
use thru_app::ask::timeline::around;
use thru_app::ask::unindexed;
use thru_app::fresh::Freshness;
use thru_app::ingest::sync_history;
use thru_app::keep::close::{self, Closed};
use thru_app::keep::{forget, remember};
use thru_app::{App, Backend, Call, Remedy, Trouble, background, wording};
use thru_core::plain_line;
use thru_redact::{Clean, Redactor, Report};

use crate::arguments::{AboutFacts, Mistake, ToolArguments};
use crate::profile::Profile;
use crate::{fence, graphiti, render};

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub takes: Takes,
    /// True if it is required.
    pub is_required: bool,
    /// Its description; empty if the name is enough.
    pub about: &'static str,
}

/// The type of an argument. Other JSON types are accepted, too, if they are unambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Text.
    Text,
    /// A whole number, not negative.
    Number,
    /// Yes or no.
    Flag,
    /// Texts.
    Texts,
}

/// A tool.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name, for people.
    pub title: &'static str,
    /// A description for agents.
    pub about: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
    /// Its effect.
    pub changes: Changes,
    pub(crate) call: fn(ToolArguments<'_>, &Caller<'_>) -> Result<ToolOutput, Failure>,
}

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Nothing.
    Nothing,
    /// It adds; with `once`, a second call adds nothing more.
    Adds {
        /// True if calling it again changes nothing more.
        once: bool,
    },
    /// It may remove; a second call removes no more.
    Removes,
}

/// A call of a tool.
pub(crate) struct Caller<'a> {
    pub(crate) app: &'a App,
    pub(crate) call: Call<'a>,
}

/// The answer of a tool.
pub(crate) enum ToolOutput {
    /// Text about recorded data, to be fenced.
    Recorded(String),
    /// Text that can be sent as it is.
    Fit(String),
    /// Text that reports a failure and can be sent as it is.
    Failed(String),
}

/// The reason a call has no answer.
pub(crate) enum Failure {
    /// Invalid arguments.
    Mistake(Mistake),
    /// Anything else.
    Trouble(Trouble),
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

pub(crate) const fn text(name: &'static str, about: &'static str) -> Argument {
    Argument { name, takes: Takes::Text, is_required: false, about }
}

pub(crate) const fn number(name: &'static str, about: &'static str) -> Argument {
    Argument { name, takes: Takes::Number, is_required: false, about }
}

pub(crate) const fn flag(name: &'static str, about: &'static str) -> Argument {
    Argument { name, takes: Takes::Flag, is_required: false, about }
}

pub(crate) const fn texts(name: &'static str, about: &'static str) -> Argument {
    Argument { name, takes: Takes::Texts, is_required: false, about }
}

impl Argument {
    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.takes {
            Takes::Text => json!({ "type": "string" }),
            Takes::Number => json!({ "type": "integer", "minimum": 0 }),
            Takes::Flag => json!({ "type": "boolean" }),
            Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        };
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }
}

/// All tools, in the order in which they are listed.
pub const TOOLS: [Tool; 11] = [
    Tool {
        name: "search",
        title: "Search memory",
        about: "Find what earlier sessions said, decided, did and ran. One table by day and file, the best day first: rank | id | type | title | tokens; rank 1 answers best. Memories (decision, bugfix, feature, refactor, change, discovery, summary) come before passages (prompt, answer, tool). Read what matters with get_observations.",
        arguments: &[
            text("query", "Words, names, paths, error codes; no operators").required(),
            text("project", "Name or key; default: the working directory's; \"*\" for all"),
            text("agent", "Only one agent's sessions, e.g. claude-code"),
            texts("type", "Only these types"),
            text("file", "End of the path of a file it touched"),
            text("since", "\"2026-03-01\", \"yesterday\", \"2 weeks ago\""),
            text("until", ""),
            text("session", "Start of a session id"),
            number("limit", "Rows; default 40, at most 100"),
            flag("nearest", "Show the nearest if nothing answers"),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let asked = arguments.search()?;
            let found = search(caller.app, &asked, caller.call)?;
            Ok(ToolOutput::Recorded(caller.renderer().found(&found, &asked)))
        },
    },
    Tool {
        name: "timeline",
        title: "Timeline",
        about: "What happened before and after something: memories around `anchor` (any id) or what answers `query` best. Same columns as search; > marks the anchor.",
        arguments: &[
            text("anchor", "Id of a memory or passage"),
            text("query", "Instead of an anchor"),
            number("depth_before", "Default 3, at most 50"),
            number("depth_after", "Default 3, at most 50"),
            texts("type", "Only these types of memories"),
            text("project", "With query; \"*\" for all"),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let found = around(caller.app, &arguments.timeline()?, caller.call)?;
            Ok(ToolOutput::Recorded(caller.renderer().around(&found)))
        },
    },
    Tool {
        name: "get_observations",
        title: "Read memories and passages",
        about: "Memories and passages in full, many in one call. Each fact names the passages that show it.",
        arguments: &[
            texts("ids", "Ids from search or timeline").required(),
            flag("source", "Add the text of the passages that each was made from"),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let asked = arguments.get()?;
            let pieces = get(caller.app, &asked, caller.call)?;
            let with_source = asked.sources == Sources::Passages;
            let text = caller.renderer().pieces(&pieces, with_source);
            Ok(match pieces.has_any() {
                true => ToolOutput::Recorded(text),
                false => ToolOutput::Failed(fence::answer(caller.app, &text).into_inner()),
            })
        },
    },
    Tool {
        name: "facts",
        title: "Facts",
        about: "Facts of a file, command, test, error, commit, branch or package: now, or at a date. Alone: open problems. Rows: record id | since | fact.",
        arguments: &[
            text("about", "Path, name or words"),
            text("at", "Date: as it was then"),
            text("since", "Date or commit: what changed"),
            flag("history", "Also what ended"),
            text("project", ""),
            number("limit", ""),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let text = match arguments.facts()? {
                AboutFacts::Facts(asked) => {
                    caller.renderer().facts(&facts(caller.app, &asked, caller.call)?)
                }
                AboutFacts::Changed(asked) => {
                    caller.renderer().changes(&changed(caller.app, &asked, caller.call)?)
                }
                AboutFacts::Problems(asked) => {
                    caller.renderer().problems(&problems(caller.app, &asked, caller.call)?)
                }
            };
            Ok(ToolOutput::Recorded(text))
        },
    },
    Tool {
        name: "get_session",
        title: "Read a session",
        about: "Outline of one session: how it ended, then prompts, conclusions and commands by turn. With resume: what it held (objective, decisions, files, next steps).",
        arguments: &[
            text("id", "Session id or its start, or \"latest\"").required(),
            flag("resume", ""),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let (id, resume) = arguments.session()?;
            let freshness = Freshness::Indexed;
            if !resume {
                let outline = Outline::new(id, freshness);
                let outline = session::outline(caller.app, &outline, caller.call)?;
                return Ok(ToolOutput::Recorded(caller.renderer().outline(&outline)));
            }
            let held = session::load(caller.app, &Load { id, freshness }, caller.call)?;
            if held.is_silent {
                return Ok(ToolOutput::Fit(
                    "Nothing is known of what that session held.".to_owned(),
                ));
            }
            held.note_loaded(caller.app);
            Ok(ToolOutput::Fit(held.text.into_inner()))
        },
    },
    Tool {
        name: "remember",
        title: "Remember",
        about: "Keep a decision, fix or discovery for later sessions. Returns its id. Never put secrets in it.",
        arguments: &[
            text("text", "One thing, with its reason").required(),
            text("title", "One line, at most 100 characters"),
            text("type", "decision (default), bugfix, feature, refactor, change, discovery"),
            texts("files", "Paths it is about"),
            text("project", "Default: the working directory's; \"*\" for all"),
        ],
        changes: Changes::Adds { once: false },
        call: |arguments, caller| {
            let told = remember::remember(caller.app, &arguments.remember()?, caller.call)?;
            background::poke(caller.app);
            Ok(ToolOutput::Fit(render::remembered(&told)))
        },
    },
    Tool {
        name: "forget",
        title: "Forget memories",
        about: "Forget memories by id, only when the user wants it. Shows what would go; does it with confirm. The user can bring one back with `thru undo`.",
        arguments: &[
            texts("ids", "Ids of memories").required(),
            flag("confirm", "Really forget them"),
        ],
        changes: Changes::Removes,
        call: |arguments, caller| {
            let (request, confirm) = arguments.forget()?;
            let targets = forget::find(caller.app, &request, caller.call)?;
            let is_done = confirm && !targets.is_empty();
            if is_done && forget::forget(caller.app, &targets, caller.call)?.is_unswept {
                let trouble = Trouble::failed("it is forgotten, but its vectors were not swept");
                return Err(trouble.with(Remedy::Rebuild).into());
            }
            Ok(ToolOutput::Recorded(caller.renderer().forgotten(&targets, is_done)))
        },
    },
    Tool {
        name: "session_tracking_close",
        title: "Close a session",
        about: "Close and index a session (default: the one at work in this project), so that the next one finds its work. Call it when a task is complete, before /clear and at a handoff. JSON: status, session_id, episode_uuid, message.",
        arguments: &[
            text("session_id", ""),
            text("reason", "In a word, e.g. task_complete; kept with it"),
        ],
        changes: Changes::Adds { once: true },
        call: |arguments, caller| {
            let request = arguments.close()?;
            // Indexing replaces files that are kept open for questions.
            let closed =
                caller.app.again().and_then(|app| close::close(&app, &request, caller.call));
            match closed {
                Ok(closed) => {
                    background::poke(caller.app);
                    Ok(ToolOutput::Fit(json_text(&caller.app.redactor(), &closed, LINE)?))
                }
                Err(trouble) => {
                    let message = wording::sentences(&trouble);
                    let failed = Closed::failed(request.session.as_deref(), message);
                    // Words of our own, and the id that was given: the built-in rules are enough for them.
                    Ok(ToolOutput::Failed(json_text(&Redactor::builtin(), &failed, LINE)?))
                }
            }
        },
    },
    Tool {
        name: "session_tracking_list_unindexed",
        title: "List unindexed sessions",
        about: "Sessions that the next question will index. JSON: status, count, sessions.",
        arguments: &[
            text("project_namespace", "Only this project"),
            flag("include_inactive", "Default true"),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let listed = unindexed::list(caller.app, &arguments.list_unindexed()?, caller.call)?;
            let listed = shortened(serde_json::to_value(listed).map_err(Trouble::from)?);
            Ok(ToolOutput::Fit(json_text(&caller.app.redactor(), &listed, LINE)?))
        },
    },
    Tool {
        name: "session_tracking_sync_history",
        title: "Preview a sync of history",
        about: "Sessions on disk that are not remembered yet, and what bringing them in would cost. JSON. Preview only; the user runs `thru sync-history --run`.",
        arguments: &[
            text("project", ""),
            number("days", "Default 7; 0 for all"),
            number("max_sessions", ""),
        ],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            let request = arguments.sync_history()?;
            let preview = sync_history::preview(caller.app, &request, caller.call)?;
            let preview = shortened(serde_json::to_value(preview).map_err(Trouble::from)?);
            Ok(ToolOutput::Fit(json_text(&caller.app.redactor(), &preview, LINE)?))
        },
    },
    Tool {
        name: "session_tracking_status",
        title: "Memory status",
        about: "State of the memory: sessions, states, jobs, budget of models. JSON.",
        arguments: &[],
        changes: Changes::Nothing,
        call: |arguments, caller| {
            arguments.finish()?;
            let status = status(caller.app, caller.call)?;
            Ok(ToolOutput::Fit(json_text(&caller.app.redactor(), &status, LINE)?))
        },
    },
];

/// Sessions that are listed one by one.
const LISTED: usize = 50;

/// A list of sessions short enough to be read; the number of the others is said.
fn shortened(mut list: Value) -> Value {
    let Some(sessions) = list.get_mut("sessions").and_then(Value::as_array_mut) else {
        return list;
    };
    let hidden = sessions.len().saturating_sub(LISTED);
    sessions.truncate(LISTED);
    let before = list["not_listed"].as_u64().unwrap_or_default();
    list["not_listed"] = (before + hidden as u64).into();
    list
}

/// Characters of a text in an answer.
const LINE: usize = 1_000;

/// An answer as JSON, cleaned and with every text on one line of at most so many characters and defused.
pub(crate) fn json_text(
    redactor: &Redactor,
    answer: &impl Serialize,
    most: usize,
) -> Result<String, Trouble> {
    fn defuse(value: &mut Value, most: usize) {
        match value {
            Value::String(text) => *text = plain_line(text, most),
            Value::Array(items) => items.iter_mut().for_each(|item| defuse(item, most)),
            Value::Object(fields) => fields.values_mut().for_each(|field| defuse(field, most)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    let value = redactor.clean_value(serde_json::to_value(answer)?, &mut Report::default());
    let value: Clean<Value> = value.map(|mut value| {
        defuse(&mut value, most);
        value
    });
    Ok(value.get().to_string())
}

impl Caller<'_> {
    fn renderer(&self) -> render::Renderer {
        render::Renderer::new(self.app)
    }
}

impl Tool {
    /// Returns the tool of this name, of whichever profile.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = graphiti::today(name);
        Profile::ALL.iter().flat_map(|profile| profile.tools()).find(|tool| tool.name == name)
    }

    /// Returns its definition, as clients see it.
    pub fn definition(&self) -> Definition {
        let properties: JsonObject = self
            .arguments
            .iter()
            .map(|argument| (argument.name.to_owned(), argument.schema()))
            .collect();
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        let required: Vec<&str> =
            self.arguments.iter().filter(|one| one.is_required).map(|one| one.name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let (destructive, idempotent) = match self.changes {
            Changes::Nothing => (None, None),
            Changes::Adds { once } => (Some(false), Some(once)),
            Changes::Removes => (Some(true), Some(true)),
        };
        let annotations = ToolAnnotations::from_raw(
            None,
            Some(self.changes == Changes::Nothing),
            destructive,
            idempotent,
            Some(false),
        );
        Definition::new(self.name, self.about, schema)
            .with_title(self.title)
            .with_annotations(annotations)
    }

    /// Calls it. Both the answer and the error are clean.
    pub(crate) fn call(
        &'static self,
        given: Option<JsonObject>,
        backend: &Backend,
        call: Call<'_>,
    ) -> Result<String, String> {
        let told = backend.call(|app| {
            let arguments = ToolArguments::new(self, given.unwrap_or_default());
            (self.call)(arguments, &Caller { app, call })
        });
        let app = backend.app();
        match told {
            Ok(ToolOutput::Recorded(text)) => Ok(fence::answer(app, &text).into_inner()),
            Ok(ToolOutput::Fit(text)) => Ok(text),
            Ok(ToolOutput::Failed(text)) => Err(text),
            Err(Failure::Mistake(mistake)) => {
                Err(fence::sentence(app, &mistake.to_string()).into_inner())
            }
            Err(Failure::Trouble(trouble)) => {
                Err(fence::sentence(app, &wording::sentences(&trouble)).into_inner())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_clients_take_and_each_stands_once() {
        let all = Profile::ALL.iter().flat_map(|profile| profile.tools());
        let mut names: Vec<&str> = all.map(|tool| tool.name).collect();
        let number = names.len();
        let is_fit = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        assert!(names.iter().all(|name| is_fit(name)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), number);
    }

    #[test]
    fn definitions_and_instructions_fit_into_eight_kilobytes() {
        let definitions: Vec<Definition> = TOOLS.iter().map(Tool::definition).collect();
        let bytes = serde_json::to_string(&definitions).unwrap().len();
        let instructions = crate::INSTRUCTIONS.len();
        assert!(instructions <= 2_000, "{instructions}");
        assert!(bytes + instructions <= 8_000, "{bytes} + {instructions}");
        // Clients cut a description here.
        assert!(TOOLS.iter().all(|tool| tool.about.len() <= 2_000));
    }

    #[test]
    fn a_definition_as_clients_see_it() {
        let definition = Tool::named("forget").unwrap().definition();
        insta::assert_snapshot!(serde_json::to_string_pretty(&definition).unwrap(), @r#"
        {
          "name": "forget",
          "title": "Forget memories",
          "description": "Forget memories by id, only when the user wants it. Shows what would go; does it with confirm. The user can bring one back with `thru undo`.",
          "inputSchema": {
            "properties": {
              "confirm": {
                "description": "Really forget them",
                "type": "boolean"
              },
              "ids": {
                "description": "Ids of memories",
                "items": {
                  "type": "string"
                },
                "type": "array"
              }
            },
            "required": [
              "ids"
            ],
            "type": "object"
          },
          "annotations": {
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": true,
            "openWorldHint": false
          }
        }
        "#);
    }

    #[test]
    fn a_long_list_is_cut_and_its_length_said() {
        let sessions: Vec<Value> = (0..60).map(|number| json!({ "session_id": number })).collect();
        let list = shortened(json!({ "count": 60, "sessions": sessions, "not_listed": 5 }));
        assert_eq!(list["sessions"].as_array().unwrap().len(), LISTED);
        assert_eq!((&list["count"], &list["not_listed"]), (&json!(60), &json!(15)));
        assert_eq!(shortened(json!({ "status": "error" })), json!({ "status": "error" }));
    }

    #[test]
    fn only_what_changes_nothing_says_so() {
        let changing: Vec<&str> = TOOLS
            .iter()
            .filter(|tool| tool.definition().annotations.unwrap().read_only_hint != Some(true))
            .map(|tool| tool.name)
            .collect();
        assert_eq!(changing, ["remember", "forget", "session_tracking_close"]);
    }
}
