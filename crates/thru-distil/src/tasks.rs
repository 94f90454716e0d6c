//! The agent's own task list.

use crate::text::one_line;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    InProgress,
    Done,
}

/// The effect of a call on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The whole list anew, without completed tasks.
    List(Vec<(String, State)>),
    /// One more task, with its number.
    Add(String, String),
    /// A new state for the task with this number; `None` if it was deleted.
    Set(String, Option<State>),
}

/// The current list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    /// Number, text and state of each, in order.
    tasks: Vec<(String, String, State)>,
}

/// Most tasks that are kept.
const MOST: usize = 100;

/// Most tasks that are kept of a rewritten list.
const OPEN: usize = 12;

impl Tasks {
    /// Applies a change. Returns the task now in progress, if it is a different one.
    pub(crate) fn apply(&mut self, change: &Change) -> Option<String> {
        let before = self.current().map(str::to_owned);
        match change {
            Change::List(list) => {
                self.tasks = list
                    .iter()
                    .map(|(text, state)| (String::new(), text.clone(), *state))
                    .collect();
            }
            Change::Add(number, text) if self.tasks.len() < MOST => {
                self.tasks.push((number.clone(), text.clone(), State::Pending));
            }
            Change::Add(..) => {}
            Change::Set(number, state) => match state {
                Some(state) => {
                    if let Some(task) = self.tasks.iter_mut().rev().find(|task| task.0 == *number) {
                        task.2 = *state;
                    }
                }
                None => self.tasks.retain(|task| task.0 != *number),
            },
        }
        self.current().filter(|current| Some(*current) != before.as_deref()).map(str::to_owned)
    }

    /// Returns the task in progress.
    pub(crate) fn current(&self) -> Option<&str> {
        self.tasks.iter().rev().find(|task| task.2 == State::InProgress).map(|task| task.1.as_str())
    }

    /// Returns the open tasks.
    pub(crate) fn open(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().filter(|task| task.2 != State::Done).map(|task| task.1.as_str())
    }
}

/// Parses the effect of a task tool's call from its text.
pub(crate) fn change(tool: &str, text: &str) -> Option<Change> {
    match tool {
        "TodoWrite" | "update_plan" => {
            let mut list = listed(text);
            let has_tasks = !list.is_empty();
            // A long session rewrites its list again and again: completed tasks need not be kept.
            list.retain(|(text, state)| *state != State::Done && !text.is_empty());
            list.truncate(OPEN);
            has_tasks.then_some(Change::List(list))
        }
        "TaskCreate" => {
            let subject = member(text, "subject: ")?;
            let number = text.rsplit_once("Task #").map_or("", |(_, rest)| rest);
            let digits = number.bytes().take_while(u8::is_ascii_digit).count().min(9);
            let subject = one_line(subject, 160);
            (!subject.is_empty()).then(|| Change::Add(number[..digits].to_owned(), subject))
        }
        "TaskUpdate" => {
            let number = member(text, "taskId: ")?.trim_start_matches('#');
            let state = member(text, "status: ")?;
            Some(Change::Set(one_line(number, 20), state_of(state)))
        }
        _ => None,
    }
}

/// Returns the tasks of a whole list, whichever member of a task comes first.
fn listed(text: &str) -> Vec<(String, State)> {
    let mut list: Vec<(Option<String>, Option<State>)> = Vec::new();
    for line in text.lines() {
        let line =
            ["todos: ", "plan: "].iter().find_map(|name| line.strip_prefix(name)).unwrap_or(line);
        let content = line.strip_prefix("content: ").or_else(|| line.strip_prefix("step: "));
        let state = line.strip_prefix("status: ");
        if content.is_none() && state.is_none() {
            continue;
        }
        let is_new = list.last().is_none_or(|(known, of_known)| {
            content.is_some() && known.is_some() || state.is_some() && of_known.is_some()
        });
        if is_new {
            if list.len() >= MOST {
                break;
            }
            list.push((None, None));
        }
        if let Some((text, known)) = list.last_mut() {
            *text = content.map(|content| one_line(content, 160)).or(text.take());
            *known = state.and_then(state_of).or(*known);
        }
    }
    let tasks = list.into_iter().filter_map(|(text, state)| Some((text?, state)));
    tasks.map(|(text, state)| (text, state.unwrap_or(State::Pending))).collect()
}

fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().take(40).find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn state_of(state: &str) -> Option<State> {
    match state.trim() {
        "completed" => Some(State::Done),
        "in_progress" => Some(State::InProgress),
        "pending" => Some(State::Pending),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_followed() {
        let mut tasks = Tasks::default();
        let listed = change("TodoWrite", "TodoWrite\ntodos: content: Add x\nstatus: in_progress\nactiveForm: Adding x\ncontent: Test x\nstatus: pending").unwrap();
        assert_eq!(tasks.apply(&listed).as_deref(), Some("Add x"));
        assert_eq!(tasks.open().collect::<Vec<_>>(), ["Add x", "Test x"]);
        let done = "TodoWrite\ntodos: content: Add x\nstatus: completed";
        tasks.apply(&change("TodoWrite", done).unwrap());
        assert_eq!(tasks.open().count(), 0);
    }

    #[test]
    fn plans_are_lists_whichever_member_comes_first() {
        for plan in [
            "update_plan\nplan: step: Add x\nstatus: completed\nstep: Test x\nstatus: in_progress\nPlan updated",
            "update_plan\nexplanation: why\nplan: status: completed\nstep: Add x\nstatus: in_progress\nstep: Test x",
        ] {
            let change = change("update_plan", plan).unwrap();
            assert_eq!(change, Change::List(vec![("Test x".to_owned(), State::InProgress)]));
        }
    }

    #[test]
    fn single_tasks_are_followed() {
        let mut tasks = Tasks::default();
        let added =
            change("TaskCreate", "TaskCreate\nsubject: Add y\nTask #7 created successfully: Add y")
                .unwrap();
        assert_eq!(tasks.apply(&added), None);
        let begun =
            change("TaskUpdate", "TaskUpdate\ntaskId: 7\nstatus: in_progress\nUpdated").unwrap();
        assert_eq!(tasks.apply(&begun).as_deref(), Some("Add y"));
        let ended = change("TaskUpdate", "TaskUpdate\ntaskId: 7\nstatus: completed").unwrap();
        tasks.apply(&ended);
        assert_eq!(tasks.open().count(), 0);
        assert_eq!(change("TaskCreate", "TaskCreate\nsubject: \nTask #8 created"), None);
    }
}
