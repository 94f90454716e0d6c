//! The objects of titles: what a title is about, where its own words leave that out. The agent's report, the branch and the
//! changed file name it.

use std::collections::HashMap;

use thru_core::{Observation, ObservationType};

use crate::agent_text::{foretells, is_status};
use crate::commits;
use crate::event::Event;
use crate::gate::{is_name, stands_alone, tells};
use crate::phrase;
use crate::points;
use crate::prose;
use crate::reply;
use crate::segment::Turn;
use crate::session::{Session, is_committed};
use crate::subject;
use crate::text::{self, TITLE, uncapitalised};

/// Shortest and longest name from code in a title, in characters.
const NAME: std::ops::RangeInclusive<usize> = 3..=32;

/// Longest name of a branch in a title, in characters.
const BRANCH: usize = 40;

/// Fewest words that a title shares with the part of the report that tells of the same.
const SHARED: usize = 2;

/// Least length of a word that is the same in another form, in characters.
const STEM: usize = 5;

/// Completes the titles of observations that do not name what they are about.
pub(crate) fn complete(session: &Session<'_>, observations: &mut [Observation]) {
    let turns: HashMap<u32, &Turn> = session.turns.iter().map(|turn| (turn.number, turn)).collect();
    let mut works: HashMap<u32, usize> = HashMap::new();
    for one in observations.iter().filter(|one| is_work(one)) {
        *works.entry(one.turn).or_default() += 1;
    }
    for one in observations.iter_mut().filter(|one| !one.title.is_empty()) {
        let Some(turn) = turns.get(&one.turn) else { continue };
        if let Some(title) = topic(session, turn).and_then(|topic| with_topic(&one.title, &topic)) {
            one.title = title;
        }
        let told = with_file(&one.title, &one.files_modified, is_committed(one))
            .or_else(|| is_work(one).then(|| in_words(session, turn, &one.title)).flatten());
        if let Some(title) = told {
            one.title = title;
        }
        // The report of several pieces of work lists them all.
        if is_work(one)
            && works.get(&one.turn) == Some(&1)
            && let Some((_, written)) = session.closing(turn.range.clone())
            && let Some(title) = points::named(&one.title, &written.points)
                .or_else(|| with_saying(one, &written.report))
        {
            one.title = title;
        }
    }
}

/// Returns the topic for which the branch of a turn was named.
pub(crate) fn topic(session: &Session<'_>, turn: &Turn) -> Option<String> {
    branch(session, turn).and_then(topic_of)
}

/// Returns the branch that a turn committed to, or that the session stayed on.
fn branch<'s>(session: &'s Session<'_>, turn: &Turn) -> Option<&'s str> {
    let runs = session.events.get(turn.range.clone())?.iter().filter_map(Event::run);
    let mut commits = runs.flat_map(|run| &run.commits);
    commits.find_map(|commit| commit.branch.as_deref()).or(session.branch)
}

/// Returns true for work that is told by its own title.
fn is_work(one: &Observation) -> bool {
    let told = ["Open pull request", "Merge pull request", "Tried"];
    !matches!(one.kind, ObservationType::Decision | ObservationType::Discovery)
        && !told.iter().any(|start| one.title.starts_with(start))
}

/// Returns the words of a branch that was named for its topic: "fix/12-late-frost" becomes "12 late frost".
fn topic_of(branch: &str) -> Option<String> {
    const KINDS: [&str; 10] =
        ["feat", "feature", "fix", "bugfix", "hotfix", "chore", "docs", "refactor", "perf", "test"];
    let (kind, name) = branch.rsplit_once('/')?;
    let topic = name.replace(['-', '_'], " ");
    let is_topic = kind.split('/').any(|part| KINDS.contains(&part))
        && name.chars().count() <= BRANCH
        && topic.split(' ').filter(|word| tells(word)).count() >= 2;
    is_topic.then_some(topic)
}

/// Returns a title that points at "this phase" or has only its number, with the topic of the branch.
fn with_topic(title: &str, topic: &str) -> Option<String> {
    const POINTING: [&str; 5] = ["phase", "feature", "branch", "milestone", "ticket"];
    let pointed = POINTING.iter().find_map(|thing| {
        let (before, after) = title.split_once(&format!("this {thing}"))?;
        let is_whole = !after.starts_with(char::is_alphanumeric);
        // "Phase 7" says which, and leaves more room.
        let number = topic.strip_prefix(thing).and_then(|rest| rest.trim_start().split(' ').next());
        let number =
            number.filter(|one| !one.is_empty() && one.bytes().all(|byte| byte.is_ascii_digit()));
        let named =
            number.map_or_else(|| format!("“{topic}”"), |number| format!("{thing} {number}"));
        is_whole.then(|| format!("{before}{named}{after}"))
    });
    let numbered = || {
        let (before, number) = title.strip_suffix(')')?.rsplit_once(" (")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_same = topic.split(' ').any(|word| word == number);
        (is_number && is_same).then(|| format!("{before} ({topic})"))
    };
    pointed.or_else(numbered).filter(|title| title.chars().count() <= TITLE)
}

/// Returns a title that names nothing from code with what the report of its turn, or the prompt, says about the same: the
/// statement where the title names nothing at all and there is room, else the name in it.
fn in_words(session: &Session<'_>, turn: &Turn, title: &str) -> Option<String> {
    if names_code(title) {
        return None;
    }
    let report = session.closing(turn.range.clone()).map_or("", |(_, said)| said.report.as_str());
    let request = session.events.get(turn.range.start).and_then(Event::request);
    let asked = request.and_then(|request| request.text.as_deref()).unwrap_or_default();
    let bare = title.split(" (").next().unwrap_or(title);
    let reported = about(bare, report);
    let names: Vec<String> = reported.iter().copied().flat_map(names_in).collect();
    if names.iter().any(|name| title.contains(name)) {
        return None;
    }
    let found = match !title.contains(": ") && !bare.split(' ').skip(1).any(is_name) {
        true => {
            let room = TITLE.saturating_sub(title.chars().count() + 2);
            if let Some(detail) = reported.iter().find_map(|point| detail(point, room)) {
                return Some(format!("{title}: {}", uncapitalised(&detail)));
            }
            names.into_iter().next()
        }
        // Of a title that names something, what the person named, too.
        false => names.into_iter().find(|name| asked.contains(name.as_str())),
    };
    found
        .or_else(|| about(bare, asked).into_iter().flat_map(names_in).next())
        .and_then(|name| beside(title, &name))
}

/// Returns a loose title with what its files say or do now, as the report tells it: "Clarify the retries: the guide now names
/// three", "Harden the relay: relay.rs waits for the valve".
fn with_saying(one: &Observation, report: &str) -> Option<String> {
    const DOCUMENTS: [&str; 4] = [".md", ".mdx", ".rst", ".txt"];
    let bare = one.title.split(" (").next().unwrap_or(&one.title);
    if !subject::is_loose(bare) {
        return None;
    }
    let is_document = |file: &String| DOCUMENTS.iter().any(|end| file.ends_with(end));
    let has_documents = one.files_modified.iter().all(is_document);
    let room = TITLE.checked_sub(bare.chars().count() + 2)?;
    let points = prose::sentences(report).flat_map(|sentence| sentence.split("; "));
    let told = points.filter_map(|point| match has_documents {
        true => saying(point).map(str::to_owned),
        false => doing(point, &one.files_modified),
    });
    let detail = |said: String| {
        let told = reply::titled_in(&said, room);
        let tells = told.split(' ').count() >= 4 && reply::is_specific(&said);
        (tells && !told.ends_with('…') && stands_alone(&told)).then_some(told)
    };
    let said = told.into_iter().find_map(detail)?;
    Some(format!("{bare}: {}", uncapitalised(&said)))
}

/// Returns "relay.rs waits for the valve" for the point "relay.rs: waits for the valve" about one of these files.
fn doing(point: &str, files: &[String]) -> Option<String> {
    let (at, name) = point.match_indices(": ").find_map(|(at, _)| {
        let name = point[..at].rsplit(' ').next().unwrap_or_default();
        files.iter().any(|file| text::shown_name(file) == name).then_some((at, name))
    })?;
    let deed = point[at + 2..].trim_end_matches(['.', ';', ' ']);
    let verb = deed.split(' ').next().unwrap_or_default();
    let is_verb =
        verb.len() > 3 && verb.ends_with('s') && verb.chars().all(|c| c.is_ascii_lowercase());
    (is_verb && !["this", "does", "plus"].contains(&verb)).then(|| format!("{name} {deed}"))
}

/// Returns what a statement says that a document says: "The guide now names three", and the rest of "The note says that …".
fn saying(point: &str) -> Option<&str> {
    const DOCUMENTS: [&str; 8] =
        ["comment", "doc", "guide", "note", "page", "paragraph", "section", "text"];
    let point = point.split_once(": ").map_or(point, |(lead, said)| {
        // "The change: a" is told without its lead, but not the value of a setting.
        if lead.contains(" now ") || lead.contains('`') { point } else { said }
    });
    let point = point.trim_end_matches(['.', ';', ' ']);
    if let Some((before, said)) = point.split_once(" says ") {
        let noun = before.rsplit(' ').next().unwrap_or_default();
        let noun = if noun == "now" { before.rsplit(' ').nth(1)? } else { noun };
        return DOCUMENTS.contains(&noun).then(|| said.strip_prefix("that ").unwrap_or(said));
    }
    let (subject, _) = point.split_once(" now ")?;
    let first = subject.split(' ').next().unwrap_or_default().to_lowercase();
    let is_thing =
        !["i", "we", "you", "it", "this", "that", "they", "all"].contains(&first.as_str());
    (is_thing && subject.split(' ').count() <= 4).then_some(point)
}

/// Returns the statements of a text that are about the same as a title, the nearest first.
fn about<'t>(title: &str, text: &'t str) -> Vec<&'t str> {
    let wanted = reply::significant(title);
    let mut points: Vec<(usize, &str)> = prose::sentences(text)
        .flat_map(|sentence| sentence.split("; "))
        .filter(|point| states(point))
        .map(|point| (shared(&wanted, &reply::significant(point)), point))
        .filter(|(shared, _)| *shared >= SHARED && *shared * 2 >= wanted.len())
        .collect();
    points.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    points.into_iter().map(|(_, point)| point).collect()
}

/// Returns true for a statement about the work as it is now.
fn states(point: &str) -> bool {
    const LEFT: [&str; 7] = ["no ", "not ", "left ", "i left", "still ", "remaining", "verified"];
    let lower: String = point.chars().take(12).collect::<String>().to_lowercase();
    !LEFT.iter().any(|left| lower.starts_with(left))
        && !point.ends_with(['?', ':', '…'])
        && !foretells(point)
        && !is_status(point)
}

/// Returns the number of words that are among others, in any form.
fn shared(words: &[String], others: &[String]) -> usize {
    let is_same = |a: &str, b: &str| {
        a == b || a.len().min(b.len()) >= STEM && (a.starts_with(b) || b.starts_with(a))
    };
    words.iter().filter(|word| others.iter().any(|other| is_same(word, other))).count()
}

/// Returns a statement that names something from code, as the detail of a title with so much room. It is cut only where a
/// thought ends: half a list would say something else.
fn detail(point: &str, room: usize) -> Option<String> {
    const JOINTS: [&str; 9] =
        [", so ", ", which ", " so that ", " because ", " — ", " – ", " - ", ", including ", " ("];
    names_in(point).next()?;
    // "Changes: Moved x" is told without its heading.
    let below =
        point.split_once(": ").filter(|(head, said)| !head.contains(' ') && phrase::is_deed(said));
    let point = below.map_or(point, |(_, said)| said).trim_end_matches(['.', ';']);
    let ends = JOINTS.iter().filter_map(|joint| point.find(joint)).chain([point.len()]);
    // Verbs grow shorter in a title.
    let end = ends.filter(|end| point[..*end].chars().count() <= room).max()?;
    let (told, _) = phrase::of_action(&point[..end])?;
    let tells = told.split(' ').count() >= 4 && names_code(&told) && stands_alone(&told);
    (tells && !told.ends_with('…')).then_some(told)
}

/// Returns true if a title names something from code.
pub(crate) fn names_code(title: &str) -> bool {
    title.split_whitespace().any(is_code)
}

fn is_code(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '@'));
    let mut pairs = word.chars().zip(word.chars().skip(1));
    word.contains(['_', '/', '`', '='])
        || word.contains('.') && word.contains(char::is_alphabetic)
        || word.starts_with(char::is_lowercase)
            && pairs.any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

/// Returns the names from code in a statement.
fn names_in(point: &str) -> impl Iterator<Item = String> + '_ {
    let quoted = point.split('`').skip(1).step_by(2);
    let plain = point.split('`').step_by(2).flat_map(str::split_whitespace);
    quoted.chain(plain.filter(|word| is_code(word))).filter_map(shown)
}

/// Returns a name from code as a title shows it, if it is one.
fn shown(name: &str) -> Option<String> {
    const VALUES: [&str; 6] = ["true", "false", "null", "none", "undefined", "main"];
    let name =
        name.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '@' | '.'));
    let name = name.trim_end_matches(['.', '/']).trim_end_matches("()");
    let is_file = name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    let name = if is_file { file(name) } else { name.to_owned() };
    let is_version =
        || name.split('.').skip(1).any(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_name = NAME.contains(&name.chars().count())
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_' || is_file && c == '.')
        && !name.contains([' ', ':', '=', '<', '$', '*', '(', ','])
        // Branches, packages and folders are no names of what was done.
        && (is_file || !name.contains('/'))
        && !name.contains("REDACTED")
        && !VALUES.contains(&name.to_lowercase().as_str())
        && !is_version()
        && !commits::is_hash(&name);
    is_name.then_some(name)
}

/// Returns the name of a file, with its folder where many folders have one of this name.
fn file(path: &str) -> String {
    const COMMON: [&str; 14] = [
        "__init__", "app", "build", "cargo", "config", "index", "init", "lib", "main", "mod",
        "package", "page", "settings", "types",
    ];
    let name = text::shown_name(path);
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let folder = path.rsplit(['/', '\\']).nth(1);
    let tells = |folder: &&str| folder.len() > 2 && !["src", "lib", "app"].contains(folder);
    match folder.filter(|_| COMMON.contains(&stem.as_str())).filter(tells) {
        Some(folder) => text::one_line(&format!("{folder}/{name}"), TITLE),
        None => name,
    }
}

/// Returns a title with a name behind it: "Read dates (zones)" becomes "Read dates (zones, parser.rs)".
fn beside(title: &str, name: &str) -> Option<String> {
    let is_scope = |scope: &str| scope.split(", ").all(|name| !name.contains(' '));
    let placed = match title.strip_suffix(')') {
        Some(scoped) if scoped.rsplit('(').next().is_some_and(is_scope) => {
            format!("{scoped}, {name})")
        }
        _ => format!("{title} ({name})"),
    };
    (placed.chars().count() <= TITLE).then_some(placed)
}

/// Returns a title with the one file that its work changed: "Read dates with zones (parser.rs)". The edits beside a commit
/// may not be what it holds: documents tell nothing of it.
fn with_file(title: &str, files: &[String], is_committed: bool) -> Option<String> {
    let is_aside = |file: &&String| {
        let name = text::shown_name(file).to_lowercase();
        [".md", ".txt", ".lock"].iter().any(|end| name.ends_with(end))
            || ["test", "spec"].iter().any(|part| name.contains(part))
    };
    let mut work = files.iter().filter(|file| !is_aside(file));
    let changed = match (work.next(), work.next(), files) {
        (Some(changed), None, _) => changed,
        (None, _, [changed]) if !is_committed => changed,
        _ => return None,
    };
    let name = file(changed);
    let stem = text::shown_name(changed);
    let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_lowercase();
    let is_named =
        title.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == stem);
    // Paths of temporary folders may be redacted.
    let is_told = is_named || name.chars().count() > *NAME.end() || name.contains("REDACTED");
    if is_told { None } else { beside(title, &name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_values_and_places() {
        let names = |point: &str| names_in(point).collect::<Vec<_>>();
        for (point, told) in [
            (
                "`retry_limit` is read from src/kiln/settings.toml",
                &["retry_limit", "kiln/settings.toml"][..],
            ),
            ("maxHeat() takes the place of `--max 3`", &["maxHeat"]),
            ("`src/config.rs` and `fire.rs:12`", &["config.rs"]),
            ("GitHub and v1.2.0 of `true` at 1a2b3c4d on `feat/kiln`, https://kiln.example/a", &[]),
        ] {
            assert_eq!(names(point), told, "{point}");
        }
    }

    #[test]
    fn branches_name_a_topic_or_not() {
        for (branch, topic) in [
            ("feat/phase-14-glaze-library", Some("phase 14 glaze library")),
            ("ada/fix/late_frost", Some("late frost")),
            ("main", None),
            ("fix/ci", None),
            ("claude/happy-otter", None),
        ] {
            assert_eq!(topic_of(branch).as_deref(), topic, "{branch}");
        }
        let told = |title: &str| with_topic(title, "phase 14 glaze library").unwrap_or_default();
        assert_eq!(told("Does this phase fire twice? → No"), "Does phase 14 fire twice? → No");
        assert_eq!(told("Fire twice in this feature"), "Fire twice in “phase 14 glaze library”");
        assert_eq!(told("Plan the work (14)"), "Plan the work (phase 14 glaze library)");
        assert_eq!((told("Plan the work (15)"), told("Fire this phases")), Default::default());
    }

    #[test]
    fn a_title_is_told_with_the_one_file_that_its_work_changed() {
        let told = |title: &str, files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            with_file(title, &files, false).unwrap_or_default()
        };
        let beside = &["/p/parser.rs", "/p/tests/dates_test.rs", "/p/NOTES.md"];
        assert_eq!(told("Read dates with zones", beside), "Read dates with zones (parser.rs)");
        assert_eq!(told("Read dates (zones)", &["/p/parser.rs"]), "Read dates (zones, parser.rs)");
        assert_eq!(told("Read dates", &["/p/kiln/mod.rs"]), "Read dates (kiln/mod.rs)");
        assert_eq!(told("Let the parser read dates", &["/p/parser.rs"]), "");
        assert_eq!(told("Read dates with zones", &["/p/parser.rs", "/p/zone.rs"]), "");
    }
}
