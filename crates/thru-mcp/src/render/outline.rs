//! A session by its turns.

use thru_app::ask::memory::relative;
use thru_app::ask::session::{SessionOutline, TurnOutline};
use thru_app::words::{day_and_time, plural};
use thru_core::{Outcome, first_names, plain_line};
use thru_recall::recorded;
use thru_store::MemoryBody;

use super::{LONGEST_ANSWER, Renderer, whole};

/// Characters shown of a prompt, …
const PROMPT: usize = 300;
/// … and of the agent's last text.
const CONCLUSION: usize = 400;
/// Most commands of a turn.
const COMMANDS: usize = 6;
/// Most files of the session.
const FILES: usize = 12;

pub(super) fn outline(renderer: &Renderer, told: &SessionOutline) -> String {
    let session = &told.session;
    let mut text = format!("# {}\n", renderer.session(session));
    let zone = &renderer.zone;
    let mut about = vec![format!(
        "{} to {}",
        day_and_time(session.started, zone),
        day_and_time(session.ended, zone)
    )];
    let mut facts = vec![
        plural(u64::from(session.turns), "turn"),
        plural(session.passages, "passage"),
        session.agent.display_name().to_owned(),
    ];
    let branch = session.branch.as_ref();
    facts.extend(branch.map(|branch| format!("branch {}", renderer.visible(branch))));
    facts.extend(session.root().map(str::to_owned));
    facts.push(told.standing.line(zone));
    facts.extend(told.kinds_of_work());
    about.extend(facts.iter().map(|fact| plain_line(&renderer.cleaned(fact), 200)));
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
    let turns: Vec<String> = told.turns.iter().map(|one| turn(renderer, one)).collect();
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
    let changed: Vec<String> = told
        .files
        .iter()
        .filter(|file| file.modified > 0)
        .map(|file| {
            let path = renderer.visible(&file.path);
            let path = plain_line(relative(&path, session.root()), 200);
            format!("{path} (×{})", file.modified)
        })
        .collect();
    if !changed.is_empty() {
        text.push_str(&format!("Changed: {}\n", first_names(&changed, FILES)));
    }
    text.push_str("get_observations(ids=[…]) returns a prompt or an answer in full.\n");
    renderer.notes(&mut text, &told.preparation);
    text
}

/// Yields the first, the last, the second, the last but one …
fn from_both_ends(number: usize) -> impl Iterator<Item = usize> {
    (0..number).map(move |step| if step % 2 == 0 { step / 2 } else { number - 1 - step / 2 })
}

fn turn(renderer: &Renderer, turn: &TurnOutline) -> String {
    let mut text = match &turn.prompt {
        Some(prompt) => {
            let said = recorded(&renderer.visible(&prompt.text), PROMPT);
            format!("{}. {} prompt: {said}\n", turn.number, prompt.id)
        }
        None => format!("{}. (no prompt)\n", turn.number),
    };
    for command in turn.commands.iter().take(COMMANDS) {
        let mark = match command.outcome {
            Some(Outcome::Failed) => "failed",
            Some(Outcome::Pending) => "no result",
            _ => "ok",
        };
        let runs = command.repeated();
        text.push_str(&format!(
            "   $ {}{runs}: {mark}\n",
            plain_line(&renderer.visible(&command.line), 160)
        ));
    }
    let more = turn.commands.len().saturating_sub(COMMANDS);
    if more > 0 {
        text.push_str(&format!(
            "   and {more} more commands; {} tool calls in all\n",
            turn.tool_calls
        ));
    }
    if let Some(conclusion) = &turn.conclusion {
        let said = recorded(&renderer.visible(&conclusion.text), CONCLUSION);
        text.push_str(&format!(
            "   {} answer: {said}
",
            conclusion.id
        ));
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
