//! Rules in their parts: when a later one takes the place of an earlier one.
//!
//! Packs and the graph ask the same question here, so that both show the same rules.

/// Words that carry no meaning of their own in a rule.
#[rustfmt::skip]
const EMPTY: [&str; 58] = [
    "a", "all", "also", "always", "an", "and", "any", "are", "as", "be", "by", "every", "everything", "ever", "future",
    "going", "forward", "i", "is", "it", "just", "keep", "make", "must", "now", "of", "only", "or", "please", "prefer", "project",
    "remember", "repo", "run", "running", "should", "sure", "that", "the", "their", "them", "then", "this", "to", "us", "use", "used", "uses",
    "using", "want", "we", "with", "write", "you", "your", "our", "codebase", "here",
];

/// Things of which a project has one: naming another takes its place.
const ONE_OF: [&[&str]; 13] = [
    &["npm", "pnpm", "yarn", "bun", "deno"],
    &["pip", "uv", "poetry", "pipenv", "conda", "hatch"],
    &["jest", "vitest", "mocha", "jasmine", "ava"],
    &["pytest", "unittest", "nose"],
    &["tabs", "spaces"],
    &["british", "american"],
    &[
        "english",
        "german",
        "french",
        "spanish",
        "italian",
        "dutch",
        "portuguese",
        "japanese",
        "chinese",
    ],
    &["single", "double"],
    &["prettier", "biome", "dprint"],
    &["eslint", "biome", "oxlint"],
    &["black", "ruff", "yapf"],
    &["squash", "rebase", "merge"],
    &["snake_case", "camelcase", "kebab-case", "pascalcase"],
];

/// A rule in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saying {
    wanted: Vec<String>,
    refused: Vec<String>,
    /// The place or case that it is limited to.
    scope: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Wanted,
    Refused,
    Scope,
}

impl Saying {
    /// Reads a rule in a person's words.
    pub fn parse(rule: &str) -> Self {
        let mut lower = rule.to_lowercase().replace('’', "'");
        for lasting in [
            "from now on",
            "in the future",
            "in future",
            "going forward",
            "in this project",
            "in this repo",
            "in this codebase",
        ] {
            lower = lower.replace(lasting, " ");
        }
        let lower = lower
            .replace("instead of", " not ")
            .replace("rather than", " not ")
            .replace("no longer", " not ")
            .replace("do not", " not ");
        let mut saying = Self::default();
        for clause in lower.split([',', ';', '.', ':']) {
            let mut part = Part::Wanted;
            for word in words(clause) {
                match word.as_str() {
                    "not" | "never" | "don't" | "dont" | "avoid" | "stop" | "without" | "no"
                    | "over" => part = Part::Refused,
                    "but" => part = Part::Wanted,
                    "in" | "for" | "when" | "on" | "inside" | "under" | "before" | "after"
                    | "during" | "if" | "while" => part = Part::Scope,
                    "because" | "since" => break,
                    word if EMPTY.contains(&word) => {}
                    word => match part {
                        Part::Wanted => saying.wanted.push(word.to_owned()),
                        Part::Refused => saying.refused.push(word.to_owned()),
                        Part::Scope => saying.scope.push(word.to_owned()),
                    },
                }
            }
        }
        saying
    }

    /// Returns true if this rule, the later one, takes the place of an earlier one.
    pub fn supersedes(&self, earlier: &Self) -> bool {
        let is_as_wide =
            self.scope.is_empty() || self.scope.iter().any(|word| earlier.scope.contains(word));
        if !is_as_wide || self == earlier {
            return false;
        }
        let within =
            |a: &[String], b: &[String]| !a.is_empty() && a.iter().all(|word| b.contains(word));
        let turns = within(&self.refused, &earlier.wanted)
            || earlier.wanted.is_empty() && within(&earlier.refused, &self.wanted);
        turns || self.names_another(earlier) || self.counts_differently(earlier)
    }

    /// Returns true if both want one of the same kind, and not the same one.
    fn names_another(&self, earlier: &Self) -> bool {
        ONE_OF.iter().any(|kind| {
            let of_kind = |said: &Self| -> Vec<String> {
                said.wanted.iter().filter(|word| kind.contains(&word.as_str())).cloned().collect()
            };
            let (new, old) = (of_kind(self), of_kind(earlier));
            !new.is_empty() && !old.is_empty() && !new.iter().any(|word| old.contains(word))
        })
    }

    /// Returns true if both say the same but for their numbers.
    fn counts_differently(&self, earlier: &Self) -> bool {
        let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
        let split = |said: &Self| -> (Vec<String>, Vec<String>) {
            said.wanted.iter().cloned().partition(|word| is_number(&word))
        };
        let ((new, words), (old, known)) = (split(self), split(earlier));
        !new.is_empty()
            && !old.is_empty()
            && new != old
            && !words.is_empty()
            && words == known
            && self.scope == earlier.scope
    }
}

/// Returns the words of a rule that carry its meaning, in lower case.
pub fn telling_words(rule: &str) -> impl Iterator<Item = String> + '_ {
    words(rule).filter(|word| !EMPTY.contains(&word.as_str()))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| {
        !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '.' | '/' | '+' | '#'))
    })
    .map(|word| word.trim_matches(|c: char| matches!(c, '\'' | '-' | '.' | '/')).to_lowercase())
    .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_rule_about_the_same_thing_takes_its_place() {
        for (earlier, later, expected) in [
            ("Always npm", "From now on pnpm instead of npm", true),
            ("Always use npm", "From now on use pnpm", true),
            ("Run the tests with jest", "Use vitest", true),
            ("Use tabs", "Indent with spaces, not tabs", true),
            ("Use American spelling", "Use British spelling", true),
            ("Always squash before merging", "Never squash", true),
            ("Never mock the network", "Always mock the network", true),
            ("Lines may have 80 characters", "Lines may have 100 characters", true),
            ("From now on use pnpm", "Always use npm", true),
            ("Always run the linter", "Use pnpm instead of npm", false),
            ("Use spaces", "Use tabs, not spaces in makefiles", false),
            ("Use tabs in makefiles", "Use spaces in python files", false),
            ("Use pnpm, not npm", "Always use pnpm", false),
            ("Always write tests first", "Never push to main", false),
            ("Never push to main", "Never force push to main", false),
            ("Answer in German", "Answer in German", false),
        ] {
            let supersedes = Saying::parse(later).supersedes(&Saying::parse(earlier));
            assert_eq!(supersedes, expected, "{earlier} / {later}");
        }
    }
}
