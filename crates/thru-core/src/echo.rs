//! Tool calls that only show memories: in history they are echoes of the sessions that they show, and a
//! search should find the sessions.
//!
//! A call is judged by itself, never by its result, and in doubt it is work: a line that also does
//! something else is no echo. This knows just enough of the shell to find the commands of a line.

use crate::shell_commands;

/// The name of our MCP server, which agents include in the names of its tools.
const SERVER: &str = "throughline";

/// The subcommands of `thru` that show memories.
const SHOWING: [&str; 15] = [
    "search", "facts", "problems", "changed", "graph", "show", "timeline", "context", "session",
    "sessions", "log", "why", "memories", "briefing", "export",
];

/// The ends of the names of our tools that change something.
const WRITING: [&str; 4] = ["remember", "forget", "_close", "_sync_history"];

/// Folders in which agents keep sessions, each with true if only files named `.jsonl` are sessions
/// there.
const SESSION_FOLDERS: [(&str, bool); 3] =
    [(".claude/projects", true), (".codex/sessions", false), (".copilot/session-state", false)];

/// Programs that print the contents of files.
const READERS: [&str; 22] = [
    "cat", "head", "tail", "less", "more", "bat", "tac", "nl", "grep", "egrep", "fgrep", "rg",
    "ag", "jq", "sed", "awk", "cut", "sort", "uniq", "strings", "zcat", "zstdcat",
];

/// Programs that print the names of files, for people or for a reader in the pipeline.
const LISTERS: [&str; 3] = ["find", "fd", "ls"];

/// Commands that neither show nor do anything relevant.
const NEUTRAL: [&str; 16] = [
    "cd", "pushd", "popd", "export", "set", "source", "echo", "printf", "sleep", "true", "pwd",
    "wc", "for", "done", "fi", "esac",
];

/// Words before a command that only run it.
const WRAPPERS: [&str; 15] = [
    "sudo", "time", "nohup", "exec", "command", "env", "nice", "xargs", "timeout", "then", "do",
    "else", "if", "!", "{",
];

/// The maximum nesting of shells on one line.
const DEEPEST: usize = 3;

/// True if a tool call only shows memories of past sessions: a call of our own MCP tools, under any
/// name that agents give them, a command line that does nothing but query `thru` or read agents'
/// session files, or another tool that reads only such files. `command` is the command line if the tool
/// is a shell; `paths` are the files that the call named, and are only used if there is no command.
pub fn is_echo<'p>(
    tool: Option<&str>,
    command: Option<&str>,
    paths: impl Iterator<Item = &'p str>,
) -> bool {
    if tool.is_some_and(is_own_tool) {
        return true;
    }
    if let Some(command) = command {
        return shows_memory(command, DEEPEST);
    }
    let mut paths = paths.peekable();
    paths.peek().is_some() && !tool.is_some_and(changes_files) && paths.all(names_sessions)
}

/// True if a tool call is an echo that asks memory, and does not write to it. Its turn, if it has no other calls, is a
/// question to memory, and the agent's answer retells what other sessions said.
pub fn is_memory_question<'p>(
    tool: Option<&str>,
    command: Option<&str>,
    paths: impl Iterator<Item = &'p str>,
) -> bool {
    let writes = |tool: &str| is_own_tool(tool) && WRITING.iter().any(|name| tool.ends_with(name));
    is_echo(tool, command, paths) && !tool.is_some_and(writes)
}

/// True for a tool that only loads other tools or instructions.
pub fn loads_tools(tool: &str) -> bool {
    matches!(tool, "ToolSearch" | "Skill")
}

/// The tools by which agents ask the person.
pub const ASKING_TOOLS: [&str; 3] = ["AskUserQuestion", "ask_user", "request_user_input"];

/// True for the names that agents give to tools of our server: `mcp__throughline__search`,
/// `mcp__plugin_name_throughline__search`, `mcp_throughline_search`, `throughline_search`.
pub fn is_own_tool(tool: &str) -> bool {
    let is_separator = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':');
    if let Some(rest) = tool.strip_prefix("mcp__plugin_") {
        let server = rest.split_once("__").map_or("", |(server, _)| server);
        return server
            .strip_suffix(SERVER)
            .is_some_and(|plugin| plugin.is_empty() || plugin.ends_with(is_separator));
    }
    let name = tool.strip_prefix("mcp").unwrap_or(tool);
    name.trim_start_matches(is_separator)
        .trim_start_matches('@')
        .strip_prefix(SERVER)
        .is_some_and(|rest| rest.starts_with(is_separator))
}

/// True if the name is that of a tool that writes.
fn changes_files(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    ["write", "edit", "patch", "create", "replace", "delete"].iter().any(|verb| tool.contains(verb))
}

/// True if a path, or the path in a word of a command line, is that of agents' sessions.
fn names_sessions(path: &str) -> bool {
    let path = path.replace('\\', "/");
    SESSION_FOLDERS.iter().any(|(folder, only_lines)| {
        let Some(at) = path.find(folder) else { return false };
        let (before, inside) = (&path[..at], &path[at + folder.len()..]);
        let is_folder = before.is_empty() || before.ends_with('/');
        // A folder of sessions, not of the memories that Claude Code keeps beside them.
        let is_whole_folder = inside.split('/').count() <= 3
            && !inside
                .rsplit('/')
                .next()
                .is_some_and(|name| name.contains('.') || name == "memory");
        is_folder
            && (inside.is_empty() || inside.starts_with('/'))
            && (!only_lines || inside.ends_with(".jsonl") || is_whole_folder)
    })
}

/// True if a command line shows past sessions and does nothing else.
fn shows_memory(line: &str, deepest: usize) -> bool {
    // Most lines are settled here.
    if !line.contains("thru") && !SESSION_FOLDERS.iter().any(|(folder, _)| line.contains(folder)) {
        return false;
    }
    let mut shows = false;
    // True if a variable or the working directory of the line contains sessions.
    let mut is_among_sessions = false;
    for pipeline in pipelines(line) {
        let commands: Vec<&[String]> =
            pipeline.iter().map(|words| without_wrappers(words)).collect();
        let is_session = |word: &String| {
            names_sessions(word)
                || is_among_sessions && (word.ends_with(".jsonl") || word.contains('$'))
        };
        let reads = commands.iter().any(|words| reads_files(words));
        let names = commands.iter().any(|words| names_input(words, is_session));
        if reads && names || commands.iter().any(|words| asks_memory(words, deepest)) {
            shows = true;
        } else if !names
            && commands.iter().any(|words| !words.is_empty() && !NEUTRAL.contains(&program(words)))
        {
            return false;
        }
        is_among_sessions |= pipeline.iter().zip(&commands).any(|(words, command)| {
            let assigned = &words[..words.len() - command.len()];
            assigned
                .iter()
                .filter_map(|word| word.split_once('='))
                .any(|(_, to)| names_sessions(to))
                || matches!(program(command), "cd" | "pushd" | "for")
                    && command.iter().any(|word| names_sessions(word))
        });
    }
    shows
}

/// True if a command prints the contents of files, itself or as `find -exec grep`.
fn reads_files(words: &[String]) -> bool {
    READERS.contains(&program(words))
        || program(words) == "find" && words.iter().any(|word| READERS.contains(&word.as_str()))
}

/// True if a command that reads or lists files names one of a kind, other than as output.
fn names_input(words: &[String], is_of_kind: impl Fn(&String) -> bool) -> bool {
    let program = program(words);
    (READERS.contains(&program) || LISTERS.contains(&program))
        && words
            .iter()
            .zip(words.iter().skip(1))
            .any(|(before, word)| is_of_kind(word) && !before.ends_with('>') && !word.contains('>'))
}

/// True if a command queries `thru` for memories, directly or through a shell.
fn asks_memory(words: &[String], deepest: usize) -> bool {
    let mut arguments = words.iter().skip(1);
    match program(words) {
        "thru" | "thru.exe" => arguments
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| SHOWING.contains(&word.as_str())),
        "sh" | "bash" | "zsh" | "dash" | "fish" if deepest > 0 => {
            // `-c`, or combined: `-lc`.
            let is_given = |word: &String| {
                word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
            };
            arguments.any(is_given)
                && arguments.next().is_some_and(|line| shows_memory(line, deepest - 1))
        }
        _ => false,
    }
}

/// Returns the program of a command, without its directory.
fn program(words: &[String]) -> &str {
    words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default()
}

/// Returns a command without leading assignments and wrappers with their options.
fn without_wrappers(words: &[String]) -> &[String] {
    let mut is_wrapped = false;
    let start = words.iter().position(|word| {
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        // Options of a wrapper, and their numbers: `timeout -k 5 60s`.
        let is_option =
            is_wrapped && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()));
        let is_wrapper = WRAPPERS.contains(&word.as_str());
        is_wrapped |= is_wrapper;
        !is_assignment && !is_option && !is_wrapper
    });
    &words[start.unwrap_or(words.len())..]
}

/// Returns the pipelines of a command line, each as its commands, each as its words without quotes.
fn pipelines(line: &str) -> Vec<Vec<Vec<String>>> {
    let mut pipelines: Vec<Vec<Vec<String>>> = Vec::new();
    for command in shell_commands(line) {
        match pipelines.last_mut() {
            Some(pipeline) if command.is_piped => pipeline.push(command.words),
            _ => pipelines.push(vec![command.words]),
        }
    }
    pipelines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_echo_of_command(line: &str) -> bool {
        is_echo(Some("Bash"), Some(line), std::iter::empty())
    }

    #[test]
    fn our_own_tools_are_recognised_by_every_name() {
        for tool in [
            "mcp__throughline__search",
            "mcp__plugin_throughline_throughline__search",
            "mcp__plugin_team-kit_throughline__timeline",
            "mcp_throughline_search",
            "throughline_search",
            "throughline__search",
            "throughline-search",
            "throughline.get_observations",
            "@throughline/search",
        ] {
            assert!(is_echo(Some(tool), None, std::iter::empty()), "{tool}");
        }
        for tool in [
            "mcp__github__search",
            "mcp__plugin_throughline_other__search",
            "mcp__plugin_breakthroughline__search",
            "mcp__other__throughline_search",
            "throughline",
            "throughlines_search",
            "search",
            "",
        ] {
            assert!(!is_echo(Some(tool), None, std::iter::empty()), "{tool}");
        }
    }

    #[test]
    fn writing_to_memory_asks_nothing() {
        let asks = |tool: &str| is_memory_question(Some(tool), None, std::iter::empty());
        for tool in ["mcp__throughline__search", "throughline-get_session"] {
            assert!(asks(tool), "{tool}");
        }
        for tool in ["mcp__throughline__remember", "throughline_forget", "mcp__other__search"] {
            assert!(!asks(tool), "{tool}");
        }
    }

    #[test]
    fn asking_thru_is_an_echo() {
        for line in [
            "thru search lock",
            "thru --plain search lock --json",
            "thru timeline abc | head -40",
            "thru search 'a && b' 2>&1 | python3 -m json.tool",
            "cd /work/x && thru search lock",
            "THROUGHLINE_HOME=/tmp/h NO_COLOR=1 thru show abc",
            "env A=1 timeout -k 5 60s /home/me/.cargo/bin/thru sessions",
            "bash -lc 'cd x && thru why abc'",
            "sh -c \"bash -c 'thru log --json'\"",
            "thru search a; thru search b\nthru show c",
            "echo '--- first' && thru search a || true",
            "found=$(thru search a); echo \"$found\"",
            "(thru briefing)",
            "thru export --json > /tmp/out.jsonl",
            "# what did we say?\nthru memories",
            "echo abc | xargs -n 1 thru show",
        ] {
            assert!(is_echo_of_command(line), "{line}");
        }
    }

    #[test]
    fn other_work_with_thru_is_none() {
        for line in [
            "",
            "thru",
            "thru --version",
            "thru import ~/.claude/projects",
            "thru rebuild",
            "thru remember 'search the log'",
            "thru-bench search",
            "cargo run -p thru -- search lock",
            "cargo test -p thru search",
            "thru search lock && cargo test",
            "git log --oneline; thru search lock",
            "echo 'thru search lock'",
            "git commit -m 'Fix it; thru search works'",
            "grep -rn 'thru search' docs",
            "cat > notes.md <<'EOF'\nthru search lock\nEOF",
            "bash run-thru.sh search",
            "bash -c 'thru search a && make'",
            "man thru",
        ] {
            assert!(!is_echo_of_command(line), "{line}");
        }
    }

    #[test]
    fn looking_into_session_files_is_an_echo() {
        for line in [
            "cat ~/.claude/projects/-home-me-x/1234.jsonl",
            "rg -n 'lock' ~/.claude/projects",
            "grep -rl lock /home/me/.claude/projects/-home-me-x/ | head",
            "jq -r .message \"$HOME/.codex/sessions/2026/03/05/rollout-1.jsonl\" | sort | uniq -c",
            "tail -5 ~/.copilot/session-state/abc/events.jsonl 2>/dev/null",
            "find ~/.claude/projects -name '*.jsonl' | xargs grep -l lock",
            "find ~/.codex/sessions -name '*.jsonl' -exec grep -l lock {} \\;",
            "cd ~/.claude/projects/-home-me-x && ls ~/.claude/projects && head -3 1234.jsonl",
            "for f in ~/.claude/projects/*/*.jsonl; do grep -c lock \"$f\"; done",
            "F=~/.claude/projects/-home-me-x/1234.jsonl; jq .type $F | head",
            "cat ~/.claude/projects/-home-me-x/1234.jsonl | python3 -c 'import sys'",
        ] {
            assert!(is_echo_of_command(line), "{line}");
        }
    }

    #[test]
    fn other_work_with_their_files_is_none() {
        for line in [
            "ls ~/.claude/projects",
            "wc -l ~/.claude/projects/-home-me-x/1234.jsonl",
            "cat ~/.claude/projects/-home-me-x/memory/MEMORY.md",
            "rg lock ~/.claude/projects/-home-me-x/memory",
            "cat ~/.claude/settings.json",
            "cat ~/my.claude/projects/1234.jsonl",
            "cat ~/.codex/sessions-old/1.jsonl",
            "rm ~/.claude/projects/-home-me-x/1234.jsonl",
            "cp ~/.claude/projects/-home-me-x/1234.jsonl /tmp",
            "cat > ~/.claude/projects/-home-me-x/1234.jsonl",
            "cat made.jsonl >>~/.codex/sessions/1.jsonl",
            "cat ~/.claude/projects/-home-me-x/1234.jsonl && make",
            "cd ~/.claude/projects/-home-me-x && cat notes.md",
            "cat data.jsonl",
            "echo ~/.codex/sessions",
        ] {
            assert!(!is_echo_of_command(line), "{line}");
        }
    }

    #[test]
    fn tools_that_read_only_session_files_are_echoes() {
        let session = "/home/me/.claude/projects/-home-me-x/1234.jsonl";
        let other = "/work/x/src/main.rs";
        for (tool, paths, echo) in [
            (Some("Read"), vec![session], true),
            (None, vec![session, r"C:\Users\me\.codex\sessions\2026\1.jsonl"], true),
            (Some("Grep"), vec!["~/.claude/projects"], true),
            (Some("Read"), vec![session, other], false),
            (Some("Read"), vec![other], false),
            (Some("Read"), vec![], false),
            (Some("Write"), vec![session], false),
            (Some("apply_patch"), vec![session], false),
        ] {
            assert_eq!(is_echo(tool, None, paths.iter().copied()), echo, "{tool:?} {paths:?}");
        }
        assert!(!is_echo(Some("Bash"), Some("make"), std::iter::once(session)));
    }

    #[test]
    fn shells_in_shells_end_somewhere() {
        let nested = (0..6).fold("thru search a".to_owned(), |line, _| {
            format!("sh -c \"{}\"", line.replace('\\', "\\\\").replace('"', "\\\""))
        });
        assert!(!is_echo_of_command(&nested));
    }

    proptest! {
        #[test]
        fn any_line_is_judged(
            line in "((thru|search|cat|~/\\.codex/sessions|sh -c|cd|x=)|[ '\"\\\\|&;()<>#\n$ä-]){0,24}"
        ) {
            let judged = is_echo_of_command(&line);
            // Work on another line remains work, wherever the line does not continue on it.
            if !line.contains(['\'', '"', '\\', '#']) {
                let (with_work, with_none) = (format!("{line}\nmake"), format!("cd x\n{line}"));
                prop_assert!(!is_echo_of_command(&with_work));
                prop_assert_eq!(is_echo_of_command(&with_none), judged);
            }
        }
    }
}
