//! A session by its turns.

use jiff::tz::TimeZone;
use thru_core::Outcome;
use thru_core::plain_line;
use thru_recall::recorded;
use thru_store::MemoryBody;

use super::{LONGEST_ANSWER, day_and_time, notes, session, whole};
use crate::told::{Outline, Turn};

/// Characters shown of a prompt, …
const PROMPT: usize = 300;
/// … and of the agent's last text.
const CONCLUSION: usize = 400;
/// Most commands of a turn.
const COMMANDS: usize = 6;
/// Most files of the session.
const FILES: usize = 12;

pub(super) fn outline(told: &Outline, zone: &TimeZone) -> String {
    let mut text = format!("# {}\n", session(&told.name));
    let mut about = vec![format!(
        "{} to {}",
        day_and_time(told.started, zone),
        day_and_time(told.name.at, zone)
    )];
    about.extend(told.facts.iter().map(|fact| plain_line(fact.get(), 200)));
    text.push_str(&format!("{}\n", about.join(" · ")));
    if let Some(digest) = &told.digest
        && let MemoryBody::Summary(body) = digest.body.get()
    {
        text.push_str(&format!(
            "\n## {} summary: {} ({})\n",
            digest.id,
            recorded(&body.title, 120),
            body.digest.outcome.as_str()
        ));
        whole::summary(&mut text, digest.body.get());
    }
    let turns: Vec<String> = told.turns.iter().map(turn).collect();
    text.push('\n');
    // If not all of it fits, the beginning and the end tell most.
    let mut room = LONGEST_ANSWER.saturating_sub(text.len());
    let mut shown = vec![false; turns.len()];
    for place in from_both_ends(turns.len()) {
        if turns[place].len() > room {
            break;
        }
        room -= turns[place].len();
        shown[place] = true;
    }
    let mut left_out = 0;
    for (turn, is_shown) in turns.iter().zip(shown) {
        if is_shown {
            if left_out > 0 {
                text.push_str(&format!("… {left_out} turns left out\n\n"));
                left_out = 0;
            }
            text.push_str(turn);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        text.push_str(&format!("… {left_out} turns left out\n\n"));
    }
    if !told.files.is_empty() {
        let shown = told.files.iter().take(FILES);
        let shown =
            shown.map(|(path, times)| format!("{} (×{times})", plain_line(path.get(), 200)));
        let more = told.files.len().saturating_sub(FILES);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("Changed: {}{rest}\n", shown.collect::<Vec<_>>().join(", ")));
    }
    text.push_str("get_observations(ids=[…]) returns a prompt or an answer in full.\n");
    notes(&mut text, &told.notes);
    text
}

/// Yields the first, the last, the second, the last but one …
fn from_both_ends(number: usize) -> impl Iterator<Item = usize> {
    (0..number).map(move |step| if step % 2 == 0 { step / 2 } else { number - 1 - step / 2 })
}

fn turn(turn: &Turn) -> String {
    let mut text = match &turn.prompt {
        Some((id, said)) => {
            format!("{}. {id} prompt: {}\n", turn.number, recorded(said.get(), PROMPT))
        }
        None => format!("{}. (no prompt)\n", turn.number),
    };
    for command in turn.commands.iter().take(COMMANDS) {
        let mark = match command.outcome {
            Some(Outcome::Failed) => "failed",
            Some(Outcome::Pending) => "no result",
            _ => "ok",
        };
        let runs = if command.runs > 1 { format!(" (×{})", command.runs) } else { String::new() };
        text.push_str(&format!("   $ {}{runs}: {mark}\n", plain_line(command.line.get(), 160)));
    }
    let more = turn.commands.len().saturating_sub(COMMANDS);
    if more > 0 {
        text.push_str(&format!("   and {more} more commands; {} tool calls in all\n", turn.calls));
    }
    if let Some((id, said)) = &turn.conclusion {
        text.push_str(&format!("   {id} answer: {}\n", recorded(said.get(), CONCLUSION)));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_come_first() {
        assert_eq!(from_both_ends(5).collect::<Vec<_>>(), [0, 4, 1, 3, 2]);
        assert_eq!(from_both_ends(0).count(), 0);
    }
}
