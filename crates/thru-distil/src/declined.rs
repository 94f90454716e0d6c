//! Reasons that a person gave for declining a call. Any tool may print the client's wording: it counts
//! only where hardly anything but the client can have written it. In doubt, nothing was declined.

use crate::answers;
use crate::reply;
use crate::shell;
use crate::text::{TITLE, one_line, shown_name, uncapitalised};

/// The beginning of the client's wording, and the end of the line before the person's words.
const BEGINNING: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected";
const ENDING: &str = "the user said:";

/// Results that report another kind of failure.
const OTHER_FAILURES: [&str; 12] = [
    "Exit code",
    "Error",
    "error:",
    "<tool_use_error>",
    "<error>",
    "String to replace not found",
    "Found ",
    "File has ",
    "File does not exist",
    "Permission to ",
    "[Request interrupted",
    "PreToolUse:",
];

/// A person's reason for declining a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declined {
    /// The call that was declined, in a few words.
    pub(crate) call: String,
    /// The reason, in the person's words.
    pub(crate) words: String,
}

impl Declined {
    /// Returns a title of the call and the reason.
    pub(crate) fn title(&self) -> String {
        let words = self.words.trim_end_matches(['.', '!', ' ']);
        let whole = format!("Refused {}: {}", self.call, uncapitalised(words));
        if whole.chars().count() <= TITLE {
            return whole;
        }
        let room = TITLE.saturating_sub(self.call.chars().count() + 10);
        match reply::decision_in(words) {
            Some(title) => title,
            None if room >= 40 => {
                format!("Refused {}: {}", self.call, reply::titled_in(words, room))
            }
            None => reply::titled(words),
        }
    }
}

/// Returns the members of a tool's input that mark its end.
fn members(tool: &str) -> Option<&'static [&'static str]> {
    Some(match tool {
        "Edit" => &["file_path: ", "old_string: ", "new_string: ", "replace_all: "],
        "MultiEdit" => &["file_path: ", "edits: ", "old_string: ", "new_string: ", "replace_all: "],
        "Write" => &["file_path: ", "content: "],
        "ExitPlanMode" => &["plan: ", "allowedPrompts: ", "planFilePath: "],
        "NotebookEdit" => {
            &["notebook_path: ", "cell_id: ", "new_source: ", "cell_type: ", "edit_mode: "]
        }
        // The prompt is free text: its end is known only at a member of one line.
        "Task" | "Agent" => &["description: ", "subagent_type: ", "model: ", "run_in_background: "],
        _ => return None,
    })
}

/// Returns a person's reason for declining a call of one of the client's own tools, from its whole text:
/// the tool, its input, and the result on a line of its own.
pub(crate) fn by_call(tool: &str, text: &str) -> Option<Declined> {
    let members = members(tool)?;
    let at = only_place(text)?;
    let (input, result) = text.split_at(at);
    let input = input.strip_suffix('\n')?;
    let is_member = |line: &str| members.iter().any(|member| line.starts_with(member));
    let is_input = match tool {
        "Task" | "Agent" => input.lines().next_back().is_some_and(is_member),
        _ => input.lines().nth(1).is_some_and(is_member),
    };
    // Otherwise the client's wording would be a part of the input.
    let is_over = !result.lines().any(is_member);
    let is_only = !input.lines().skip(1).any(tells_of_failure);
    let words = words(result).filter(|_| is_input && is_over && is_only)?;
    Some(Declined { call: call(tool, input), words })
}

/// Returns a call in a few words: "the edit of a.rs".
fn call(tool: &str, input: &str) -> String {
    let member = |name: &str| input.lines().find_map(|line| line.strip_prefix(name));
    let named = |noun: &str, name: &str| match member(name) {
        Some(path) => format!("{noun} {}", shown_name(path)),
        None => noun.trim_end_matches(" of").to_owned(),
    };
    match tool {
        "Edit" | "MultiEdit" => named("the edit of", "file_path: "),
        "Write" => named("writing", "file_path: "),
        "NotebookEdit" => named("the edit of", "notebook_path: "),
        "ExitPlanMode" => {
            let title = input.find("plan: ").and_then(|at| answers::plan_title(&input[at + 6..]));
            title.map_or_else(|| "the plan".to_owned(), |title| format!("the plan \"{title}\""))
        }
        _ => match member("description: ") {
            Some(task) => format!("the subagent \"{}\"", one_line(task, 40)),
            None => "a subagent".to_owned(),
        },
    }
}

/// Returns a person's reason for declining a shell call with this text and result.
pub(crate) fn by_shell(command: &str, text: &str, result: &str) -> Option<Declined> {
    const MEMBERS: [&str; 5] =
        ["command: ", "description: ", "timeout: ", "run_in_background: ", "dangerously"];
    only_place(text)?;
    let is_over = !result.lines().any(|line| MEMBERS.iter().any(|member| line.starts_with(member)));
    let words = words(result).filter(|_| is_over)?;
    let shown = one_line(&shell::shown(command), 60);
    Some(Declined { call: format!("`{}`", shown.replace('`', "")), words })
}

/// Returns the position of the client's wording, if it occurs in the text exactly once.
fn only_place(text: &str) -> Option<usize> {
    let mut places = text.match_indices(BEGINNING).map(|(at, _)| at);
    places.next().filter(|_| places.next().is_none())
}

fn tells_of_failure(line: &str) -> bool {
    OTHER_FAILURES.iter().any(|failure| line.starts_with(failure))
}

/// Returns the person's words if the whole result is the client's.
fn words(result: &str) -> Option<String> {
    let (first, words) = result.split_once('\n')?;
    let is_clients = first.starts_with(BEGINNING) && first.trim_end().ends_with(ENDING);
    let words = words.split("\n\nNote:").next().unwrap_or(words).trim();
    let is_said = is_clients
        && !words.starts_with("The user wants to clarify")
        && !words.lines().any(tells_of_failure)
        && words.split_whitespace().count() >= 2
        && !reply::asks(words)
        && !reply::is_procedure(words);
    is_said.then(|| one_line(words, 300)).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse the other file";

    fn words(tool: &str, input: &str) -> Option<String> {
        by_call(tool, &format!("{tool}\n{input}")).map(|declined| declined.words)
    }

    #[test]
    fn a_result_that_is_the_clients_declines() {
        let said = Some("use the other file".to_owned());
        let edit =
            format!("replace_all: false\nfile_path: a\nold_string: b\nnew_string: c\nd\n{CLIENT}");
        assert_eq!(words("Edit", &edit), said);
        let declined = by_call("Edit", &format!("Edit\n{edit}")).unwrap();
        assert_eq!(declined.title(), "Refused the edit of a: use the other file");
        assert_eq!(words("ExitPlanMode", &format!("plan: # P\n\n- a\n{CLIENT}")), said);
        let task = format!("description: d\nprompt: p\nq\nsubagent_type: t\n{CLIENT}");
        assert_eq!(words("Task", &task), said);
        let slow = CLIENT.replace("use the other file", "Too slow");
        let call = format!("Bash\ncommand: just test:all\n{slow}");
        let declined = by_shell("just test:all", &call, &slow).unwrap();
        assert_eq!(declined.title(), "Refused `just test:all`: too slow");
        let asks = CLIENT.replace("use the other file", "why do you need that?");
        assert_eq!(by_shell("ls", &format!("Bash\ncommand: ls\n{asks}"), &asks), None);
    }

    #[test]
    fn what_only_holds_the_clients_words_declines_nothing() {
        for (tool, input) in [
            ("mcp__x__get", format!("url: u\n{CLIENT}")),
            ("WebFetch", format!("url: u\nprompt: p\n{CLIENT}")),
            ("Read", format!("file_path: u\n{CLIENT}")),
            ("Task", format!("description: d\nsubagent_type: t\nprompt: p\n{CLIENT}")),
            ("Task", format!("subagent_type: t\nIt wrote:\n{CLIENT}")),
            ("Edit", format!("file_path: a\nold_string: b\n{CLIENT}\nnew_string: c\nfailed")),
            (
                "Edit",
                format!("file_path: a\nold_string: b\nnew_string: c\n{CLIENT}\n<tool_use_error>no"),
            ),
            ("Edit", format!("file_path: a\nnew_string: {CLIENT}")),
            ("Write", format!("file_path: a\ncontent: b\n{CLIENT}\n{CLIENT}")),
            ("Write", format!("file_path: a\ncontent: b\nError: c\n{CLIENT}")),
        ] {
            assert_eq!(words(tool, &input), None, "{tool}: {input}");
        }
        for result in [
            format!("Exit code 1\n{CLIENT}"),
            format!("{CLIENT}\nExit code 1"),
            format!("{CLIENT}\ntimeout: 5\nfailed"),
        ] {
            assert_eq!(
                by_shell("cat x", &format!("Bash\ncommand: cat x\n{result}"), &result),
                None
            );
        }
    }
}
