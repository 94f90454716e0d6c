//! Logins in the words of a protocol: POP3, FTP, IRC, IMAP, NNTP and Redis.
//!
//! The words are those of everyday, so what stands around them must be of the protocol, too.

use std::ops::Range;

use memchr::memmem;

use crate::made;
use crate::names::Telling;
use crate::pattern::Pattern;
use crate::value;

/// The words, with the blank behind them.
pub(crate) const WORDS: [&str; 3] = ["pass ", "auth ", "login "];

/// The most bytes before and after a word that are read.
const NEAR: usize = 200;

/// A login: the word, what stands before it, and the pattern of the rest.
struct Login {
    word: &'static str,
    before: Pattern,
    after: Pattern,
    /// Of these, one must stand nearby, or else none is needed.
    beside: &'static [&'static str],
}

/// What a line of a log, of a diff or of a terminal begins with.
static LOGINS: [Login; 3] = [
    Login {
        word: "PASS ",
        before: Pattern::anywhere(r#"(?:^|[\s>"|:+n])$"#),
        after: Pattern::at_start(r#"(?P<v>[^\s"\\]{4,128})(?:[\s"\\]|\z)"#),
        beside: &["USER ", "+OK", "331 ", "AUTHINFO ", "NICK ", "230 ", "Flags ["],
    },
    Login {
        word: "AUTH ",
        before: Pattern::anywhere(r#"(?:^|> |"|HELLO [23] )$"#),
        after: Pattern::at_start(r#"(?:[\w-]{1,32} )?(?P<v>[^\s"\\]{4,128})(?:[\s"\\]|\z)"#),
        beside: &[],
    },
    Login {
        word: "LOGIN ",
        before: Pattern::anywhere(r#"(?:^|[\s>"|:+n])[A-Za-z]{1,4}\d{1,6} $"#),
        after: Pattern::at_start(
            r#"(?:\\?"[^"\n]{1,80}"|[^\s"]{1,80}) \\?"?(?P<v>[^\s"\\]{4,128})(?:[\s"\\]|\z)"#,
        ),
        beside: &[],
    },
];

/// True if, in text or in raw JSON, a login may stand here.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>) -> bool {
    LOGINS.iter().any(|login| login.word.as_bytes() == &bytes[word.clone()])
}

/// Returns the password of the login whose word stands here.
pub(crate) fn find(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let login = LOGINS.iter().find(|login| login.word == &text[word.clone()])?;
    let start = text.ceil_char_boundary(word.start.saturating_sub(NEAR));
    let end = text.floor_char_boundary(text.len().min(word.end + NEAR));
    let has = |part: &&str| memmem::find(&text.as_bytes()[start..end], part.as_bytes()).is_some();
    if !login.beside.is_empty() && !login.beside.iter().any(has) {
        return None;
    }
    let line = text[start..word.start].rsplit('\n').next().unwrap_or_default();
    if !login.before.is_match(line) {
        return None;
    }
    let found = login.after.captures(&text[word.end..end])?.name("v")?;
    // Where the line begins with the word, the answer of a server must follow.
    let answer = text[word.end + found.end()..end].trim_start();
    if login.word == "AUTH " && line.is_empty() && !answer.starts_with("+OK") {
        return None;
    }
    let value = found.as_str();
    (value::is_said(Telling::PASSWORD, b"password", value, true) || made::is_certain(value))
        .then(|| word.end + found.start()..word.end + found.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        LOGINS.iter().find_map(|login| {
            let start = text.rfind(login.word)?;
            find(text, &(start..start + login.word.len())).map(|range| &text[range])
        })
    }

    #[test]
    fn logins_are_found() {
        for text in [
            "USER bob\n+OK\nPASS hunter2!x\n+OK Logged in",
            "220 ready\nUSER deploy\n331 Password required\nPASS hunter2!x\n230 OK",
            "PASS hunter2!x\nNICK bot\n",
            "AUTHINFO PASS hunter2!x",
            "127.0.0.1:6379> AUTH hunter2!x\nOK",
            "127.0.0.1:6379> AUTH worker hunter2!x",
            "AUTH hunter2!x\r\n+OK",
            "HELLO 3 AUTH default hunter2!x",
            "write(3, \"AUTH hunter2!x\\r\\n\", 16) = 16",
            "a001 LOGIN bob@acme.io hunter2!x\na001 OK",
            "A3 LOGIN \"bob\" \"hunter2!x\"",
        ] {
            assert_eq!(found(text), Some("hunter2!x"), "{text}");
        }
    }

    #[test]
    fn reports_and_sentences_stay() {
        for text in [
            "PASS src/auth/password2.test.ts",
            "PASS TestRotate_2 (0.01s)",
            "530 Please login with USER and PASS first.",
            "step 2 LOGIN page renders1",
            "AUTH failed1: WRONGPASS",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
