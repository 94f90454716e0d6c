//! Todo lists as sessions recorded them: files of todos that were written, and lists of open work that were reported.

use std::collections::{BTreeMap, HashSet};

use thru_core::{PassageKind, Timestamp, file_name};
use thru_store::index::{IndexFilter, TextIndex};
use thru_store::{PassageRow, Result, Store};

use crate::query::analyse;
use crate::unfinished::{share, words};
use crate::work::sessions_by_row;

/// Words of passages that may hold such a list.
const WORDS: &str = "todo todos pending deferred remaining outstanding unfinished backlog";
/// Passages that are looked through for lists.
const DEPTH: usize = 1_500;
/// Items of one list that are shown, and characters of each.
const ITEMS: usize = 12;
const LONGEST_ITEM: usize = 160;
/// The share of the words of a file's name that an item holds which stands for it.
const SAME: f64 = 0.6;

/// What is left, and what a list of it is of.
const LEFT: [&str; 8] =
    ["pending", "open", "remaining", "outstanding", "deferred", "unfinished", "postponed", "todo"];
const OF: [&str; 9] =
    ["todo", "todos", "tasks", "items", "issues", "work", "findings", "steps", "list"];

/// Open work that a passage recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The session that recorded it.
    pub(crate) session: i64,
    /// Its time.
    pub(crate) at: Option<Timestamp>,
    /// The project of that session.
    pub(crate) project: Option<i64>,
    /// The steps that are open.
    pub(crate) steps: Vec<String>,
}

/// A todo file that was written, or was moved or removed.
struct TodoFile {
    name: String,
    at: Option<Timestamp>,
    /// Its title and session; `None` if it is gone.
    written: Option<(String, i64)>,
}

/// Finds what sessions of these projects (of all where `None`) recorded as open: of each project the latest list, and the todo
/// files that were written since and are still there. The latest first.
///
/// # Errors
/// Fails if the store or the index cannot be read.
pub(crate) fn recorded(
    store: &Store,
    index: &TextIndex,
    projects: Option<&[i64]>,
) -> Result<Vec<Recorded>> {
    let filter = IndexFilter { projects: projects.map(<[i64]>::to_vec), ..IndexFilter::default() };
    let terms = analyse(WORDS);
    let best = index.ask(&terms, &filter)?.best(DEPTH)?;
    let rows: Vec<i64> =
        best.iter().filter(|one| !one.is_echo && !one.is_subagent).map(|one| one.row).collect();
    let passages = store.passages_of_rows(&rows)?;
    let sessions: HashSet<i64> = passages.iter().map(|passage| passage.session).collect();
    let sessions = sessions_by_row(store, sessions.into_iter().collect())?;
    let mut lists: BTreeMap<Option<i64>, Recorded> = BTreeMap::new();
    let mut files: BTreeMap<Option<i64>, Vec<TodoFile>> = BTreeMap::new();
    for passage in &passages {
        let project = sessions.get(&passage.session).and_then(|session| session.project);
        if passage.kind == PassageKind::Tool {
            files.entry(project).or_default().extend(todo_files(store, passage)?);
            continue;
        }
        let is_later = lists.get(&project).is_none_or(|known| known.at < passage.at);
        if passage.kind != PassageKind::Assistant || !is_later {
            continue;
        }
        let steps = list_of_open_work(&store.text_of(passage)?);
        if !steps.is_empty() {
            let (session, at) = (passage.session, passage.at);
            lists.insert(project, Recorded { session, at, project, steps });
        }
    }
    let mut all: Vec<Recorded> = Vec::new();
    for (project, mut files) in files {
        files.sort_by_key(|file| file.at);
        let mut list = lists.remove(&project);
        if let Some(list) = &mut list {
            let gone = files.iter().filter(|file| file.written.is_none() && file.at > list.at);
            let gone: Vec<HashSet<String>> = gone.map(|file| words(stem(&file.name))).collect();
            list.steps.retain(|step| gone.iter().all(|name| share(name, &words(step)) < SAME));
        }
        let since = list.as_ref().map(|list| list.at);
        // The last word about each file.
        let last: BTreeMap<&str, &TodoFile> =
            files.iter().map(|file| (file.name.as_str(), file)).collect();
        for file in last.into_values() {
            if let Some((title, session)) = &file.written
                && since.is_none_or(|since| file.at > since)
            {
                let steps = vec![title.clone()];
                all.push(Recorded { session: *session, at: file.at, project, steps });
            }
        }
        all.extend(list.filter(|list| !list.steps.is_empty()));
    }
    all.extend(lists.into_values());
    all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.steps.cmp(&b.steps)));
    Ok(all)
}

/// The todo files that a call wrote, moved or removed.
fn todo_files(store: &Store, passage: &PassageRow) -> Result<Vec<TodoFile>> {
    if let Some(command) = &passage.command {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let moves = words.clone().any(|word| matches!(word, "mv" | "rm"));
        let name = words.find(|word| is_todo_file(word) && !word.contains("/done/"));
        let at = passage.at;
        return Ok(name
            .filter(|_| moves)
            .map(|path| TodoFile { name: file_name(path).to_owned(), at, written: None })
            .into_iter()
            .collect());
    }
    let touched = store.files_of(passage)?;
    let Some((path, _)) = touched.iter().find(|(path, changes)| *changes && is_todo_file(path))
    else {
        return Ok(Vec::new());
    };
    let is_done = path.contains("/done/") || path.contains("/completed/");
    let text = store.text_of(passage)?;
    let title = text.lines().find_map(title).filter(|title| !title.is_empty());
    let name = file_name(path).to_owned();
    // An edit of a line says nothing of the title.
    Ok(match (title, is_done) {
        (None, false) => Vec::new(),
        (_, true) => vec![TodoFile { name, at: passage.at, written: None }],
        (Some(title), false) => {
            vec![TodoFile { name, at: passage.at, written: Some((title, passage.session)) }]
        }
    })
}

/// Returns true for a file of a folder of todos.
fn is_todo_file(path: &str) -> bool {
    let folders = path.rsplit('/').skip(1);
    path.ends_with(".md") && folders.into_iter().any(|folder| folder == "todos" || folder == "todo")
}

/// The title in a line of a written file: of its front matter, or its first heading.
fn title(line: &str) -> Option<String> {
    let line = line.trim_start_matches("content: ").trim();
    let title = line.strip_prefix("title:").or_else(|| line.strip_prefix("# "))?;
    Some(shown(title.trim().trim_matches('"')))
}

/// The name of a file without its date and its ending.
fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".md").unwrap_or(name);
    name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
}

/// The items of the first list of open work in a text.
fn list_of_open_work(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    if !lines.by_ref().any(is_heading_of_open_work) {
        return Vec::new();
    }
    let mut items = Vec::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        match item(line) {
            Some(item) if item.is_empty() => {}
            Some(item) => items.push(item),
            None => break,
        }
    }
    items.truncate(ITEMS);
    items
}

/// Returns true for a line that says that what is left follows: "**Pending todos (9):**", "## Deferred findings".
fn is_heading_of_open_work(line: &str) -> bool {
    let line = line.trim();
    let is_set_off = line.starts_with(['#', '*']) && !line.starts_with("* ") || line.ends_with(':');
    let lower = line.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let left = words.iter().position(|word| LEFT.contains(word));
    let of = |at: usize| words.iter().skip(at + 1).take(2).any(|word| OF.contains(word));
    is_set_off && words.len() <= 8 && left.is_some_and(of)
}

/// The text of an item of a list or a row of a table; empty for a row that says nothing; `None` for other lines.
fn item(line: &str) -> Option<String> {
    if let Some(row) = line.strip_prefix('|') {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let is_told = cells.first().is_some_and(|cell| cell.chars().any(|c| c.is_ascii_digit()));
        let text = cells.iter().find(|cell| cell.split_whitespace().count() > 1);
        return Some(text.filter(|_| is_told).map_or_else(String::new, |text| shown(text)));
    }
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match number.len() < line.len() {
        true => number.strip_prefix(". ").or_else(|| number.strip_prefix(") ")),
        false => line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")),
    }?;
    // What names a command of the agent tells of a list elsewhere.
    let says_nothing =
        ["[x]", "[X]", "~~"].iter().any(|mark| rest.starts_with(mark)) || rest.contains("`/");
    Some(match says_nothing {
        true => String::new(),
        false => shown(rest.strip_prefix("[ ]").unwrap_or(rest)),
    })
}

fn shown(text: &str) -> String {
    let plain = text.replace("**", "");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match plain.char_indices().nth(LONGEST_ITEM) {
        Some((end, _)) => format!("{}…", plain[..end].trim_end()),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_open_work_are_read() {
        let table = "**Pending todos (2):**\n\n| # | Title | Age |\n|---|---|---|\n| 1 | Limit the size of uploads | 3d |\n\
                     | 2 | Rename the lock | 1d |\n\nReply with a number.\n- other";
        assert_eq!(list_of_open_work(table), ["Limit the size of uploads", "Rename the lock"]);
        let bullets =
            "Done.\n\n## Remaining work\n- [x] Parser\n- [ ] **Lexer** tests\n1. Docs\n\nBye.";
        assert_eq!(list_of_open_work(bullets), ["Lexer tests", "Docs"]);
        assert_eq!(list_of_open_work("The work is open: it was pending.\n- a b"), [""; 0]);
    }

    #[test]
    fn files_of_todos_are_told_by_their_folder() {
        assert!(is_todo_file(".planning/todos/pending/2026-02-21-limit-uploads.md"));
        assert!(!is_todo_file("src/todos/list.ts"));
        assert_eq!(stem("2026-02-21-limit-uploads.md"), "limit-uploads");
        assert_eq!(title("content: # Limit uploads").as_deref(), Some("Limit uploads"));
        assert_eq!(title("title: \"Limit uploads\"").as_deref(), Some("Limit uploads"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|\n|\u{3000}|\\| |open work:\n|- \\[x\\]|12\\. ){0,60}") {
            list_of_open_work(&text);
            text.lines().for_each(|line| { title(line); });
        }
    }
}
