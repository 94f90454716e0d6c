//! Secrets that a command shows: what stands alone on the line below `pass show` or `openssl rand`.

use std::ops::Range;

use memchr::memmem;

use crate::checks::{has_irregular_case, looks_random};
use crate::{made, names};

/// Commands that show or draw a secret and nothing else.
#[rustfmt::skip]
pub(crate) const COMMANDS: [&str; 63] = [
    "$ pass ", "❯ pass ", "% pass ", "pass show ", "gopass show ", "gopass ls -c ", "gpg -d", "gpg --decrypt", "gpg -q -d", "gpg2 -d", "age -d", "rage -d", "sops -d", "sops --decrypt", "sops decrypt",
    "vault kv get", "vault read ", "op read ", "op item get", "bw get ", "rbw get ", "lpass show", "keepassxc-cli show", "keepassxc-cli clip", "passbolt get",
    "security find-generic-password", "security find-internet-password", "secrets versions access", "get-secret-value", "ssm get-parameter",
    "keyvault secret show", "terraform output -raw", "tofu output -raw", "pulumi config get", "pulumi stack output", "config:get ", "openssl rand", "pwgen", "apg -",
    "gh auth token", "print-access-token", "print-identity-token", "get-access-token", "create token ", "get-login-password", "secret-tool lookup",
    "ansible-vault view", "ansible-vault decrypt", "keyring get ", "secrets get ", "chamber read ", "infisical ", "key:generate --show", "token_hex(", "token_urlsafe(",
    "wg genkey", "wg genpsk", "/dev/urandom", "diceware", "xkcdpass", "mkpasswd", "crypto.randombytes(", "secrets reveal",
];

/// Commands that show anything: the rest of the line must tell that it is a secret.
pub(crate) const READERS: [&str; 9] = [
    "base64 -d",
    "base64 --decode",
    "echo $",
    "echo \"$",
    "printenv ",
    "jsonpath=",
    "get secret",
    "get credential",
    "jq -r ",
];

/// Parts of a line that tell that a secret is shown.
const TELLING: [&str; 12] = [
    "secret", "pass", "pw", "token", "cred", "key", "kennwort", "senha", "clave", "hasło", "heslo",
    "parol",
];

/// The most bytes before a command on its line, and behind it.
const HEAD: usize = 200;
const LINE: usize = 300;
/// The most lines of what a command shows that may have labels.
const LINES: usize = 12;

/// True if, in text or in raw JSON, something is shown below the command at this position.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>) -> bool {
    let rest = &bytes[word.end..bytes.len().min(word.end + LINE)];
    memchr::memchr(b'\n', rest).is_some() || memmem::find(rest, br"\n").is_some()
}

/// Returns the secrets that the command at this position shows.
pub(crate) fn find(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let floor = text.ceil_char_boundary(word.start.saturating_sub(HEAD));
    let head = text[floor..word.start].rsplit('\n').next().unwrap_or_default();
    let Some(command) = line(text, word.start) else { return found };
    let lower = command_of(&text[command.clone()]).to_lowercase();
    let is_reader = READERS.iter().any(|reader| text[word.clone()].eq_ignore_ascii_case(reader));
    let is_telling = !is_reader
        || TELLING.iter().any(|part| lower.contains(part))
        || lower.split('$').skip(1).any(names_secret);
    // What goes to a file or to another command is not shown.
    let is_hidden =
        ["pbcopy", "xclip", "wl-copy", "sha", "md5", "| wc", "> ", "| kubectl", "| ssh", "<<"]
            .iter()
            .any(|part| lower.contains(part));
    if !begins_command(head) || !is_telling || is_hidden || lower.ends_with('\\') {
        return found;
    }
    let mut at = command.end;
    for nth in 0..LINES {
        let Some(next) = (at < text.len()).then(|| line(text, at + 1)).flatten() else { break };
        at = next.end;
        let shown = trimmed(text, next);
        let value = &text[shown.clone()];
        if value.is_empty() && nth == 0 {
            continue;
        }
        if value.is_empty() || is_prompt(value) {
            break;
        }
        let is_secret = if is_reader {
            is_value(value)
        } else {
            is_value(value) || made::is_shown(value) || is_base64(value)
        };
        if nth < 2 && found.is_empty() && is_secret {
            found.push(shown);
            break;
        }
        // `nas/admin: VALUE`
        if let Some((label, rest)) = value.split_once(": ")
            && !label.contains(' ')
            && !made::is_of_programs(&label.to_lowercase())
            && made::made(rest.trim()).is_some_and(|made| made >= made::Made::Cased)
        {
            let rest = trimmed(text, shown.end - rest.len()..shown.end);
            found.push(rest);
        }
    }
    found
}

/// True for the name of a variable that holds a secret.
fn names_secret(rest: &str) -> bool {
    let name = rest
        .trim_start_matches('{')
        .split(|part: char| !part.is_alphanumeric() && part != '_')
        .next();
    name.is_some_and(|name| names::judge(name.as_bytes()).is_some())
}

/// Returns a command without the prompt before it and the comment behind it.
fn command_of(line: &str) -> &str {
    line.split(" # ").next().unwrap_or_default().trim_end()
}

/// True if a command may begin behind this, or goes on behind a pipe.
fn begins_command(head: &str) -> bool {
    let head =
        head.trim_start().trim_start_matches(|part: char| part.is_ascii_digit()).trim_start();
    let is_prompt =
        ["$ ", "# ", "% ", "> ", "❯ ", "➜ ", "»"].iter().any(|sign| head.contains(sign));
    let first = head.split_whitespace().next().unwrap_or_default();
    let starts = [
        "sudo", "kubectl", "aws", "gcloud", "az", "cat", "echo", "tr", "head", "dd", "python",
        "python3", "node", "php", "docker", "curl", "LC_ALL=C", "doppler", "pass", "oc", "heroku",
        "fly",
    ];
    head.is_empty() || is_prompt || starts.contains(&first)
}

/// True for the next line of a terminal.
pub(crate) fn is_prompt(line: &str) -> bool {
    ["$ ", "# ", "% ", "> ", "❯", "➜", "PS "].iter().any(|sign| line.starts_with(sign))
        || line == "$"
        || line.split_once(['$', '#', '%']).is_some_and(|(host, rest)| {
            host.contains('@') && !host.contains(' ') && (rest.is_empty() || rest.starts_with(' '))
        })
}

/// True for a value that can be nothing else, alone on its line.
fn is_value(value: &str) -> bool {
    made::is_certain(value) || made::is_phrase(value, true)
}

/// True for drawn bytes in base64, which may begin like a path.
fn is_base64(value: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    value.len() >= 16
        && value.len().is_multiple_of(4)
        && value.bytes().all(is_part)
        && has_irregular_case(value.as_bytes())
        && looks_random(value)
}

/// Returns the line around a position, as far as it is read.
fn line(text: &str, at: usize) -> Option<Range<usize>> {
    let floor = text.ceil_char_boundary(at.saturating_sub(HEAD));
    let start = text.get(floor..at)?.rfind('\n').map_or(floor, |found| floor + found + 1);
    let ceiling = text.floor_char_boundary(text.len().min(at + LINE));
    let length = text.get(at..ceiling)?.find('\n');
    (length.is_some() || ceiling == text.len())
        .then(|| start..length.map_or(ceiling, |length| at + length))
}

/// Returns a line without blanks, quotation marks and the sign that a shell ends it with.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let is_around = |part: char| part.is_whitespace() || "\"'`".contains(part);
    let inner = text[range.clone()].trim_start_matches(is_around);
    let start = range.end - inner.len();
    start..start + inner.trim_end_matches(is_around).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let words = || COMMANDS.iter().chain(&READERS);
        let place = words().find_map(|word| Some((text.find(word)?, word.len())));
        let (start, length) = place.unwrap();
        find(text, &(start..start + length)).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn what_a_command_shows_is_found() {
        for (text, secrets) in [
            ("$ pass show nas\nrusty-Nail\nlogin: bob\n", &["rusty-Nail"][..]),
            (
                "$ openssl rand -hex 20\n5f2018a2c109e394a6174e9aa4331ddc5f2018a2\n$",
                &["5f2018a2c109e394a6174e9aa4331ddc5f2018a2"],
            ),
            (
                "bob@a:~$ gpg -d x.gpg | head\nnas/root: rusty-Nail-7\nmx: moldyFigs88",
                &["rusty-Nail-7", "moldyFigs88"],
            ),
            ("$ echo $DB_PASSWORD | base64 -d\nmoldyFigs88\n", &["moldyFigs88"]),
            ("$ op read op://a/b/c\n\nmoldy.fig.kettle\n", &["moldy.fig.kettle"]),
            ("$ echo $HOSTNAME\nferret88-box\n", &[]),
            ("$ pass show nas\nError: nas is not in the password store.\n", &[]),
            ("$ gpg -d x.gpg > x.txt\nrusty-Nail-7\n", &[]),
            ("we run pass show nas\nrusty-Nail-7\n", &[]),
            ("$ openssl rand -hex 20\n$ ls\nrusty-Nail-7\n", &[]),
        ] {
            assert_eq!(found(text), secrets, "{text}");
        }
    }
}
