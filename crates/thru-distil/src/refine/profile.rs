//! The kind of work in a session, by rules over what was done in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thru_core::{ObservationType, file_name};

use super::TurnMoment;
use crate::event::{Action, Event, Run};
use crate::fixes::{self, Fixes};
use crate::{subject, verbs};

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Making something new.
    Building,
    /// Repairing something broken.
    Fixing,
    /// Arranging settings, dependencies and machines.
    Configuring,
    /// Looking into things; nothing is changed.
    Exploring,
    /// Giving the same behaviour a better form.
    Refactoring,
    /// Judging changes that were made by others.
    Reviewing,
    /// Writing and running tests.
    Testing,
    /// Writing documents.
    Documenting,
}

/// The share of each kind of work, from 0 to 1. The values are independent: more work of one kind never
/// lowers another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ActivityProfile {
    /// See [`Activity::Building`].
    pub building: f32,
    /// See [`Activity::Fixing`].
    pub fixing: f32,
    /// See [`Activity::Configuring`].
    pub configuring: f32,
    /// See [`Activity::Exploring`].
    pub exploring: f32,
    /// See [`Activity::Refactoring`].
    pub refactoring: f32,
    /// See [`Activity::Reviewing`].
    pub reviewing: f32,
    /// See [`Activity::Testing`].
    pub testing: f32,
    /// See [`Activity::Documenting`].
    pub documenting: f32,
}

/// Weight of one edit of a source file, the unit for all others.
const EDIT: f32 = 1.0;

/// Weight of reading one file: a session reads some five files for each that it changes.
const LOOK: f32 = 0.2;

/// Weight of one test run.
const TEST_RUN: f32 = 0.6;

/// Weight of a command that installs or configures something.
const SETTING: f32 = 0.8;

/// Weight of a check that failed and later passed.
const FIX: f32 = 2.0;

/// Weight of the wording of a request.
const REQUEST: f32 = 2.0;

/// Amount of work that reaches half of the scale.
const HALF: f32 = 4.0;

/// Lowest share that says anything about a session.
const LEAST: f32 = 0.15;

impl Activity {
    /// Every kind. In a tie, the first one counts.
    pub const ALL: [Self; 8] = [
        Self::Fixing,
        Self::Building,
        Self::Refactoring,
        Self::Documenting,
        Self::Configuring,
        Self::Testing,
        Self::Reviewing,
        Self::Exploring,
    ];

    /// Returns the name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Building => "building",
            Self::Fixing => "fixing",
            Self::Configuring => "configuring",
            Self::Exploring => "exploring",
            Self::Refactoring => "refactoring",
            Self::Reviewing => "reviewing",
            Self::Testing => "testing",
            Self::Documenting => "documenting",
        }
    }
}

impl ActivityProfile {
    /// Computes the profile of these passages: those of a turn, or of a session in order.
    pub fn from_moments(moments: &[TurnMoment]) -> Self {
        let events: Vec<Event> = moments.iter().map(TurnMoment::event).collect();
        Self::of_events(&events)
    }

    /// Returns the profile of a session with one kind of work only.
    pub fn only(activity: Activity) -> Self {
        let mut profile = Self::default();
        *profile.of_mut(activity) = 1.0;
        profile
    }

    /// Returns the share of one kind.
    pub fn get(&self, activity: Activity) -> f32 {
        let mut profile = *self;
        *profile.of_mut(activity)
    }

    /// Returns the kind with the largest share, if that is large enough.
    pub fn dominant(&self) -> Option<Activity> {
        let mut most: Option<(Activity, f32)> = None;
        for activity in Activity::ALL {
            let value = self.get(activity);
            if value >= LEAST && most.is_none_or(|(_, known)| value > known) {
                most = Some((activity, value));
            }
        }
        most.map(|(activity, _)| activity)
    }

    pub(crate) fn of_events(events: &[Event]) -> Self {
        let mut weights = Self::default();
        let mut start = 0;
        while start < events.len() {
            let next = events.iter().skip(start + 1).position(|event| event.request().is_some());
            let end = next.map_or(events.len(), |next| start + 1 + next);
            weights.add_turn(events.get(start..end).unwrap_or_default());
            start = end;
        }
        let Fixes { fixes, .. } = fixes::follow(events);
        weights.fixing += FIX * fixes.iter().filter(|fix| !fix.edits.is_empty()).count() as f32;
        weights.scaled()
    }

    fn add_turn(&mut self, events: &[Event]) {
        let asked = events.first().and_then(Event::request);
        let words = asked.and_then(|request| request.title.as_deref().or(request.text.as_deref()));
        let is_review =
            words.is_some_and(|words| begins_with(words, &["review", "audit", "critique"]));
        let commits = events.iter().filter_map(Event::run).flat_map(|run| &run.commits);
        let committed = commits.filter_map(|commit| kind_of_commit(&commit.subject)).next_back();
        let kind = committed.or_else(|| words.and_then(verbs::kind_of));
        if is_review {
            self.reviewing += REQUEST;
        }
        for event in events {
            self.add_files(event, kind, is_review);
            match &event.action {
                Action::Ran(run) => self.add_run(run),
                Action::Used if event.read.is_empty() && event.modified.is_empty() => {
                    self.exploring += LOOK;
                }
                _ => {}
            }
        }
    }

    fn add_files(&mut self, event: &Event, kind: Option<ObservationType>, is_review: bool) {
        for path in &event.modified {
            *self.of_mut(match FileKind::from_path(path) {
                FileKind::Test => Activity::Testing,
                FileKind::Document => Activity::Documenting,
                FileKind::Setting => Activity::Configuring,
                FileKind::Source => match kind {
                    Some(ObservationType::Bugfix) => Activity::Fixing,
                    Some(ObservationType::Refactor) => Activity::Refactoring,
                    _ => Activity::Building,
                },
            }) += EDIT;
        }
        let looked = LOOK * event.read.len() as f32;
        *self.of_mut(if is_review { Activity::Reviewing } else { Activity::Exploring }) += looked;
    }

    fn add_run(&mut self, run: &Run) {
        let words: Vec<&str> = run.family.split(' ').collect();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
        #[rustfmt::skip]
        const TESTS: [&str; 18] = [
            "test", "tests", "nextest", "pytest", "jest", "vitest", "mocha", "playwright", "cypress",
            "rspec", "phpunit", "bats", "ctest", "tox", "nox", "e2e", "t", "unittest",
        ];
        #[rustfmt::skip]
        const SETTINGS: [&str; 20] = [
            "install", "add", "init", "config", "up", "upgrade", "update", "systemctl", "brew",
            "apt", "apt-get", "pip", "pip3", "terraform", "kubectl", "compose", "chmod", "remote",
            "auth", "login",
        ];
        let is_git = words.first().is_some_and(|word| matches!(*word, "git" | "gh"));
        if run.is_check && has(&TESTS) {
            self.testing += TEST_RUN;
        } else if is_git && has(&["diff", "show", "blame", "review"])
            || run.family.starts_with("gh pr")
        {
            self.reviewing += LOOK * 2.0;
        } else if is_git && !has(&["config", "init", "remote", "auth"]) {
            // A commit belongs to whatever was committed.
        } else if !run.is_check && has(&SETTINGS) {
            self.configuring += SETTING;
        } else if run.is_looking {
            self.exploring += LOOK;
        }
    }

    const fn of_mut(&mut self, activity: Activity) -> &mut f32 {
        match activity {
            Activity::Building => &mut self.building,
            Activity::Fixing => &mut self.fixing,
            Activity::Configuring => &mut self.configuring,
            Activity::Exploring => &mut self.exploring,
            Activity::Refactoring => &mut self.refactoring,
            Activity::Reviewing => &mut self.reviewing,
            Activity::Testing => &mut self.testing,
            Activity::Documenting => &mut self.documenting,
        }
    }

    /// Scales weights of any size to numbers from 0 to 1.
    fn scaled(mut self) -> Self {
        for activity in Activity::ALL {
            let value = self.of_mut(activity);
            *value /= *value + HALF;
        }
        self
    }
}

fn begins_with(words: &str, known: &[&str]) -> bool {
    let words = words.split_whitespace().take(4);
    words
        .map(|word| word.trim_matches(|c: char| !c.is_alphabetic()))
        .any(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

fn kind_of_commit(subject: &str) -> Option<ObservationType> {
    let (kind, _, rest) = subject::conventional(subject);
    match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("fix") => Some(ObservationType::Bugfix),
        Some("feat") => Some(ObservationType::Feature),
        Some("refactor" | "perf" | "style") => Some(ObservationType::Refactor),
        _ => verbs::kind_of(rest),
    }
}

/// The kind of a file, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Source,
    Test,
    Document,
    Setting,
}

impl FileKind {
    pub(super) fn from_path(path: &str) -> Self {
        let lower = path.replace('\\', "/").to_ascii_lowercase();
        let name = file_name(&lower);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let in_folder =
            |folders: &[&str]| lower.rsplit('/').skip(1).any(|folder| folders.contains(&folder));
        let is_test =
            in_folder(&["tests", "test", "__tests__", "spec", "specs", "e2e", "fixtures"])
                || stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem.ends_with(".test")
                || stem.ends_with(".spec")
                || stem.ends_with("_spec")
                || stem == "tests";
        if is_test && !matches!(extension, "md" | "mdx") {
            return Self::Test;
        }
        match extension {
            "md" | "mdx" | "rst" | "adoc" | "txt" => return Self::Document,
            "toml" | "yaml" | "yml" | "ini" | "cfg" | "conf" | "env" | "lock" | "properties"
            | "service" | "tf" | "plist" => return Self::Setting,
            "json" | "jsonc" | "json5" => return Self::Setting,
            _ => {}
        }
        let is_setting = matches!(name, "dockerfile" | "makefile" | "justfile" | "procfile")
            || name.starts_with('.')
            || stem.ends_with(".config")
            || in_folder(&[".github", ".vscode", ".claude"]);
        if is_setting { Self::Setting } else { Self::Source }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use thru_core::{Access, FileTouch, Outcome};

    use super::*;
    use crate::refine::tests::Story;

    fn dominant(story: &Story) -> Option<Activity> {
        ActivityProfile::from_moments(&story.moments).dominant()
    }

    #[test]
    fn files_are_known_by_their_paths() {
        for (path, kind) in [
            ("/p/src/a.rs", FileKind::Source),
            ("/p/tests/it/a.rs", FileKind::Test),
            ("src/a.test.ts", FileKind::Test),
            ("test_a.py", FileKind::Test),
            ("README.md", FileKind::Document),
            ("Cargo.toml", FileKind::Setting),
            (".github/workflows/ci.yml", FileKind::Setting),
            ("vite.config.ts", FileKind::Setting),
            (".bashrc", FileKind::Setting),
        ] {
            assert_eq!(FileKind::from_path(path), kind, "{path}");
        }
    }

    #[test]
    fn sessions_are_told_apart() {
        let mut fixing = Story::default();
        fixing
            .asks("Fix the lost update in the index")
            .reads("/p/src/index.rs")
            .runs("cargo test", "test result: FAILED. 1 failed", Outcome::Succeeded)
            .edits("/p/src/index.rs", "a", "b")
            .runs("cargo test", "test result: ok. 4 passed", Outcome::Succeeded);
        assert_eq!(dominant(&fixing), Some(Activity::Fixing));

        let mut building = Story::default();
        building.asks("Add a cache for results");
        for file in ["cache", "reader", "main"] {
            building.reads(&format!("/p/src/{file}.rs")).edits(
                &format!("/p/src/{file}.rs"),
                "a",
                "b",
            );
        }
        building.runs("cargo test", "test result: ok. 4 passed", Outcome::Succeeded);
        assert_eq!(dominant(&building), Some(Activity::Building));

        let mut exploring = Story::default();
        exploring.asks("How does the lock work?");
        for file in 0..6 {
            exploring.reads(&format!("/p/src/{file}.rs"));
        }
        exploring.says("It is held per file.");
        assert_eq!(dominant(&exploring), Some(Activity::Exploring));

        let mut refactoring = Story::default();
        refactoring
            .asks("Refactor the reader into two modules")
            .edits("/p/src/reader.rs", "a", "b")
            .edits("/p/src/lines.rs", "a", "b");
        assert_eq!(dominant(&refactoring), Some(Activity::Refactoring));

        let mut reviewing = Story::default();
        reviewing
            .asks("Review the changes of this branch")
            .runs("git diff main", "diff", Outcome::Succeeded)
            .reads("/p/src/reader.rs");
        assert_eq!(dominant(&reviewing), Some(Activity::Reviewing));

        let mut documenting = Story::default();
        documenting.asks("Write the readme").edits("/p/README.md", "a", "b");
        assert_eq!(dominant(&documenting), Some(Activity::Documenting));

        let mut configuring = Story::default();
        configuring
            .asks("Set up the linter")
            .runs("npm install eslint", "added 3 packages", Outcome::Succeeded)
            .edits("/p/package.json", "a", "b");
        assert_eq!(dominant(&configuring), Some(Activity::Configuring));

        let mut testing = Story::default();
        testing.asks("Cover the parser with tests").edits("/p/tests/parser.rs", "a", "b").runs(
            "cargo test",
            "test result: ok. 4 passed",
            Outcome::Succeeded,
        );
        assert_eq!(dominant(&testing), Some(Activity::Testing));

        assert_eq!(dominant(Story::default().asks("thanks")), None);
    }

    fn stories() -> impl Strategy<Value = Story> {
        prop::collection::vec((0u8..8, 0u8..4), 0..30).prop_map(|steps| {
            let mut story = Story::default();
            for (what, which) in steps {
                let path = ["/p/src/a.rs", "/p/tests/a.rs", "/p/README.md", "/p/Cargo.toml"]
                    [usize::from(which)];
                match what {
                    0 => story.asks(
                        ["Fix it now", "Add a cache", "Review this", "yes"][usize::from(which)],
                    ),
                    1 | 2 => story.edits(path, "a", "b"),
                    3 => story.reads(path),
                    4 => story.runs(
                        "cargo test",
                        "test result: FAILED. 1 failed",
                        Outcome::Succeeded,
                    ),
                    5 => story.runs("cargo test", "ok", Outcome::Succeeded),
                    6 => story.runs("npm install x", "added", Outcome::Succeeded),
                    _ => story.says("I've done it."),
                };
            }
            story
        })
    }

    proptest! {
        #[test]
        fn more_of_one_kind_is_never_less_of_it(story in stories()) {
            let before = ActivityProfile::from_moments(&story.moments);
            for activity in Activity::ALL {
                prop_assert!((0.0..=1.0).contains(&before.get(activity)));
            }
            let after = |change: fn(&mut Story) -> &mut Story| {
                let mut story = story.clone();
                change(&mut story);
                ActivityProfile::from_moments(&story.moments)
            };
            let run = after(|story| story.runs("cargo test", "ok", Outcome::Succeeded));
            prop_assert!(run.testing > before.testing && run.fixing >= before.fixing);
            let read = after(|story| story.reads("/p/x.rs"));
            prop_assert!(read.exploring + read.reviewing > before.exploring + before.reviewing);
            let written = after(|story| story.edits("/p/x.md", "a", "b"));
            prop_assert!(written.documenting > before.documenting);
            let set = after(|story| story.edits("/p/x.toml", "a", "b"));
            prop_assert!(set.configuring > before.configuring && set.building >= before.building);
        }
    }

    #[test]
    fn a_failed_edit_counts_for_nothing() {
        let mut story = Story::default();
        story.edits("/p/a.md", "a", "b");
        let moment = story.moments.last_mut().unwrap();
        moment.outcome = Some(Outcome::Failed);
        moment.files = vec![FileTouch { path: "/p/a.md".into(), access: Access::Modified }];
        assert_eq!(ActivityProfile::from_moments(&story.moments).documenting, 0.0);
    }
}
