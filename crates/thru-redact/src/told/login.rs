//! Words that tell of a login and no more, and the passwords near them.

use std::ops::Range;

use memchr::memmem;

use super::{
    BEFORE, LINES, Look, VERBS, after, below, commented, ends_with_sign, find, has_both_cases,
    holds_password, is_about_else, line_end, listed, look, may_be_comment, may_be_password, words,
};
use crate::names::Telling;
use crate::pairs;

/// True if the word at this position tells of a login, in text or in raw JSON, and a password may stand near it.
pub(crate) fn may_be_login(bytes: &[u8], word: &Range<usize>) -> bool {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let ends =
        bytes.get(word.end).is_none_or(|next| !is_part(next) || *next == b's' || *next == b'.');
    let begins = word.start.checked_sub(1).is_none_or(|before| {
        !is_part(&bytes[before])
            || bytes[before] == b'n' && before > 0 && bytes[before - 1] == b'\\'
    });
    let before = || &bytes[word.start.saturating_sub(2 * BEFORE)..word.start];
    let is_password = bytes[word.clone()].eq_ignore_ascii_case(b"pw");
    // `bob / VALUE` may stand before it.
    let is_paired = || {
        let near = before();
        memmem::rfind(near, b" / ").is_some_and(|at| holds_password(&near[at + 2..], 1))
            || near.rsplit(|byte| *byte <= b' ').take(8).any(|word| {
                let colon = word.iter().position(|byte| *byte == b':');
                colon.is_some_and(|colon| may_be_password(&word[colon + 1..]))
            })
    };
    begins
        && ends
        && (holds_password(after(bytes, word.end), LINES)
            || tells_of_pair(&bytes[word.clone()]) && is_paired()
            || is_password
                && (holds_password(before(), BEFORE) || may_be_comment(bytes, word.start)))
}

/// Returns the passwords that belong to a word that tells of a login and no more: each must look like nothing else.
pub(crate) fn find_login(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let rest = text[word.end..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = word.start..word.end + rest;
    if text[name.clone()].eq_ignore_ascii_case("pw") {
        let told = find(text, &name).or_else(|| commented(text, name.start, Telling::PASSWORD));
        if told.is_some() {
            return told.into_iter().collect();
        }
    }
    let is_strong = |range: &Range<usize>| {
        let word = &text[range.clone()];
        has_both_cases(word.as_bytes()) && look(word) == Some(Look::Made)
    };
    let listed = listed(text, &name);
    // Names of accounts and networks are many; these hold passwords and nothing else.
    let lists = ["logins", "creds", "credentials", "zugangsdaten", "credenciales", "credenziali"];
    let is_list =
        listed.len() > 1 && lists.iter().any(|list| text[name.clone()].eq_ignore_ascii_case(list));
    let listed: Vec<_> = listed.into_iter().filter(|range| is_list || is_strong(range)).collect();
    if !listed.is_empty() {
        return listed;
    }
    let words = words(text, name.end..line_end(text, name.end));
    for (nth, word) in words.iter().take(6).enumerate() {
        let gap = &text[name.end..word.range.start];
        let last =
            nth.checked_sub(1).map(|before| text[words[before].range.clone()].to_lowercase());
        let is_given = ends_with_sign(gap)
            || last
                .is_some_and(|last| VERBS.contains(&last.as_str()) || last == "/" || last == "and");
        if is_strong(&word.range) && is_given && !is_about_else(gap) {
            return vec![word.range.clone()];
        }
        if word.ends_sentence {
            break;
        }
    }
    let below = below(text, &name).filter(is_strong);
    match below {
        Some(below) => vec![below],
        None if tells_of_pair(&text.as_bytes()[word.clone()]) => pairs::find(text, &name),
        None => Vec::new(),
    }
}

/// True for a word for a login, near which a user and a password may stand: `root` is none.
fn tells_of_pair(word: &[u8]) -> bool {
    // The first letter may be a capital.
    let parts = [&b"og"[..], b"red", b"uth", b"ccount", b"est u", b"ugangs"];
    parts.iter().any(|part| memmem::find(word, part).is_some())
}

/// Words that tell of a login, in lower case.
pub(crate) const LOGINS: [&str; 27] = [
    "basic auth",
    "logged in",
    "log in",
    "logins",
    "test account",
    "dev account",
    "test user",
    "pw",
    "credentials",
    "identifiants",
    "credenciales",
    "credenziali",
    "zugangsdaten",
    "login",
    "creds",
    "wifi",
    "wi-fi",
    "wlan",
    "vpn",
    "ssid",
    "zugang",
    "accounts",
    "acceso",
    "accesso",
    "accès",
    "sudo",
    "root",
];
