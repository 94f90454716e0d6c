//! What people make up as a password: words that no program has a use for, joined, cased or numbered as in no name.
//!
//! The shape of `amber-kettle` and `case-sensitive` is the same, so words speak against a value: those of programs, of
//! their settings and of sentences about passwords. A single one is enough.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::checks::{is_filler, is_made_up, is_masked, is_reference, is_uuid, looks_random};

/// The most bytes of what people make up.
const LONGEST: usize = 64;

/// The way in which words were made a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Made {
    /// `zwiebelkuchen`
    Word,
    /// `eatMoreFigs`
    Cased,
    /// `amber-kettle`
    Joined,
    /// `amber_kettle7`, `amber88`
    Numbered,
}

/// Words of programs and of sentences about them.
static VOCABULARY: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("vocabulary.txt").split_whitespace().collect());

/// Beginnings of words that tell the state of a value or ask for one, and words for a password, in many languages.
#[rustfmt::skip]
const STEMS: [&str; 104] = [
    "incorr", "inkorr", "invalid", "inválid", "obligat", "obrigat", "requis", "requer", "requir", "richiest", "necess", "erforder", "benötig", "falsch",
    "ungült", "fehler", "fehlen", "vergess", "geänder", "gespeich", "geheim", "verplicht", "vereist", "onjuist", "ongeldig", "vergeten", "wymagan",
    "niepraw", "nieprawid", "błęd", "neplat", "povinn", "krävs", "felaktig", "ogiltig", "ugyldig", "påkrevd", "forkert", "glemt", "glömt", "väär", "pakoll",
    "hatal", "gerekli", "zorunlu", "geçersiz", "hibás", "kötelező", "érvénytelen", "неверн", "обязат", "требу", "недейств", "cambia", "modific", "modifi",
    "actualiz", "restable", "oubli", "manquant", "forgot", "dimentic", "olvid", "esquec", "zapomn", "unohd", "errat", "errad", "erron", "error", "secret",
    "segret", "passwor", "passwd", "passphra", "passor", "passe", "contrase", "senha", "kennwort", "wachtwoord", "hasł", "hasło", "heslo", "lösen",
    "adgangs", "salasan", "şifre", "jelsz", "парол", "encrypt", "decrypt", "authent", "authoriz", "generat", "config", "validat", "require", "confirm",
    "credential", "placehold", "default", "descript", "environ",
];

/// Words of two letters that only programs use.
const SHORT: [&str; 8] = ["id", "ip", "db", "ui", "vm", "os", "js", "py"];

/// Ends of names of files and hosts.
#[rustfmt::skip]
const ENDS: [&str; 68] = [
    "com", "net", "org", "io", "dev", "app", "ai", "co", "de", "no", "fr", "uk", "eu", "us", "es", "it", "nl", "se", "dk", "fi", "pl", "ch", "at",
    "local", "lan", "internal", "test", "js", "ts", "jsx", "tsx", "mjs", "rs", "py", "rb", "go", "php", "java", "kt", "cs", "cpp", "json", "yaml", "yml",
    "toml", "md", "txt", "html", "css", "env", "sh", "lock", "log", "xml", "pem", "key", "crt", "conf", "cfg", "ini", "png", "svg", "jpg", "gz", "zip",
    "kdbx", "gpg", "age",
];

/// Ends of words that tell what something is like: `time-limited`.
const ADJECTIVES: [&str; 12] =
    ["ed", "ing", "able", "ible", "ive", "less", "ful", "ly", "ation", "ment", "ness", "ary"];

/// Returns the way in which a value was made of words; `None` if it is something else, or one of them is one of programs.
pub(crate) fn made(value: &str) -> Option<Made> {
    let count = |test: fn(char) -> bool| value.chars().filter(|part| test(*part)).count();
    let letters = count(char::is_alphabetic);
    let digits = count(|part| part.is_ascii_digit());
    let is_part = |part: char| part.is_alphanumeric() || "!@#$%^&*?+~=.,;:_-|'".contains(part);
    let begins = value.chars().next()?;
    if !(6..=LONGEST).contains(&value.len())
        || letters < 4
        || !value.chars().all(is_part)
        || !begins.is_alphanumeric()
        || is_masked(value)
        || is_filler(value)
        || is_reference(value)
        || is_made_up(value)
        || is_name(value)
        || !is_marked(value)
            && words(value).any(|word| {
                (word.len() > 2 || SHORT.contains(&word.as_str())) && is_of_programs(&word)
            })
    {
        return None;
    }
    let marks = count(|part| !part.is_alphanumeric());
    let humps = humps(value);
    match digits {
        0 if marks > 0 && words(value).filter(|word| word.chars().count() > 1).count() > 1 => {
            Some(Made::Joined)
        }
        0 if humps > 0 && marks == 0 => Some(Made::Cased),
        0 => Some(Made::Word),
        1 if marks == 0 && humps == 0 && value.len() < 9 => None,
        _ => Some(Made::Numbered),
    }
}

/// True for marks between letters and digits that no name has: there the words do not count.
fn is_marked(value: &str) -> bool {
    let is_mark = |part: &&[u8]| {
        part[0].is_ascii_alphabetic()
            && b"!#^*&~%".contains(&part[1])
            && part[2].is_ascii_alphabetic()
    };
    let marks = value.as_bytes().windows(3).filter(is_mark).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    !value.contains('=') && (marks > 1 || marks == 1 && digits > 0)
}

/// True for words that are joined or numbered: no sentence needs those.
pub(crate) fn is_made(value: &str) -> bool {
    match made(value) {
        Some(Made::Numbered) => true,
        Some(Made::Joined) => {
            let last = words(value).last().unwrap_or_default();
            !ADJECTIVES.iter().any(|end| last.len() > end.len() + 1 && last.ends_with(end))
        }
        _ => false,
    }
}

/// True for a value that is a secret where nothing else can stand: drawn, or made up.
pub(crate) fn is_certain(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_token =
        value.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"'`\\(){}[]".contains(&byte));
    let is_hex = value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_other = is_masked(value)
        || is_filler(value)
        || is_reference(value)
        || value.starts_with(['/', '-', '.']);
    let is_marked = || {
        has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && has(|byte| b"!@#$%^&*?+~".contains(byte))
    };
    value.len() >= 6
        && is_token
        && !is_other
        && (is_hex
            || is_uuid(value)
            || looks_random(value)
            || is_marked()
            || made(value).is_some_and(|made| made != Made::Word || value.len() >= 8))
}

/// True for letters and digits that a command shows which shows nothing but secrets.
pub(crate) fn is_shown(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_token =
        value.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"'`\\(){}[]/".contains(&byte));
    is_certain(value)
        || value.len() >= 8
            && is_token
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && !(is_masked(value) || is_filler(value) || is_name(value) || is_name_in_code(value))
}

/// True for words with blanks between them that are no sentence and no label.
pub(crate) fn is_phrase(value: &str, is_certain: bool) -> bool {
    let words: Vec<&str> = value.split(' ').collect();
    let is_word = |word: &&str| {
        word.chars().all(char::is_alphanumeric) && (1..=14).contains(&word.chars().count())
    };
    let begins_small =
        || value.starts_with(|first: char| first.is_lowercase() || first.is_ascii_digit());
    (10..=LONGEST).contains(&value.len())
        && (2..=8).contains(&words.len())
        && words.iter().all(is_word)
        && (is_certain || words.len() > 2 && begins_small())
        && !words.iter().any(|word| is_of_programs(&word.to_lowercase()))
}

/// True for a word of a program or of a sentence about it.
pub(crate) fn is_of_programs(word: &str) -> bool {
    VOCABULARY.contains(word)
        || word.strip_suffix('s').is_some_and(|stem| VOCABULARY.contains(stem))
        || STEMS.iter().any(|stem| word.starts_with(stem))
}

/// True for a name that words of programs make up.
pub(crate) fn is_name_in_code(value: &str) -> bool {
    words(value).filter(|word| word.len() > 2 && is_of_programs(word)).count() > 1
}

/// True if one of its words is one of programs.
pub(crate) fn holds_word(value: &str) -> bool {
    words(value).any(|word| word.len() > 2 && is_of_programs(&word))
}

/// Returns how often a capital follows a small letter.
fn humps(value: &str) -> usize {
    let mut before = ' ';
    let mut found = 0;
    for part in value.chars() {
        found += usize::from(before.is_lowercase() && part.is_uppercase());
        before = part;
    }
    found
}

/// Returns the words of a value, in small letters: also those that only a capital begins, as in `someWord` and `ABWord`.
fn words(value: &str) -> impl Iterator<Item = String> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|part: char| !part.is_alphabetic());
        let mut before = ' ';
        let end = rest.char_indices().find(|(at, part)| {
            let next = rest[at + part.len_utf8()..].chars().next();
            let begins = part.is_uppercase()
                && (before.is_lowercase()
                    || before.is_uppercase() && next.is_some_and(char::is_lowercase));
            before = *part;
            begins || !part.is_alphabetic()
        });
        let (word, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = after;
        (!word.is_empty()).then(|| word.to_lowercase())
    })
}

/// True for a host, a file, a constant, a number of a ticket, an address, digits of a digest.
fn is_name(value: &str) -> bool {
    let bytes = value.as_bytes();
    let ends = value.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end));
    let is_address = value.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    let is_capital = !value.chars().any(char::is_lowercase)
        && !value.bytes().any(|byte| b"!@#$%^&*?+~,".contains(&byte));
    let is_hex = bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let is_field = value.split_once(['=', ':']).is_some_and(|(name, _)| {
        name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    });
    ends || is_address
        || is_capital
        || is_hex
        || is_field
        || is_uuid(value)
        || value.starts_with("0x")
        || ["::", "->", "=>", "==", "&&", "..", ",,"].iter().any(|sign| value.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_make_up_is_told_from_what_programs_hold() {
        for (value, expected) in [
            ("zwiebelkuchen", Some(Made::Word)),
            ("eatMoldyFigs", Some(Made::Cased)),
            ("amber-kettle", Some(Made::Joined)),
            ("rusty.Nail+Moss", Some(Made::Joined)),
            ("tres_gatos_negros", Some(Made::Joined)),
            ("Apfelbaum_19", Some(Made::Numbered)),
            ("fjordpony77", Some(Made::Numbered)),
            ("case-sensitive", None),
            ("current-password", None),
            ("getUserById2", None),
            ("server-01", None),
            ("login_v2.py", None),
            ("ubuntu-22.04", None),
            ("TICKET-1234", None),
            ("NTSTATUS", None),
            ("9fceb02d0ae5", None),
            ("incorrecta", None),
            ("bob@mx1.ferret.se", None),
        ] {
            assert_eq!(made(value), expected, "{value}");
        }
        assert!(is_made("amber-kettle") && !is_made("moth-eaten-looking"));
        for (value, is_certain, expected) in [
            ("ostepop og saft", false, true),
            ("Eplekake og krem", true, true),
            ("Eplekake og krem", false, false),
            ("must be longer", false, false),
            ("Mot de passe", true, false),
            ("moss kettle.", true, false),
        ] {
            assert_eq!(is_phrase(value, is_certain), expected, "{value}");
        }
    }
}
