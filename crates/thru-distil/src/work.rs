//! Completed work: one observation for each piece of a turn in which files, history or the state of a
//! check changed.

use std::ops::Range;

use thru_core::{Concept, ObservationType, WorkRecord};

use crate::agent_text::{AgentText, is_status};
use crate::cause;
use crate::commits::Commit;
use crate::event::{Event, Run};
use crate::fixes::Fix;
use crate::gate::{is_about_course, is_note, is_understood, names_only_path, stands_alone};
use crate::landing;
use crate::phrase::{self, Strength};
use crate::prose;
use crate::reply;
use crate::request::Request;
use crate::segment::{Segment, Turn, files_read};
use crate::session::{Draft, Session};
use crate::subject;
use crate::text::{self, FACT, cut, shown_name};
use crate::title;
use crate::undone;
use crate::verbs;

/// Most facts of an observation.
pub(crate) const FACTS: usize = 6;

/// Most explanations among them.
const EXPLANATIONS: usize = 2;

/// Most passages named as sources of an observation.
const SOURCES: usize = 8;

/// Number of sources of titles that name the work on purpose: messages, plans, tasks.
const NAMED: usize = 6;

/// Most commits of a turn among which the work that another one frames is looked for.
const COMMITS: usize = 64;

/// The beginning of the title of work that did not help.
pub(crate) const STILL_FAILING: &str = "Tried, still failing";

/// A title and the event that it was taken from.
type FoundTitle = (String, Option<usize>);

/// A source of titles.
type TitleSource<'r> = dyn Fn() -> Option<FoundTitle> + 'r;

/// The known facts about a segment.
struct Piece<'s> {
    session: &'s Session<'s>,
    segment: &'s Segment,
    events: &'s [Event],
    /// The report of the work and its place.
    report: Option<(usize, &'s AgentText)>,
    request: Option<(usize, &'s Request)>,
    runs: Vec<(usize, &'s Run)>,
    fixes: &'s [Fix],
    modified: Vec<&'s str>,
    /// True if none of its changes was there at the end of the turn, or the person took them back.
    is_undone: bool,
    /// The person's words about that, and their place.
    took_back: Option<(usize, &'s str)>,
    /// True if its commit keeps the books of the work that others of the turn hold.
    keeps_books: bool,
    /// True if the next prompt shows the trouble that it was to end.
    fails_again: bool,
}

/// Returns the observation of a segment, if anything was done in it. It has no title where nothing names the work; if
/// then only documents were changed and nothing was reported, there is one only if `is_needed`.
pub(crate) fn observe(
    session: &Session<'_>,
    turn: &Turn,
    segment: &Segment,
    is_needed: bool,
) -> Option<Draft> {
    let piece = Piece::new(session, turn, segment);
    let lands = |run: &Run| {
        !run.commits.is_empty()
            || run.pull_request.is_some()
            || run.may_have_committed().is_some()
            || run.landings.iter().any(|step| step.merged().is_some())
    };
    let has_commits = piece.runs.iter().any(|(_, run)| lands(run));
    // Commands that worked after others had failed belong to the findings.
    if piece.modified.is_empty() && !has_commits {
        return None;
    }
    let title = piece.title();
    // Notes of the agent for itself and for others: the turn is told by what it found.
    let says_nothing = || {
        let is_bare = piece.has_only_documents() && !has_commits && piece.report.is_none();
        piece.is_scratch() || !is_needed && is_bare
    };
    if title.is_none() && says_nothing() {
        return None;
    }
    Some(piece.draft(title))
}

impl<'s> Piece<'s> {
    fn new(session: &'s Session<'s>, turn: &Turn, segment: &'s Segment) -> Self {
        let range = segment.range.clone();
        let events = session.events.get(range.clone()).unwrap_or_default();
        let mut modified: Vec<&str> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for file in events.iter().flat_map(|event| &event.modified) {
            if known.insert(file.as_str()) {
                modified.push(file);
            }
        }
        let gone = undone::gone(session.events, &range, turn.range.end);
        let took_back = undone::taken_back(session, turn);
        let is_undone = !modified.is_empty()
            && (took_back.is_some() || modified.iter().all(|file| gone.contains(file)));
        if !is_undone {
            modified.retain(|file| !gone.contains(file));
        }
        let asked = session.events.get(turn.range.start).and_then(Event::request);
        Self {
            session,
            segment,
            events,
            report: reporting(session.events, range.clone()),
            request: asked.filter(|_| segment.is_first).map(|request| (turn.range.start, request)),
            runs: events
                .iter()
                .enumerate()
                .filter_map(|(offset, event)| Some((range.start + offset, event.run()?)))
                .collect(),
            fixes: session.fixes.within(&range),
            modified,
            is_undone,
            keeps_books: keeps_books(session, turn, &range),
            took_back,
            fails_again: undone::fails_again(session, turn),
        }
    }

    fn draft(&self, found: Option<FoundTitle>) -> Draft {
        let place = self.segment.range.start;
        let (title, title_source) = found.unwrap_or_default();
        let kind = self.kind(&title);
        let mut observation = self.session.blank("work", 0, place, kind);
        let mut used: Vec<usize> = title_source.into_iter().collect();
        let outcome = if self.is_undone && !self.has_commits() {
            Some(undone::REVERTED)
        } else if self.fails_again && kind == ObservationType::Bugfix {
            Some(STILL_FAILING)
        } else {
            None
        };
        observation.title = match outcome {
            Some(outcome) if title.is_empty() => undone::titled_as(outcome, &self.changed_files()),
            Some(outcome) => undone::titled_as(outcome, &title),
            None => title.clone(),
        };
        if let Some((at, narrative)) = self.narrative() {
            used.push(at);
            observation.narrative = Some(self.session.statement(narrative, &[at]));
        }
        for (fact, places) in self.facts(&title) {
            used.extend(&places);
            observation.facts.push(self.session.statement(fact, &places));
        }
        used.extend(self.edit_places().take(SOURCES.saturating_sub(used.len()).min(4)));
        used.sort_unstable();
        used.dedup();
        if used.is_empty() {
            used.push(place);
        }
        observation.sources = self.session.ids(&used);
        self.add_concepts(&mut observation);
        observation.files_modified = self.modified.iter().map(|file| (*file).to_owned()).collect();
        observation.files_read = files_read(self.events, &observation.files_modified);
        observation.at = self.events.iter().filter_map(|event| event.at).max();
        observation.raw_tokens = self.events.iter().map(|event| event.tokens).sum();
        Draft { place, observation }
    }

    fn has_only_documents(&self) -> bool {
        let mut files = self.modified.iter();
        !self.modified.is_empty()
            && files.all(|file| file.ends_with(".md") || file.ends_with(".txt"))
    }

    /// Returns true if it only wrote notes into folders that tools keep for themselves, such as prompts for workers.
    fn is_scratch(&self) -> bool {
        self.has_only_documents()
            && !self.has_commits()
            && self.modified.iter().all(|file| landing::is_aside(file))
    }

    fn has_commits(&self) -> bool {
        self.runs.iter().any(|(_, run)| !run.commits.is_empty())
    }

    /// Returns the reason for which the changes were taken back, in the words of the person or the agent.
    fn reason_of_return(&self) -> Option<(String, usize)> {
        if !self.is_undone || self.has_commits() {
            return None;
        }
        if let Some((at, words)) = self.took_back {
            return Some((format!("The user: {words}"), at));
        }
        let mut places = self.segment.range.clone().rev();
        places.find_map(|at| {
            let text = self.session.events.get(at)?.agent_text()?;
            Some((text.remaining.reverted.clone()?, at))
        })
    }

    fn edit_places(&self) -> impl Iterator<Item = usize> + '_ {
        let start = self.segment.range.start;
        let changed =
            self.events.iter().enumerate().filter(|(_, event)| !event.modified.is_empty());
        changed.map(move |(offset, _)| start + offset)
    }

    /// Returns the title from the best evidence that a reader understands alone, and its place.
    fn title(&self) -> Option<FoundTitle> {
        let written = self.report.map(|(at, written)| (Some(at), written));
        let asked = self.request.map(|(at, request)| (Some(at), request));
        let action = |wanted: Strength| {
            let (at, written) = written?;
            let (title, strength) = written.action.as_ref()?;
            (*strength == wanted).then(|| (title.clone(), at))
        };
        let commit = || {
            let (at, commit) = self.main_commit()?;
            // What did not help is told by what was tried, not by its goal.
            let body = commit.body.as_deref();
            let tried = body.filter(|_| self.fails_again).and_then(subject::first_point);
            let told = || subject::with_detail(subject::of_commit(&commit.subject), body);
            let title = tried.unwrap_or_else(told);
            let title = self.with_result(&title).unwrap_or(title);
            let merged = self.merged().and_then(|(_, number, title)| Some((number, title?)));
            let landed =
                merged.and_then(|(number, pull)| subject::with_merge(&title, number, pull));
            Some((landed.unwrap_or(title), Some(at)))
        };
        if self.keeps_books {
            return None;
        }
        let opened = || {
            let (at, run) = self.runs.iter().find(|(_, run)| run.pull_request.is_some())?;
            let title = run.pull_request.as_ref()?.title.as_deref()?;
            let is_all = self.modified.is_empty();
            let title = format!("Open pull request: {}", subject::of_commit(title));
            is_all.then(|| (title::shaped(&title), Some(*at)))
        };
        let landed = || {
            let (at, number, title) = self.merged()?;
            let title = format!("Merge pull request #{number}: {}", subject::of_commit(title?));
            self.modified.is_empty().then(|| (title::shaped(&title), Some(at)))
        };
        let candidates: [&TitleSource<'_>; 9] = [
            &commit,
            &|| self.intended(),
            &opened,
            &landed,
            &|| asked.and_then(|(at, request)| Some((request.plan.clone()?, at))),
            &|| match self.segment.tasks.as_slice() {
                [task] => Some((title::shaped(task), None)),
                _ => None,
            },
            &|| action(Strength::Action),
            &|| {
                asked.and_then(|(at, request)| Some((self.as_planned(request.title.as_ref()?), at)))
            },
            &|| written.and_then(|(at, written)| Some((written.item.clone()?, at))),
        ];
        let rungs = if self.is_scratch() { NAMED } else { candidates.len() };
        let found = candidates.iter().take(rungs).enumerate().find_map(|(rung, source)| {
            // What people and messages name is the work's, whatever words they take for it.
            let fits = |title: &str| match rung < NAMED {
                true => is_understood(title, 1),
                false => {
                    stands_alone(title)
                        && !is_about_course(title)
                        && !names_only_path(title)
                        && !is_note(title)
                        && !title.ends_with('…')
                }
            };
            source().filter(|(title, _)| fits(title))
        });
        if self.is_scratch() {
            return found.or_else(commit);
        }
        found
            .or_else(commit)
            .or_else(|| {
                let (at, request) = asked?;
                let title = request.title.clone();
                Some((title.filter(|title| is_understood(title, 1) && !is_note(title))?, at))
            })
            .or_else(|| {
                // Verbs of other languages are not known here: the prompt stands as it is.
                let (at, request) = asked?;
                let prompt = request.fallback.clone()?;
                let is_foreign = !prose::is_english(request.text.as_deref().unwrap_or_default());
                (is_foreign && stands_alone(&prompt)).then_some((prompt, at))
            })
    }

    /// Returns a request as a title; where nothing but plans was written, as planned.
    fn as_planned(&self, request: &str) -> String {
        let is_plan = |file: &&str| file.to_lowercase().contains("plan");
        let is_planned = self.has_only_documents()
            && !self.has_commits()
            && self.modified.iter().all(is_plan)
            && !request.to_lowercase().contains("plan");
        match is_planned {
            true => undone::titled_as("Planned", request),
            false => request.to_owned(),
        }
    }

    /// Returns the title of a commit that only names a kind of work with what the report says was done, or that alone where
    /// there is no room for both.
    fn with_result(&self, title: &str) -> Option<String> {
        let (_, written) = self.report.filter(|_| subject::is_vague(title))?;
        let (action, _) = written.action.as_ref().filter(|(action, strength)| {
            *strength == Strength::Action
                && reply::is_specific(action)
                && stands_alone(action)
                && !reply::shares(title, action, 2)
        })?;
        let both = format!("{title}: {}", text::uncapitalised(action));
        Some(if both.chars().count() <= title::LENGTH { both } else { action.clone() })
    }

    /// Returns the pull request that was merged: the place, the number, and the title if it was seen.
    fn merged(&self) -> Option<(usize, u64, Option<&str>)> {
        let merged = |(at, run): &(usize, &Run)| {
            run.landings.iter().find_map(|step| Some((*at, step.merged()??)))
        };
        let (at, number) = self.runs.iter().find_map(merged)?;
        let title = self.session.pull_requests().find(|(known, _)| *known == number);
        Some((at, number, title.map(|(_, title)| title)))
    }

    /// Returns the message of a commit whose end is not known: it names the work all the same.
    fn intended(&self) -> Option<FoundTitle> {
        let (at, run) =
            self.runs.iter().rev().find(|(_, run)| run.may_have_committed().is_some())?;
        Some((subject::of_commit(run.may_have_committed()?), Some(*at)))
    }

    /// Returns the names of the files that were changed, as a title.
    fn changed_files(&self) -> String {
        let names: Vec<String> =
            self.modified.iter().take(3).map(|file| shown_name(file)).collect();
        let folder = self.modified.first().and_then(|file| {
            let (folder, _) = file.rsplit_once(['/', '\\'])?;
            let is_common = self.modified.iter().take(50).all(|file| file.starts_with(folder));
            let mut parts = folder.rsplit(['/', '\\']);
            let last = parts.next()?;
            is_common.then(|| match parts.next().filter(|parent| !parent.is_empty()) {
                Some(parent) => format!(" in {parent}/{last}"),
                None => format!(" in {last}"),
            })
        });
        let more = if self.modified.len() > names.len() { ", …" } else { "" };
        let title = format!("Change {}{more}{}", names.join(", "), folder.unwrap_or_default());
        text::one_line(&title, title::LENGTH)
    }

    fn kind(&self, title: &str) -> ObservationType {
        let subject = self.main_commit().map(|(_, commit)| commit.subject.as_str());
        // Documents and tests repair nothing, whatever failed while they were written.
        let mut is_aside = false;
        let by_commit = subject.and_then(|subject| {
            match subject::conventional(subject).0?.to_ascii_lowercase().as_str() {
                "feat" => Some(ObservationType::Feature),
                "fix" => Some(ObservationType::Bugfix),
                "refactor" | "perf" | "style" => Some(ObservationType::Refactor),
                "docs" | "test" | "tests" => {
                    is_aside = true;
                    Some(ObservationType::Change)
                }
                _ => Some(ObservationType::Change),
            }
        });
        let asked = self.request.and_then(|(_, request)| request.title.as_deref());
        let kind = by_commit
            .or_else(|| subject.filter(|_| self.fails_again).and_then(verbs::kind_of))
            .or_else(|| verbs::kind_of(title))
            .or_else(|| asked.and_then(verbs::kind_of));
        let names_trouble = self
            .report
            .and_then(|(_, written)| written.finding.as_deref())
            .is_some_and(|finding| phrase::of_cause(finding).is_some());
        let by_plan = self.request.is_some_and(|(_, request)| request.plan.is_some());
        let range = &self.segment.range;
        let fixed = self
            .fixes
            .iter()
            .any(|fix| !fix.is_own && fix.edits.iter().any(|at| range.contains(at)));
        let only_documents = self.has_only_documents();
        match kind {
            Some(ObservationType::Feature) if only_documents && by_commit.is_none() => {
                ObservationType::Change
            }
            Some(ObservationType::Feature) if names_trouble && by_commit.is_none() && !by_plan => {
                ObservationType::Bugfix
            }
            Some(ObservationType::Feature) => ObservationType::Feature,
            _ if fixed && !is_aside && !only_documents => ObservationType::Bugfix,
            Some(kind) => kind,
            // A completed plan made something, unless its heading says otherwise.
            None if names_trouble => ObservationType::Bugfix,
            None if by_plan && !only_documents && !verbs::is_mere_change(title) => {
                ObservationType::Feature
            }
            None => ObservationType::Change,
        }
    }

    /// Returns the body of the message of the commit that names the work.
    fn narrative(&self) -> Option<(usize, String)> {
        let (at, commit) = self.main_commit()?;
        Some((at, commit.body.clone()?))
    }

    /// Returns the commit that names the work: the first that makes or repairs something, else the first that says anything.
    fn main_commit(&self) -> Option<(usize, &Commit)> {
        let commits = self
            .runs
            .iter()
            .flat_map(|(at, run)| run.commits.iter().map(move |commit| (*at, commit)));
        let says = |(_, commit): &(usize, &Commit)| !subject::only_saves(&commit.subject);
        let makes = |(_, commit): &(usize, &Commit)| {
            let kind = subject::conventional(&commit.subject).0;
            kind.is_some_and(|kind| {
                ["feat", "fix"].iter().any(|one| kind.eq_ignore_ascii_case(one))
            })
        };
        let said: Vec<(usize, &Commit)> = commits.take(COMMITS).filter(says).collect();
        said.iter().find(|one| makes(one)).or_else(|| said.first()).copied()
    }

    fn facts(&self, title: &str) -> Vec<(String, Vec<usize>)> {
        let mut facts: Vec<(String, Vec<usize>)> = Vec::new();
        facts.extend(self.reason_of_return().map(|(reason, at)| (cut(&reason, FACT), vec![at])));
        for (at, run) in &self.runs {
            for commit in &run.commits {
                // The title of the work is most often the subject of its commit.
                let is_titled = subject::of_commit(&commit.subject) == title;
                add_packed(&mut facts, commit.fact(!is_titled), *at);
            }
            if let Some(request) = &run.pull_request
                && facts.len() < FACTS
            {
                facts.push((WorkRecord::PullRequest.statement(&request.address), vec![*at]));
            }
        }
        if let Some((at, number, Some(title))) = self.merged()
            && facts.len() < FACTS
        {
            facts.push((cut(&format!("Merged pull request #{number}: {title}"), FACT), vec![at]));
        }
        for fix in self.fixes {
            let mut places = vec![fix.red, fix.green];
            places.extend(&fix.edits);
            if facts.len() < FACTS {
                let (remark, at) = self.remark(fix);
                places.extend(at);
                facts.push((format!("{}{remark}", fix.fact), places));
            }
        }
        if let tasks @ [_, _, ..] = self.segment.tasks.as_slice()
            && facts.len() < FACTS
        {
            let tasks = cut(&WorkRecord::Tasks.statement(&tasks.join("; ")), FACT);
            facts.push((tasks, vec![self.segment.range.start]));
        }
        let report = self.report.map_or("", |(_, said)| said.report.as_str());
        let room = FACTS.saturating_sub(facts.len()).min(EXPLANATIONS);
        let start = self.segment.range.start;
        let events = self.events.iter().enumerate().map(|(offset, event)| (start + offset, event));
        let reasons = cause::among(events, report, room);
        facts.extend(reasons.into_iter().map(|(at, reason)| (reason, vec![at])));
        facts
    }

    /// Returns what the agent said right before the last edit of a fix: most often how it repairs the failure.
    fn remark(&self, fix: &Fix) -> (String, Option<usize>) {
        let Some(last) = fix.edits.last() else { return (String::new(), None) };
        let said = (fix.red..*last)
            .rev()
            .take(6)
            .find_map(|at| Some((at, self.session.events.get(at)?.agent_text()?)));
        let remark = said.and_then(|(at, said)| Some((at, said.remark.as_deref()?)));
        remark.map_or((String::new(), None), |(at, remark)| (format!(": {remark}"), Some(at)))
    }

    fn add_concepts(&self, observation: &mut thru_core::Observation) {
        if !self.modified.is_empty() || self.runs.iter().any(|(_, run)| !run.commits.is_empty()) {
            observation.concepts.insert(Concept::WhatChanged);
        }
        if self.fixes.iter().any(|fix| !fix.edits.is_empty())
            || observation.kind == ObservationType::Bugfix
        {
            observation.concepts.insert(Concept::ProblemSolution);
        }
        if self.fixes.iter().any(|fix| fix.is_variant || fix.edits.is_empty()) {
            observation.concepts.insert(Concept::Gotcha);
        }
        let report = self.report.map(|(_, said)| said.report.as_str());
        let words = observation.narrative.iter().map(|narrative| narrative.text.as_str());
        let says_why = words.chain(report).any(|text| {
            ["because", "so that", "in order to", "to avoid"].iter().any(|why| text.contains(why))
        });
        if says_why {
            observation.concepts.insert(Concept::WhyItExists);
        }
    }
}

/// Returns true if a part of a turn only commits the books of the work that another part committed.
fn keeps_books(session: &Session<'_>, turn: &Turn, part: &Range<usize>) -> bool {
    let subjects = |range: &Range<usize>| {
        let events = session.events.get(range.clone()).unwrap_or_default();
        let runs = events.iter().filter_map(Event::run);
        runs.flat_map(|run| {
            let made = run.commits.iter().map(|commit| commit.subject.as_str());
            made.chain(run.may_have_committed())
        })
    };
    let all: Vec<&str> = subjects(&turn.range).take(COMMITS).collect();
    let is_book = |subject: &str| {
        subject::keeps_books(subject) || all.iter().any(|other| subject::frames(subject, other))
    };
    let mut own = subjects(part).peekable();
    own.peek().is_some() && own.all(is_book) && !all.iter().all(|subject| is_book(subject))
}

/// Adds a commit's fact; if the list is full, to the last one.
fn add_packed(facts: &mut Vec<(String, Vec<usize>)>, fact: String, at: usize) {
    if facts.len() + 1 < FACTS {
        facts.push((cut(&fact, FACT), vec![at]));
        return;
    }
    let short = fact.split(": ").next().unwrap_or(&fact).to_owned();
    let has_room = facts.len() < FACTS;
    match facts.last_mut() {
        Some((last, places)) if facts_room(last, &short) => {
            last.push_str("; ");
            last.push_str(&short);
            places.push(at);
        }
        _ if has_room => facts.push((cut(&fact, FACT), vec![at])),
        _ => {}
    }
}

fn facts_room(last: &str, more: &str) -> bool {
    let is_commit = WorkRecord::of(last) == Some(WorkRecord::Commit);
    is_commit && last.chars().count() + more.chars().count() + 2 <= FACT
}

/// Returns the text that reports the work: the last one about completed work, else the last report.
pub(crate) fn reporting(
    events: &[Event],
    range: std::ops::Range<usize>,
) -> Option<(usize, &AgentText)> {
    let written = |limit: usize| {
        range
            .clone()
            .rev()
            .filter_map(move |at| Some((at, events.get(at)?.agent_text()?)))
            .take(limit)
    };
    let has_action = |written: &AgentText| {
        written
            .action
            .as_ref()
            .is_some_and(|(title, strength)| *strength == Strength::Action && !is_status(title))
    };
    written(2)
        .find(|(_, written)| written.is_report() || has_action(written))
        .or_else(|| written(8).find(|(_, written)| written.is_report() || has_action(written)))
        .or_else(|| {
            written(4).find(|(_, written)| {
                written.has_lead || written.action.is_some() || written.finding.is_some()
            })
        })
}

/// Returns the files that a turn changed and did not take back.
pub(crate) fn files_modified(session: &Session<'_>, turn: &Turn) -> Vec<String> {
    let events = session.events.get(turn.range.clone()).unwrap_or_default();
    let gone = undone::gone(session.events, &turn.range, turn.range.end);
    let mut known = std::collections::BTreeSet::new();
    let modified = events.iter().flat_map(|event| &event.modified);
    modified.filter(|file| !gone.contains(&file.as_str()) && known.insert(*file)).cloned().collect()
}
