//! The pack of a starting session: how the last one ended, what is open, decided and wished, what else was
//! done, and what the work is done with. Chosen by value, not by age alone; each part has a share of the
//! budget.

use thru_core::{MemoryKind, ObservationType, is_trunk};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryRow, Result, Store};

use super::detail::details;
use super::in_play::{Sessions, commands_in_play, files_in_play};
use super::render::Section;
use super::said::{
    Said, alike, cut, day, days_between, files_not_named, is_new, names_something, tier, words_of,
};
use super::sessions::{
    Branches, CAME_OF, OPEN_DAYS, TITLE, bodies, done_of, earlier_sessions, last_of, last_session,
    later_than, left_open, summaries,
};
use super::speaker::TitleSpeaker;
use super::valued::{LATELY_DAYS, Valued, observations};
use super::{Draft, Occasion, PackRequest, facts, standing};
use crate::memories::normal;

/// Maximum number of rules, and characters of each.
const RULES: usize = 10;
const RULE_LENGTH: usize = 160;
/// Maximum number of decisions told by themselves, …
const DECISIONS_TOLD: usize = 3;
/// … and of those, of older ones, …
const OLDER_TOLD: usize = 1;
/// … of observations of the last session and of this branch, …
const WORK_TOLD: usize = 5;
/// The budget from which on all else is told by value.
const PLENTY: u64 = 2_000;

pub(super) fn drafts(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<(Vec<Draft>, String)> {
    if matches!(request.occasion, Occasion::Compact) && request.session.is_some() {
        return itself(store, redactor, request);
    }
    let mut drafts = rules(store, request)?;
    let summaries = summaries(store, request, None, None)?;
    let mut valued = observations(store, request, None, None, &summaries)?;
    without_wishes(&mut valued, &drafts);
    let bodies = bodies(store, &summaries)?;
    let branches = Branches::of(store, &summaries)?;
    let last = match request.limits.last_summary {
        true => last_of(store, request, &bodies, &branches)?,
        false => None,
    };
    let mut said = Said::default();
    if let Some((last, is_of_branch)) = last {
        let later = later_than(last.0, &bodies);
        let about = last_session(store, redactor, request, (last, is_of_branch), &valued, &later)?;
        about.iter().for_each(|line| said.details.push(line.text.clone()));
        said.titles.push(words_of(&last.0.title));
        drafts.extend(about);
    }
    let earlier = bodies.iter().filter(|one| last.is_none_or(|(last, _)| last.0.row != one.0.row));
    let open = left_open(store, request, earlier.clone(), (&bodies, &branches), &mut said.titles)?;
    let weighed = valued.len();
    let sessions = Sessions::of(&summaries, &valued, request);
    drafts.extend(files_in_play(&sessions, request));
    drafts.extend(commands_in_play(store, &sessions)?);
    let is_open =
        |row: i64| open.iter().any(|line| line.memory.as_ref().is_some_and(|it| it.row == row));
    let over = earlier.filter(|one| !is_open(one.0.row));
    let sessions = earlier_sessions(store, request, over, &valued, &mut said)?;
    drafts.extend(open);
    let before = last.and_then(|(last, _)| branches.before(last.0, &bodies));
    drafts.extend(facts::problems(store, request, before)?);
    // The latest of all sessions has none after it.
    if let Some((of_branch, true)) = last
        && let Some(at) = of_branch.0.at
    {
        drafts.extend(facts::changed_since(store, request, at)?);
    }
    let last = last.and_then(|(last, _)| last.0.session);
    let best = best(store, request, valued, last, &mut said)?;
    drafts.retain(|line| done_of(line).is_none_or(|done| !is_told(done, &best)));
    drafts.extend(best);
    drafts.extend(sessions);
    Ok((drafts, were_weighed(weighed)))
}

/// True if one of these lines tells this work, with what came of it.
fn is_told(done: &str, lines: &[Draft]) -> bool {
    let works = lines.iter().filter(|line| matches!(line.section, Section::Work { .. }));
    works.filter_map(|line| line.memory.as_ref()).any(|memory| alike(done, &memory.title))
}

fn were_weighed(number: usize) -> String {
    let noun = if number == 1 { "observation" } else { "observations" };
    format!("{number} {noun} weighed")
}

/// Drops the observations that are wishes told as rules.
fn without_wishes(valued: &mut Vec<Valued>, rules: &[Draft]) {
    let wishes = rules.iter().filter_map(|rule| rule.memory.as_ref());
    let wishes: Vec<&str> =
        wishes.filter(|rule| !rule.flags.is_rule).map(|rule| rule.title.as_str()).collect();
    valued.retain(|one| !wishes.iter().any(|wish| standing::is_same_wish(wish, &one.memory.title)));
}

/// The session itself, from its memories: there is no snapshot of it.
fn itself(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<(Vec<Draft>, String)> {
    let mut drafts = rules(store, request)?;
    let summaries = summaries(store, request, request.session, None)?;
    let mut valued = observations(store, request, request.session, None, &summaries)?;
    without_wishes(&mut valued, &drafts);
    if let Some(own) = bodies(store, &summaries)?.first() {
        drafts.extend(last_session(store, redactor, request, (own, false), &valued, &[])?);
    }
    let weighed = valued.len();
    drafts.extend(told(store, request, valued)?);
    Ok((drafts, were_weighed(weighed)))
}

/// The rules of people for this project and for every project, the latest first.
pub(super) fn rules(store: &Store, request: &PackRequest<'_>) -> Result<Vec<Draft>> {
    let rules = standing::rules(store, request)?;
    rules
        .into_iter()
        .take(RULES)
        .map(|rule| {
            let day = day(rule.at, request);
            let reason = match rule.is_global() {
                true => "a rule for every project",
                false if !rule.flags.is_rule => "wished in two sessions",
                false => "a rule",
            };
            Ok(Draft {
                text: format!("\"{}\" ({day})", words_of_rule(store, &rule)?),
                tier: tier(&rule, request),
                section: Section::Rules,
                reason: reason.to_owned(),
                memory: Some(rule),
            })
        })
        .collect()
}

/// The text of a rule, whole even if its title was cut.
fn words_of_rule(store: &Store, rule: &MemoryRow) -> Result<String> {
    if !rule.title.ends_with('…') {
        return Ok(cut(&rule.title, RULE_LENGTH));
    }
    Ok(match store.body_of(rule)? {
        MemoryBody::Observation(body) => {
            cut(body.narrative.as_ref().map_or(&body.title, |said| &said.text), RULE_LENGTH)
        }
        MemoryBody::Summary(body) => cut(&body.title, RULE_LENGTH),
    })
}

/// The lines of the best observations.
pub(super) fn told(
    store: &Store,
    request: &PackRequest<'_>,
    valued: Vec<Valued>,
) -> Result<Vec<Draft>> {
    let best = valued.into_iter().take(request.limits.observations);
    best.map(|one| {
        let speaker = TitleSpeaker::of(store, &one.memory, &store.body_of(&one.memory)?)?;
        Ok(Draft {
            text: speaker.mark(&cut(&one.memory.title, TITLE)),
            tier: tier(&one.memory, request),
            section: Section::day(one.memory.at.unwrap_or_default(), request),
            reason: one.reason(),
            memory: Some(one.memory),
        })
    })
    .collect()
}

/// Decisions, and what was done in the last session and on this branch: each with what came of it, or the reason
/// for it, where that says more.
fn best(
    store: &Store,
    request: &PackRequest<'_>,
    valued: Vec<Valued>,
    last: Option<i64>,
    said: &mut Said,
) -> Result<Vec<Draft>> {
    let branch = request.branch.as_deref().filter(|branch| !is_trunk(branch));
    let mut drafts = Vec::new();
    let (mut decisions, mut older, mut works) = (0, 0, 0);
    for one in valued {
        if drafts.len() == request.limits.observations {
            break;
        }
        let is_decision = one.memory.kind == MemoryKind::Observation(ObservationType::Decision);
        // What a person told the memory is no chatter.
        let is_note = one.memory.flags.is_note;
        // A finding is a sentence of its time: read later, it needs a name of what it is about.
        let is_finding = one.memory.kind == MemoryKind::Observation(ObservationType::Discovery);
        let is_of_person = is_note || one.memory.flags.is_edited || one.memory.flags.is_from_person;
        let is_unnamed = is_finding && !is_of_person && !names_something(&one.memory.title);
        // The beginning of a report says little without its turn.
        if is_unnamed || one.memory.is_untitled() {
            continue;
        }
        let is_here = one.memory.session.is_none()
            || one.memory.session == last
            || branch.is_some() && one.place.branch.as_deref() == branch;
        let is_current = is_here || bears_on_today(&one.memory, request);
        let is_wanted = match is_decision {
            _ if request.limits.start_tokens >= PLENTY => true,
            true => decisions < DECISIONS_TOLD && (is_current || older < OLDER_TOLD),
            // Sessions before that have a line each.
            false => works < WORK_TOLD && is_here,
        };
        let is_told = is_note || is_wanted && is_new(&one.memory.title, &mut said.titles);
        if !is_told {
            continue;
        }
        let title = cut(&one.memory.title, TITLE);
        let body = store.body_of(&one.memory)?;
        let detail = said.detail(&title, details(&body));
        let changed = one.files.iter().filter(|file| file.modified);
        let files = files_not_named(changed.map(|file| file.path.as_str()), &title);
        // The sentence that the title is a part of takes its place.
        let (title, detail) = match detail {
            Some(whole) if normal(&whole).contains(&normal(&title)) => {
                (cut(&whole, TITLE + CAME_OF), None)
            }
            detail => (title, detail),
        };
        let mut text = match TitleSpeaker::of(store, &one.memory, &body)? {
            TitleSpeaker::Agent if is_decision => format!("The agent: {title}"),
            speaker => speaker.mark(&title),
        };
        if let Some(detail) = detail {
            text = format!("{text}: {}", cut(&detail, CAME_OF));
        }
        if let Some(files) = files {
            text = format!("{text} [{files}]");
        }
        match is_decision {
            true => {
                decisions += 1;
                older += usize::from(!is_current);
            }
            false => works += 1,
        }
        let at = one.memory.at.unwrap_or_default().as_millisecond();
        drafts.push(Draft {
            text: format!("{text} ({})", day(one.memory.at, request)),
            tier: tier(&one.memory, request),
            section: match is_decision {
                true => Section::Decisions { before_end: -at },
                false => Section::Work { before_end: -at },
            },
            reason: one.reason(),
            memory: Some(one.memory),
        });
    }
    Ok(drafts)
}

/// True for a decision that may bear on today's work: most are about the work of their own day.
fn bears_on_today(memory: &MemoryRow, request: &PackRequest<'_>) -> bool {
    let age = memory.at.map_or(f64::MAX, |at| days_between(at, request.now));
    age <= if names_something(&memory.title) { OPEN_DAYS } else { LATELY_DAYS }
}
