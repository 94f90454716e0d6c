//! Our hooks put into a file of settings and taken out again, everything else byte for byte as it was. For
//! agents that take hooks as JSON, by event, in groups with a matcher.
//!
//! Putting in only inserts: behind the last child of a container, or into an empty one. So taking out
//! knows what to cut, but for one question: was a container that becomes empty there before? If it
//! was, the line that its bracket stands on ends with a space, which is not seen and which no formatter
//! writes. A container without that mark is ours and goes as well.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;
use thru_core::Agent;

use super::command::{InstalledHook, Registration};
use super::document::{Child, Node, is_blank, parse};

/// The key below which hooks stand, of a file and of each group in it.
const HOOKS: &str = "hooks";

/// The reason why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not JSON.
    #[error("not valid JSON: {0}")]
    NotJson(String),
    /// Something in it is not what the agent takes there.
    #[error("{place} is not {expected}")]
    Unexpected {
        /// `the file`, or a path of keys.
        place: String,
        /// The shape it should have.
        expected: &'static str,
    },
}

/// Returns the text with exactly these hooks of ours in it; `None` stands for a file that is not there. What
/// is in place already stays as it is, to the byte.
///
/// # Errors
/// Returns [`Refusal`] if the text is not what the agent takes.
pub fn install(text: Option<&str>, registration: &Registration) -> Result<String, Refusal> {
    let Some(text) = text else { return Ok(whole_file(registration)) };
    if is_blank(text) {
        return Ok(format!("{text}\n{}", whole_file(registration)));
    }
    if is_in_place(text, registration)? {
        return Ok(text.to_owned());
    }
    // Old ones go first. Putting in what was just taken out restores the same bytes, so that repeating is
    // as safe as doing it once.
    match uninstall(text, registration.agent)? {
        Some(text) if !is_blank(&text) => insert(&text, registration),
        rest => install(rest.as_deref(), registration),
    }
}

/// Returns the text without our hooks of an agent; `None` if nothing is left of a file that we made.
///
/// # Errors
/// Returns [`Refusal`] if the text is no JSON object.
pub fn uninstall(text: &str, agent: Agent) -> Result<Option<String>, Refusal> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let root = root_of(text)?;
    let members = root.members().unwrap_or_default();
    let cuts = cuts_in(text, &root, members, |member| match member.key == HOOKS {
        true => cuts_in_hooks(text, &member.value, agent),
        false => Cuts::Some(Vec::new()),
    });
    Ok(cut_out(text, &root, cuts))
}

/// Returns the rest of a text; `None` if all of it was ours.
pub(crate) fn cut_out(text: &str, root: &Node, cuts: Cuts) -> Option<String> {
    match cuts {
        Cuts::All => {
            // Blank before the file was ours: then it stays, without the line that we began.
            let before = &text[..root.span.start];
            (!before.is_empty()).then(|| before.strip_suffix('\n').unwrap_or(before).to_owned())
        }
        Cuts::Some(cuts) => {
            let mut rest = text.to_owned();
            for cut in cuts.into_iter().rev() {
                rest.replace_range(cut, "");
            }
            Some(rest)
        }
    }
}

/// Returns our hooks of an agent that stand in a text: of a settings file, or a `hooks.json`.
///
/// # Errors
/// Returns [`Refusal`] if the text is no JSON object.
pub fn installed(text: &str, agent: Agent) -> Result<Vec<InstalledHook>, Refusal> {
    Ok(handlers(text)?
        .into_iter()
        .filter_map(|(event, matcher, handler)| {
            InstalledHook::parse(agent, &event, matcher.as_deref(), &handler)
        })
        .collect())
}

/// Returns every handler with its event and the matcher of its group.
fn handlers(text: &str) -> Result<Vec<(String, Option<String>, Value)>, Refusal> {
    let mut handlers = Vec::new();
    if is_blank(text) {
        return Ok(handlers);
    }
    let root = root_of(text)?;
    for hooks in root.members().unwrap_or_default().iter().filter(|member| member.key == HOOKS) {
        for event in hooks.value.members().unwrap_or_default() {
            for group in event.value.items().unwrap_or_default() {
                let matcher = group.get("matcher").and_then(|node| value_of(text, node));
                let matcher = matcher.as_ref().and_then(Value::as_str).map(str::to_owned);
                for handler in group.get(HOOKS).and_then(Node::items).unwrap_or_default() {
                    if let Some(value) = value_of(text, handler) {
                        handlers.push((event.key.clone(), matcher.clone(), value));
                    }
                }
            }
        }
    }
    Ok(handlers)
}

/// True if exactly the wanted hooks of ours are there, each once.
fn is_in_place(text: &str, registration: &Registration) -> Result<bool, Refusal> {
    let mut missing: HashMap<&str, Value> =
        registration.events.iter().map(|event| (*event, registration.handler(event))).collect();
    for (event, matcher, handler) in handlers(text)? {
        let is_ours = InstalledHook::parse(registration.agent, &event, None, &handler).is_some();
        if is_ours && (matcher.is_some() || missing.remove(event.as_str()) != Some(handler)) {
            return Ok(false);
        }
    }
    Ok(missing.is_empty())
}

pub(crate) fn root_of(text: &str) -> Result<Node, Refusal> {
    let root = parse(text).map_err(Refusal::NotJson)?;
    match root.members() {
        Some(_) => Ok(root),
        None => Err(Refusal::Unexpected { place: "the file".to_owned(), expected: "an object" }),
    }
}

pub(crate) fn value_of(text: &str, node: &Node) -> Option<Value> {
    serde_json::from_str(text.get(node.span.clone())?).ok()
}

/// The cuts in a container.
pub(crate) enum Cuts {
    /// These parts, in the order of the text.
    Some(Vec<Range<usize>>),
    /// All of it, and itself.
    All,
}

/// Returns the cuts in a container whose children are to be cut so.
pub(crate) fn cuts_in<C: Child>(
    text: &str,
    container: &Node,
    children: &[C],
    of_child: impl Fn(&C) -> Cuts,
) -> Cuts {
    let mut cuts = Vec::new();
    let mut kept: Option<&C> = None;
    // Where the children that go, and before which none was kept, begin.
    let mut leading = None;
    for child in children {
        match (of_child(child), kept) {
            (Cuts::All, Some(kept)) => match cuts.last_mut() {
                // Neighbours that go are one cut.
                Some(Range { start, end }) if *start == kept.span().end => *end = child.span().end,
                _ => cuts.push(kept.span().end..child.span().end),
            },
            (Cuts::All, None) => leading = leading.or(Some(child.span().start)),
            (Cuts::Some(inner), _) => {
                cuts.extend(leading.take().map(|start| start..child.span().start));
                cuts.extend(inner);
                kept = Some(child);
            }
        }
    }
    match (leading, children.first()) {
        (Some(_), Some(first)) => match mark(text, container.span.start + 1..first.span().start) {
            Some(mark) => {
                let inside = mark..container.span.end - 1;
                Cuts::Some(vec![inside])
            }
            None => Cuts::All,
        },
        _ => Cuts::Some(cuts),
    }
}

/// Returns the position, in the white space before the first child of a container, of the mark that the
/// container was there before us.
fn mark(text: &str, blank: Range<usize>) -> Option<usize> {
    let space = text[blank.clone()].rsplit_once('\n')?.0;
    let space = space.strip_suffix('\r').unwrap_or(space).strip_suffix(' ')?;
    Some(blank.start + space.len())
}

fn cuts_in_hooks(text: &str, hooks: &Node, agent: Agent) -> Cuts {
    cuts_in(text, hooks, hooks.members().unwrap_or_default(), |event| {
        cuts_in(text, &event.value, event.value.items().unwrap_or_default(), |group| {
            let list = group.get(HOOKS);
            let handlers = list.and_then(Node::items).unwrap_or_default();
            let is_ours = |handler: &Node| {
                value_of(text, handler).is_some_and(|handler| {
                    InstalledHook::parse(agent, &event.key, None, &handler).is_some()
                })
            };
            match list {
                Some(_) if !handlers.is_empty() && handlers.iter().all(is_ours) => Cuts::All,
                Some(list) => cuts_in(text, list, handlers, |handler| match is_ours(handler) {
                    true => Cuts::All,
                    false => Cuts::Some(Vec::new()),
                }),
                None => Cuts::Some(Vec::new()),
            }
        })
    })
}

/// Puts hooks into a text that has none of ours.
fn insert(text: &str, registration: &Registration) -> Result<String, Refusal> {
    let root = root_of(text)?;
    let layout = Layout::found_in(text, &root);
    let members = root.members().unwrap_or_default();
    let mut insertions = Vec::new();
    match root.get(HOOKS) {
        None => insertions.push(
            layout.append(text, &root, members, |indent| vec![layout.hooks(registration, indent)]),
        ),
        Some(hooks) => {
            let events = hooks.members().ok_or_else(|| unexpected(HOOKS, "an object"))?;
            let mut missing = Vec::new();
            for event in &registration.events {
                let Some(groups) = hooks.get(event) else {
                    missing.push(format!("{}: [{}]", quote(event), group(registration, event)));
                    continue;
                };
                let items = groups
                    .items()
                    .ok_or_else(|| unexpected(&format!("{HOOKS}.{event}"), "a list"))?;
                insertions
                    .push(layout.append(text, groups, items, |_| vec![group(registration, event)]));
            }
            if !missing.is_empty() {
                insertions.push(layout.append(text, hooks, events, |_| missing));
            }
        }
    }
    insertions.sort_by_key(|(at, _)| *at);
    let mut changed = text.to_owned();
    for (at, piece) in insertions.into_iter().rev() {
        changed.insert_str(at, &piece);
    }
    Ok(changed)
}

pub(crate) fn unexpected(place: &str, expected: &'static str) -> Refusal {
    Refusal::Unexpected { place: format!("`{place}`"), expected }
}

fn whole_file(registration: &Registration) -> String {
    let layout = Layout::usual();
    format!("{{\n  {}\n}}\n", layout.hooks(registration, "  "))
}

/// A group with our handler for an event, on one line: a file with hooks in it stays one that people
/// can read.
fn group(registration: &Registration, event: &str) -> String {
    let handler = registration.handler(event);
    let fields: Vec<String> = ["type", "command", "args", "timeout"]
        .into_iter()
        .filter_map(|name| Some((name, handler.get(name)?)))
        .map(|(name, value)| match value.as_array() {
            Some(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("{}: [{}]", quote(name), items.join(", "))
            }
            None => format!("{}: {value}", quote(name)),
        })
        .collect();
    format!("{{ {}: [{{ {} }}] }}", quote(HOOKS), fields.join(", "))
}

pub(crate) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The layout of a text.
pub(crate) struct Layout {
    pub(crate) newline: &'static str,
    /// One step of indentation.
    pub(crate) unit: String,
}

impl Layout {
    /// The layout of a text of our own.
    pub(crate) fn usual() -> Self {
        Self { newline: "\n", unit: "  ".to_owned() }
    }

    pub(crate) fn found_in(text: &str, root: &Node) -> Self {
        let is_windows = text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        let first = root.members().and_then(<[_]>::first);
        let unit = first.and_then(|member| indent_of(text, member.start)).unwrap_or("  ");
        Self { newline: if is_windows { "\r\n" } else { "\n" }, unit: unit.to_owned() }
    }

    /// Returns the text to insert, and its position, so that a container ends with these new children. They
    /// are made for the indentation that they get.
    pub(crate) fn append<C: Child>(
        &self,
        text: &str,
        container: &Node,
        children: &[C],
        new: impl FnOnce(&str) -> Vec<String>,
    ) -> (usize, String) {
        let outer = line_indent(text, container.span.start);
        let last = children.last().map(Child::span);
        let indent = match last.clone().and_then(|last| indent_of(text, last.start)) {
            Some(indent) => indent.to_owned(),
            None => format!("{outer}{}", self.unit),
        };
        let newline = self.newline;
        let new = new(&indent);
        match last {
            Some(last) => {
                let pieces = new.iter().map(|piece| format!(",{newline}{indent}{piece}"));
                (last.end, pieces.collect())
            }
            // The space is the mark.
            None => {
                let pieces = new.join(&format!(",{newline}{indent}"));
                let piece = format!(" {newline}{indent}{pieces}{newline}{outer}");
                (container.span.end - 1, piece)
            }
        }
    }

    /// The member that holds all hooks.
    fn hooks(&self, registration: &Registration, indent: &str) -> String {
        let Self { newline, unit } = self;
        let events: Vec<String> = registration
            .events
            .iter()
            .map(|event| {
                format!("{newline}{indent}{unit}{}: [{}]", quote(event), group(registration, event))
            })
            .collect();
        format!("{}: {{{}{newline}{indent}}}", quote(HOOKS), events.join(","))
    }
}

/// Returns the white space at the beginning of the line of a position.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    let line = line.trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Like [`line_indent`], if the line has nothing else before the position.
fn indent_of(text: &str, at: usize) -> Option<&str> {
    let indent = line_indent(text, at);
    (!indent.is_empty() && text[..at].ends_with(indent) && {
        let before = &text[..at - indent.len()];
        before.ends_with('\n')
    })
    .then_some(indent)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
