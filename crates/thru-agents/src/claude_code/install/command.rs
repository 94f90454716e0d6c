//! The command line of a hook: written so that every shell and every version runs it, and recognised
//! again whoever wrote it.

use serde_json::{Value, json};

use super::events::{ClientVersion, events};
use super::places::Platform;

/// What follows the program in the command line of each of our hooks, before the name of the event.
const CALL: [&str; 2] = ["hook", "claude-code"];

/// Since when Claude Code runs a program with `args` and without a shell. Older versions would run
/// the program alone.
const ARGUMENTS_UNDERSTOOD: ClientVersion = ClientVersion::new(2, 1, 139);

/// How a hook's command is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookForm {
    /// Program and arguments apart, run without a shell.
    Exec,
    /// One line for a shell.
    Shell,
}

impl HookForm {
    /// The form for this version of Claude Code; a shell's line works with every version.
    pub fn of(version: Option<ClientVersion>) -> Self {
        match version {
            Some(version) if version >= ARGUMENTS_UNDERSTOOD => Self::Exec,
            _ => Self::Shell,
        }
    }
}

/// The hooks that are to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The absolute path of `thru`.
    pub program: String,
    /// How the commands are written.
    pub form: HookForm,
    /// Whose shell reads them.
    pub platform: Platform,
    /// For which events.
    pub events: Vec<&'static str>,
    /// Seconds that Claude Code waits for each. One takes milliseconds; a disk that is asleep or an
    /// index that was never read may take a second or two. In a settings file it also raises the 1.5 s
    /// that all `SessionEnd` hooks share.
    pub timeout: u64,
}

impl Registration {
    /// What fits a version of Claude Code, or every version where it is not known.
    pub fn new(
        program: &str,
        version: Option<ClientVersion>,
        platform: Platform,
        timeout: u64,
    ) -> Self {
        Self {
            program: program.to_owned(),
            form: HookForm::of(version),
            platform,
            events: events(version),
            timeout,
        }
    }

    /// The handler of one event, as it stands in a file.
    pub(super) fn handler(&self, event: &str) -> Value {
        let [hook, agent] = CALL;
        match self.form {
            HookForm::Exec => json!({
                "type": "command",
                "command": self.program,
                "args": [hook, agent, event],
                "timeout": self.timeout,
            }),
            HookForm::Shell => {
                let program = quoted(&self.program, self.platform);
                json!({
                    "type": "command",
                    "command": format!("{program} {hook} {agent} {event}"),
                    "timeout": self.timeout,
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
    /// How it is written.
    pub form: HookForm,
    /// The seconds it is given, where the file says.
    pub timeout: Option<u64>,
    /// The matcher of the group that it stands in. We write none: a hook with one sees only a part.
    pub matcher: Option<String>,
}

impl InstalledHook {
    /// The handler as a hook of ours, if it is one: it runs something called `thru` with
    /// `hook claude-code EVENT`.
    pub(super) fn of(event: &str, matcher: Option<&str>, handler: &Value) -> Option<Self> {
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
        // Somebody may have put `env NAME=value` or the like in front.
        let [.., program, hook, agent, _] = words.as_slice() else { return None };
        let is_ours = [hook.as_str(), agent] == CALL && is_own_program(program);
        is_ours.then(|| Self {
            event: event.to_owned(),
            program: program.clone(),
            form,
            timeout: handler.get("timeout").and_then(Value::as_u64),
            matcher: matcher.map(str::to_owned),
        })
    }
}

/// Whether a program is called as ours is, wherever it lies.
pub(super) fn is_own_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name == "thru" || name.eq_ignore_ascii_case("thru.exe")
}

/// A path as one word of a shell's line.
///
/// On Windows that shell is Git Bash, or PowerShell where there is none. Both take forward slashes;
/// only Git Bash runs what is quoted.
fn quoted(path: &str, platform: Platform) -> String {
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

/// The words of a shell's line; `None` where a quote is not closed. A backslash before a letter belongs
/// to a path of Windows.
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
            for version in [None, Some(ClientVersion::new(2, 1, 139))] {
                let handler = Registration::new(path, version, platform, 10).handler("Stop");
                let hook = InstalledHook::of("Stop", None, &handler).unwrap();
                assert_eq!(hook.program.replace('\\', "/"), path.replace('\\', "/"));
                assert_eq!((hook.form, hook.timeout), (HookForm::of(version), Some(10)));
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
    fn the_form_follows_the_version() {
        assert_eq!(HookForm::of(None), HookForm::Shell);
        assert_eq!(HookForm::of(Some(ClientVersion::new(2, 1, 138))), HookForm::Shell);
        assert_eq!(HookForm::of(Some(ClientVersion::new(2, 1, 139))), HookForm::Exec);
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
            assert!(InstalledHook::of("Stop", None, &ours).is_some(), "{ours}");
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
            assert!(InstalledHook::of("Stop", None, &theirs).is_none(), "{theirs}");
        }
    }
}
