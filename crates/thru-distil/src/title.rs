//! Titles: one line that says what happened, like a good commit subject.

use thru_core::defused;

use crate::text::{self, TITLE, capitalised, plain};
use crate::verbs;

/// Longest title, in characters.
pub(crate) const LENGTH: usize = TITLE;

/// Turns any line into a title: clean, capitalised, at most [`TITLE`] characters, cut at a sensible
/// place.
pub(crate) fn shaped(line: &str) -> String {
    // Trimming may bring a bracket to the end, so tags are looked for last.
    defused(&cut_to_fit(line)).into_owned()
}

fn cut_to_fit(line: &str) -> String {
    let line = plain(line);
    let line = text::one_line(&line, TITLE * 4);
    let line = trimmed(without_step(without_number(&line)));
    if line.chars().count() <= TITLE {
        return capitalised(line);
    }
    let bare = without_asides(line);
    let line = trimmed(&bare);
    if line.chars().count() <= TITLE {
        return capitalised(line);
    }
    if let Some(list) = list(line) {
        return capitalised(&list);
    }
    if let Some(clause) = clause(line).or_else(|| phrase_end(line)) {
        return capitalised(clause);
    }
    capitalised(&text::cut(line, TITLE))
}

/// Turns "2. Do x" into "Do x".
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
    rest.filter(|_| (1..=2).contains(&digits)).unwrap_or(line)
}

/// Turns "Step 2: Do x" into "Do x".
fn without_step(line: &str) -> &str {
    let Some((label, rest)) = line.split_once(": ") else { return line };
    let mut words = label.split_whitespace();
    let is_step = matches!(words.next(), Some("Step" | "Phase" | "Part" | "Task"))
        && words.next().is_some_and(|number| number.len() <= 3)
        && words.next().is_none();
    if is_step { rest } else { line }
}

/// Returns a long line without its brackets.
pub(crate) fn without_asides(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut depth = 0usize;
    for (at, character) in line.char_indices() {
        match character {
            '(' if depth > 0 || line[..at].ends_with(' ') => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => {
                let doubles = character == ' ' && kept.ends_with(' ');
                if !doubles {
                    kept.push(character);
                }
            }
            _ => {}
        }
    }
    match depth {
        // A blank is left where the bracket was.
        0 => kept.replace(" ,", ",").trim_end_matches(" .").replace(" . ", ". "),
        _ => line.to_owned(),
    }
}

/// Returns a title without "(if possible)", "(or remove it)" and the like, and without a bracket that is never closed.
pub(crate) fn without_doubts(title: &str) -> String {
    const DOUBTS: [&str; 6] =
        [" (if ", " (or ", " (maybe", " (perhaps", " (optional", " (where possible"];
    let doubt = DOUBTS.iter().find_map(|doubt| title.find(doubt));
    let title = match doubt.and_then(|start| Some((start, start + title[start..].find(')')? + 1))) {
        Some((start, end)) => format!("{}{}", &title[..start], &title[end..]),
        None => title.to_owned(),
    };
    let is_open = title.matches('(').count() > title.matches(')').count();
    match title.rfind(" (").filter(|_| is_open) {
        Some(at) => title[..at].to_owned(),
        None => title,
    }
}

fn trimmed(line: &str) -> &str {
    // "#12" is a name.
    let is_number = line
        .trim_start()
        .strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let line = line.trim_matches(|c: char| {
        c.is_whitespace()
            || c == '#' && !is_number
            || matches!(c, '*' | '"' | '>' | '-' | '–' | '—' | '|')
    });
    let line = line.strip_suffix("...").unwrap_or(line);
    line.trim_end_matches(['.', ':', ';', ',', '!', '。', ' '])
}

/// Returns a line that ends with a list of things, whose end there is no room for: "Add x for cones, ramps and more".
fn list(line: &str) -> Option<String> {
    const MORE: &str = " and more";
    let room = line.char_indices().nth(TITLE - MORE.len())?.0;
    let end = line[..room].rfind(", ")?;
    let (told, rest) = (&line[..end], &line[end + 2..]);
    let before = told.rfind(", ")?;
    let last = rest.split(", ").last()?;
    let last = last.strip_prefix("and ").or_else(|| last.strip_prefix("or "));
    // Things, not clauses: few words, and none of them an order.
    let mut items = vec![&told[before + 2..]];
    items.extend(rest.split(", ").map(|item| item.strip_prefix("and ").unwrap_or(item)));
    let is_thing = |item: &&str| {
        let first = item.split(' ').next().unwrap_or_default();
        item.split(' ').count() <= 4
            && verbs::imperative(first).is_none()
            && !verbs::is_imperative(first)
            && !["which", "so", "but", "with", "where"].contains(&first)
    };
    let is_list = last.is_some() && items.iter().all(is_thing);
    (is_list && without_examples(told) == told && balanced(told)).then(|| format!("{told}{MORE}"))
}

/// Returns the beginning of a long line up to the end of a clause, if that is long enough to say
/// something.
fn clause(line: &str) -> Option<&str> {
    let room = line.char_indices().nth(TITLE).map_or(line.len(), |(at, _)| at);
    let start = &line[..room];
    let ends = [
        " — ",
        " – ",
        " - ",
        "; ",
        ": ",
        ". ",
        " (",
        ", which ",
        ", so ",
        ", with ",
        " so that ",
        ", and ",
        ", ",
    ];
    let least = line.char_indices().nth(36)?.0;
    const CONDITIONS: [&str; 9] =
        ["since", "if", "when", "because", "while", "as", "although", "once", "after"];
    let word = line.split(' ').next().unwrap_or_default();
    if CONDITIONS.iter().any(|condition| condition.eq_ignore_ascii_case(word)) {
        return None;
    }
    // "Remove cache: false" names a setting and its value.
    let is_setting = |at: usize| {
        let value = line[at..].strip_prefix(": ").and_then(|rest| rest.split([' ', ',']).next());
        value.is_some_and(|value| {
            ["true", "false", "null", "none"].contains(&value)
                || value.starts_with(|c: char| c.is_ascii_digit() || c == '\'' || c == '"')
        })
    };
    ends.iter()
        .take(11)
        .filter_map(|end| start.rfind(end))
        .filter(|at| *at >= least && !is_setting(*at))
        .max()
        .or_else(|| start.rfind(", ").filter(|at| *at >= least + 14))
        .map(|at| trimmed(without_examples(&line[..at])))
        .filter(|clause| balanced(clause))
}

/// Returns a clause without a list of examples that was cut: "Describe the app, including its structure".
fn without_examples(clause: &str) -> &str {
    let starts = [", including ", ", such as ", ", e.g. ", ", like "];
    starts.iter().find_map(|start| clause.split_once(start)).map_or(clause, |(whole, _)| whole)
}

/// Returns the beginning of a long line up to a phrase that it makes sense without.
fn phrase_end(line: &str) -> Option<&str> {
    const STARTS: [&str; 8] =
        [", and ", ", ", " plus ", " with ", " when ", " because ", " by ", " while "];
    let room = line.char_indices().nth(TITLE).map_or(line.len(), |(at, _)| at);
    let least = line.char_indices().nth(TITLE / 2)?.0;
    let first = line.split([' ', ',']).next().unwrap_or_default();
    let depends = ["since", "if", "when", "because", "while", "as", "although", "once", "after"];
    if depends.iter().any(|word| word.eq_ignore_ascii_case(first)) {
        return None;
    }
    let ends = STARTS.iter().filter_map(|start| line[..room].rfind(start));
    let end =
        ends.filter(|at| *at >= least).max().or_else(|| second_order(&line[..room], least))?;
    Some(trimmed(&line[..end])).filter(|clause| balanced(clause))
}

/// Returns the place of "and" before a second order: "Remove the old cache and match the shared config".
fn second_order(line: &str, least: usize) -> Option<usize> {
    let first = line.split(' ').next().unwrap_or_default();
    let joints = line.match_indices(" and ").map(|(at, _)| at).filter(|at| *at >= least);
    let is_order = |at: &usize| line[at + 5..].split(' ').next().is_some_and(verbs::is_imperative);
    joints.filter(is_order).last().filter(|_| verbs::is_imperative(first))
}

fn balanced(clause: &str) -> bool {
    clause.matches('(').count() == clause.matches(')').count()
        && clause.matches('"').count().is_multiple_of(2)
}

/// Returns true if the line is a bare label rather than a statement.
pub(crate) fn is_label(line: &str) -> bool {
    #[rustfmt::skip]
    const LABELS: [&str; 40] = [
        "summary", "changes", "changes made", "overview", "context", "next steps", "files",
        "files changed", "files modified", "modified files", "new files", "what changed",
        "what was done", "status", "details", "verification", "test plan", "tests", "notes",
        "result", "results", "problem", "solution", "goal", "background", "approach",
        "implementation", "backend", "frontend", "conclusion", "plan", "todo", "final status",
        "current status", "what i did", "key changes", "all done", "done", "complete", "success",
    ];
    let cleaned = plain(line).to_lowercase();
    let cleaned = cleaned.trim_matches(|c: char| !c.is_alphanumeric());
    LABELS.contains(&cleaned)
        || cleaned.is_ascii() && cleaned.split_whitespace().count() < 2
        || cleaned.starts_with("here's a summary")
        || cleaned.starts_with("here is a summary")
        || cleaned.starts_with("here's what")
        || cleaned.starts_with("implement the following plan")
}

/// Returns true for the label of a heading that says only that work is to be done.
pub(crate) fn is_kind(label: &str) -> bool {
    ["task", "goal", "feature", "issue", "ticket", "proposal", "feat", "fix", "bug", "spec"]
        .iter()
        .any(|kind| kind.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_end_at_a_thought_or_a_word() {
        let long = "Replace the polling loop in the watcher with inotify so that idle sessions and their folders cost nothing at all";
        assert_eq!(shaped(long), "Replace the polling loop in the watcher with inotify");
        for (line, title) in [
            (
                "Update the kiln settings to drop the burner's own relay: false override, and read the shared relay instead now",
                "Update the kiln settings to drop the burner's own relay: false override",
            ),
            (
                "Create README.md with a description of the whole kiln controller, including structure, commands, and the wiring",
                "Create README.md with a description of the whole kiln controller",
            ),
            (
                "Update the kiln settings to remove the relay of the burner and align the shape of the shared controller settings",
                "Update the kiln settings to remove the relay of the burner",
            ),
        ] {
            assert_eq!(shaped(line), title);
        }
        assert_eq!(
            shaped(
                "Add `kiln fire --from --log` for cone profiles, glaze recipes, ramp tables, relay settings, and old firing logs"
            ),
            "Add kiln fire --from --log for cone profiles, glaze recipes, ramp tables, relay settings and more"
        );
        let endless = "word ".repeat(40);
        assert!(shaped(&endless).ends_with("word…") && shaped(&endless).chars().count() <= TITLE);
    }

    #[test]
    fn asides_of_doubt_and_open_brackets_go() {
        for (title, told) in [
            ("Share one key (if possible) between kilns", "Share one key between kilns"),
            ("Enable the log (or remove the switch)", "Enable the log"),
            ("Share one key (kiln 2 / kiln 3", "Share one key"),
            ("Read dates (zones)", "Read dates (zones)"),
        ] {
            assert_eq!(without_doubts(title), told);
        }
    }
}
