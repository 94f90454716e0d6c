//! Slots of rules: two rules of one slot cannot both be in force.

/// Tools of which a project uses one at a time, by slot.
const TOOLS: [(&str, &[&str]); 9] = [
    ("package manager", &["npm", "pnpm", "yarn", "bun"]),
    ("package manager (python)", &["pip", "uv", "poetry", "pipenv", "conda"]),
    ("test runner", &["jest", "vitest", "mocha", "jasmine"]),
    ("test runner (python)", &["pytest", "unittest"]),
    ("formatter", &["prettier", "biome", "dprint"]),
    ("formatter (python)", &["black", "yapf"]),
    ("indentation", &["tabs", "spaces"]),
    ("quotes", &["single quotes", "double quotes"]),
    ("spelling", &["british", "american"]),
];

/// Words behind which the tool stands that is not to be used.
const AGAINST: [&str; 8] =
    ["not", "instead of", "never", "don't", "rather than", "over", "no", "avoid"];

/// Returns the slot of a rule and the value that it asks for, if the rule has one.
pub(crate) fn of_rule(rule: &str) -> Option<(String, String)> {
    let words = plain_words(rule);
    for (slot, tools) in TOOLS {
        if let Some(tool) = tools.iter().find(|tool| is_chosen(&words, tool)) {
            return Some((slot.to_owned(), (*tool).to_owned()));
        }
    }
    polar(&words)
}

/// Returns the words in lower case, one blank apart, with one before and behind.
fn plain_words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '/');
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// Returns true if a rule asks for a tool: it names it, and not only as the one to avoid.
fn is_chosen(words: &str, tool: &str) -> bool {
    let asks = [" use ", " always ", " prefer ", " with ", " switch to ", " stick to "];
    let named = format!(" {tool} ");
    asks.iter().any(|ask| words.contains(ask))
        && words.match_indices(&named).any(|(at, _)| {
            let before = &words[..=at];
            !AGAINST.iter().any(|word| {
                before.ends_with(&format!(" {word} ")) || before.ends_with(&format!(" {word} use "))
            })
        })
}

/// Returns the rule without its polarity, and the polarity: "always x" and "never x" exclude each other.
fn polar(words: &str) -> Option<(String, String)> {
    const POLES: [(&str, &str); 4] =
        [(" always ", "always"), (" never ", "never"), (" don't ", "never"), (" do not ", "never")];
    let words = words.strip_prefix(" please").unwrap_or(words);
    let (pole, name) = POLES.iter().find(|(pole, _)| words.starts_with(pole))?;
    let rest = words[pole.len()..].trim().trim_start_matches("ever ");
    (rest.split(' ').count() >= 2).then(|| (rest.to_owned(), (*name).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_one_slot_exclude_each_other() {
        for (rule, expected) in [
            ("Always use npm", Some(("package manager", "npm"))),
            ("Use pnpm instead of npm", Some(("package manager", "pnpm"))),
            ("Use pnpm, not npm", Some(("package manager", "pnpm"))),
            ("Don't use npm, use bun", Some(("package manager", "bun"))),
            ("Use single quotes", Some(("quotes", "single quotes"))),
            ("Never mock the database", Some(("mock the database", "never"))),
            ("Please always mock the database.", Some(("mock the database", "always"))),
            ("Don't use npm", Some(("use npm", "never"))),
            ("Prefer small commits", None),
            ("Run the tests before a commit", None),
        ] {
            let expected = expected.map(|(slot, value)| (slot.to_owned(), value.to_owned()));
            assert_eq!(of_rule(rule), expected, "{rule}");
        }
    }
}
