//! How the last sessions worked: the commands that they ran again and again, and those that failed until another one ran.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use thru_store::{Result, Store};

use super::calls::{Call, Sessions};
use super::orders::is_order;
use super::render::{Section, recorded};
use super::typed::{Line, Typed};
use super::words::is_file;
use super::{Draft, LONGEST_LINE};

/// The weight of a session, relative to the one after it.
const FADING: f64 = 0.8;
/// Runs in one session that are as good as runs in two, …
const RUNS: usize = 3;
/// … where there are fewer sessions than this: what only one of many ran is about that session.
const MANY: usize = 3;
/// Maximum number of commands, and characters of one.
const COMMANDS: usize = 6;
const COMMAND: usize = 70;
/// Minimum and maximum number of orders to tools, and words of one behind the name of its tool. Two tell nothing of a tool.
const FEWEST_ORDERS: usize = 3;
const TOOLS: usize = 6;
const ORDER_WORDS: usize = 2;
/// Calls after a failure within which another command puts it right, and the sessions that saw it.
const SOON: usize = 3;
const SESSIONS_THAT_SAW: usize = 2;
/// Maximum number of such failures.
const TRAPS: usize = 2;
/// Maximum number of steps of a hook, and characters of one.
const STEPS: usize = 3;
const STEP: usize = 40;

/// Words that name a check.
#[rustfmt::skip]
const CHECKS: [&str; 12] = [
    "build", "check", "clippy", "eslint", "lint", "mypy", "pytest", "test", "tests", "tox", "tsc", "typecheck",
];

/// The lines about commands.
pub(super) fn commands_in_play(store: &Store, sessions: &Sessions) -> Result<Vec<Draft>> {
    let line = |text: String, reason: &str| Draft {
        memory: None,
        section: Section::CommandsInPlay,
        tier: sessions.tier,
        text,
        reason: reason.to_owned(),
    };
    let mut drafts = Vec::new();
    let (commands, tools) = again_and_again(sessions);
    let commands = commands.join(", ");
    let hook = commit_hook(store, &sessions.calls)?;
    // Of what a hook printed, an order would hold back the whole line.
    let fits = |hook: &String| {
        !is_order(hook) && commands.chars().count() + hook.chars().count() + 2 <= LONGEST_LINE
    };
    let (with_commands, alone) = match hook {
        Some(hook) if !commands.is_empty() && fits(&hook) => (Some(hook), None),
        hook => (None, hook),
    };
    if !commands.is_empty() {
        let text =
            with_commands.map_or_else(|| commands.clone(), |hook| format!("{commands}; {hook}"));
        drafts.push(line(text, "commands that the last sessions ran again and again"));
    }
    for trap in traps(&sessions.calls).into_iter().take(TRAPS) {
        drafts.push(line(trap, "failed until another command ran, or in another directory"));
    }
    if let Some(hook) = alone {
        drafts.push(line(hook, "a hook held back commits"));
    }
    if !tools.is_empty() {
        drafts.push(line(tools, "orders to tools that the last sessions gave again and again"));
    }
    Ok(drafts)
}

/// Returns the line about the hook that held back commits in the last sessions, with the steps that it printed.
fn commit_hook(store: &Store, sessions: &[Vec<Option<Call>>]) -> Result<Option<String>> {
    let (mut held_back, mut steps) = (0, Vec::new());
    for calls in sessions {
        let mut is_held_back = false;
        for call in calls.iter().flatten().filter(|call| is_failed_commit(call)) {
            let output = store.text_of(&call.passage)?;
            if output.lines().any(names_hook) {
                is_held_back = true;
                for step in output.lines().filter_map(step_of_hook) {
                    if !steps.contains(&step) {
                        steps.push(step);
                    }
                }
            }
        }
        held_back += usize::from(is_held_back);
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let steps: Vec<String> = steps.iter().take(STEPS).map(|step| format!("`{step}`")).collect();
    let steps = steps.join(", ");
    let sessions = if held_back == 1 { "session" } else { "sessions" };
    Ok(Some(format!(
        "`git commit` runs a hook here ({steps}), which failed in {held_back} {sessions}"
    )))
}

fn is_failed_commit(call: &Call) -> bool {
    let commits = |typed: &Typed| typed.of_git().is_some_and(|(order, _)| order == "commit");
    call.has_failed() && call.line.commands.iter().any(commits)
}

/// True for a line in which Husky, Lefthook or pre-commit says which hook runs or failed.
fn names_hook(line: &str) -> bool {
    line.starts_with("husky - ") && line.contains(" script failed")
        || line.contains("hook: pre-commit")
        || line.starts_with("- hook id: ")
}

/// Returns the command, the name or the rule of a step that a hook prints: `$ just lint`, `┃  lint ❯`, `- hook id: lint`,
/// `[FAILED] just lint [FAILED]`, `✖ subject may not be empty [subject-empty]`.
fn step_of_hook(line: &str) -> Option<String> {
    let line = line.trim();
    let step = (line.strip_prefix("$ "))
        .or_else(|| line.strip_prefix("- hook id: "))
        .or_else(|| line.strip_prefix("[FAILED] ")?.strip_suffix("[FAILED]"))
        .or_else(|| line.strip_prefix('┃')?.strip_suffix('❯'))
        .or_else(|| Some(line.strip_prefix('✖')?.strip_suffix(']')?.rsplit_once('[')?.1))?;
    let step = recorded(step.trim(), STEP);
    (!step.is_empty() && !step.contains('`')).then_some(step)
}

/// The runs of a command.
#[derive(Default)]
struct Known {
    /// The weights of the sessions that ran it, added up.
    weight: f64,
    sessions: usize,
    runs: usize,
    failures: usize,
    /// True if its last run did not fail.
    works: bool,
    /// True if the latest session ran it.
    is_latest: bool,
}

impl Known {
    fn value(&self) -> f64 {
        self.weight * self.sessions as f64 * (self.runs as f64).ln_1p()
    }
}

/// Commands by what is run, with their runs.
#[derive(Default)]
struct Runs(BTreeMap<String, Known>);

impl Runs {
    /// Adds a run; the latest comes first.
    fn add(&mut self, command: &str, rank: usize, has_failed: bool, is_first: bool) {
        let one = self.0.entry(command.to_owned()).or_default();
        one.works |= one.runs == 0 && !has_failed;
        one.runs += 1;
        one.is_latest |= rank == 0;
        one.failures += usize::from(has_failed);
        if is_first {
            one.sessions += 1;
            one.weight += FADING.powi(i32::try_from(rank).unwrap_or(i32::MAX));
        }
    }

    /// Returns those that work: checks first, then the most telling.
    fn best(self, is_young: bool) -> Vec<String> {
        let works = |one: &Known| one.works && one.failures * 2 <= one.runs;
        let known = self.0.into_iter().filter(|(_, one)| works(one));
        let known = known.map(|(name, one)| (is_check(&name), one.value(), name, one));
        let mut known: Vec<(bool, f64, String, Known)> = known
            .filter(|(is_check, _, _, one)| {
                one.sessions > 1 || is_young && one.runs >= RUNS || *is_check && one.is_latest
            })
            .collect();
        known.sort_by(|a, b| {
            b.0.cmp(&a.0).then_with(|| b.1.total_cmp(&a.1)).then_with(|| a.2.cmp(&b.2))
        });
        known.into_iter().map(|(_, _, name, _)| name).collect()
    }

    /// Returns the orders to tools that several sessions gave, the most usual first. One that is told with more words, or as a
    /// command, is none.
    fn usual_orders(self, told: &[String]) -> Vec<String> {
        let usual =
            self.0.into_iter().filter(|(_, one)| one.sessions > 1 && one.failures * 2 <= one.runs);
        let mut usual: Vec<(String, Known)> = usual.collect();
        usual.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then_with(|| a.0.cmp(&b.0)));
        let names: Vec<String> = usual.into_iter().map(|(name, _)| name).collect();
        let begins = |name: &str, other: &str| {
            other.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let is_told = |name: &str| {
            told.iter().any(|other| begins(name, other))
                || names.iter().any(|other| other != name && begins(name, other))
        };
        names.iter().filter(|name| !is_told(name)).cloned().collect()
    }
}

/// Returns commands as they can be run again, and a line of the tools with the orders that they are given, each time about
/// something else.
fn again_and_again(sessions: &Sessions) -> (Vec<String>, String) {
    let (mut runs, mut orders) = (Runs::default(), Runs::default());
    for (rank, calls) in sessions.calls.iter().enumerate() {
        let (mut seen, mut given) = (HashSet::new(), HashSet::new());
        for call in calls.iter().flatten() {
            let has_failed = call.has_failed();
            for command in worth_knowing(&call.line) {
                let is_first = seen.insert(command.clone());
                runs.add(&command, rank, has_failed, is_first);
            }
            for order in
                call.line.commands.iter().filter(|one| !one.is_piped).flat_map(orders_to_tool)
            {
                let is_first = given.insert(order.clone());
                orders.add(&order, rank, has_failed, is_first);
            }
        }
    }
    // What can be run as it stands was judged as that.
    orders.0.retain(|order, _| !runs.0.contains_key(order));
    let mut told = runs.best(sessions.count < MANY);
    told.truncate(COMMANDS);
    let mut tools = orders.usual_orders(&told);
    tools.truncate(TOOLS);
    if tools.len() < FEWEST_ORDERS {
        tools.clear();
    }
    let told = told.iter().map(|command| format!("`{}`", recorded(command, COMMAND)));
    (told.collect(), line_of_tools(&tools))
}

/// Returns "Tools: `kiln cone`, `load`; `press up`" for these orders; nothing for none.
fn line_of_tools(orders: &[String]) -> String {
    let mut tools: Vec<(&str, Vec<String>)> = Vec::new();
    for order in orders {
        let (tool, rest) = order.split_once(' ').unwrap_or((order, ""));
        match tools.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, said)) => said.push(format!("`{}`", recorded(rest, COMMAND))),
            None => tools.push((tool, vec![format!("`{}`", recorded(order, COMMAND))])),
        }
    }
    let tools: Vec<String> = tools.into_iter().map(|(_, said)| said.join(", ")).collect();
    if tools.is_empty() { String::new() } else { format!("Tools: {}", tools.join("; ")) }
}

/// Returns the tool of a command with the words that say what it is to do: `kiln cone add` and `kiln cone` of `kiln cone add 4`.
/// What sets a tool up, or asks about itself, is no work with it.
fn orders_to_tool(one: &Typed) -> Vec<String> {
    #[rustfmt::skip]
    const SETTING_UP: [&str; 10] =
        ["auth", "help", "info", "init", "install", "login", "setup", "version", "where", "whoami"];
    /// Tools that are the same everywhere.
    #[rustfmt::skip]
    const KNOWN: [&str; 20] = [
        "gh", "glab", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "deno", "cargo", "go", "pip", "uv", "poetry", "docker", "kubectl",
        "brew", "apt", "systemctl", "terraform",
    ];
    /// Words that only run what follows.
    const RUNNING: [&str; 3] = ["exec", "run", "x"];
    let is_word = |word: &&String| {
        word.len() > 1
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            && !word.starts_with('-')
    };
    let words = one.words.iter().skip(1).take(ORDER_WORDS).take_while(is_word).count();
    if !is_tool(one)
        || KNOWN.contains(&one.program())
        || one.words[1..=words].iter().any(|word| SETTING_UP.contains(&word.as_str()))
    {
        return Vec::new();
    }
    (1..=words)
        .map(|last| &one.words[..=last])
        .filter(|order| order.last().is_some_and(|word| !RUNNING.contains(&word.as_str())))
        .map(|order| order.join(" "))
        .collect()
}

/// True for a command that checks or builds the whole of something, and not one file of it.
fn is_check(command: &str) -> bool {
    checks_of(command).next().is_some() && !command.split(' ').any(is_file)
}

/// Returns the checks that a command names.
fn checks_of(command: &str) -> impl Iterator<Item = &str> {
    command.split([' ', ':']).filter(|word| CHECKS.contains(word))
}

/// A call that runs one command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Only {
    command: String,
    /// The directory that it first changes to.
    directory: Option<String>,
    has_failed: bool,
}

impl Only {
    fn of(call: &Call) -> Option<Self> {
        let mut commands = worth_knowing(&call.line).into_iter();
        let (Some(command), None) = (commands.next(), commands.next()) else { return None };
        Some(Self { command, directory: directory_of(&call.line), has_failed: call.has_failed() })
    }
}

/// A command that fails, and what helped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trap {
    /// Another command of the same program, or the same of another program.
    Other { failing: String, helping: String },
    /// The same command in a directory below.
    Below { command: String, directory: String },
}

/// Commands that fail, with what helps.
fn traps(sessions: &[Vec<Option<Call>>]) -> Vec<String> {
    let mut seen: BTreeMap<Trap, usize> = BTreeMap::new();
    let mut worked: HashSet<String> = HashSet::new();
    for calls in sessions {
        // The newest comes first.
        let calls: Vec<Option<Only>> =
            calls.iter().rev().map(|call| call.as_ref().and_then(Only::of)).collect();
        let mut of_session = BTreeSet::new();
        for (at, call) in calls.iter().enumerate() {
            let Some(call) = call else { continue };
            if !call.has_failed {
                worked.insert(call.command.clone());
                continue;
            }
            // An edit in between may be what helped.
            let after = calls.iter().skip(at + 1).take(SOON).map_while(Option::as_ref);
            of_session
                .extend(after.filter(|next| !next.has_failed).find_map(|next| call.trap(next)));
        }
        of_session.into_iter().for_each(|trap| *seen.entry(trap).or_default() += 1);
    }
    let is_told = |(trap, sessions): &(Trap, usize)| match trap {
        Trap::Other { .. } => *sessions >= SESSIONS_THAT_SAW,
        Trap::Below { .. } => true,
    };
    let mut traps: Vec<(Trap, usize)> = seen.into_iter().filter(is_told).collect();
    traps.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let shown = |text: &str| recorded(text, COMMAND);
    let told = traps.into_iter().map(|(trap, sessions)| match trap {
        Trap::Other { failing, helping } if worked.contains(&failing) => format!(
            "`{}` failed in {sessions} sessions; `{}` came next and passed",
            shown(&failing),
            shown(&helping)
        ),
        Trap::Other { failing, helping } => {
            format!("`{}` fails here; `{}` works", shown(&failing), shown(&helping))
        }
        Trap::Below { command, directory } => {
            format!("`{}` failed until it ran in `{}`", shown(&command), shown(&directory))
        }
    });
    told.collect()
}

impl Only {
    /// Returns what the next call, which passed, did otherwise than this one, which failed.
    fn trap(&self, next: &Self) -> Option<Trap> {
        if next.command != self.command {
            let helps = is_kin(&self.command, &next.command)
                && !repairs(&self.command, &next.command)
                && !is_another_check(&self.command, &next.command);
            return helps.then(|| Trap::Other {
                failing: self.command.clone(),
                helping: next.command.clone(),
            });
        }
        let directory = next.directory.clone().filter(|_| self.directory.is_none())?;
        Some(Trap::Below { command: self.command.clone(), directory })
    }
}

/// Returns the directory of the project that a line first changes to.
fn directory_of(line: &Line) -> Option<String> {
    let first = line.commands.first().filter(|one| line.is_whole && one.program() == "cd")?;
    let is_below = |path: &&String| !path.starts_with(['/', '~', '-', '.', '$']);
    first.words.get(1).filter(is_below).cloned()
}

/// Returns the commands of a line that can be run as they stand, and that not every agent knows in every project.
fn worth_knowing(line: &Line) -> Vec<String> {
    let commands = line.commands.iter().filter(|one| line.is_whole && !one.is_piped);
    let told = commands.filter(|one| is_worth_knowing(one) && is_plain(one));
    told.map(|one| one.words.join(" ")).collect()
}

/// True for two commands that do nearly the same: by the same program, or the same by another: `pytest -q` and
/// `uv run pytest -q`, `npm test` and `pnpm test`.
fn is_kin(a: &str, b: &str) -> bool {
    let parts = |command: &str| {
        let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
        (program.to_owned(), rest.to_owned())
    };
    let ((program, rest), (other, other_rest)) = (parts(a), parts(b));
    let ends = |longer: &str, shorter: &str| longer.ends_with(&format!(" {shorter}"));
    program == other || !rest.is_empty() && rest == other_rest || ends(a, b) || ends(b, a)
}

/// True for a command that is another one with the order to mend what it finds, which every agent runs by itself: `npm run lint:fix`
/// and `ruff check --fix`.
fn repairs(failing: &str, helping: &str) -> bool {
    let behind = helping.strip_prefix(failing).unwrap_or_default();
    behind.split([' ', ':', '-', '=']).any(|word| word == "fix" || word == "write")
}

/// True for commands that check different things: that one passes says nothing of the other.
fn is_another_check(a: &str, b: &str) -> bool {
    let of_b: Vec<&str> = checks_of(b).collect();
    let mut of_a = checks_of(a).peekable();
    of_a.peek().is_some() && !of_b.is_empty() && !of_a.any(|check| of_b.contains(&check))
}

/// True for a command that not every agent knows in every project.
fn is_worth_knowing(one: &Typed) -> bool {
    is_tool(one) && !is_for_the_moment(one)
}

/// True for a program that not every agent knows in every project.
fn is_tool(one: &Typed) -> bool {
    #[rustfmt::skip]
    const EVERYDAY: [&str; 73] = [
        "ls", "cat", "head", "tail", "grep", "rg", "egrep", "find", "fd", "echo", "printf", "wc", "which", "pwd",
        "tree", "stat", "du", "df", "diff", "file", "test", "[", "[[", "sleep", "sed", "awk", "sort", "uniq", "jq",
        "less", "type", "ps", "lsof", "env", "true", "false", "for", "while", "do", "done", "if", "then", "else",
        "fi", "cd", "pushd", "popd", "export", "set", "mkdir", "rm", "rmdir", "cp", "mv", "touch", "chmod", "kill",
        "pkill", "xargs", "tee", "read", "cut", "git", "nl", "thru", "source", "command",
        "ssh", "scp", "curl", "wget", "date", "tmux",
    ];
    let program = one.program();
    let is_name = program.chars().all(|c| c.is_ascii_alphanumeric() || "._-/@+".contains(c));
    let is_of_git = one.words.get(1).is_some_and(|word| word == "git");
    is_name && !is_of_git && !EVERYDAY.contains(&program)
}

/// True for a command that asks how things stand, or sets something up once: `kiln status`, `npm view kiln`, `kiln init`.
fn is_for_the_moment(one: &Typed) -> bool {
    #[rustfmt::skip]
    const ORDERS: [&str; 20] = [
        "auth", "describe", "get", "help", "info", "init", "install", "list", "login", "logs",
        "ls", "outdated", "ps", "setup", "show", "status", "version", "view", "where", "whoami",
    ];
    let is_order = |word: &String| {
        // `list-windows` lists.
        let order = word.split('-').find(|part| !part.is_empty());
        order.is_some_and(|order| ORDERS.contains(&order))
    };
    one.words.iter().skip(1).any(is_order)
}

/// True for a command that can be run as it stands: no word of it was quoted, and none is the shell's to fill in.
fn is_plain(one: &Typed) -> bool {
    let is_plain = |word: &String| {
        let is_of_shell = |c: char| c.is_whitespace() || "$`(){}'\"".contains(c);
        !word.is_empty() && !word.contains(is_of_shell) && !word.contains("://")
    };
    // `npm test -- --grep=kiln` tries one thing.
    let mut passed_on = one.words.iter().skip_while(|word| *word != "--");
    let is_narrow = passed_on.any(|word| word.contains('=') || is_file(word));
    let length: usize = one.words.iter().map(|word| word.chars().count() + 1).sum();
    let has_more = one.words.len() > 1 || one.program().contains('/');
    one.words.iter().all(is_plain) && has_more && !is_narrow && length <= COMMAND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_mends_its_own_findings_is_known_to_all() {
        assert!(repairs("bun run lint", "bun run lint:fix"));
        assert!(repairs("ruff check", "ruff check --fix"));
        assert!(!repairs("just lint", "just fix"));
        assert!(!repairs("pytest", "pytest tests/fix_test.py"));
    }

    #[test]
    fn a_check_that_passes_says_nothing_of_another_one() {
        assert!(is_another_check("bun run lint", "bun run test"));
        assert!(!is_another_check("npm test", "npm run test:unit"));
        assert!(!is_another_check("just lint", "just fix"));
    }

    #[test]
    fn commands_are_those_worth_knowing() {
        let known = |line: &str| worth_knowing(&Line::of(line));
        assert_eq!(
            known(
                "cd /p && just lint 2>&1 | tail -3; git status; kiln list-cones; date +%s; pnpm test --run; echo \"$X\"; make \"a b\""
            ),
            ["just lint", "pnpm test --run"]
        );
        assert!(known("python3 - <<'E'\nprint(1)\nE").is_empty());
        assert!(known("python3 -c \"\nimport json\nreturn None\n\"").is_empty());
    }

    #[test]
    fn orders_to_one_tool_stand_together() {
        let orders = ["kiln cone", "press up", "kiln load"].map(str::to_owned);
        assert_eq!(line_of_tools(&orders), "Tools: `kiln cone`, `load`; `press up`");
        assert_eq!(line_of_tools(&[]), "");
    }

    #[test]
    fn a_tool_is_told_by_the_orders_that_it_is_given() {
        let orders = |line: &str| -> Vec<String> {
            Line::of(line).commands.iter().flat_map(orders_to_tool).collect()
        };
        assert_eq!(orders("kiln cone add 4 --hot"), ["kiln cone", "kiln cone add"]);
        assert_eq!(orders("kiln show cone-4 && git log x; ls docs"), ["kiln show"]);
        for none in [
            "gh pr view 4 --json title",
            "kiln auth status",
            "just run",
            "make -j 4",
            "node tools/fire.js",
        ] {
            assert!(orders(none).is_empty(), "{none}");
        }
        let mut runs = Runs::default();
        for rank in [0, 1] {
            for order in ["kiln cone", "kiln cone add", "kiln show", "just lint"] {
                runs.add(order, rank, false, true);
            }
        }
        runs.add("kiln fire", 0, false, true);
        assert_eq!(
            runs.usual_orders(&["just lint --fix".to_owned()]),
            ["kiln cone add", "kiln show"]
        );
    }

    #[test]
    fn checks_of_the_latest_session_come_first_however_few_their_runs() {
        let mut runs = Runs::default();
        for rank in [0, 1] {
            runs.add("kiln fire --all", rank, false, true);
        }
        runs.add("just test", 0, false, true);
        runs.add("just lint", 1, false, true);
        runs.add("cargo test tests/kiln.rs", 0, false, true);
        assert_eq!(runs.best(false), ["just test", "kiln fire --all"]);
    }

    #[test]
    fn steps_of_a_hook_are_read_from_what_it_printed() {
        let printed = "$ just test src/\n3 pass\n┃  lint ❯ \n- hook id: glaze\n- exit code: 1\n$ \n\
                       [FAILED] kiln --fix [FAILED]\n✖   subject may not be empty [subject-empty]\n✖ 1 problem";
        let steps: Vec<String> = printed.lines().filter_map(step_of_hook).collect();
        assert_eq!(steps, ["just test src/", "lint", "glaze", "kiln --fix", "subject-empty"]);
        assert!(names_hook("husky - commit-msg script failed (code 1)"));
        assert!(
            names_hook("│ 🥊 lefthook v1.12.3  hook: pre-commit │") && names_hook("- hook id: x")
        );
        assert!(!names_hook("fatal: pathspec 'pre-commit' did not match any files"));
    }

    #[test]
    fn a_trap_is_another_command_or_another_directory() {
        let call = |command: &str, directory: Option<&str>| Only {
            command: command.to_owned(),
            directory: directory.map(str::to_owned),
            has_failed: false,
        };
        let failed = call("npm test", None);
        assert_eq!(
            failed
                .trap(&call("npm test", directory_of(&Line::of("cd web && npm test")).as_deref())),
            Some(Trap::Below { command: "npm test".to_owned(), directory: "web".to_owned() })
        );
        assert_eq!(
            failed.trap(&call("npm install", None)),
            Some(Trap::Other { failing: "npm test".to_owned(), helping: "npm install".to_owned() })
        );
        assert_eq!(
            failed.trap(&call("npm test", directory_of(&Line::of("cd /p && npm test")).as_deref())),
            None
        );
        assert_eq!(failed.trap(&call("make", None)), None);
        for (failing, helping, is_kin) in [
            ("npm test", "pnpm test", true),
            ("pytest -q", "uv run pytest -q", true),
            ("make", "just lint", false),
            ("npm test", "just lint", false),
        ] {
            assert_eq!(super::is_kin(failing, helping), is_kin, "{failing} {helping}");
        }
    }
}
