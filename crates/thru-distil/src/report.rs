//! The report of a turn: the agent's closing text, cleaned and shortened, with its lists and tables.

use thru_core::defused;

use crate::agent_text::is_status;
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply;
use crate::text::{self, one_line, unmarked};
use crate::title;

/// Longest report, in characters.
const LONGEST: usize = 600;

/// Length from which a report may end before it is full, in characters.
const ENOUGH: usize = 400;

/// Bytes of a text that are looked at: a report is made of its beginning.
const LOOKED_AT: usize = 6 * 1024;

/// Longest block of code that is kept, in bytes, and lines from which on it is a listing rather than commands.
const CODE: usize = 200;
const LISTING: usize = 4;
/// Words from which on what leads up to a block says something without it.
const LEAD: usize = 4;

/// Returns the report that a text makes: one line that ends where a sentence or an item ends. Empty if the text
/// says nothing.
pub(crate) fn of_text(text: &str) -> String {
    let text = text::ends(text, LOOKED_AT, 0);
    let mut report = Report::default();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            match code.take() {
                Some(lines) => report.code(&lines),
                None => code = Some(Vec::new()),
            }
            continue;
        }
        match &mut code {
            Some(lines) => lines.push(trimmed),
            None if trimmed.starts_with('|') => report.row(trimmed),
            None => report.line(trimmed),
        }
        if report.is_full {
            break;
        }
    }
    report.text
}

/// Returns true if a text begins with a plan of its author: "I'll look into the logs".
pub(crate) fn announces(text: &str) -> bool {
    #[rustfmt::skip]
    const PLANS: [&str; 16] = [
        "i'll ", "i will ", "i'm ", "i am ", "i need ", "let me ", "let's ", "next, ", "next i", "now i", "going to ",
        "starting ", "i want to ", "first, i", "we'll ", "proceeding ",
    ];
    let start: String = text.chars().take(16).collect::<String>().replace('’', "'").to_lowercase();
    PLANS.iter().any(|plan| start.starts_with(plan))
}

/// Returns true for a text about what came in while the agent worked: "That's the earlier test run, already handled".
pub(crate) fn answers_notice(text: &str) -> bool {
    const STARTS: [&str; 4] = ["that's the ", "that was the ", "this is the ", "that is the "];
    let start: String = text.chars().take(14).collect::<String>().replace('’', "'").to_lowercase();
    STARTS.iter().any(|notice| start.starts_with(notice))
}

/// Returns a sentence without "Now let me" and the like at its beginning.
pub(crate) fn without_announcement(sentence: &str) -> &str {
    const LEADS: [&str; 6] = ["let me ", "i'll ", "i’ll ", "i need to ", "i will ", "let's "];
    let starts = LEADS.iter().filter_map(|lead| {
        Some(text::find_ignoring_case(sentence, lead).filter(|at| *at < 12)? + lead.len())
    });
    starts.min().map_or(sentence, |start| &sentence[start..])
}

/// Returns the beginning of a report: the sentences that fit into `limit` bytes, at least one.
pub(crate) fn short(report: &str, limit: usize) -> &str {
    let mut end = 0;
    for (at, sentence) in prose::sentences_at(report) {
        if end > 0 && at + sentence.len() > limit {
            break;
        }
        end = at + sentence.len();
    }
    &report[..end]
}

/// Returns a report without the sentences that claim success of checks.
pub(crate) fn without_claims(report: &str) -> String {
    let honest: Vec<&str> = prose::sentences(report).filter(|one| !is_status(one)).collect();
    honest.join(" ")
}

/// Returns a report without the sentences all of whose words were said before.
pub(crate) fn without_known(report: &str, known: &str) -> String {
    let known = reply::significant(known);
    let is_new = |sentence: &&str| {
        let words = reply::significant(sentence);
        words.is_empty() || words.iter().any(|word| !known.contains(word))
    };
    prose::sentences(report).filter(is_new).collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Report {
    text: String,
    length: usize,
    /// A heading that nothing followed yet.
    heading: Option<String>,
    is_full: bool,
}

impl Report {
    fn line(&mut self, line: &str) {
        // Other marks than those of prose: a quotation is as good as a sentence here.
        let Some(line) = prose::lines(line.trim_start_matches(['>', ' '])).next() else { return };
        match line.kind {
            LineKind::Blank => {}
            LineKind::Heading => {
                let heading = unmarked(line.text);
                let heading = heading.trim_end_matches(':');
                self.heading = (!title::is_label(heading)).then(|| heading.to_owned());
            }
            LineKind::Item => self.add(&closed(&unmarked(line.text), ';')),
            LineKind::Text => {
                for sentence in prose::sentences(line.text) {
                    let sentence = unmarked(phrase::without_openers(sentence));
                    if is_filler(&sentence) {
                        continue;
                    }
                    // What leads up to a list or to the next call is worth as much as what follows it here.
                    match sentence.strip_suffix(':') {
                        Some(lead) => self.heading = (!announces(lead)).then(|| lead.to_owned()),
                        None => self.add(&closed(&sentence, '.')),
                    }
                }
            }
        }
    }

    /// Adds the cells of a row of a table.
    fn row(&mut self, row: &str) {
        let cells: Vec<String> = row
            .trim_matches('|')
            .split('|')
            .map(|cell| unmarked(cell.trim()))
            .filter(|cell| cell.contains(char::is_alphanumeric))
            .collect();
        match cells.as_slice() {
            [] => {}
            [first, rest @ ..] if !rest.is_empty() => {
                self.add(&closed(&format!("{first}: {}", rest.join(", ")), ';'));
            }
            [only, ..] => self.add(&closed(only, ';')),
        }
    }

    /// Adds a short block of code; of a long one, what leads up to it.
    fn code(&mut self, lines: &[&str]) {
        let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.is_empty()).collect();
        let code = lines.join(if lines.len() < LISTING { "; " } else { " " });
        if code.is_empty() {
            return;
        }
        let leads = |heading: &String| heading.split_whitespace().count() >= LEAD;
        if code.len() <= CODE {
            self.add(&format!("`{code}`;"));
        } else if self.heading.as_ref().is_some_and(leads) {
            self.add("…");
        } else {
            self.heading = None;
        }
    }

    /// Adds a sentence or an item; the one that does not fit any more is cut, or left out where enough was said.
    fn add(&mut self, said: &str) {
        let heading = self.heading.take().map(|heading| format!("{heading}: "));
        let said = one_line(&format!("{}{said}", heading.unwrap_or_default()), LONGEST);
        if said.is_empty() || self.is_full {
            return;
        }
        let length = said.chars().count() + usize::from(!self.text.is_empty());
        if self.length + length > LONGEST {
            self.is_full = true;
            if self.length >= ENOUGH {
                return;
            }
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let said = text::cut(&said, (LONGEST - self.length).saturating_sub(2));
        self.text.push_str(&defused(&said));
        self.length += length;
    }
}

/// Returns a sentence or an item with a mark at its end.
fn closed(said: &str, mark: char) -> String {
    match said.ends_with(['.', '!', '?', ':', ';', ',', '…', '。', '！', '？']) || said.is_empty()
    {
        true => said.to_owned(),
        false => format!("{said}{mark}"),
    }
}

/// Returns true for "Done!" and "Let me know if you have questions": words that fit any work.
fn is_filler(sentence: &str) -> bool {
    const EMPTY: [&str; 12] = [
        "let me know",
        "feel free",
        "would you like me to",
        "want me to",
        "shall i ",
        "should i proceed",
        "all done",
        "here's a summary",
        "here is a summary",
        "here's what",
        "here is what",
        "hope this helps",
    ];
    let lower: String = sentence.chars().take(40).collect::<String>().to_lowercase();
    !sentence.contains(char::is_alphanumeric)
        || EMPTY.iter().any(|empty| lower.starts_with(empty))
        || sentence.split_whitespace().count() <= 2 && sentence.ends_with(['!', '.'])
        || is_success(&lower)
}

/// Returns true for "All 12 tests pass, lint is clean": true of most work.
fn is_success(lower: &str) -> bool {
    lower.len() < 40
        && (lower.starts_with("all ") || lower.contains("tests") || lower.contains("build"))
        && is_status(lower)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_tables_and_commands_are_kept() {
        let text = "Perfect! All done. The **kiln** fires in two stages now.\n\n## Changes\n- `glaze.rs`: the ramp is read from the profile\n- Cones above 10 are refused\n\n| stage | hours |\n|---|---|\n| bisque | 8 |\n\n```sh\nkiln fire --profile stoneware\n```\n\nLet me know if you want more.";
        assert_eq!(
            of_text(text),
            "The kiln fires in two stages now. `glaze.rs`: the ramp is read from the profile; Cones above 10 are refused; stage: hours; bisque: 8; `kiln fire --profile stoneware`;"
        );
        assert_eq!(of_text("Done!"), "");
    }

    #[test]
    fn no_sentence_leads_up_to_a_block_that_is_left_out() {
        let told = |code: &str| {
            of_text(&format!(
                "The profile is safe to share now:\n\n```json\n{code}\n```\n\nKilns read it at their start."
            ))
        };
        assert_eq!(
            told("{\n  \"cone\": 6,\n  \"ramp\": {\n    \"slow\": true\n  }\n}"),
            "The profile is safe to share now: `{ \"cone\": 6, \"ramp\": { \"slow\": true } }`; Kilns read it at their start."
        );
        assert_eq!(
            told(&"\"cone\": 6,\n".repeat(30)),
            "The profile is safe to share now: … Kilns read it at their start."
        );
    }

    #[test]
    fn a_report_ends_with_a_sentence() {
        let text = "The damper closes a second too early because its relay is polled. ".repeat(20);
        let report = of_text(&text);
        assert!(report.ends_with("is polled."), "{report}");
        assert!((ENOUGH..=LONGEST).contains(&report.chars().count()));
        let endless = "word ".repeat(1000);
        assert!(of_text(&endless).ends_with("word…"));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_short_line(text in "(?s).{0,900}") {
            let report = of_text(&text);
            prop_assert!(report.chars().count() <= LONGEST && !report.contains('\n'));
        }
    }
}
