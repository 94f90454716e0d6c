//! Tool calls in a record: one line each, with the relevant part of input and output.

use std::collections::HashSet;

use thru_core::{Access, Outcome};

use super::TurnMoment;
use super::fence::{line, output_line, own};
use super::item::{Item, Rank};
use super::turn::outcome;
use crate::checks::{self, Status};
use crate::event::{Action, Run};
use crate::shell;
use crate::text::ends;

/// Characters of one line of an output or of a change.
const LINE: usize = 140;

/// Commands that only look at a repository.
const LOOKING: [&str; 8] = [
    "git status",
    "git log",
    "git diff",
    "git show",
    "git branch",
    "git rev-parse",
    "git blame",
    "git remote",
];

/// Bytes of an output that are looked at.
const LOOKED_AT: usize = 24 * 1024;

/// The place of a call in a record.
pub(super) enum CallEntry {
    /// It gets a line of its own.
    Item(Box<Item>),
    /// Something was looked at.
    Look(String),
    /// A file was changed.
    Edit(String, Box<Item>),
    /// A command ran; the key is the same for every run of it.
    Run(String, Box<Item>),
    /// It happened, and is not worth a line.
    LeftOut,
    /// It can be left out without a trace.
    Nothing,
}

/// Returns the representation of a tool call.
pub(super) fn entry(moment: &TurnMoment) -> CallEntry {
    let tool = moment.tool.as_deref().unwrap_or("a tool");
    let item = |rank, forms: Vec<String>| {
        CallEntry::Item(Box::new(Item::new(moment.passage, rank, forms)))
    };
    match moment.event().action {
        Action::Ran(run) => return ran(moment, &run),
        Action::Answered(answers) => {
            let told: Vec<String> = answers
                .iter()
                .map(|one| format!("{} → {}", line(&one.question, 140), line(&one.answer, 160)))
                .collect();
            return item(Rank::Person, vec![format!("PERSON ANSWERED: {}", told.join("; "))]);
        }
        Action::Approved(plan) => {
            let title = plan.title.unwrap_or_default();
            let short = format!("PERSON APPROVED THE PLAN: {}", line(&title, 120));
            let long = format!("{short}: {}", line(&plan.points.join("; "), 800));
            return item(Rank::Person, vec![short, long]);
        }
        Action::Declined(declined) => {
            let words = line(&declined.words, 300);
            return item(
                Rank::Person,
                vec![format!("PERSON DECLINED {}: {words}", line(tool, 40))],
            );
        }
        _ => {}
    }
    let is_failed = moment.outcome == Some(Outcome::Failed);
    let changed = moment.files.iter().find(|file| file.access == Access::Modified);
    if let Some(file) = changed.filter(|_| !is_failed) {
        return CallEntry::Edit(file.path.clone(), Box::new(edit(moment, &file.path)));
    }
    match tool {
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskStop" | "KillBash" => {
            return CallEntry::Nothing;
        }
        _ if is_failed && !moment.is_subagent => return failed(moment, tool),
        _ if moment.is_subagent => return CallEntry::LeftOut,
        "Read" | "NotebookRead" | "LS" => {
            let file = moment.files.first().map(|file| short_path(&file.path));
            return file.map_or(CallEntry::LeftOut, |path| CallEntry::Look(line(path, 100)));
        }
        "Grep" | "Glob" => {
            return CallEntry::Look(format!("`{}`", line(member(&moment.text, "pattern"), 60)));
        }
        _ => {}
    }
    used(moment, tool)
}

/// Describes a call of any other tool: its input, and the beginning of its result.
fn used(moment: &TurnMoment, tool: &str) -> CallEntry {
    let (what, rank, lengths) = match tool {
        "Task" | "Agent" => ("description", Rank::Prose, [0, 400, 1_200]),
        "WebFetch" => ("url", Rank::Call, [0, 200, 600]),
        "WebSearch" => ("query", Rank::Call, [0, 200, 400]),
        "Skill" => ("skill", Rank::Call, [0, 0, 120]),
        _ => ("", Rank::Call, [0, 120, 240]),
    };
    let given = line(member(&moment.text, what), 120);
    let head = match given.is_empty() {
        true => format!("CALLED {}{}", line(tool, 60), outcome(moment.outcome)),
        false => format!("CALLED {} ({given}){}", line(tool, 60), outcome(moment.outcome)),
    };
    let text = own(&moment.text);
    let result = result(&text);
    let forms = lengths.map(|length| match length {
        0 => head.clone(),
        _ => match line(result, length) {
            shown if shown.is_empty() => head.clone(),
            shown => format!("{head}: {shown}"),
        },
    });
    CallEntry::Item(Box::new(Item::new(moment.passage, rank, forms.into())))
}

fn failed(moment: &TurnMoment, tool: &str) -> CallEntry {
    let file = moment.files.first().map(|file| line(short_path(&file.path), 100));
    let on = file.map_or(String::new(), |file| format!(" {file}"));
    let head = format!("CALLED {}{on} → failed", line(tool, 60));
    let text = own(&moment.text);
    if text.contains("Sibling tool call errored") {
        return CallEntry::LeftOut;
    }
    let why = checks::telling_line(result(&text)).unwrap_or_default();
    let forms = vec![head.clone(), format!("{head}: {}", line(&why, LINE))];
    CallEntry::Item(Box::new(Item::new(moment.passage, Rank::Call, forms)))
}

fn ran(moment: &TurnMoment, run: &Run) -> CallEntry {
    let command = moment.command.as_deref().unwrap_or_default();
    let shown = line(&run.shown, 120);
    let text = own(&moment.text);
    let output = ends(shell::result(&text, command), LOOKED_AT / 3, LOOKED_AT);
    let is_red = matches!(run.status, Status::Red(_));
    if moment.is_subagent && !(is_red && run.is_check) {
        return CallEntry::LeftOut;
    }
    let looks = run.is_looking || LOOKING.contains(&run.family.as_str());
    if looks && run.commits.is_empty() && !is_red {
        return CallEntry::Look(format!("`{}`", line(&run.shown, 60)));
    }
    let ended = match &run.status {
        Status::Red(_) => " → failed",
        Status::Green if run.is_check => " → passed",
        Status::Green => "",
        Status::Unknown => " → not known",
    };
    let mut head = format!("RAN `{shown}`{ended}");
    for commit in run.commits.iter().take(3) {
        head.push_str(&format!("; {}", line(&commit.fact(true), 160)));
    }
    let lines = |most| match &run.status {
        Status::Red(why) => failure(why.as_deref(), &output, most),
        _ if !run.commits.is_empty() => Vec::new(),
        _ => last_lines(&output, most),
    };
    let rank = match (is_red, run.is_check) {
        _ if !run.commits.is_empty() => Rank::Event,
        (true, _) if !run.is_looking => Rank::Event,
        (false, true) => Rank::Check,
        _ => Rank::Call,
    };
    let first = if is_red { 1 } else { 0 };
    let forms = [first, 2, 7].map(|most| with_lines(&head, &lines(most)));
    let key = format!("{} {is_red}", run.key);
    CallEntry::Run(key, Box::new(Item::new(moment.passage, rank, forms.into())))
}

/// Folds in another run of the same command with the same result: the last run shows the current state.
pub(super) fn fold_run(known: &mut Item, again: Item) {
    known.passages.extend(again.passages);
    let times = known.passages.len();
    known.forms = again.forms.iter().map(|form| format!("{times} TIMES {form}")).collect();
}

/// Describes the change of a file.
fn edit(moment: &TurnMoment, path: &str) -> Item {
    let text = own(&moment.text);
    let by = if moment.is_subagent { " (subagent)" } else { "" };
    let path = line(short_path(path), 120);
    let (verb, changes) = match text.split_once("\nold_string: ") {
        Some((_, rest)) => {
            let (old, new) = rest.split_once("\nnew_string: ").unwrap_or((rest, ""));
            ("EDITED", changed_lines(old, before_result(new)))
        }
        None => {
            let content = text.split_once("\ncontent: ").map_or("", |(_, content)| content);
            let lines = telling_lines(before_result(content)).take(8);
            ("WROTE", lines.map(|line| format!("+ {}", output_line(line, LINE))).collect())
        }
    };
    let head = format!("{verb} {path}{by}");
    let forms = match moment.is_subagent {
        true => vec![head],
        false => [0, 3, 8].map(|most| with_lines(&head, first(&changes, most))).into(),
    };
    Item::new(moment.passage, Rank::Change, forms)
}

/// Folds in another edit of the same file.
pub(super) fn fold_edit(known: &mut Item, again: Item) {
    /// Lines of one file's changes, by form.
    const MOST: [usize; 3] = [1, 6, 16];
    known.passages.extend(&again.passages);
    let forms = MOST.iter().enumerate().map(|(at, most)| {
        let (before, more) = (known.form(at), again.form(at));
        let room = most.saturating_sub(before.lines().count());
        let more = more.lines().skip(1).take(room).map(|line| format!("\n{line}"));
        more.fold(before.to_owned(), |text, line| text + &line)
    });
    known.forms = forms.collect();
}

fn first(lines: &[String], most: usize) -> &[String] {
    lines.get(..most.min(lines.len())).unwrap_or_default()
}

fn with_lines(head: &str, lines: &[String]) -> String {
    let mut text = head.to_owned();
    for line in lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// Returns lines that are in one text only: one removed, the added ones, and more of the removed ones.
fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let known = |text: &str| -> HashSet<String> {
        text.lines().take(400).map(|line| line.trim().to_owned()).collect()
    };
    let (before, after) = (known(old), known(new));
    let mut gone = telling_lines(old)
        .filter(|line| !after.contains(*line))
        .take(3)
        .map(|line| format!("- {}", output_line(line, LINE)));
    let mut lines: Vec<String> = gone.next().into_iter().collect();
    let come = telling_lines(new).filter(|line| !before.contains(*line)).take(6);
    lines.extend(come.map(|line| format!("+ {}", output_line(line, LINE))));
    lines.extend(gone);
    lines
}

/// Returns the lines of code that tell something: not blank, not only brackets.
fn telling_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(400).map(str::trim).filter(|line| says_something(line))
}

fn says_something(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).take(3).count() == 3
}

/// Returns the lines of an output that give the reason and the place of a failure.
fn failure(why: Option<&str>, output: &str, most: usize) -> Vec<String> {
    let Some(why) = why else { return last_lines(output, most) };
    let mut lines = vec![output_line(why, LINE)];
    let mut known: HashSet<String> = lines.iter().cloned().collect();
    for line in output.lines().take(4_000) {
        if lines.len() >= most {
            break;
        }
        if checks::is_telling(line) {
            let line = output_line(line.trim(), LINE);
            let is_part = why.starts_with(line.as_str());
            if !is_part && !line.is_empty() && known.insert(line.clone()) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Returns the last lines of an output, its conclusion.
fn last_lines(output: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in output.lines().rev().take(400) {
        if lines.len() >= most {
            break;
        }
        let line = output_line(line.trim(), LINE);
        if says_something(&line) && lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.reverse();
    lines
}

/// Returns the text after the input of a call. Nothing marks its beginning: members of the input are
/// skipped as long as they look like members.
fn result(text: &str) -> &str {
    let mut rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_member = line.split_once(": ").is_some_and(|(name, _)| {
            name.len() < 30 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if !is_member || after.is_empty() {
            return rest;
        }
        rest = after;
    }
}

/// Returns new text without the client's confirmation that it was written.
fn before_result(text: &str) -> &str {
    const RESULTS: [&str; 4] =
        ["\nThe file ", "\nFile created successfully", "\nfilePath: ", "\ntype: "];
    let end = RESULTS.iter().filter_map(|result| text.rfind(result)).min();
    end.map_or(text, |end| &text[..end])
}

/// Returns a member of a call's input, up to the end of its line.
fn member<'t>(text: &'t str, name: &str) -> &'t str {
    if name.is_empty() {
        return "";
    }
    text.lines()
        .take(12)
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_default()
}

/// Returns the end of a path: enough to recognise the file.
pub(super) fn short_path(path: &str) -> &str {
    let mut slashes = path.match_indices(['/', '\\']).map(|(at, _)| at).rev();
    match slashes.nth(3) {
        Some(at) => &path[at + 1..],
        None => path,
    }
}
