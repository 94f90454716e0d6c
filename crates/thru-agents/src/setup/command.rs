//! The command line of a hook: written so that every shell and every version runs it, and recognised
//! again however it was written.

use serde_json::{Value, json};
use thru_core::Agent;

use super::Platform;

/// Word that follows the program in the command line of each of our hooks, before agent and event.
const CALL: &str = "hook";

/// The form of a hook's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookForm {
    /// Program and arguments apart, run without a shell.
    Exec,
    /// One line for a shell.
    Shell,
}

/// The hooks to register with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The agent.
    pub agent: Agent,
    /// The absolute path of `thru`.
    pub program: String,
    /// The form of the commands.
    pub form: HookForm,
    /// The system whose shell reads them.
    pub platform: Platform,
    /// The events, by the agent's names.
    pub events: Vec<&'static str>,
    /// Seconds that the agent waits for each. A hook takes milliseconds; a disk that is asleep or an index
    /// that was never read may take a second or two. In Claude Code's settings it also raises the 1.5 s
    /// that all `SessionEnd` hooks share.
    pub timeout: u64,
    /// Events for which the agent waits at most this many seconds, and warns about more.
    pub shorter: &'static [(&'static str, u64)],
}

impl Registration {
    /// Returns the seconds that the agent waits for the hook of an event.
    pub fn timeout_of(&self, event: &str) -> u64 {
        let shorter = self.shorter.iter().find(|(name, _)| *name == event);
        shorter.map_or(self.timeout, |(_, longest)| self.timeout.min(*longest))
    }

    /// Returns the handler of one event, as it stands in a file.
    pub(super) fn handler(&self, event: &str) -> Value {
        let (agent, timeout) = (self.agent.as_str(), self.timeout_of(event));
        match self.form {
            HookForm::Exec => json!({
                "type": "command",
                "command": self.program,
                "args": [CALL, agent, event],
                "timeout": timeout,
            }),
            HookForm::Shell => {
                let program = quoted(&self.program, self.platform);
                json!({
                    "type": "command",
                    "command": format!("{program} {CALL} {agent} {event}"),
                    "timeout": timeout,
                })
            }
        }
    }
}

/// A hook of ours that stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event that it is registered for.
    pub event: String,
    /// The program that it runs.
    pub program: String,
    /// The form of its command.
    pub form: HookForm,
    /// The seconds that the agent waits for it, if the file says.
    pub timeout: Option<u64>,
    /// The matcher of its group. We write none: a hook with one sees only a part.
    pub matcher: Option<String>,
}

impl InstalledHook {
    /// Returns the handler as a hook of ours, if it is one: it runs something called `thru` with
    /// `hook AGENT EVENT`.
    pub(crate) fn parse(
        agent: Agent,
        event: &str,
        matcher: Option<&str>,
        handler: &Value,
    ) -> Option<Self> {
        let command = handler.get("command")?.as_str()?;
        let (form, words) = match handler.get("args") {
            None => (HookForm::Shell, words(command)?),
            Some(arguments) => {
                let mut words = vec![command.to_owned()];
                for argument in arguments.as_array()? {
                    words.push(argument.as_str()?.to_owned());
                }
                (HookForm::Exec, words)
            }
        };
        // The user may have put `env NAME=value` or the like in front.
        let [.., program, hook, name, _] = words.as_slice() else { return None };
        let is_ours = hook == CALL && name == agent.as_str() && is_own_program(program);
        is_ours.then(|| Self {
            event: event.to_owned(),
            program: program.clone(),
            form,
            timeout: handler.get("timeout").and_then(Value::as_u64),
            matcher: matcher.map(str::to_owned),
        })
    }
}

/// True if a program has our name, wherever it lies.
pub(super) fn is_own_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name == "thru" || name.eq_ignore_ascii_case("thru.exe")
}

/// Returns a path as one word of a shell's line.
///
/// On Windows that shell is Git Bash, or PowerShell where there is none. Both take forward slashes;
/// only Git Bash runs what is quoted.
pub(crate) fn quoted(path: &str, platform: Platform) -> String {
    let is_plain = |path: &str| {
        !path.is_empty()
            && path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':'))
    };
    match platform {
        Platform::Windows => {
            let path = path.replace('\\', "/");
            // No file name on Windows holds a quote; these two mean something between quotes.
            let escaped = path.replace('$', "\\$").replace('`', "\\`");
            if is_plain(&path) { path } else { format!("\"{escaped}\"") }
        }
        Platform::Linux | Platform::MacOs if is_plain(path) => path.to_owned(),
        Platform::Linux | Platform::MacOs => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Splits a shell's line into words; `None` if a quote is not closed. A backslash before a letter belongs to
/// a path of Windows.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => {
                let escaped = characters.next_if(|next| !next.is_alphanumeric());
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registration(program: &str, form: HookForm, platform: Platform) -> Registration {
        Registration {
            agent: Agent::ClaudeCode,
            program: program.to_owned(),
            form,
            platform,
            events: Vec::new(),
            timeout: 10,
            shorter: &[("SessionEnd", 3)],
        }
    }

    fn hook(handler: &Value) -> Option<InstalledHook> {
        InstalledHook::parse(Agent::ClaudeCode, "Stop", None, handler)
    }

    const PATHS: [(&str, &str, Platform); 7] = [
        ("/usr/bin/thru", "/usr/bin/thru", Platform::Linux),
        ("/home/ada l/thru", "'/home/ada l/thru'", Platform::Linux),
        ("/o'hara/$x/thru", r"'/o'\''hara/$x/thru'", Platform::MacOs),
        ("/größe/thru", "'/größe/thru'", Platform::Linux),
        (r"C:\Tools\thru.exe", "C:/Tools/thru.exe", Platform::Windows),
        (r"C:\Program Files\thru.exe", "\"C:/Program Files/thru.exe\"", Platform::Windows),
        (r"C:\a$b\thru.exe", "\"C:/a\\$b/thru.exe\"", Platform::Windows),
    ];

    #[test]
    fn paths_are_quoted_and_found_again() {
        for (path, written, platform) in PATHS {
            assert_eq!(quoted(path, platform), written);
            for form in [HookForm::Exec, HookForm::Shell] {
                let handler = registration(path, form, platform).handler("Stop");
                let hook = hook(&handler).unwrap();
                assert_eq!(hook.program.replace('\\', "/"), path.replace('\\', "/"));
                assert_eq!((hook.form, hook.timeout), (form, Some(10)));
                let end = registration(path, form, platform).handler("SessionEnd");
                assert_eq!(end["timeout"], 3);
            }
        }
    }

    /// The shell itself says whether our quoting is right.
    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_path_as_it_was() {
        for (path, written, platform) in PATHS {
            if platform != Platform::Windows {
                let line = format!("printf %s {written}");
                let output = std::process::Command::new("sh").arg("-c").arg(line).output().unwrap();
                assert_eq!(String::from_utf8(output.stdout).unwrap(), path);
            }
        }
    }

    #[test]
    fn our_hooks_are_recognised_however_they_were_written() {
        let shell = |command: &str| json!({ "type": "command", "command": command });
        let exec = |command: &str, args: &[&str]| json!({ "command": command, "args": args });
        for ours in [
            shell("thru hook claude-code Stop"),
            shell("  /old/place/thru   hook claude-code Stop "),
            shell(r#""C:\Program Files\thru.exe" hook claude-code Stop"#),
            shell(r"C:\tools\Thru.EXE hook claude-code Stop"),
            shell(r"/with\ space/thru hook claude-code Stop"),
            shell("THROUGHLINE_HOME=/x thru hook claude-code Stop"),
            exec("/a b/thru", &["hook", "claude-code", "Whatever"]),
            exec("env", &["A=b", "/usr/bin/thru", "hook", "claude-code", "Stop"]),
        ] {
            assert!(hook(&ours).is_some(), "{ours}");
        }
        for theirs in [
            shell("echo thru hook claude-code"),
            shell("thru hook codex Stop"),
            shell("thru import"),
            shell("/bin/not-thru hook claude-code Stop"),
            shell("thru hook claude-code Stop | tee log"),
            shell("thru hook claude-code Stop; thru 'open"),
            shell(""),
            exec("/bin/thru", &[]),
            exec("/bin/thru hook claude-code Stop", &[]),
            json!({ "type": "http", "url": "https://example.org/thru" }),
            json!({ "command": 7 }),
            json!({ "command": "thru", "args": "hook claude-code Stop" }),
            json!("thru hook claude-code Stop"),
        ] {
            assert!(hook(&theirs).is_none(), "{theirs}");
        }
    }
}
