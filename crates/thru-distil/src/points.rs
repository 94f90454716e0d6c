//! The points of a report: what the items of its list begin with. They say what a title only counts: "the dropped sections".

use crate::cue::{self, Role};
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::remaining;
use crate::text::{self, uncapitalised, unmarked};
use crate::title;

/// Bytes of a report in which its list is looked for.
const LOOKED_AT: usize = 2 * 1024;

/// Fewest and most points of a list that is kept.
const LEAST: usize = 2;
const MOST: usize = 12;

/// Longest point, in characters.
const LONGEST: usize = 48;

/// Nouns that stand for a list, in lower case.
#[rustfmt::skip]
const LISTED: [&str; 41] = [
    "aspects", "bugs", "changes", "checks", "comments", "concerns", "conventions", "corrections", "defects", "details",
    "enhancements", "errors", "examples", "failures", "feedback", "findings", "fixes", "followups", "gaps", "guidelines",
    "improvements", "insights", "issues", "items", "learnings", "lessons", "notes", "parts", "points", "problems",
    "refinements", "references", "sections", "suggestions", "takeaways", "tweaks", "updates", "variants", "warnings",
    "weaknesses", "edge-cases",
];

/// Words that end the name of what is listed, in lower case.
#[rustfmt::skip]
const JOINTS: [&str; 14] = [
    "across", "after", "and", "as", "before", "by", "during", "for", "from", "in", "of", "on", "to", "with",
];

/// Returns the points of the first list of a report whose items all begin with one. A list of files, and one of what is
/// still to be done or was checked, has none.
pub(crate) fn of_text(text: &str) -> Vec<String> {
    let text = text::ends(text, LOOKED_AT, 0);
    let mut points: Vec<String> = Vec::new();
    let (mut is_aside, mut is_other) = (false, false);
    for line in prose::lines(&text) {
        match line.kind {
            LineKind::Blank => {}
            LineKind::Item => match point(line.text) {
                Some(point) => points.push(point),
                None => is_other = true,
            },
            LineKind::Heading | LineKind::Text => {
                if is_list(&points, is_aside || is_other) {
                    return points;
                }
                points.clear();
                is_other = false;
                let lead = unmarked(line.text);
                is_aside = cue::role(lead.trim_end_matches([':', ' '])) == Role::Aside
                    || remaining::opens(line.text);
            }
        }
        if points.len() > MOST {
            return Vec::new();
        }
    }
    if is_list(&points, is_aside || is_other) { points } else { Vec::new() }
}

fn is_list(points: &[String], is_aside: bool) -> bool {
    points.len() >= LEAST && !is_aside
}

/// Returns what an item begins with: bold, or a name of code, before a dash, a colon, a bracket or nothing.
fn point(item: &str) -> Option<String> {
    let (name, rest, is_code) = match (item.strip_prefix("**"), item.strip_prefix('`')) {
        (Some(bold), _) => {
            let (name, rest) = bold.split_once("**")?;
            (name, rest, name.starts_with('`'))
        }
        (None, Some(code)) => {
            let (name, rest) = code.split_once('`')?;
            (name, rest, true)
        }
        (None, None) => return None,
    };
    let rest = rest.trim_start();
    let is_lead =
        rest.is_empty() || name.ends_with(':') || rest.starts_with([':', '-', '–', '—', '(']);
    let name = text::plain(name);
    let name = name.trim_end_matches([':', '.', ' ']);
    let is_point = (3..=LONGEST).contains(&name.chars().count())
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !is_file(name)
        && (is_code || !title::is_label(name) && !phrase::is_deed(name));
    (is_lead && is_point).then(|| name.to_owned())
}

fn is_file(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    let has_end = name.contains('.')
        && !name.starts_with('.')
        && (1..=5).contains(&end.len())
        && end.chars().all(char::is_alphanumeric);
    name.contains(['/', '\\']) || has_end && !name.contains(' ')
}

/// Returns a title that only counts what was done, with the points of its report.
pub(crate) fn named(title: &str, points: &[String]) -> Option<String> {
    if points.is_empty() || title.contains(": ") || !lists(title) {
        return None;
    }
    let mut told = format!("{title}:");
    let mut count = 0;
    for point in points {
        // A name of several words keeps its capitals.
        let is_name = point.split(' ').skip(1).any(|word| word.starts_with(char::is_uppercase));
        let point = if is_name { point.clone() } else { uncapitalised(point) };
        let joint = if count == 0 { " " } else { ", " };
        let left = points.len() - count - 1;
        let room = title::LENGTH - if left == 0 { 0 } else { " and 10 more".len() };
        if told.chars().count() + joint.len() + point.chars().count() > room {
            break;
        }
        told = told + joint + &point;
        count += 1;
    }
    if count < points.len() {
        told = format!("{told} and {} more", points.len() - count);
    }
    (count > 0).then_some(told)
}

/// Returns true if the object of a title is a noun that stands for a list: "Restore dropped sections (guide)".
fn lists(title: &str) -> bool {
    let object = title.split(" (").next().unwrap_or(title).to_lowercase();
    let words = object.split(' ').skip(1);
    let words = words.take_while(|word| !JOINTS.contains(word));
    words.last().is_some_and(|noun| LISTED.contains(&noun.trim_end_matches(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Restored all that the merge had dropped:\n\
        - **Firing order** — cones, then glazes\n\
        - **Kiln naming**: one name per shed\n\
        - **Relay wiring**";

    #[test]
    fn what_a_title_counts_is_named_by_the_list_of_its_report() {
        let points = of_text(REPORT);
        assert_eq!(
            named("Restore dropped sections (guide)", &points).as_deref(),
            Some("Restore dropped sections (guide): firing order, kiln naming, relay wiring")
        );
        let many: Vec<String> = (1..9).map(|n| format!("the relay of kiln {n}")).collect();
        assert_eq!(
            named("Fix wiring issues after the move", &many).as_deref(),
            Some(
                "Fix wiring issues after the move: the relay of kiln 1, the relay of kiln 2 and 6 more"
            )
        );
    }

    #[test]
    fn a_title_that_names_its_object_stays() {
        let points = of_text(REPORT);
        for title in ["Add a relay for the damper", "Fix issues: the relay", "Sections"] {
            assert_eq!(named(title, &points), None, "{title}");
        }
    }

    #[test]
    fn lists_of_files_steps_and_checks_have_no_points() {
        for text in [
            "Done:\n- **src/kiln.rs** — the ramp\n- **src/cone.rs** — the cone",
            "Next steps:\n- **Wire the relay** — soon\n- **Fire the kiln** — later",
            "Done:\n1. **Found the cause** - a relay\n2. **Moved the relay** - to the shed",
            "Done:\n- **Firing order** — cones\n- The relay is polled by the damper.",
            "Done:\n- **Firing order** — cones",
        ] {
            assert_eq!(of_text(text), Vec::<String>::new(), "{text}");
        }
    }
}
