//! The end of a session: the way it ended, and the work that is open then.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::{Observation, Statement, WorkOutcome};

use crate::agent_text::AgentText;
use crate::checks::Status;
use crate::event::{Action, Event};
use crate::fixes;
use crate::gate::is_about_course;
use crate::landing;
use crate::pattern;
use crate::pending::{self, Object, Unmade};
use crate::phrase;
use crate::segment::Turn;
use crate::session::Session;
use crate::tasks::Tasks;
use crate::text::{cut, find_ignoring_case};
use crate::verbs;

/// Most failing checks, tasks and turns back that are looked at.
const RED: usize = 3;
const TASKS: usize = 4;
const BACK: usize = 4;

/// Longest task and request named as open, in characters.
const TASK: usize = 160;

/// The way a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The agent had the last word, at this place.
    Reported(usize),
    /// The agent was at work.
    Interrupted,
    /// The agent had proposed a plan, at this place, that was not approved.
    Planned(usize),
    /// The last prompt had no answer.
    Unanswered,
    /// Nothing happened.
    Empty,
}

/// The work that is open at the end of a session.
#[derive(Debug)]
pub(crate) struct OpenWork {
    pub(crate) next_steps: Vec<Statement>,
    pub(crate) questions: Vec<Statement>,
    pub(crate) outcome: WorkOutcome,
    /// The line about the state of the work.
    pub(crate) state: Option<Statement>,
}

/// Returns the work that is open at the end of a session.
pub(crate) fn open_work(session: &Session<'_>, observations: &[Observation]) -> OpenWork {
    let events = session.events;
    // Prompts that only drive the client, questions to memory, and turns without anything, end no session.
    let ends = |turn: &&Turn| has_content(events, turn) && !turn.asks_memory;
    let turns: Vec<&Turn> = session.turns.iter().filter(ends).collect();
    let last = turns.last().copied();
    let ending = last.map_or(Ending::Empty, |turn| ending_of(events, turn));
    let mut open = OpenWork {
        next_steps: Vec::new(),
        questions: Vec::new(),
        outcome: WorkOutcome::Completed,
        state: None,
    };
    let red: Vec<usize> = session.fixes.red_after(&(0..events.len())).collect();
    for &at in red.iter().rev().take(RED) {
        let text = fixes::still_failing(events, at);
        open.next_steps.extend(text.map(|text| session.statement(text, &[at])));
    }
    match ending {
        Ending::Reported(at) => reported(session, &turns, at, &mut open),
        Ending::Planned(at) => {
            let plan = events.get(at).and_then(Event::proposed);
            let text = plan.map_or_else(
                || "Decide on the proposed plan".to_owned(),
                |plan| format!("Decide on the proposed plan: {plan}"),
            );
            open.next_steps.push(session.statement(cut(&text, TASK), &[at]));
        }
        Ending::Interrupted | Ending::Unanswered => {
            unfinished(session, &turns, &mut open);
        }
        Ending::Empty => {}
    }
    let object = Object::of(session, observations);
    for step in &mut open.next_steps {
        step.text = object.complete(&step.text);
    }
    open.next_steps.retain(|step| !step.text.is_empty());
    let has_observations = !observations.is_empty();
    open.outcome = outcome(session, last, ending, !red.is_empty(), has_observations, &open);
    if let Some((line, places)) = state(session, red.is_empty()) {
        open.state = Some(session.statement(line, &places));
    }
    open
}

/// Returns true if a person asked something in a turn, or the agent did.
fn has_content(events: &[Event], turn: &Turn) -> bool {
    own(events, &turn.range).any(|(_, event)| match &event.action {
        Action::Asked(request) => !request.is_slight,
        Action::Nothing => false,
        _ => true,
    })
}

/// Returns the events of the main conversation in a part of the session.
fn own<'e>(
    events: &'e [Event],
    range: &Range<usize>,
) -> impl DoubleEndedIterator<Item = (usize, &'e Event)> {
    let start = range.start;
    let part = events.get(range.clone()).unwrap_or_default();
    let places = part.iter().enumerate().map(move |(offset, event)| (start + offset, event));
    places.filter(|(_, event)| !event.is_subagent && !matches!(event.action, Action::Nothing))
}

/// Returns true if the agent did or wrote anything.
fn has_agent(events: &[Event]) -> bool {
    events.iter().any(|event| !matches!(event.action, Action::Asked(_) | Action::Nothing))
}

fn ending_of(events: &[Event], turn: &Turn) -> Ending {
    let Some((at, last)) = own(events, &turn.range).next_back() else { return Ending::Empty };
    match &last.action {
        Action::Asked(_) if has_agent(events) => Ending::Unanswered,
        Action::Asked(_) => Ending::Empty,
        Action::Wrote(_) => Ending::Reported(at),
        Action::Proposed(_) => Ending::Planned(at),
        _ => Ending::Interrupted,
    }
}

/// Adds the open work that the agent's last words name.
fn reported(session: &Session<'_>, turns: &[&Turn], at: usize, open: &mut OpenWork) {
    let events = session.events;
    let Some(last) = events.get(at).and_then(Event::agent_text) else { return };
    let questions = last.remaining.questions.iter();
    open.questions.extend(questions.map(|question| session.statement(question.clone(), &[at])));
    // What a turn left open stays so while later ones only talk.
    for turn in turns.iter().rev().take(BACK) {
        let texts = closing(events, &turn.range);
        let steps = texts.iter().find(|(_, text)| !text.remaining.steps.is_empty());
        if let Some((place, text)) = steps {
            let steps = text.remaining.steps.iter().filter(|step| {
                !is_landed_later(events, *place, step) && !is_status_of_landing(step)
            });
            open.next_steps.extend(steps.map(|step| session.statement(step.clone(), &[*place])));
            break;
        }
        if has_work(events, &turn.range) {
            let left = texts.iter().find(|(_, text)| !text.remaining.for_person.is_empty());
            if let Some((place, text)) = left {
                let steps = text.remaining.for_person.iter();
                open.next_steps
                    .extend(steps.map(|step| session.statement(step.clone(), &[*place])));
            }
            break;
        }
    }
    // An open question may stand between the agent and its tasks.
    let waits = !last.remaining.questions.is_empty() || last.remaining.is_blocked;
    if waits {
        open.next_steps.extend(open_tasks(session, turns));
    }
}

/// Returns the last texts of a part of the session, the latest first, without calls between them.
fn closing<'e>(events: &'e [Event], range: &Range<usize>) -> Vec<(usize, &'e AgentText)> {
    let texts = own(events, range).rev().map_while(|(at, event)| Some((at, event.agent_text()?)));
    texts.take(3).collect()
}

/// Returns true if files or history changed.
fn has_work(events: &[Event], range: &Range<usize>) -> bool {
    let part = events.get(range.clone()).unwrap_or_default();
    part.iter().any(|event| {
        !event.modified.is_empty()
            || event.run().is_some_and(|run| !run.commits.is_empty() || !run.landings.is_empty())
    })
}

/// Returns true if a command succeeded: a deployment changes no file, and what was reported of it is done.
fn has_run(events: &[Event]) -> bool {
    events.iter().any(|event| event.run().is_some_and(|run| run.status == Status::Green))
}

/// Returns true if a step is about committing, pushing or merging, and that was done after it was named.
fn is_landed_later(events: &[Event], at: usize, step: &str) -> bool {
    let names = |words: &[&str]| words.iter().any(|word| find_ignoring_case(step, word).is_some());
    let about_commit = names(&["commit"]);
    let about_rest = names(&["push", "merge", "pull request", "open a pr", "open pr", "the pr"]);
    if !about_commit && !about_rest {
        return false;
    }
    let mut after = events.get(at + 1..).unwrap_or_default().iter();
    after.any(|event| match &event.action {
        Action::Ran(run) => {
            about_commit && !run.commits.is_empty() || about_rest && !run.landings.is_empty()
        }
        Action::Landed(_) => about_rest,
        _ => false,
    })
}

/// Returns true if a step only says that nothing is left to land.
fn is_status_of_landing(step: &str) -> bool {
    find_ignoring_case(step, "ready to merge").is_some() && step.split_whitespace().count() < 5
}

/// Adds the work that an interrupted turn was about.
fn unfinished(session: &Session<'_>, turns: &[&Turn], open: &mut OpenWork) {
    let Some(turn) = turns.last() else { return };
    let tasks = open_tasks(session, turns);
    if !tasks.is_empty() {
        open.next_steps.extend(tasks);
        return;
    }
    let announced = || {
        own(session.events, &turn.range)
            .rev()
            .take(12)
            .find_map(|(at, event)| Some((event.agent_text()?.announced.clone()?, at)))
    };
    let found = asked(session, turn, true)
        .or_else(announced)
        // "Go on" is about the request before.
        .or_else(|| turns.iter().rev().take(BACK).find_map(|turn| asked(session, turn, false)));
    let last = Unmade::last(session.events).filter(|unmade| turn.range.contains(&unmade.place));
    if let Some(unmade) = &last {
        // The work is done up to its commit.
        open.next_steps.push(session.statement(cut(&unmade.step(), TASK), &[unmade.place]));
        let goes_on = asked(session, turn, false).is_some_and(|(text, _)| text.starts_with('/'));
        if !goes_on {
            return;
        }
    }
    if let Some((text, at)) = found.filter(|(text, _)| !is_housekeeping(text)) {
        // A question without its answer is open, as it stands.
        if let Some(question) = text.trim_end().ends_with('?').then(|| last_sentence(&text)) {
            open.questions.push(session.statement(cut(question, TASK), &[at]));
            return;
        }
        let text = format!("Not finished: {}", crate::text::uncapitalised(&text));
        open.next_steps.push(session.statement(cut(&text, TASK), &[at]));
    }
}

/// Orders to tidy up behind the work.
static TIDIES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:please\s+|now\s+|and\s+|also\s+)*(?:remove|close|kill|delete|clean\s+up|stop|exit|prune|tidy)\b.*\b(?:sessions?|work-?trees?|branch(?:es)?|windows?|panes?|tmux|workers?|servers?|process(?:es)?)\b",
    )
});

/// Returns true for an order to tidy up: with it the work is not open again.
fn is_housekeeping(text: &str) -> bool {
    TIDIES.is_match(text)
}

/// Returns true if a text is about bringing work to others.
fn is_about_landing(text: &str) -> bool {
    let names = |word: &&str| find_ignoring_case(text, word).is_some();
    ["commit", "push", "merge", "deploy", "release", "publish"].iter().any(names)
}

fn last_sentence(text: &str) -> &str {
    crate::prose::sentences(text).last().unwrap_or(text)
}

/// Returns the request of a turn as a title, else in its own words unless a clear one is wanted.
fn asked(session: &Session<'_>, turn: &Turn, is_clear: bool) -> Option<(String, usize)> {
    let at = turn.range.start;
    let request = session.events.get(at).and_then(Event::request)?;
    let text = request.text.as_ref();
    let about_landing = text.filter(|text| is_about_landing(text));
    // Of two orders, the first may be done.
    if !request.is_slight
        && request.plan.is_none()
        && let Some(order) = text.and_then(|text| last_order(text))
    {
        return Some((order, at));
    }
    let command = text.filter(|text| text.starts_with('/'));
    let named = request.plan.as_ref().or(request.title.as_ref()).or(command);
    let found = match (request.is_slight, is_clear) {
        (true, true) => about_landing,
        (true, false) => about_landing.or(command),
        (false, true) => named,
        (false, false) => named.or(text),
    };
    Some((found?.clone(), at))
}

/// Returns the last of several orders: "clean up. Then remove the branch".
fn last_order(text: &str) -> Option<String> {
    let (_, last) = [". then ", ". Then ", ", then ", ". Finally "]
        .iter()
        .filter_map(|joint| text.rsplit_once(joint))
        .min_by_key(|(_, last)| last.len())?;
    let order = last.split(". ").next().unwrap_or(last);
    let first = order.split(' ').next().unwrap_or_default();
    phrase::of_request(order)
        .or_else(|| verbs::is_imperative(first).then(|| crate::title::shaped(order)))
}

/// Returns the tasks that were open when the session ended, unless a turn was reported since.
fn open_tasks(session: &Session<'_>, turns: &[&Turn]) -> Vec<Statement> {
    let mut tasks = Tasks::default();
    let mut last = None;
    for (place, event) in session.events.iter().enumerate() {
        if let (Action::Tasks(change), false) = (&event.action, event.is_subagent) {
            tasks.apply(change);
            last = Some(place);
        }
    }
    let Some(place) = last else { return Vec::new() };
    let mut before = turns.iter().rev().skip(1).take_while(|turn| turn.range.end > place);
    if before.any(|turn| matches!(ending_of(session.events, turn), Ending::Reported(_))) {
        return Vec::new();
    }
    let tells = |task: &&str| !is_about_course(task);
    let left = tasks.open().filter(tells).filter_map(|task| pending::left_of(session, task));
    left.take(TASKS).map(|task| session.statement(cut(&task, TASK), &[place])).collect()
}

fn outcome(
    session: &Session<'_>,
    last: Option<&Turn>,
    ending: Ending,
    is_red: bool,
    has_observations: bool,
    open: &OpenWork,
) -> WorkOutcome {
    let Some(last) = last else { return WorkOutcome::Abandoned };
    let is_idle = !has_observations && !has_work(session.events, &(0..session.events.len()));
    match ending {
        Ending::Empty => WorkOutcome::Abandoned,
        Ending::Planned(_) => WorkOutcome::InProgress,
        // Without a call the client may have kept no answer.
        Ending::Unanswered if is_idle => WorkOutcome::Abandoned,
        Ending::Interrupted | Ending::Unanswered
            if open.next_steps.is_empty() && open.questions.is_empty() && tidies(session, last) =>
        {
            WorkOutcome::Completed
        }
        Ending::Interrupted | Ending::Unanswered => WorkOutcome::InProgress,
        Ending::Reported(at) => {
            let says_blocked = session
                .events
                .get(at)
                .and_then(Event::agent_text)
                .is_some_and(|text| text.remaining.is_blocked);
            let awaits_answer = !has_work(session.events, &last.range)
                && open.questions.iter().any(|question| holds_up(&question.text));
            let stopped = closing(session.events, &last.range)
                .iter()
                .any(|(_, text)| text.remaining.is_partial);
            match () {
                () if is_red || says_blocked => WorkOutcome::Blocked,
                () if awaits_answer || stopped => WorkOutcome::InProgress,
                () if is_idle && !has_run(session.events) => WorkOutcome::Abandoned,
                () => WorkOutcome::Completed,
            }
        }
    }
}

/// Returns true if a turn was only to tidy up.
fn tidies(session: &Session<'_>, turn: &Turn) -> bool {
    let request = session.events.get(turn.range.start).and_then(Event::request);
    let text = request.and_then(|request| request.text.as_deref()).unwrap_or_default();
    !has_edits(session.events, &turn.range)
        && (is_housekeeping(text) || last_order(text).is_some_and(|order| is_housekeeping(&order)))
}

fn has_edits(events: &[Event], range: &Range<usize>) -> bool {
    events.get(range.clone()).unwrap_or_default().iter().any(|event| !event.modified.is_empty())
}

/// Returns true if the work waits for the answer to a question; an offer to do more holds up nothing.
fn holds_up(question: &str) -> bool {
    let names =
        |words: &[&str]| words.iter().any(|word| find_ignoring_case(question, word).is_some());
    let is_offer =
        names(&["want me to", "should i ", "shall i ", "would you like me", "like me to"]);
    !is_offer
        || names(&["proceed", "go ahead", "continue", "start", "begin", "implement", "instead"])
}

/// Returns the outcome of a turn.
pub(crate) fn turn_outcome(session: &Session<'_>, turn: &Turn) -> WorkOutcome {
    let is_last = session.turns.last().is_some_and(|last| last.number == turn.number);
    let is_red = session.fixes.red_after(&turn.range).next().is_some();
    match ending_of(session.events, turn) {
        Ending::Interrupted | Ending::Planned(_) if is_last => WorkOutcome::InProgress,
        _ if is_red => WorkOutcome::Blocked,
        _ => WorkOutcome::Completed,
    }
}

/// Returns the line about the state of the work, and its places.
fn state(session: &Session<'_>, is_green: bool) -> Option<(String, Vec<usize>)> {
    if let Some(found) = landing::state(session.events) {
        return Some(found);
    }
    // Without a step further, the checks tell how the changes stand.
    let last_edit = session.last_edit()?;
    let checks = &session.fixes.checks;
    let mut passed: Vec<(&str, usize)> = Vec::new();
    for (at, failed) in checks.iter().rev().take(12) {
        let run = session.events.get(*at).and_then(Event::run)?;
        if !failed && *at > last_edit && !passed.iter().any(|(known, _)| *known == run.shown) {
            passed.push((&run.shown, *at));
        }
    }
    if !is_green || passed.is_empty() {
        return None;
    }
    passed.truncate(3);
    passed.reverse();
    let names: Vec<String> =
        passed.iter().map(|(shown, _)| format!("`{}`", cut(shown, 50))).collect();
    let verb = if names.len() == 1 { "passes" } else { "pass" };
    let places = passed.iter().map(|(_, at)| *at).collect();
    Some((format!("{} {verb}; nothing committed", names.join(", ")), places))
}
