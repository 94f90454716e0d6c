//! Command lines that are given a password: `mysql -pVALUE`, `sshpass -p VALUE`, `curl -u user:VALUE`.
//!
//! Options that are called `--password` and the like are found by their names; see [`crate::assignment`]. At most a fixed
//! number of bytes after a command is read.

use std::ops::Range;

use memchr::memmem;

use crate::checks::{is_filler, is_masked, is_reference, looks_random};
use crate::names::Telling;
use crate::value;

/// The most bytes of a command line that are read.
const LONGEST: usize = 1024;

/// A group of commands with the same options.
struct Command {
    names: &'static [&'static str],
    /// A word that must be among the arguments.
    needs: Option<&'static str>,
    /// Options with the secret behind them: `-p VALUE`, `-p=VALUE`.
    options: &'static [&'static str],
    /// Options with the secret in the same word: `-pVALUE`.
    attached: &'static [&'static str],
    /// Options with a user and the secret: `-u user:VALUE`.
    pairs: &'static [&'static str],
    /// The number of arguments up to the secret, after the word that is needed.
    position: Option<usize>,
}

const fn command(names: &'static [&'static str], options: &'static [&'static str]) -> Command {
    Command { names, needs: None, options, attached: &[], pairs: &[], position: None }
}

/// The position of the last argument.
const LAST: usize = usize::MAX;

const COMMANDS: &[Command] = &[
    Command {
        attached: &["-p"],
        ..command(
            &[
                "mysql ",
                "mysqldump ",
                "mysqladmin ",
                "mysqlimport ",
                "mysqlcheck ",
                "mysqlsh ",
                "mariadb ",
                "mariadb-dump ",
                "mariadb-admin ",
                "mycli ",
            ],
            &[],
        )
    },
    Command { attached: &["-p"], ..command(&["sshpass "], &["-p"]) },
    Command {
        pairs: &["-u", "--user", "-U", "--proxy-user"],
        ..command(&["curl "], &["--pass", "--proxy-pass", "--oauth2-bearer"])
    },
    Command { pairs: &["-a", "--auth"], ..command(&["http ", "https ", "xh "], &[]) },
    Command {
        needs: Some("login"),
        ..command(
            &[
                "docker ",
                "podman ",
                "buildah ",
                "nerdctl ",
                "helm ",
                "oras ",
                "crane ",
                "skopeo ",
                "az ",
                "oc ",
                "cf ",
                "ibmcloud ",
                "regctl ",
                "argocd ",
            ],
            &["-p", "--password"],
        )
    },
    Command {
        pairs: &["--creds", "--src-creds", "--dest-creds"],
        ..command(&["skopeo ", "ctr ", "podman ", "buildah "], &[])
    },
    command(&["redis-cli ", "valkey-cli ", "keydb-cli ", "redis-benchmark "], &["-a", "--pass"]),
    command(&["openssl "], &["-k", "-K", "-pass", "-passin", "-passout", "-passwd"]),
    command(
        &[
            "ldapsearch ",
            "ldapmodify ",
            "ldapadd ",
            "ldapdelete ",
            "ldappasswd ",
            "ldapwhoami ",
            "ldapcompare ",
            "dsconf ",
        ],
        &["-w", "-s"],
    ),
    Command {
        attached: &["-p"],
        ..command(
            &[
                "mongosh ",
                "mongo ",
                "mongodump ",
                "mongorestore ",
                "mongoexport ",
                "mongoimport ",
                "mongostat ",
                "mongotop ",
            ],
            &["-p"],
        )
    },
    command(
        &[
            "unzip ",
            "zip ",
            "mosquitto_pub ",
            "mosquitto_sub ",
            "ipmitool ",
            "sqlcmd ",
            "bcp ",
            "isql ",
            "osql ",
            "tsql ",
        ],
        &["-P"],
    ),
    Command { attached: &["-P"], ..command(&["sqlcmd ", "unzip ", "bcp "], &[]) },
    Command {
        attached: &["-p", "-hp"],
        ..command(&["7z ", "7za ", "7zz ", "7zr ", "rar ", "unrar "], &[])
    },
    Command {
        pairs: &["-U", "--user"],
        ..command(
            &["net ads ", "smbclient ", "rpcclient ", "winexe ", "smbget ", "smbmap ", "wmic "],
            &[],
        )
    },
    command(
        &["keytool ", "jarsigner ", "apksigner "],
        &[
            "-storepass",
            "-keypass",
            "-srcstorepass",
            "-deststorepass",
            "-srckeypass",
            "-destkeypass",
            "--ks-pass",
            "--key-pass",
        ],
    ),
    // Whatever the command is: a user, and behind it a password.
    command(&["-u ", "--user ", "--username "], &["-p", "-P", "--pass"]),
    command(
        &[
            "cypher-shell ",
            "racadm ",
            "dotnet nuget ",
            "cqlsh ",
            "rabbitmqadmin ",
            "twine ",
            "rdesktop ",
            "psexec ",
            "netexec ",
            "nxc ",
            "crackmapexec ",
            "evil-winrm ",
            "ncftpget ",
            "ncftpput ",
            "hydra ",
            "medusa ",
            "useradd ",
            "usermod ",
        ],
        &["-p"],
    ),
    command(&["influx ", "plink ", "pscp ", "psftp ", "putty ", "kitty "], &["-password", "-pw"]),
    command(&["snmpwalk ", "snmpget ", "snmpset "], &["-A", "-X", "-c"]),
    command(&["ssh-keygen "], &["-N", "-P"]),
    Command { attached: &["/p:"], ..command(&["xfreerdp ", "wfreerdp ", "mstsc "], &[]) },
    Command { pairs: &["-u", "--user"], ..command(&["lftp ", "govc ", "etcdctl "], &[]) },
    Command { pairs: &["-auth"], needs: Some("-jar"), ..command(&["java "], &[]) },
    Command { pairs: &["-auth"], ..command(&["splunk "], &[]) },
    Command { pairs: &["-a"], ..command(&["wbinfo "], &[]) },
    command(&["cypress "], &["--key"]),
    command(&["codecov "], &["-t", "--token"]),
    command(&["schtasks "], &["/rp"]),
    command(&["signtool "], &["/p"]),
    command(&["steghide ", "security import "], &["-p", "-P"]),
    command(&["ykman ", "kdb5_util ", "kadmin "], &["-P", "-w", "-pw"]),
    command(&["ipa-client-install ", "ldapvi "], &["-w"]),
    command(&["pdftotext ", "pdftoppm ", "pdfinfo "], &["-upw", "-opw"]),
    command(&["vncviewer ", "teamviewer ", "plesk "], &["-passwd", "--passwd", "passwd"]),
    command(&["altool ", "notarytool "], &["-p", "--password"]),
    command(&["rootpw "], &["--plaintext"]),
    command(&["unlock-keychain "], &["-p"]),
    command(&["add-generic-password ", "add-internet-password "], &["-w"]),
    Command { position: Some(LAST), needs: Some("use"), ..command(&["net "], &[]) },
    Command { position: Some(4), needs: Some("alias"), ..command(&["mc "], &[]) },
    command(&["doctl "], &["-t", "--access-token"]),
    command(&["nuget ", "dotnet nuget ", "gem push "], &["-k", "-ApiKey", "--api-key"]),
    command(&["nmcli ", "iwctl "], &["password", "--passphrase"]),
    Command {
        position: Some(LAST),
        needs: Some("-b"),
        ..command(&["htpasswd ", "mosquitto_passwd "], &[])
    },
    Command {
        position: Some(0),
        needs: Some("login"),
        ..command(&["vault ", "cargo ", "wandb ", "dvc ", "railway ", "hf "], &[])
    },
    Command { position: Some(0), needs: Some("auth"), ..command(&["snyk ", "pihole "], &[]) },
    Command { position: Some(0), needs: Some("unlock"), ..command(&["bw "], &[]) },
    Command { needs: Some("user"), ..command(&["conan "], &["-p"]) },
    command(&["pihole "], &["-p"]),
    command(&["pdftk "], &["input_pw", "user_pw", "owner_pw"]),
    Command { position: Some(1), needs: Some("user"), ..command(&["net "], &[]) },
    Command { position: Some(0), needs: Some("add-authtoken"), ..command(&["ngrok "], &[]) },
    Command { position: Some(0), needs: Some("authtoken"), ..command(&["ngrok "], &[]) },
    Command { position: Some(1), needs: Some("add_user"), ..command(&["rabbitmqctl "], &[]) },
    Command {
        position: Some(1),
        needs: Some("change_password"),
        ..command(&["rabbitmqctl "], &[])
    },
];

/// The names of all commands. One that stands in several groups comes several times.
pub(crate) const NAMES: [&str; COUNT] = {
    let mut names = [""; COUNT];
    let (mut group, mut nth, mut at) = (0, 0, 0);
    while at < COUNT {
        if nth == COMMANDS[group].names.len() {
            (group, nth) = (group + 1, 0);
        } else {
            names[at] = COMMANDS[group].names[nth];
            (nth, at) = (nth + 1, at + 1);
        }
    }
    names
};

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < COMMANDS.len() {
        count += COMMANDS[group].names.len();
        group += 1;
    }
    count
};

/// True if, in text or in raw JSON, a command of this name may be given a secret.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>) -> bool {
    let line = &bytes[word.end..bytes.len().min(word.end + LONGEST)];
    let has = |part: &str| {
        memmem::find_iter(line, part.as_bytes()).any(|at| at == 0 || line[at - 1] == b' ')
    };
    let is_next = |needs: &str| line.starts_with(needs.as_bytes()) || needs.starts_with('-');
    group(&bytes[word.clone()]).any(|command| {
        let mut parts = command.options.iter().chain(command.attached).chain(command.pairs);
        match command.needs {
            Some(needs) if command.position.is_some() => is_next(needs),
            Some(needs) => has(needs) && parts.any(|part| has(part)),
            None => parts.any(|part| has(part)),
        }
    })
}

/// Returns the commands of this name.
fn group(name: &[u8]) -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(move |command| {
        command.names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Returns the secrets among the arguments of the command of this name, and all of its line.
pub(crate) fn find(text: &str, word: Range<usize>) -> (Range<usize>, Vec<Range<usize>>) {
    let words = arguments(text, word.end);
    let end = words.last().map_or(word.end, |last| last.end);
    let mut secrets: Vec<Range<usize>> = Vec::new();
    for command in group(&text.as_bytes()[word.clone()]) {
        let needed = command.needs.map(|needs| {
            words.iter().position(|range| {
                let found = &text[range.clone()];
                // Short options may be joined: `-nbB`.
                found == needs
                    || (needs.len() == 2
                        && found.starts_with('-')
                        && !found.starts_with("--")
                        && found.contains(&needs[1..]))
            })
        });
        if needed == Some(None) || (command.position.is_some() && needed != Some(Some(0))) {
            continue;
        }
        if let Some(position) = command.position {
            let after = needed.flatten().map_or(0, |at| at + 1);
            // On Windows, options begin with a slash and end their name with a colon.
            let is_plain = |range: &&Range<usize>| {
                let argument = &text[(*range).clone()];
                let is_windows = argument.starts_with('/') && argument.contains(':');
                !(is_windows || argument.starts_with('-'))
            };
            let mut plain = words[after.min(words.len())..].iter().filter(is_plain);
            let found = if position == LAST { plain.next_back() } else { plain.nth(position) };
            let has_digit = |range: &&Range<usize>| {
                text[(*range).clone()].bytes().any(|byte| byte.is_ascii_digit())
            };
            secrets.extend(found.filter(has_digit).cloned());
            continue;
        }
        for (at, range) in words.iter().enumerate() {
            let argument = &text[range.clone()];
            let inside = |option: &str| {
                let rest = argument.strip_prefix(option)?;
                Some(range.end - rest.len()..range.end)
            };
            let behind = |options: &[&str]| {
                let option = options.iter().find(|option| argument == **option);
                let joined = options.iter().find_map(|option| inside(&format!("{option}=")));
                joined.or_else(|| option.and_then(|_| words.get(at + 1).cloned()))
            };
            if let Some(found) = behind(command.options) {
                secrets.push(without_source(text, found));
            } else if let Some(found) = command.attached.iter().find_map(|option| inside(option)) {
                secrets.push(found);
            } else if let Some(found) = behind(command.pairs).or_else(|| {
                command
                    .pairs
                    .iter()
                    .filter(|option| option.len() == 2)
                    .find_map(|option| inside(option))
            }) {
                let sign = text[found.clone()].find([':', '%', ',']);
                let secret = sign.map(|sign| match found.start + sign + 1 {
                    // A key without a password: `-u KEY:`
                    start if start == found.end => found.start..start - 1,
                    start => start..found.end,
                });
                let is_key = |range: &Range<usize>| {
                    range.start > found.start || looks_random(&text[range.clone()])
                };
                secrets.extend(secret.filter(is_key));
            }
        }
    }
    // Of a command that is not known, only what can be nothing else.
    let is_known = !text[word.clone()].starts_with('-');
    secrets.retain(|range| {
        let value = &text[range.clone()];
        is_argument(value)
            && (is_known || value::is_said(Telling::PASSWORD, b"password", value, false))
    });
    (word.start..end, secrets)
}

/// Returns the secret in `pass:VALUE`.
fn without_source(text: &str, range: Range<usize>) -> Range<usize> {
    let source = text[range.clone()].strip_prefix("pass:").map_or(0, |_| 5);
    range.start + source..range.end
}

/// True if an argument is a secret, and not an option, a variable, a file, a placeholder or a port.
fn is_argument(value: &str) -> bool {
    let is_source =
        ["env:", "file:", "stdin", "fd:"].iter().any(|source| value.starts_with(source))
            || value.starts_with(['-', '<', '[', '$', '@', '%', '{', '(', '.', '/', '~', '\\']);
    let is_source = is_source || value.starts_with("\"$") || value.starts_with("'$");
    let is_port = value.len() <= 5 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_constant = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_none = is_masked(value) || is_filler(value) || is_reference(value);
    value.len() >= 4 && !(is_source || is_port || is_constant || is_none)
}

/// Returns the arguments of a command line, without quotation marks, up to its end.
fn arguments(text: &str, start: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let ceiling = text.floor_char_boundary(bytes.len().min(start + LONGEST));
    let mut words = Vec::new();
    let mut at = start;
    while at < ceiling {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\n' | b'|' | b';' | b'&' | b')' | b'`' => break,
            b'>' | b'<' => at += 1,
            _ => {
                let (word, end) = argument(bytes, at, ceiling);
                at = end.max(at + 1);
                if text.is_char_boundary(word.start) && text.is_char_boundary(word.end) {
                    words.push(word);
                }
                // The end of the string that the command stands in.
                if matches!(bytes.get(at), Some(b'"' | b'\'')) {
                    break;
                }
            }
        }
    }
    words
}

/// Returns the argument that begins here without its quotation marks, and its end with them.
///
/// Of a word that is quoted in part, such as `-p'a b'` and `"a":'b'`, the inner marks stay.
fn argument(bytes: &[u8], start: usize, ceiling: usize) -> (Range<usize>, usize) {
    let backslashes = bytes[start..ceiling].iter().take_while(|byte| **byte == b'\\').count();
    let first = start + backslashes;
    if let Some(mark @ (b'"' | b'\'')) = bytes.get(first).copied() {
        let near = &bytes[first + 1..ceiling];
        let length =
            near.iter().position(|byte| *byte == mark || *byte == b'\n').unwrap_or(near.len());
        let end = first + 1 + length;
        let inner = end - backslashes.min(length);
        return (first + 1..inner, (end + 1).min(ceiling));
    }
    let mut at = start;
    let mut quote = None;
    while at < ceiling {
        let byte = bytes[at];
        match quote {
            Some(mark) if byte == mark => quote = None,
            Some(_) if byte != b'\n' => {}
            None if matches!(byte, b'"' | b'\'') => {
                // `-p'VALUE'` and `user:'VALUE'`; any other mark is that of what the command stands in.
                let opens = matches!(bytes[at - 1], b':' | b'=' | b'%' | b',')
                    || (bytes[start] == b'-' && at - start <= 3);
                let line = bytes[at + 1..ceiling].iter().take_while(|byte| **byte != b'\n');
                if !opens || !line.clone().any(|other| *other == byte) {
                    break;
                }
                quote = Some(byte);
            }
            None if matches!(byte, b' ' | b'\t' | b'\n' | b'`') => break,
            None if matches!(byte, b'|' | b';' | b')' | b'&') && ends(bytes, at) => break,
            None => {}
            _ => break,
        }
        at += 1;
    }
    let end = at;
    let mut word = start..end;
    while word.end > word.start && bytes[word.end - 1] == b'\\' {
        word.end -= 1;
    }
    if word.len() > 2 && matches!(bytes[word.end - 1], b'"' | b'\'') {
        word.end -= 1;
    }
    (word, end)
}

/// True if a mark of the shell ends the command here: inside a word it may be part of a password that was not quoted.
fn ends(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at + 1)
        .is_none_or(|next| matches!(next, 0..=b' ' | b'|' | b'&' | b'"' | b'\'' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(text: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for name in NAMES {
            for (at, _) in text.to_ascii_lowercase().match_indices(name) {
                let (_, secrets) = find(text, at..at + name.len());
                assert!(
                    secrets.is_empty() || is_possible(text.as_bytes(), &(at..at + name.len())),
                    "{text}"
                );
                found.extend(secrets.into_iter().map(|range| text[range].to_owned()));
            }
        }
        found.dedup();
        found
    }

    #[test]
    fn passwords_of_commands_are_found() {
        for (text, expected) in [
            ("mysql -u root -phunter2 app", "hunter2"),
            ("mysql -u root -p'hun ter2' app", "'hun ter2"),
            ("sshpass -p hunter2 ssh bob@host", "hunter2"),
            ("sshpass -p \"hun;ter2\" ssh", "hun;ter2"),
            ("curl -sS -u admin:hunter2 https://x", "hunter2"),
            ("curl --user 'admin:hun&ter2' https://x", "hun&ter2"),
            ("docker login -u a -p hunter2 ghcr.io", "hunter2"),
            ("redis-cli -h x -a hunter2 ping", "hunter2"),
            ("openssl rsa -passin pass:hunter2 -in k", "hunter2"),
            ("openssl enc -k hunter2 -in a", "hunter2"),
            ("ldapsearch -x -w hunter2 -b dc=x", "hunter2"),
            ("htpasswd -nbB bob hunter2", "hunter2"),
            ("7z x a.7z -phunter2", "hunter2"),
            ("smbclient //a/b -U 'bob%hunter2'", "hunter2"),
            ("keytool -storepass hunter2 -list", "hunter2"),
            ("bash -c \"mysql -phunter2 app\"", "hunter2"),
            ("vault login hunter2xyz", "hunter2xyz"),
            ("snyk auth hunter2xyz", "hunter2xyz"),
            (r"net use Z: \\srv\share hunter2xyz /user:ACME\bob", "hunter2xyz"),
            ("pdftk a.pdf input_pw hunter2xyz output b.pdf", "hunter2xyz"),
        ] {
            assert_eq!(secrets(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_arguments_are_left_alone() {
        for text in [
            "mysql -u root -p app",
            "mysql -h x -P 3306",
            "mysql -p\"$PASSWORD\" app",
            "docker run -p 8080:80 nginx",
            "docker login -u a -p \"$PASSWORD\"",
            "curl -u \"$USER:$TOKEN\" https://x",
            "curl -u user:password https://x",
            "redis-cli -a \"$REDIS_PASSWORD\" ping",
            "sshpass -e ssh bob@host",
            "htpasswd -c .htpasswd bob",
            "cargo login",
            "openssl dgst -sha256 file",
            "ssh-keygen -t ed25519 -N \"\" -f key",
            "sshpass -p PASSWORD ssh",
        ] {
            assert!(secrets(text).is_empty(), "{text}");
        }
    }
}
