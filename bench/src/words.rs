//! Words of a text that name a file, an identifier, a command or a decision.

use std::collections::BTreeSet;

/// Ends of names of files. Other dotted names are taken for code.
#[rustfmt::skip]
const EXTENSIONS: [&str; 64] = [
    "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "json", "jsonl", "md", "mdx", "py", "pyi",
    "go", "java", "kt", "kts", "rb", "php", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "sh", "bash",
    "zsh", "fish", "ps1", "sql", "css", "scss", "less", "html", "htm", "vue", "svelte", "astro", "yml",
    "yaml", "toml", "ini", "cfg", "conf", "lock", "txt", "csv", "xml", "svg", "png", "proto", "graphql",
    "prisma", "tf", "env", "example", "snap", "pen", "log", "db",
];

/// Names of products, written as identifiers are.
#[rustfmt::skip]
const PRODUCTS: [&str; 34] = [
    "GitHub", "GitLab", "TypeScript", "JavaScript", "NodeJS", "NestJS", "NextJS", "VSCode", "PostgreSQL",
    "MySQL", "MongoDB", "SQLite", "DynamoDB", "GraphQL", "OpenAI", "OpenAPI", "OAuth", "WebSocket",
    "WebSockets", "IndexedDB", "JetBrains", "CodeRabbit", "MacBook", "YouTube", "LinkedIn", "ChatGPT",
    "DevOps", "CloudFlare", "PowerShell", "LangChain", "iPhone", "macOS", "README", "CLAUDE",
];

/// Domains that addresses end in.
const DOMAINS: [&str; 10] =
    [".com", ".org", ".io", ".net", ".dev", ".ai", ".app", ".local", ".co", ".example"];

/// Programs that only look at things, or that every agent knows in every project.
#[rustfmt::skip]
const EVERYDAY: [&str; 62] = [
    "ls", "cat", "head", "tail", "grep", "rg", "egrep", "find", "fd", "echo", "printf", "wc", "which",
    "pwd", "tree", "stat", "du", "df", "diff", "file", "test", "[", "[[", "sleep", "sed", "awk", "sort",
    "uniq", "jq", "less", "type", "ps", "lsof", "env", "true", "false", "for", "while", "do", "done", "if",
    "then", "else", "fi", "cd", "pushd", "popd", "export", "set", "mkdir", "rm", "rmdir", "cp", "mv",
    "touch", "chmod", "kill", "pkill", "xargs", "tee", "read", "cut",
];

/// Subcommands of git that every agent knows.
#[rustfmt::skip]
const EVERYDAY_GIT: [&str; 18] = [
    "add", "commit", "status", "diff", "log", "show", "push", "pull", "fetch", "branch", "checkout",
    "switch", "stash", "restore", "rev-parse", "ls-files", "remote", "blame",
];

/// Programs whose next word says what they do.
#[rustfmt::skip]
const WITH_SUBCOMMAND: [&str; 30] = [
    "git", "gh", "cargo", "npm", "pnpm", "yarn", "bun", "npx", "bunx", "pnpx", "go", "docker",
    "docker-compose", "podman", "kubectl", "terraform", "uv", "poetry", "pip", "pip3", "dotnet", "brew",
    "systemctl", "rails", "bundle", "composer", "deno", "nx", "turbo", "mix",
];

/// Words that precede a command.
const PREFIXES: [&str; 7] = ["sudo", "time", "nohup", "exec", "command", "timeout", "stdbuf"];

/// The shortest identifier and the shortest telling word.
const SHORTEST: usize = 5;
const SHORTEST_WORD: usize = 4;

/// Characters of a word that make it the same word.
const STEM: usize = 6;

/// Words that say nothing about what was decided.
const COMMON: &str = "about above actually added after again against already also always another any anything \
    around back based because been before being below best better between both build call case change \
    changed changes check clear code come complete completed could current currently different does doing \
    done down each else error even every everything existing fail file files find first fixed follow found \
    from full function further going good have here high however implementation instead into issue issues \
    it's just keep know last latest least left less let's like line lines list look looks made make makes \
    making many missing more most much must need needed needs never next none note nothing once only other \
    over part plan please possible problem project proper properly really reason remove right same should \
    since some something start step still such sure take task test tests than that that's their them then \
    there these they thing things this those through time together under until update updated used user \
    using value very want wants well were what when where which while will with without work working works \
    would wrong your you're";

/// The identifiers that a text names.
pub(crate) fn identifiers(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in without_addresses(text).split(|c: char| !is_of_identifier(c)) {
        let token = token.trim_matches([':', '.', '-', '$']);
        let flag = flag_in(text, token);
        if is_identifier(token) {
            found.insert(token.to_owned());
        } else if let Some(flag) = flag {
            found.insert(flag);
        }
    }
    found
}

/// The token as a flag, if it stands as one in the text.
fn flag_in(text: &str, token: &str) -> Option<String> {
    let is_word = token.len() + 2 >= SHORTEST
        && token.starts_with(|c: char| c.is_ascii_lowercase())
        && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let flag = format!("--{token}");
    (is_word && contains(text, &flag)).then_some(flag)
}

const fn is_of_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-' | '$')
}

fn is_identifier(token: &str) -> bool {
    let letters = token.chars().filter(char::is_ascii_alphabetic).count();
    let begins = token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if token.len() < SHORTEST || letters < 3 || !begins || token.contains('-') {
        return false;
    }
    if PRODUCTS.contains(&token) || is_file(token) || is_address(token) {
        return false;
    }
    let parts: Vec<&str> = token.split(['.', ':']).filter(|part| !part.is_empty()).collect();
    let is_part = |part: &&str| part.len() > 1 && part.starts_with(|c: char| c.is_alphabetic());
    let single_colon = token.replace("::", "").contains(':');
    if single_colon {
        return false;
    }
    let joined = token.trim_matches('_').contains('_');
    let humps = token.chars().zip(token.chars().skip(1));
    let inner_capital =
        humps.clone().any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let is_path = parts.len() > 1 && parts.iter().all(is_part) && !token.contains("..");
    joined || inner_capital || is_path
}

fn is_address(token: &str) -> bool {
    DOMAINS.iter().any(|domain| token.to_ascii_lowercase().ends_with(domain))
}

fn without_addresses(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    words.filter(|word| !word.contains("://")).collect()
}

/// Names of files in a text: paths, or names with a known end. What is called is none: `response.json()`.
pub(crate) fn files(text: &str) -> BTreeSet<String> {
    // `*.test.ts` names none, and neither does an address.
    let words = text.split_inclusive(char::is_whitespace);
    let cleaned: String = words.filter(|word| !word.contains(['*']) && !is_mail(word)).collect();
    let cleaned = without_addresses(&cleaned);
    let tokens = cleaned.split_inclusive(|c: char| !is_of_path(c));
    tokens
        .filter(|token| !token.ends_with('('))
        .map(|token| token.trim_end_matches(|c| !is_of_path(c)).trim_end_matches(['.', '/']))
        .map(|token| without_place(token.trim_start_matches('@').trim_start_matches("./")))
        .filter(|token| is_file(token))
        .map(str::to_owned)
        .collect()
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, _)| name.ends_with(|c: char| c.is_alphanumeric()))
}

/// `a.rs:12` as `a.rs`.
fn without_place(token: &str) -> &str {
    token.split(':').next().unwrap_or(token)
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '[' | ']' | '+' | '~')
}

fn is_file(token: &str) -> bool {
    let name = thru_core::file_name(token);
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    EXTENSIONS.contains(&end)
        && (!stem.is_empty() || end == "env")
        && !stem.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The commands of a command line: program, subcommand, first argument.
pub(crate) fn commands(line: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for part in line.split(['\n', ';', '|', '&', '(', ')']) {
        let mut words = part
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '`', '{', '}']))
            .filter(|word| !word.is_empty() && !word.contains(['>', '<', '$']))
            .skip_while(|word| {
                let is_number = word.chars().all(|c| c.is_ascii_digit() || c == 's');
                let sets = word.contains('=') && !word.starts_with('-');
                PREFIXES.contains(word) || is_number || sets
            });
        let Some(program) = words.next() else { continue };
        let is_name = program.chars().all(|c| c.is_ascii_alphanumeric() || "._-/@+".contains(c));
        if !is_name || EVERYDAY.contains(&program) || program.starts_with(['-', '#']) {
            continue;
        }
        let arguments: Vec<&str> = words.collect();
        // A program that was written into the line is not worth knowing.
        if arguments.first().is_some_and(|word| ["-c", "-e"].contains(word)) {
            continue;
        }
        let mut arguments = arguments.into_iter().filter(|word| !word.starts_with('-'));
        let mut key = vec![program.to_owned()];
        let most = if WITH_SUBCOMMAND.contains(&program) { 2 } else { 1 };
        key.extend(arguments.by_ref().take(most).map(str::to_owned));
        let is_everyday =
            program == "git" && key.get(1).is_none_or(|word| EVERYDAY_GIT.contains(&word.as_str()));
        if key.len() > 1 && !is_everyday {
            found.insert(key);
        }
    }
    found
}

/// The telling words of a sentence, by their stems.
pub(crate) fn telling(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'');
    words
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
        .map(str::to_lowercase)
        .filter(|word| !COMMON.split_whitespace().any(|common| common == word))
        .map(|word| word.chars().take(STEM).collect())
        .collect()
}

/// Returns true if the text has this name as a whole word.
pub(crate) fn contains(text: &str, name: &str) -> bool {
    places(text, name).next().is_some()
}

/// Returns the positions of this name as a whole word.
pub(crate) fn places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_inside) && !after.is_some_and(is_inside)
    })
}

/// Returns true if all words stand on the line in this order.
pub(crate) fn has_in_order(line: &str, words: &[String]) -> bool {
    let mut rest = line;
    words.iter().all(|word| match places(rest, word).next() {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(found: BTreeSet<String>) -> Vec<String> {
        found.into_iter().collect()
    }

    #[test]
    fn names_are_known_by_their_shape() {
        let text = "Use `RetryBudget::next_pause()` with --max-time, see src/lock.rs:12 and \
            https://github.com/x/y_z or session.started; GitHub's e.g. v1.2.3 takeLock. Well-known.";
        assert_eq!(
            list(identifiers(text)),
            ["--max-time", "RetryBudget::next_pause", "session.started", "takeLock"]
        );
        assert_eq!(list(files(text)), ["src/lock.rs"]);
    }

    #[test]
    fn commands_are_known_by_their_first_words() {
        let line = "cd /x && RUST_LOG=1 timeout 60 cargo test -p thru 2>&1 | tail -5; git status; \
            pnpm run \"build\" --watch && git rebase main && python3 tools/x.py";
        assert_eq!(
            commands(line).into_iter().map(|words| words.join(" ")).collect::<Vec<_>>(),
            ["cargo test thru", "git rebase main", "pnpm run build", "python3 tools/x.py"]
        );
        let words = ["cargo", "test", "thru"].map(str::to_owned);
        assert!(has_in_order("- `cargo test -p thru --lib`", &words));
        assert!(!has_in_order("- `cargo test -p thru-core`", &["thru_core".to_owned()]));
    }

    #[test]
    fn telling_words_are_compared_by_their_beginnings() {
        assert_eq!(list(telling("Should the caching be cached?")), ["cached", "cachin"]);
        assert!(contains("a_b, c", "a_b") && !contains("a_bc", "a_b"));
    }
}
