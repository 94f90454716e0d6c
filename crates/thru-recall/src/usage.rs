//! Cost and use of injected packs: computed from the injections of sessions and their later actions.
//!
//! A memory counts as fetched if the session later asked for it by its id (`thru show ID`, or over MCP), and as touched
//! if it later worked on one of its files. Neither proves that the memory helped.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use thru_core::{Id, Timestamp, head, is_own_tool};
use thru_store::{InjectionRow, LaterUse, Result, SessionFilter, Store};

/// The command by which agents fetch memories.
const PROGRAM: &str = "thru ";
/// Our MCP tools that do so, and the bytes of a call in which ids stand.
const FETCHING: [&str; 2] = ["get_observations", "timeline"];
const ASKED: usize = 600;
/// Length of the shortest prefix of an id that names a memory.
const SHORTEST_ID: usize = 5;

/// The injections of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUsage {
    /// The row of the session.
    pub session: i64,
    /// The time of its last injection.
    pub at: Option<Timestamp>,
    /// Number of injections.
    pub injections: u64,
    /// Estimated tokens in all.
    pub tokens: u64,
    /// Distinct memories.
    pub memories: u64,
    /// Memories among them that it fetched later.
    pub fetched: u64,
    /// Memories among them whose files it worked on later.
    pub touched: u64,
}

/// The injections of one occasion, over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OccasionUsage {
    /// Number of injections.
    pub injections: u64,
    /// Estimated tokens in all.
    pub tokens: u64,
    /// Memories, each counted as often as it was injected.
    pub memories: u64,
}

/// Injections, added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// By session, the latest first.
    pub sessions: Vec<SessionUsage>,
    /// By occasion.
    pub occasions: Vec<(String, OccasionUsage)>,
}

/// Adds up injections and their later use.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn usage(store: &Store, injections: Vec<InjectionRow>) -> Result<Usage> {
    let mut by_session: HashMap<i64, Vec<InjectionRow>> = HashMap::new();
    let mut occasions: HashMap<String, OccasionUsage> = HashMap::new();
    for injection in injections {
        let occasion = occasions.entry(injection.occasion.clone()).or_default();
        occasion.injections += 1;
        occasion.tokens += injection.tokens;
        occasion.memories += injection.memories.len() as u64;
        by_session.entry(injection.session).or_default().push(injection);
    }
    let mut sessions = by_session
        .into_iter()
        .map(|(session, injections)| of_session(store, session, &injections))
        .collect::<Result<Vec<_>>>()?;
    sessions.sort_by_key(|usage| (std::cmp::Reverse(usage.at), usage.session));
    let mut occasions: Vec<_> = occasions.into_iter().collect();
    occasions.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Usage { sessions, occasions })
}

/// The later use of a memory by the session that it was given to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaterUsage {
    /// True if the session fetched it.
    pub fetched: bool,
    /// True if the session worked on one of its files.
    pub touched: bool,
}

/// Reads the later use of each memory of these injections, which were given to one session.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn later_usage(
    store: &Store,
    session: i64,
    injections: &[InjectionRow],
) -> Result<HashMap<Id, LaterUsage>> {
    let commands = asked_for(store, session)?;
    let touches = store.touches_in_time(session)?;
    let mut first_given: HashMap<Id, Option<Timestamp>> = HashMap::new();
    for injection in injections {
        for (memory, _) in &injection.memories {
            first_given.entry(*memory).or_insert(injection.at);
        }
    }
    let usage = first_given.into_iter().map(|(memory, given)| {
        let fetched = is_fetched(&memory, given, &commands);
        let touched = is_touched(store, &memory, given, &touches)?;
        Ok((memory, LaterUsage { fetched, touched }))
    });
    usage.collect()
}

/// Reads which of these memories each session was given or fetched, by the session's row.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn recalls(store: &Store, memories: &BTreeSet<Id>) -> Result<HashMap<i64, BTreeSet<Id>>> {
    let mut recalls: HashMap<i64, BTreeSet<Id>> = HashMap::new();
    for injection in store.injections(None)? {
        let given = injection.memories.iter().map(|(memory, _)| *memory);
        let given = given.filter(|memory| memories.contains(memory));
        recalls.entry(injection.session).or_default().extend(given);
    }
    let by_name: BTreeMap<String, Id> =
        memories.iter().map(|memory| (memory.to_string(), *memory)).collect();
    for session in store.sessions(&SessionFilter::default())? {
        for command in asked_for(store, session.row)? {
            for word in ids(&command.text) {
                let named = by_name.range(word.to_owned()..);
                let named = named.take_while(|(name, _)| name.starts_with(word));
                recalls.entry(session.row).or_default().extend(named.map(|(_, memory)| *memory));
            }
        }
    }
    Ok(recalls)
}

fn of_session(store: &Store, session: i64, injections: &[InjectionRow]) -> Result<SessionUsage> {
    let usage = later_usage(store, session, injections)?;
    let number = |is_used: fn(&LaterUsage) -> bool| {
        usage.values().filter(|usage| is_used(usage)).count() as u64
    };
    Ok(SessionUsage {
        session,
        at: injections.iter().filter_map(|injection| injection.at).max(),
        injections: injections.len() as u64,
        tokens: injections.iter().map(|injection| injection.tokens).sum(),
        memories: usage.len() as u64,
        fetched: number(|usage| usage.fetched),
        touched: number(|usage| usage.touched),
    })
}

/// Returns the commands and the calls of our MCP tools by which a session fetched memories, as they were asked for.
fn asked_for(store: &Store, session: i64) -> Result<Vec<LaterUse>> {
    let mut fetches = store.commands_with(session, PROGRAM)?;
    for name in FETCHING {
        for call in store.calls_of_tool(session, name)? {
            if call.tool.as_deref().is_some_and(is_own_tool) {
                // The result follows, with ids of its own.
                let text = head(&store.text_of(&call)?, ASKED).to_owned();
                fetches.push(LaterUse { at: call.at, text });
            }
        }
    }
    Ok(fetches)
}

fn is_fetched(memory: &Id, given: Option<Timestamp>, commands: &[LaterUse]) -> bool {
    let id = memory.to_string();
    later(commands, given).any(|command| ids(command).any(|word| id.starts_with(word)))
}

/// Returns the words of a command that may be ids, or the start of one.
fn ids(command: &str) -> impl Iterator<Item = &str> {
    let words = command.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() >= SHORTEST_ID)
}

fn is_touched(
    store: &Store,
    memory: &Id,
    given: Option<Timestamp>,
    touches: &[LaterUse],
) -> Result<bool> {
    if touches.is_empty() {
        return Ok(false);
    }
    let Some(row) = store.memory(memory)? else { return Ok(false) };
    let files = store.files_of_memories(&[row.row])?.remove(&row.row).unwrap_or_default();
    let worked_on: HashSet<&str> = later(touches, given).collect();
    Ok(files.iter().any(|file| worked_on.contains(file.path.as_str())))
}

/// The uses at that time or later.
fn later(uses: &[LaterUse], given: Option<Timestamp>) -> impl Iterator<Item = &str> {
    uses.iter().filter(move |used| used.at >= given).map(|used| used.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_fetched_by_the_start_of_its_id_and_not_before_it_was_given() {
        let memory = Id::derive(&[b"m"]);
        let id = memory.to_string();
        let given = Timestamp::from_second(10).ok();
        let used =
            |second, text: String| LaterUse { at: Timestamp::from_second(second).ok(), text };
        assert!(is_fetched(&memory, given, &[used(11, format!("thru show {}", &id[..5]))]));
        assert!(is_fetched(&memory, given, &[used(10, format!("thru show '{id}' | head"))]));
        assert!(!is_fetched(&memory, given, &[used(9, format!("thru show {id}"))]));
        assert!(!is_fetched(&memory, given, &[used(11, format!("thru show {}", &id[..4]))]));
        assert!(!is_fetched(&memory, given, &[used(11, "thru search words".to_owned())]));
    }
}
