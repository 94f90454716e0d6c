//! The pack of a starting session: how the last one ended, what is open, decided and wished, what else was
//! done, and what the work is done with. Chosen by value, not by age alone; each part has a share of the
//! budget.

use std::collections::HashSet;

use thru_core::{Digest, MemoryKind, ObservationType, PLAN_APPROVED};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Result, Store};

use super::calls::Sessions;
use super::commands::commands_in_play;
use super::detail::details;
use super::render::Section;
use super::said::{
    Said, alike, cut, day, days_between, files_not_named, is_new, names_something, tier, words_of,
};
use super::sessions::{
    Branches, CAME_OF, Digested, LastSession, OPEN_DAYS, TITLE, bodies, done_of, earlier_sessions,
    last_session, later_than, left_open, summaries,
};
use super::speaker::{TitleSpeaker, depends, in_its_place};
use super::valued::{LATELY_DAYS, Valued, observations};
use super::{Draft, Occasion, PackRequest, facts, standing, valued};
use crate::memories::normal;

/// Maximum number of rules, and characters of each.
const RULES: usize = 10;
const RULE_LENGTH: usize = 160;
/// Characters of the title of the session in which a rule was made.
const SCOPE: usize = 70;
/// Maximum number of decisions that are told by themselves, of those from another branch, or a trunk, and of those from before
/// the last session; of these, one may be about something else.
const DECISIONS: usize = 4;
const ELSEWHERE: usize = 2;
const OLDER: usize = 2;
/// Words that a decision shares with what the last session was about, where it touches that, and their share of its words.
const SHARED: usize = 2;
const SHARE: f64 = 0.3;
/// Days within which work that a session did not finish is taken to go on.
const GOING_ON_DAYS: f64 = 1.0;
/// Maximum number of words of a request that names its work.
const NAME: usize = 12;
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
        true => LastSession::find(store, request, &bodies, &branches, &valued)?,
        false => None,
    };
    let mut said = Said::default();
    if let Some(last) = &last {
        let (summary, body) = last.digested;
        let later = later_than(summary, &bodies);
        let about = last_session(store, redactor, request, last, &valued, &later)?;
        about.iter().for_each(|line| said.details.push(line.text.clone()));
        said.titles.push(words_of(&summary.title));
        let asked = body.digest.request.iter().map(|asked| words_of(&asked.text));
        said.titles.extend(asked.filter(|words| words.len() <= NAME));
        drafts.extend(about);
    }
    let last_row = last.as_ref().map(|last| last.digested.0.row);
    let earlier = bodies.iter().filter(|one| Some(one.0.row) != last_row);
    let open = left_open(store, request, earlier.clone(), (&bodies, &branches), &mut said.titles)?;
    let weighed = valued.len();
    let sessions = Sessions::of(store, &summaries, &valued, request)?;
    drafts.extend(commands_in_play(store, &sessions)?);
    let is_open =
        |row: i64| open.iter().any(|line| line.memory.as_ref().is_some_and(|it| it.row == row));
    let over = earlier.filter(|one| !is_open(one.0.row) && branches.is_here(one.0, request));
    let earlier = earlier_sessions(store, request, over, last.as_ref(), &mut said.titles)?;
    drafts.extend(open);
    if let Some(LastSession { digested: (summary, _), is_of_branch, .. }) = &last {
        // A session that came to an end saw what failed before.
        if valued::is_open(summary) {
            let before = branches.before(summary, &bodies);
            drafts.extend(facts::problems(store, request, before, &drafts)?);
        }
        // The latest of all sessions has none after it.
        if let (true, Some(at)) = (is_of_branch, summary.at) {
            drafts.extend(facts::changed_since(store, request, at)?);
        }
    }
    let subject = last.as_ref().map(|last| subject(last, &bodies)).unwrap_or_default();
    let best = best(store, request, valued, (last.as_ref(), &subject), &mut said)?;
    drafts.retain(|line| done_of(line).is_none_or(|done| !is_told(done, &best)));
    drafts.extend(best);
    drafts.extend(earlier);
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
        let own = LastSession::itself(own);
        drafts.extend(last_session(store, redactor, request, &own, &valued, &[])?);
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
            let scope = scope_of_rule(store, &rule)?;
            let reason = match rule.is_global() {
                true => "a rule for every project",
                false if !rule.flags.is_rule => "wished in two sessions",
                false => "a rule",
            };
            Ok(Draft {
                text: format!("\"{}\" ({day}{scope})", words_of_rule(store, &rule)?),
                tier: tier(&rule, request),
                section: Section::Rules,
                reason: reason.to_owned(),
                memory: Some(rule),
            })
        })
        .collect()
}

/// The work in which a rule was made, for one that says neither what it is about nor that it is about everything.
fn scope_of_rule(store: &Store, rule: &MemoryRow) -> Result<String> {
    const EVERYTHING: [&str; 6] = ["all", "always", "any", "each", "every", "never"];
    let title = rule.title.to_lowercase();
    let is_about_all = title.split(' ').take(3).any(|word| EVERYTHING.contains(&word));
    let session = rule.session.filter(|_| !is_about_all && !names_something(&rule.title));
    let Some(session) = session else { return Ok(String::new()) };
    let summary = store.memories(&MemoryFilter {
        session: Some(session),
        kinds: Some(vec![MemoryKind::Summary]),
        limit: Some(1),
        ..MemoryFilter::default()
    })?;
    let telling = summary.first().filter(|summary| !alike(&summary.title, &rule.title));
    let title = telling.map(|summary| cut(&summary.title, SCOPE));
    Ok(title.map_or_else(String::new, |title| format!(", in \"{title}\"")))
}

/// The text of a rule, with the sentence before it if it depends on that, and whole even if its title was cut.
fn words_of_rule(store: &Store, rule: &MemoryRow) -> Result<String> {
    let body = store.body_of(rule)?;
    if depends(&rule.title)
        && let Some(quoted) = in_its_place(store, &body, &rule.title, RULE_LENGTH)?
    {
        return Ok(quoted);
    }
    Ok(match body {
        MemoryBody::Observation(body) if rule.title.ends_with('…') => {
            cut(body.narrative.as_ref().map_or(&body.title, |said| &said.text), RULE_LENGTH)
        }
        MemoryBody::Observation(_) | MemoryBody::Summary(_) => cut(&rule.title, RULE_LENGTH),
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

/// Decisions, and notes of people; with a large budget the work as well: each with what came of it, or the reason for
/// it, where that says more.
fn best(
    store: &Store,
    request: &PackRequest<'_>,
    valued: Vec<Valued>,
    (last, subject): (Option<&LastSession<'_, '_>>, &HashSet<String>),
    said: &mut Said,
) -> Result<Vec<Draft>> {
    let mut choice = Choice { request, last, subject, decisions: 0, older: 0, general: 0 };
    let mut drafts = Vec::new();
    for one in valued {
        if drafts.len() == request.limits.observations {
            break;
        }
        if choice.takes(&one, said) {
            drafts.extend(line_of(store, request, one, last, said)?);
        }
    }
    Ok(drafts)
}

/// The words of what a session was about that not most of the project's last sessions share.
fn subject(last: &LastSession<'_, '_>, bodies: &[Digested<'_>]) -> HashSet<String> {
    let words = |(_, body): &Digested<'_>| -> HashSet<String> {
        let Digest { request, completed, decisions, .. } = &body.digest;
        let texts = request.iter().chain(completed).chain(decisions).map(|one| one.text.as_str());
        texts.chain([body.title.as_str()]).flat_map(words_of).collect()
    };
    let all: Vec<HashSet<String>> = bodies.iter().map(words).collect();
    let is_common = |word: &String| {
        all.len() > 2 && all.iter().filter(|one| one.contains(word)).count() * 2 > all.len()
    };
    words(last.digested).into_iter().filter(|word| !is_common(word)).collect()
}

fn is_decision(memory: &MemoryRow) -> bool {
    memory.kind == MemoryKind::Observation(ObservationType::Decision)
}

/// True for what a person said, told the memory or corrected.
fn is_of_person(memory: &MemoryRow) -> bool {
    memory.flags.is_note || memory.flags.is_edited || memory.flags.is_from_person
}

/// The choice among the observations.
struct Choice<'r, 'p, 'l, 'b, 's> {
    request: &'r PackRequest<'p>,
    last: Option<&'l LastSession<'b, 's>>,
    /// The words of what the last session was about.
    subject: &'l HashSet<String>,
    /// Decisions taken, those of them that are from before the last session, and those of these about something else.
    decisions: usize,
    older: usize,
    general: usize,
}

impl Choice<'_, '_, '_, '_, '_> {
    /// True for an observation that is told.
    fn takes(&mut self, one: &Valued, said: &mut Said) -> bool {
        let Valued { memory, .. } = one;
        // A finding is a sentence of its time, which later work may have made untrue.
        let is_finding = memory.kind == MemoryKind::Observation(ObservationType::Discovery);
        // A plan tells how things stood before it was carried out.
        let is_over = memory.title.starts_with(PLAN_APPROVED)
            && !self.last.is_some_and(|last| last.is_at_work(memory));
        // The beginning of a report says little without its turn.
        if is_finding && !is_of_person(memory) || is_over || memory.is_untitled() {
            return false;
        }
        let is_decision = is_decision(memory);
        let is_here = self.is_here(one);
        let touches = is_here || self.touches(one);
        // Sessions tell their work.
        let has_plenty = self.request.limits.start_tokens >= PLENTY;
        let most = if one.is_of_branch { DECISIONS } else { ELSEWHERE };
        let has_room = self.decisions < most
            && (is_here || self.older < OLDER && (touches || self.general == 0));
        let is_wanted = has_plenty
            || is_decision && has_room && (touches || self.holds_today(one))
            || memory.flags.is_edited && is_here;
        // What a person told the memory is no chatter.
        let is_told = memory.flags.is_note || is_wanted && is_new(&memory.title, &mut said.titles);
        let counts = is_told && is_decision;
        self.decisions += usize::from(counts);
        self.older += usize::from(counts && !is_here);
        self.general += usize::from(counts && !touches);
        is_told
    }

    /// True for an observation of the last session, or of the branch that is checked out.
    fn is_here(&self, one: &Valued) -> bool {
        let last_session = self.last.and_then(|last| last.digested.0.session);
        one.memory.session.is_none() || one.memory.session == last_session || one.is_of_branch
    }

    /// True for a recent decision about what the last session was about, or of work that goes on. Most others are about the work of their own day, and once that
    /// is finished, the code tells them.
    fn touches(&self, one: &Valued) -> bool {
        let days = if names_something(&one.memory.title) { OPEN_DAYS } else { LATELY_DAYS };
        let shares = || {
            let words = words_of(&one.memory.title);
            let shared = words.intersection(self.subject).count();
            shared >= SHARED && shared as f64 >= SHARE * words.len() as f64
        };
        let age = self.age(one);
        one.is_unfinished && age <= GOING_ON_DAYS
            || age <= days && (self.last.is_some_and(|last| last.worked_on(one)) || shares())
    }

    /// True for an earlier decision that holds for all work of today.
    fn holds_today(&self, one: &Valued) -> bool {
        one.holds_in_general && self.age(one) <= OPEN_DAYS
    }

    fn age(&self, one: &Valued) -> f64 {
        one.memory.at.map_or(f64::MAX, |at| days_between(at, self.request.now))
    }
}

/// The line of an observation; `None` if the line of the last session tells it.
fn line_of(
    store: &Store,
    request: &PackRequest<'_>,
    one: Valued,
    last: Option<&LastSession<'_, '_>>,
    said: &mut Said,
) -> Result<Option<Draft>> {
    let is_decision = is_decision(&one.memory);
    let body = store.body_of(&one.memory)?;
    let behind = details(&body);
    let is_same = |last: &LastSession<'_, '_>| last.tells(&one.memory, &behind);
    if !is_decision && !is_of_person(&one.memory) && last.is_some_and(is_same) {
        return Ok(None);
    }
    let speaker = TitleSpeaker::of(store, &one.memory, &body)?;
    let quoted = match speaker {
        TitleSpeaker::Person => in_its_place(store, &body, &one.memory.title, TITLE + CAME_OF)?,
        _ => None,
    };
    let quoted = quoted.filter(|quoted| normal(quoted) != normal(&one.memory.title));
    let title = cut(&one.memory.title, TITLE);
    let changed = one.files.iter().filter(|file| file.modified);
    let files = files_not_named(changed.map(|file| file.path.as_str()), &title);
    let (title, detail) = match (quoted, said.detail(&title, behind)) {
        (Some(quoted), _) => (quoted, None),
        // The sentence that the title is a part of takes its place.
        (_, Some(whole)) if normal(&whole).contains(&normal(&title)) => {
            (cut(&whole, TITLE + CAME_OF), None)
        }
        (_, detail) => (title, detail),
    };
    let mut text = match speaker {
        TitleSpeaker::Agent if is_decision => format!("The agent: {title}"),
        speaker => speaker.mark(&title),
    };
    // Half a reason misleads.
    let detail = detail.filter(|it| !is_decision || it.chars().count() <= CAME_OF);
    if let Some(detail) = detail {
        // A person's words are in quotation marks; an option is described by the agent that gave it.
        let speaker = match speaker {
            TitleSpeaker::Decision if !detail.starts_with('"') => ". The agent",
            _ => "",
        };
        text = format!("{text}{speaker}: {}", cut(&detail, CAME_OF));
    }
    if let Some(files) = files {
        text = format!("{text} [{files}]");
    }
    let before_end = -one.memory.at.unwrap_or_default().as_millisecond();
    Ok(Some(Draft {
        text: format!("{text} ({})", day(one.memory.at, request)),
        tier: tier(&one.memory, request),
        section: match is_decision {
            true => Section::Decisions { before_end },
            false => Section::Work { before_end },
        },
        reason: one.reason(),
        memory: Some(one.memory),
    }))
}
