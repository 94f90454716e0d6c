//! The value given to a telling name: where it ends, and if it looks like a secret.

use std::ops::Range;

use crate::assignment::LOOK;
use crate::base64;
use crate::checks::{
    has_irregular_case, is_filler, is_made_up, is_masked, is_reference, is_uuid, is_worded,
    letters_in_words, looks_random, sounds_like_a_word,
};
use crate::made::{self, Made};
use crate::names::{Kind, Telling, is_compound, is_constant_name};

/// The manner in which a value is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Between quotation marks, or as the whole of a field.
    Quoted,
    /// Bare: it may be code.
    Plain,
    /// Bare, as all that a line of settings gives to a name: `NAME=value`.
    Setting,
    /// Bare, where nothing but the secret itself can stand: the argument of `sshpass -p`.
    Argument,
    /// Between quotation marks, as the argument of a call.
    Call,
    /// Bare, in a sentence about the name of a constant.
    Constant,
    /// Bare, behind a word that is a setting and nothing else: `requirepass VALUE`.
    Directive,
}

/// Returns the end of a bare value; `None` if it is code.
///
/// Passwords hold any mark, so one only ends the value if what follows says so.
pub(crate) fn plain_end(bytes: &[u8], start: usize, in_query: bool) -> Option<usize> {
    let ceiling = bytes.len().min(start + LOOK);
    let mut open = 0_usize;
    let mut end = start;
    while end < ceiling {
        let rest = &bytes[end + 1..ceiling];
        let ends = match bytes[end] {
            // The shell joins lines that end with a backslash.
            b'\\'
                if rest.first() == Some(&b'\n')
                    && rest.get(1).is_some_and(u8::is_ascii_alphanumeric) =>
            {
                end += 1;
                false
            }
            0..=b' ' | b'"' | b'\'' | b'`' | b'\\' | b'<' | b'|' => true,
            b'>' => end == start || bytes[end - 1] != b'-',
            b'&' => in_query || ends_before(rest) || rest[0] == b'&' || is_next_name(rest, b"="),
            b';' => ends_before(rest) || is_next_name(rest, b"="),
            b',' => ends_before(rest) || is_next_name(rest, b"=:"),
            b'(' | b'[' | b'{' => {
                if is_code(&bytes[start..end], rest) {
                    return None;
                }
                open += 1;
                false
            }
            b')' | b']' | b'}' if open > 0 => {
                open -= 1;
                false
            }
            b')' | b']' | b'}' => {
                ends_before(rest)
                    || matches!(rest[0], b',' | b';' | b'.' | b')' | b']' | b'}' | b':')
            }
            _ => false,
        };
        if ends {
            break;
        }
        end += 1;
    }
    let whole = end;
    while end > start
        && matches!(bytes[end - 1], b'.' | b',' | b';' | b':')
        && (whole == bytes.len() || bytes[whole] <= b' ')
    {
        end -= 1;
    }
    Some(end)
}

/// True if nothing more of a value follows.
fn ends_before(rest: &[u8]) -> bool {
    rest.first().is_none_or(|next| matches!(next, 0..=b' ' | b'"' | b'\'' | b'`' | b'\\' | b'<'))
}

/// True if a name and its sign follow, as in `a=1&b=2` and `a=1; b=2`.
fn is_next_name(rest: &[u8], signs: &[u8]) -> bool {
    let is_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.' | b'[' | b']')
    };
    let length = rest.iter().take(40).take_while(|byte| is_name(byte)).count();
    length > 0
        && !rest[0].is_ascii_digit()
        && rest.get(length).is_some_and(|byte| signs.contains(byte))
}

/// True if what stands before a bracket makes it a call or an index.
fn is_code(before: &[u8], rest: &[u8]) -> bool {
    let is_word = before.iter().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b':' | b'$' | b'!' | b'-' | b'>')
    });
    let stem = before.len() - before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let line = rest.iter().take_while(|byte| **byte != b'\n');
    let closes = line.clone().any(|byte| matches!(byte, b')' | b']' | b'}'))
        || rest.first().is_none_or(|next| *next <= b' ' || *next == b'\\');
    is_word
        && (!before[..stem].iter().any(u8::is_ascii_digit) || before.contains(&b'.'))
        && (closes || stem == before.len())
}

/// Returns the part of a value that is a secret, if the value looks like one.
pub(crate) fn secret_part(
    telling: Telling,
    name: &[u8],
    whole: &str,
    manner: Manner,
) -> Option<Range<usize>> {
    let mut value = whole.trim_start();
    for scheme in ["Bearer ", "bearer ", "Basic ", "token ", "Token "] {
        value = value.strip_prefix(scheme).unwrap_or(value).trim_start();
    }
    let start = whole.len() - value.len();
    let value = value.trim_end();
    let joined = value.replace("\\\n", "");
    // What an option is given by its name is meant as it is.
    let is_option = name.starts_with(b"--") && !matches!(manner, Manner::Plain | Manner::Setting);
    let kind = if is_option { Kind::Password } else { telling.kind };
    is_secret(kind, name, &joined, manner).then(|| start..start + value.len())
}

fn is_secret(kind: Kind, name: &[u8], value: &str, manner: Manner) -> bool {
    if value.len() < 6 || (kind == Kind::Password && value.len() > 128 && !looks_random(value)) {
        return false;
    }
    if is_masked(value)
        || is_filler(value)
        || value.as_bytes().eq_ignore_ascii_case(name)
        || value.starts_with("0x") && value.len() <= 10
        || is_made_up(value)
        || is_reference(value)
        || is_public(value)
        || value.split_once('|').is_some_and(|(first, _)| is_filler(first))
    {
        return false;
    }
    if value.contains(char::is_whitespace) {
        let lower = name.to_ascii_lowercase();
        return is_phrase(value) && lower.ends_with(b"mnemonic")
            || (is_diceware(value) || is_words(value)) && lower.ends_with(b"passphrase")
            || is_grouped(value) && kind == Kind::Password && manner == Manner::Quoted
            || kind == Kind::Password
                && matches!(manner, Manner::Quoted | Manner::Argument)
                && made::is_phrase(value, is_owned(name));
    }
    if base64::is_login(value) {
        return true;
    }
    let quoted = !matches!(manner, Manner::Plain | Manner::Setting);
    // What the environment holds under such a name is given by itself.
    let is_given = manner == Manner::Setting || is_constant_name(name) && manner != Manner::Plain;
    let shortest = if is_given || name.starts_with(b"--") { 12 } else { 16 };
    let is_setting = manner == Manner::Setting || is_constant_name(name) || name.starts_with(b"--");
    match kind {
        Kind::Password => {
            let is_plain = || !is_expression(value) && !is_described(value);
            is_password(value, quoted || is_setting && is_plain())
                || (quoted || is_setting)
                    && (is_letters_alone(value)
                        || is_joined_words(value)
                        || is_number(value)
                        || is_made_for(name, value))
                || manner == Manner::Setting && is_own_password(name) && is_plain()
        }
        Kind::Secret | Kind::Key | Kind::Token if is_given && is_short_key(value) => true,
        Kind::Secret if is_given && is_words_and_number(value) => true,
        Kind::Secret | Kind::Key if quoted && value.len() >= 10 && is_short_key(value) => true,
        Kind::Secret | Kind::Token if is_given && is_tiny_key(value) => true,
        Kind::Secret if (quoted || is_setting) && is_one(name) && is_own(name, value) => true,
        Kind::Secret
            if (quoted
                || is_given && (is_compound(name) || name.iter().all(u8::is_ascii_uppercase)))
                && is_one(name)
                && is_value_made(name, value) =>
        {
            true
        }
        Kind::Secret => {
            value.len() >= 12
                && (looks_random(value) || is_uuid(value) || is_hard_to_guess(value))
                && (is_printable_token(value) || is_hard_to_guess(value) && !is_expression(value))
        }
        Kind::Key => {
            value.len() >= shortest
                && (is_printable_token(value) || value.len() >= 32 && !is_expression(value))
                && (looks_random(value) || is_uuid(value))
        }
        Kind::SomeKey => is_key_by_form(value) || manner == Manner::Setting && is_uuid(value),
        // A token that a person chose, where nothing else is given to a name.
        Kind::Token if (quoted || is_setting) && value.len() >= 10 && is_self_made(value) => true,
        Kind::Token if (quoted || is_setting) && is_chosen(value) && is_marked(value) => true,
        Kind::Token if is_setting && value.len() >= 16 && is_loose(value) => true,
        Kind::Token if (quoted || is_setting) && value.len() >= 16 && is_hard_to_guess(value) => {
            looks_random(value) && !is_expression(value)
        }
        Kind::Token => {
            value.len() >= shortest
                && is_printable_token(value)
                && ((looks_random(value) && !is_uuid(value))
                    || (is_uuid(value) && may_be_uuid(name)))
        }
    }
}

/// True for a password that a person made up. One word may be a label, unless the name tells whose password it is.
fn is_made_for(name: &[u8], value: &str) -> bool {
    match made::made(value) {
        Some(Made::Word) => value.len() >= 8 && is_owned(name) && is_own_password(name),
        found => found.is_some(),
    }
}

/// True for a secret that a person made up, and no name of an object that holds one.
fn is_value_made(name: &[u8], value: &str) -> bool {
    let words = || value.split(|part: char| !part.is_alphanumeric());
    match made::made(value) {
        Some(Made::Numbered) => value.len() >= 8,
        Some(Made::Joined) => words().count() > 2 || is_value(name),
        _ => false,
    }
}

/// True for a name that tells what its password is for: that of a field of a form does not.
fn is_owned(name: &[u8]) -> bool {
    is_constant_name(name) || is_compound(name) || name.eq_ignore_ascii_case(b"psk")
}

/// True for a few letters and digits that are drawn: they change places as in no name.
fn is_short_key(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_change = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
    (8..=24).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.windows(2).filter(is_change).count() >= 3
        && letters_in_words(bytes) * 10 < bytes.len() * 4
}

/// True for still fewer of them, of both cases, none of which make a word.
fn is_tiny_key(value: &str) -> bool {
    let bytes = value.as_bytes();
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let is_change = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
    (6..=9).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && bytes.windows(2).filter(is_change).count() >= 2
        && letters_in_words(bytes) == 0
}

/// True for what is a key whatever its name is: digits of a usual length, or letters of both cases and digits.
fn is_key_by_form(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_hex = value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_long = match is_hex {
        true => matches!(value.len(), 32 | 40 | 48 | 64 | 128),
        false => {
            (24..=128).contains(&value.len())
                && has(u8::is_ascii_digit)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_lowercase)
        }
    };
    is_long && is_printable_token(value) && !value.contains(['.', ':', '$']) && looks_random(value)
}

/// True for a value that is public by its form.
pub(crate) fn is_public(value: &str) -> bool {
    [
        "pk_live_",
        "pk_test_",
        "pk.eyJ",
        "ssh-",
        "AAAAB3NzaC1",
        "AAAAC3NzaC1",
        "-----BEGIN PUBLIC",
        "-----BEGIN CERT",
        "sha256:",
        "sha256-",
        "sha512-",
        "sha384-",
        "age1",
    ]
    .iter()
    .any(|start| value.starts_with(start))
}

/// True if a token of this name may be a UUID. Others are ids of requests and pages.
fn may_be_uuid(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let has = |word: &str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    let others = [
        "session", "request", "csrf", "xsrf", "page", "next", "cancel", "trace", "sync", "continu",
        "state", "push", "device", "client", "correl",
    ];
    !others.iter().any(|word| has(word))
}

/// True for twelve to twenty-four plain words, as wallets are recovered with.
fn is_phrase(value: &str) -> bool {
    let words: Vec<&str> = value.split(' ').collect();
    matches!(words.len(), 12 | 15 | 18 | 21 | 24)
        && words.iter().all(|word| {
            (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
        })
}

/// True for four to eight plain words with a number at an end, as people draw them with dice.
fn is_diceware(value: &str) -> bool {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = value.split(' ').collect();
    (5..=9).contains(&words.len())
        && words.iter().filter(|word| is_word(word)).count() == words.len() - 1
        && [words.first(), words.last()].into_iter().flatten().any(|word| is_number(word))
}

/// True for a few plain words with nothing else between them, and none of those that join others to a sentence.
fn is_words(value: &str) -> bool {
    let is_word = |word: &&str| {
        (4..=9).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let words: Vec<&str> = value.split(' ').collect();
    (4..=8).contains(&words.len())
        && words.iter().all(is_word)
        && !words.iter().any(|word| JOINING.contains(word))
        && !is_described(value)
}

/// True for words that people use together as a password.
pub(crate) fn is_passphrase(value: &str) -> bool {
    is_words(value) || is_diceware(value)
}

/// True for two and more words with a number behind them, and marks between them.
fn is_words_and_number(value: &str) -> bool {
    let stem = value.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_word = |word: &str| {
        word.len() >= 4
            && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
            && word.as_bytes()[0].is_ascii_alphabetic()
    };
    let stem = stem.strip_suffix(['-', '_', '.']).unwrap_or(stem);
    let words: Vec<&str> = stem.split(['-', '_', '.']).collect();
    (2..=6).contains(&(value.len() - stem.len()))
        && (2..=6).contains(&words.len())
        && words.iter().all(|word| is_word(word))
        && !is_described(stem)
}

/// Words of four and more letters that join others to a sentence.
#[rustfmt::skip]
const JOINING: [&str; 40] = [
    "must", "should", "shall", "will", "would", "could", "have", "been", "with", "without", "your", "their", "that", "this", "these", "from",
    "into", "when", "where", "which", "while", "than", "then", "they", "only", "also", "cannot", "does", "because", "before", "after",
    "until", "least", "between", "more", "each", "other", "same", "what", "were",
];

/// True for groups of four characters, as app passwords are shown: not all of them can be words.
fn is_grouped(value: &str) -> bool {
    let groups: Vec<&str> = value.split(' ').collect();
    let is_group =
        |group: &&str| group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_alphanumeric());
    matches!(groups.len(), 4 | 6)
        && groups.iter().all(is_group)
        && groups.iter().any(|group| !sounds_like_a_word(group.as_bytes()))
}

/// True for words with digits and marks in them, as people use in passwords.
fn is_hard_to_guess(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().any(is_strong_mark)
}

/// True for marks that passwords have and names have not.
pub(crate) fn is_strong_mark(byte: u8) -> bool {
    b"!@#$%^&*?+~|;=(){},".contains(&byte)
}

/// True for what is more likely code than a password.
fn is_expression(value: &str) -> bool {
    ["=>", "==", "&&", "||", "()", "::", "->", "??", "](", "({", "\\("]
        .iter()
        .any(|sign| value.contains(sign))
}

/// True for what people choose: capitals, small letters and digits, and a mark or more than one digit.
fn is_chosen(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    let marks = count(|byte| is_strong_mark(*byte));
    (value.len() >= 10 || value.len() >= 8 && marks > 0)
        && count(u8::is_ascii_uppercase) > 0
        && count(u8::is_ascii_lowercase) > 0
        && (digits >= 2 || digits == 1 && marks > 0)
        && is_printable_token(value)
        && !is_expression(value)
        && !value.contains('/')
}

/// True if this is the value of a secret that a person chose: a word of its own, or letters and digits without order.
fn is_own(name: &[u8], value: &str) -> bool {
    is_chosen(value)
        || is_loose(value)
        || is_self_made(value)
        || is_numbered_word(value)
        || is_constant_name(name) && (is_letters_alone(value) || is_joined_words(value))
        || is_value(name)
            && (is_joined_words(value) || is_drawn(value.as_bytes()) || is_marked(value))
}

/// True for the name of a secret itself, and not for that of an object that holds some.
fn is_value(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let holders = ["existing", "pull", "image", "tls", "cert", "kube", "ingress", "registry"];
    lower.len() > 7 && !holders.iter().any(|holder| lower.starts_with(holder.as_bytes()))
}

/// True for letters with a mark of a password and a digit, or with such a mark amid letters that are no words.
fn is_marked(value: &str) -> bool {
    value.len() >= 8
        && (is_hard_to_guess(value) || is_broken(value))
        && is_printable_token(value)
        && !is_expression(value)
        && !value.contains('/')
}

/// True for letters and digits in no order.
fn is_loose(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && has_irregular_case(value.as_bytes())
        && is_printable_token(value)
        && !is_expression(value)
        && !value.contains('/')
}

/// True for the name of one secret, or of a login.
fn is_one(name: &[u8]) -> bool {
    !name.ends_with(b"s") || name.to_ascii_lowercase().starts_with(b"cred")
}

/// True for capitals, small letters, digits and a mark of a password, as in no name.
fn is_self_made(value: &str) -> bool {
    let inner = &value.as_bytes()[1..value.len() - 1];
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 8
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && inner.iter().any(|byte| b"!@#$%^&*~".contains(byte))
        && is_printable_token(value)
        && !is_expression(value)
}

/// Parts of words that describe a value and are none, and the ends of long single words.
#[rustfmt::skip]
const DESCRIBING: [&str; 36] = [
    "pass", "secret", "token", "string", "value", "field", "input", "hash", "user", "name", "text", "word", "auth", "config",
    "default", "example", "random", "generat", "encrypt", "plain", "clear", "admin", "login", "option", "param", "require",
    "credential", "manage", "valid", "current", "confirm", "reset", "missing", "provid", "server", "account",
];
#[rustfmt::skip]
const ENDINGS: [&str; 20] = [
    "ation", "ition", "ution", "ction", "ment", "ments", "ness", "able", "ible", "ized", "ised", "izing", "ality", "ability", "ically",
    "ations", "ingly", "ional", "ission", "ential",
];

/// True for a passphrase of small letters alone: words that are written as one, or drawn letters.
fn is_letters_alone(value: &str) -> bool {
    (10..=40).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_described(value)
        && !made::is_of_programs(value)
        && !ENDINGS.iter().any(|end| value.ends_with(end))
}

fn is_printable_token(value: &str) -> bool {
    value.bytes().all(|byte| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'(' | b')' | b'[' | b']' | b'<' | b'>' | b'"' | b'`' | b'{' | b'}' | b';' | b','
            )
    })
}

fn is_password(value: &str, quoted: bool) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let mark = has(|byte| is_strong_mark(*byte));
    let letter = has(u8::is_ascii_alphabetic) || !value.is_ascii();
    let digit = has(u8::is_ascii_digit);
    let is_mixed_up = || {
        quoted
            && value.len() >= 8
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !is_worded(value)
    };
    if !letter || !(digit || mark || has_irregular_case(value.as_bytes()) || is_mixed_up()) {
        return false;
    }
    if looks_random(value) {
        return true;
    }
    if !quoted && (is_expression(value) || is_path_of_names(value) || is_setting(value)) {
        return false;
    }
    // Without quotes it may be code: names with dots or calls in them are no passwords.
    quoted || mark || !value.contains(['.', '(', '[', '{']) || is_dotted(value)
}

/// True for words with dots between them and a number behind, as people make passwords: `Word.word42`, `word.word.42`.
fn is_dotted(value: &str) -> bool {
    let stem = value.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_word =
        |word: &str| word.len() >= 3 && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let words = || stem.trim_end_matches('.').split('.');
    value.len() - stem.len() >= 2
        && (stem.starts_with(|first: char| first.is_ascii_uppercase())
            || made::made(value) == Some(Made::Numbered))
        && words().count() > 1
        && words().all(is_word)
}

/// True for three and more plain words with hyphens or dots between them, as people make passwords; a number may be the first
/// or the last of them.
pub(crate) fn is_joined_words(value: &str) -> bool {
    let Some(sign) = value.find(['-', '.']) else { return false };
    let stem = value.trim_end_matches(['!', '?']);
    let parts: Vec<&str> = stem.split(char::from(value.as_bytes()[sign])).collect();
    let is_number = |part: &&&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = [parts.first(), parts.last()].into_iter().flatten().filter(is_number).count();
    let words = || parts.iter().filter(|part| !is_number(part));
    let count = parts.len() - numbers;
    let shortest = if count > 3 { 3 } else { 4 };
    count >= 3
        && numbers <= 1
        && words().all(|word| {
            word.len() >= shortest && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
        })
        && words().all(|word| word.as_bytes()[0].is_ascii_alphabetic())
        && !is_described(stem)
}

/// True for a word with a number behind it.
fn is_numbered_word(value: &str) -> bool {
    let stem = value.trim_end_matches(|last: char| last.is_ascii_digit());
    let digits = value.len() - stem.len();
    let stem = stem.strip_suffix(['-', '.', '_', '~']).unwrap_or(stem);
    (2..=6).contains(&digits)
        && stem.len() >= if digits == 4 { 4 } else { 5 }
        && stem.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
        && stem.as_bytes()[0].is_ascii_alphabetic()
        && !is_described(stem)
        && !is_technical(value, true)
}

/// True for a number that is drawn: its digits neither repeat nor follow each other.
fn is_number(value: &str) -> bool {
    let steps = || value.as_bytes().windows(2).map(|pair| pair[0].abs_diff(pair[1]));
    (6..=16).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_digit())
        && steps().filter(|step| *step > 1).count() * 2 >= value.len()
}

/// True for the name of a constant that holds a password, and no message about one and no switch.
fn is_own_password(name: &[u8]) -> bool {
    let others = [
        "WRONG",
        "INVALID",
        "FORGOT",
        "RESET",
        "SHOW",
        "HIDE",
        "REQUIRE",
        "USE",
        "ENABLE",
        "ALLOW",
        "HAS",
        "NO",
        "CHANGE",
        "CONFIRM",
        "MISSING",
        "BAD",
        "INCORRECT",
        "WEAK",
        "EXPIRED",
        "ERR",
    ];
    is_constant_name(name) && !others.iter().any(|other| name.starts_with(other.as_bytes()))
}

/// True if a part of the value describes another.
fn is_described(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    DESCRIBING.iter().any(|part| lower.contains(part))
}

/// True for `name=word`.
fn is_setting(value: &str) -> bool {
    value.split_once('=').is_some_and(|(name, word)| {
        [name, word].iter().all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        })
    })
}

/// True for names with slashes between them, as tests and files have.
fn is_path_of_names(value: &str) -> bool {
    value.contains('/')
        && value.split('/').all(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        })
        && is_worded(value)
}

/// True if a word of a sentence is a secret of this kind.
pub(crate) fn is_said(telling: Telling, name: &[u8], value: &str, marked: bool) -> bool {
    if marked && telling.kind != Kind::Password && is_uuid(value) {
        return true;
    }
    if !is_secret(telling.kind, name, value, Manner::Quoted) {
        return false;
    }
    if !matches!(telling.kind, Kind::Password | Kind::Secret) || looks_random(value) {
        return looks_random(value) || is_uuid(value);
    }
    let bytes = value.as_bytes();
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    let strong = bytes[..bytes.len() - 1]
        .iter()
        .any(|byte| is_strong_mark(*byte) && !matches!(byte, b'(' | b')' | b','));
    let mixed = count(u8::is_ascii_uppercase) > 0
        && count(u8::is_ascii_lowercase) > 0
        && (digits >= 2 || digits == 1 && has_irregular_case(bytes));
    !is_technical(value, marked)
        && count(u8::is_ascii_alphabetic) >= 2
        && ((digits > 0 && (strong || mixed || marked))
            || (strong && has_irregular_case(bytes))
            || (telling.kind == Kind::Password
                && (is_drawn(bytes) && !made::holds_word(value) || is_broken(value)))
            || (telling.kind == Kind::Password && is_respelt(value))
            || (marked && is_letters_alone(value))
            || (marked && is_joined_words(value)))
}

/// True for words that are a password because a sentence says so.
pub(crate) fn is_said_word(telling: Telling, name: &[u8], value: &str) -> bool {
    telling.kind == Kind::Password
        && (is_numbered_word(value)
            || is_joined_words(value)
            || is_number(value)
            || is_leet(value)
            || made::is_made(value)
            || value.len() >= 16 && is_letters_alone(value))
        && is_secret(telling.kind, name, value, Manner::Quoted)
}

/// True for a word in which digits stand for letters, with a number behind it: `m1rr0r-382`.
fn is_respelt(value: &str) -> bool {
    let Some((word, number)) = value.rsplit_once(['-', '_', '.']) else { return false };
    let number = number.trim_end_matches(|last: char| last.is_ascii_punctuation());
    let is_sign = |byte: u8| b"013457@".contains(&byte);
    word.len() >= 5
        && word.bytes().all(|byte| byte.is_ascii_alphabetic() || is_sign(byte))
        && word.as_bytes().windows(3).any(|part| is_sign(part[1]) && part[0].is_ascii_alphabetic())
        && number.len() >= 3
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for a word in which digits stand for letters, or that a digit follows after each letter.
fn is_leet(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_between = |part: &&[u8]| {
        part[0].is_ascii_alphabetic() && part[1].is_ascii_digit() && part[2].is_ascii_alphabetic()
    };
    let signs = bytes.windows(3).filter(is_between).count();
    bytes.iter().all(u8::is_ascii_alphanumeric)
        && (signs >= 2
            || signs == 1
                && bytes.len() >= 8
                && bytes.windows(3).any(|part| is_between(&part) && b"01345".contains(&part[1])))
        && !is_technical(value, true)
}

/// True for ten and more letters without any order in their case.
fn is_drawn(bytes: &[u8]) -> bool {
    let capitals = bytes.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    bytes.iter().all(u8::is_ascii_alphabetic)
        && capitals >= 3
        && bytes.len() - capitals >= 3
        && has_irregular_case(bytes)
}

/// True for letters of both cases that are no words, with a mark of a password amid them.
fn is_broken(value: &str) -> bool {
    let bytes = value.as_bytes();
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    bytes.len() >= 8
        && bytes[1..bytes.len() - 1].iter().any(|byte| b"!#%^@$".contains(byte))
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#%^@$*-_.".contains(byte))
        && !is_worded(value)
}

/// True for words with digits that are no secrets: algorithms, versions, files, names in code.
///
/// What is `marked` as the value has no part of a name in it if a number of three digits is.
fn is_technical(value: &str, marked: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let known = [
        "sha", "md5", "base", "utf", "pbkdf", "argon", "bcrypt", "scrypt", "hs2", "rs2", "es2",
        "ipv", "oauth", "http", "x509", "v1", "v2", "v3", "tls", "aes", "win", "python", "node",
        "java", "ascii", "unicode", "hmac", "rfc", "cve", "p25", "ed25519", "curve", "step",
        "level", "phase", "windows", "iso", "pkcs", "error", "port", "year", "crc", "int", "uint",
        "float", "char", "varchar", "bit", "rsa", "cp", "line", "page", "test", "user", "row",
        "item", "web", "log",
    ];
    // `sha256`, but not `shadow42`.
    let is_known = |word: &str| {
        lower.strip_prefix(word).is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_ascii_lowercase())
                || word.ends_with(|last: char| last.is_ascii_digit())
        })
    };
    if known.iter().any(|word| is_known(word)) {
        return true;
    }
    let is_drawn = !value.contains('/') && has_irregular_case(value.as_bytes());
    !is_drawn && is_name_in_code(value, marked)
}

/// True for calls, paths, constants, and names of files.
fn is_name_in_code(value: &str, marked: bool) -> bool {
    value.contains("()")
        || value.contains("](")
        || value.contains('/')
        || value.contains('_')
            && !value.bytes().any(is_strong_mark)
            && !value.split('_').any(|part| is_numbered(part, marked))
        || value.split_once('.').is_some_and(|(_, end)| {
            end.len() <= 5
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end.bytes().any(|byte| byte.is_ascii_alphabetic())
        })
}

/// True for a part of a word that no name in code has: a number of three digits and more, and letters behind it that are no unit.
fn is_numbered(part: &str, alone: bool) -> bool {
    let letters = part.trim_start_matches(|first: char| first.is_ascii_digit());
    let digits = part.len() - letters.len();
    digits >= 3
        && (alone && letters.is_empty()
            || digits >= 4 && letters.len() >= 3
            || letters.bytes().any(|byte| byte.is_ascii_uppercase())
                && letters.bytes().any(|byte| byte.is_ascii_lowercase()))
}
