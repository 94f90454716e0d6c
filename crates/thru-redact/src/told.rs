//! A password that a text tells without a notation of its own: anywhere in the sentence of its name, in the answer to a
//! question, below a command that shows it, in a list below a heading.
//!
//! Candidates are the words around a name. What a word is made of and how near it stands speak for it, what it may be instead
//! and what is said before it speak against it: the less a word looks like a password, the more must speak for it.

mod login;

use std::ops::Range;

use memchr::memmem;

use crate::checks::{is_uuid, letters_in_words, looks_random};
use crate::made::{self, Made};
use crate::names::{self, Kind, Telling};
use crate::shown;
use crate::value;

pub(crate) use login::{LOGINS, find_login, may_be_login};

/// The most bytes of a sentence that are read behind a name and before it.
const BEHIND: usize = 140;
const BEFORE: usize = 100;
/// The most bytes between a name and the line below that may hold its value.
const TAIL: usize = 90;
/// The most bytes of such a line.
const LINE: usize = 160;
/// The most lines below a question that may answer it.
const ANSWERS: usize = 3;
/// The most lines that are looked at behind a name.
const LINES: usize = 4;
/// The most rows of a list.
const ROWS: usize = 24;
/// The fewest bytes of a password.
const SHORTEST: usize = 6;

/// What a word looks like.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// Words that people make up as a password, joined or cased.
    Plain,
    /// Words that people join to a password, or one with a number.
    Words,
    /// Letters, digits and marks in an order that no word or name has.
    Made,
}

/// A word of a line.
#[derive(Clone)]
struct Word {
    /// Where it stands, without quotation marks and the marks of the sentence.
    range: Range<usize>,
    is_quoted: bool,
    ends_sentence: bool,
}

/// Words that tell that the next one is no password, but the thing, the place or the person that it belongs to.
#[rustfmt::skip]
const OWNERS: [&str; 44] = [
    "for", "of", "on", "from", "at", "in", "by", "via", "user", "username", "login", "host", "server", "account", "named", "called", "since",
    "until", "after", "before", "into", "file", "für", "von", "bei", "auf", "im", "benutzer", "nutzer", "de", "du", "pour", "utilisateur",
    "sur", "para", "del", "usuario", "en", "per", "di", "utente", "do", "em", "than",
];

/// Words that tell that the value is something else.
#[rustfmt::skip]
const OTHERS: [&str; 35] = [
    "hash", "hashed", "sha1", "sha256", "sha512", "sha", "md5", "digest", "commit", "checksum", "fingerprint", "version", "url", "path", "id", "uuid",
    "branch", "tag", "error", "test", "tests", "line", "lines", "port", "regex", "pattern", "function", "method", "class", "variable", "field",
    "column", "ticket", "issue", "public",
];

/// Words right before a value, and the signs.
#[rustfmt::skip]
const VERBS: [&str; 51] = [
    "be", "type", "enter", "try", "use", "please", "bitte", "til", "till", "op", "på", "na",
    "is", "was", "are", "be", "now", "still", "to", "it's", "its", "used", "became", "ist", "war", "lautet", "heißt", "jetzt", "noch", "est", "c'est",
    "était", "es", "era", "sigue", "è", "é", "foi", "je", "är", "er", "=", ":", "->", "=>", "→", "–", "—", "-", "|", "│",
];

/// True if, in text or in raw JSON, a word near this name may be a password. A fast check that rules out most names.
pub(crate) fn is_possible(bytes: &[u8], name: &Range<usize>) -> bool {
    // In raw JSON, escapes lengthen what stands between.
    let is_pass = bytes[name.clone()].eq_ignore_ascii_case(b"pass");
    let before = if is_pass { 0 } else { 2 * BEFORE };
    let before = &bytes[name.start.saturating_sub(before)..name.start];
    let prompt = &bytes[name.start.saturating_sub(8)..name.start];
    bytes[name.clone()].to_ascii_lowercase().ends_with(b"phrase")
        || (!is_pass || prompt.iter().any(|byte| b"$#>%".contains(byte) || *byte >= 0x80))
            && (holds_password(before, BEFORE) || holds_password(after(bytes, name.end), LINES))
}

/// Returns what may stand behind a name, in text or in raw JSON.
fn after(bytes: &[u8], end: usize) -> &[u8] {
    &bytes[end..bytes.len().min(end + 2 * (TAIL + LINE))]
}

/// True if the first lines of a text, or of raw JSON, hold what may be a password.
pub(crate) fn holds_password(part: &[u8], lines: usize) -> bool {
    let (mut start, mut breaks) = (0, 0);
    for (at, byte) in part.iter().enumerate() {
        if !matches!(
            byte,
            0..=b' ' | b'"' | b'`' | b'\\' | b'(' | b')' | b'<' | b'>' | b'{' | b'}' | b'|'
        ) {
            continue;
        }
        if may_be_password(&part[start..at]) {
            return true;
        }
        start = at + 1;
        let is_break = *byte == b'\n' || *byte == b'\\' && part.get(start) == Some(&b'n');
        breaks += usize::from(is_break);
        if breaks > lines {
            return false;
        }
    }
    may_be_password(&part[start..])
}

/// True if this may be a password, or a text that holds one.
fn may_be_password(word: &[u8]) -> bool {
    if word.len() < SHORTEST {
        return false;
    }
    let (mut digits, mut signs) = (0, 0);
    for byte in word {
        digits += usize::from(byte.is_ascii_digit());
        signs += usize::from(matches!(byte, b'-' | b'.'));
    }
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_joined =
        digits == 0 && letters > 7 && (signs > 0 || word.contains(&b'_') || has_hump(word));
    if digits == 0 && signs < 2 {
        return is_joined;
    }
    is_joined
        || signs > 1 && letters > 9
        || digits > 1 && letters > 4
        || digits > 0
            && letters > 1
            && (word.iter().any(is_mark) || changes(word) > 3 || has_both_cases(word))
}

/// True if a capital follows a small letter.
fn has_hump(word: &[u8]) -> bool {
    word.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

pub(crate) const fn is_mark(byte: &u8) -> bool {
    matches!(
        *byte,
        b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'=' | b'+'
    )
}

/// Returns how often letters and digits change places.
fn changes(word: &[u8]) -> usize {
    let is_change = |pair: &&[u8]| {
        pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
            || pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic()
    };
    word.windows(2).filter(is_change).count()
}

fn has_both_cases(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase)
}

/// Returns the password that is told near the name.
pub(crate) fn find(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    // `pass` is a word of everyday.
    if text[name.clone()].eq_ignore_ascii_case("pass") {
        let is_command = is_prompt(head(text, name.start, 8));
        return if is_command { below(text, name) } else { None };
    }
    behind(text, name.end..line_end(text, name.end))
        .or_else(|| ahead(text, name.start))
        .or_else(|| below(text, name))
        .or_else(|| quoted(text, name))
}

/// Returns what stands in quotation marks on the line of a name, if it is numbered or drawn as nothing else there would be.
fn quoted(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let head = head(text, name.start, BEFORE);
    let line = name.start - head.len()..line_end(text, name.end);
    let is_certain = |value: &str| match made::made(value) {
        Some(Made::Numbered) => value.bytes().filter(u8::is_ascii_digit).count() > 1,
        Some(_) => false,
        None => has_both_cases(value.as_bytes()) && look(value) == Some(Look::Made),
    };
    let mut at = line.start;
    while let Some(next) = text[at..line.end].find(['"', '\'', '`']) {
        let start = at + next + 1;
        let mark = char::from(text.as_bytes()[start - 1]);
        let Some(length) = text[start..line.end].find(mark) else { break };
        let value = text[start..start + length].trim_end_matches('\\');
        let before = text[..start - 1].chars().next_back();
        let opens = before.is_none_or(|before| !before.is_alphanumeric() || before == 'b');
        let after = text[start + length + 1..].chars().next();
        // `"NAME": …` names something.
        if opens && !matches!(after, Some(':' | '=')) && is_certain(value) && !is_other(value) {
            return Some(start..start + value.len());
        }
        // A mark that opens nothing is an apostrophe.
        at = if opens { start + length + 1 } else { start };
    }
    None
}

/// Returns the end of the sentence's line, as far as it is read.
fn line_end(text: &str, start: usize) -> usize {
    let ceiling = text.floor_char_boundary(text.len().min(start + BEHIND));
    text[start..ceiling].find(['\n', '\r']).map_or(ceiling, |at| start + at)
}

/// Returns the line before this place, as far as it is read.
fn head(text: &str, end: usize, longest: usize) -> &str {
    let floor = text.ceil_char_boundary(end.saturating_sub(longest));
    text[floor..end].rsplit('\n').next().unwrap_or_default()
}

/// Returns the password in the sentence behind a name.
fn behind(text: &str, part: Range<usize>) -> Option<Range<usize>> {
    if let Some(phrase) = phrase(text, part.clone()) {
        return Some(phrase);
    }
    let words = words(text, part.clone());
    for (nth, word) in words.iter().enumerate() {
        let gap = &text[part.start..word.range.start];
        let last = nth.checked_sub(1).map(|before| &words[before]);
        let before = last.map(|last| text[last.range.clone()].to_lowercase());
        // Where one is told, another may be.
        let is_another = gap.contains("[redacted:password]")
            && before
                .as_deref()
                .is_some_and(|before| VERBS.contains(&before) || AGAIN.contains(&before));
        let is_typed = last.is_some_and(|last| is_typing(&text[last.range.clone()]));
        if (is_another || is_typed) && is_password(&text[word.range.clone()]) {
            return Some(word.range.clone());
        }
        if let Some(look) = look(&text[word.range.clone()])
            && !before.as_deref().is_some_and(|before| OWNERS.contains(&before))
            && !is_about_else(gap)
        {
            let is_joined = match &before {
                Some(before) => VERBS.contains(&before.as_str()) || ends_with_sign(gap),
                None => ends_with_sign(gap),
            };
            let may_be = match look {
                Look::Made => nth <= 12,
                // `password (VALUE)`
                _ if gap == " (" => true,
                Look::Words | Look::Plain if nth == 0 && word.range.start == part.start + 1 => {
                    let digits = text[word.range.clone()].bytes().filter(u8::is_ascii_digit);
                    digits.count() > 1 || is_instrument(text, part.start)
                }
                // `-> Type`
                _ if gap.trim_end().ends_with("->")
                    && !text[word.range.clone()].bytes().any(|byte| byte.is_ascii_digit()) =>
                {
                    false
                }
                Look::Words => word.is_quoted && nth <= 10 || is_joined && nth <= 12,
                Look::Plain => {
                    is_joined && nth <= 6 && !gap.trim_end().ends_with(['>', '|', '-', ':', '='])
                }
            };
            if may_be {
                return Some(word.range.clone());
            }
        }
        // `It asks for a password. I typed VALUE.`
        let types = |word: &Word| is_typing(&text[word.range.clone()]);
        if word.ends_sentence
            && !words[nth..].iter().take(4).any(types)
            && !gap.contains("[redacted:password]")
        {
            break;
        }
    }
    None
}

/// Words before another password of a sentence.
const AGAIN: [&str; 11] =
    ["has", "had", "with", "from", "and", "or", "than", "uses", "says", "und", "not"];

/// True if a word for "with" stands before the name that ends here: `avec le mot de passe VALUE`.
fn is_instrument(text: &str, end: usize) -> bool {
    let words = ["with", "using", "avec", "mit", "con", "com", "met", "med", "z", "se", "с", "ile"];
    let line = head(text, end, BEFORE);
    line.split_whitespace()
        .rev()
        .skip(1)
        .take(5)
        .any(|word| words.contains(&word.to_lowercase().as_str()))
}

/// Returns the words between quotation marks that a sentence gives to its name.
fn phrase(text: &str, part: Range<usize>) -> Option<Range<usize>> {
    let sentence = &text[part.clone()];
    let open = sentence.find(['"', '`', '\'', '“', '„', '«'])?;
    let mark = sentence[open..].chars().next()?;
    let start = open + mark.len_utf8();
    let close = if mark.is_ascii() { [mark; 3] } else { ['”', '“', '»'] };
    let inner = &sentence[start..start + sentence[start..].find(close)?];
    let gap = &sentence[..open];
    let last = gap.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let is_given = VERBS.contains(&last.as_str()) || ends_with_sign(gap);
    let is_one =
        is_given && !gap.contains(". ") && !is_about_else(gap) && value::is_passphrase(inner);
    is_one.then(|| part.start + start..part.start + start + inner.len())
}

/// Words by which a sentence makes what stands before them a password, in several languages.
const AS: [&str; 13] = [
    "as", "als", "comme", "como", "come", "som", "jako", "olarak", "sebagai", "ως", "как", "kot",
    "kao",
];

/// True if what begins a line may be a password although nothing stands before it.
fn is_named_or_cased(gap: &str, word: &str) -> bool {
    gap.contains("<-") || gap.contains("that") || has_both_cases(word.as_bytes())
}

/// Returns the password in the sentence before a name.
fn ahead(text: &str, end: usize) -> Option<Range<usize>> {
    let floor = text.ceil_char_boundary(end.saturating_sub(BEFORE));
    let start = text[floor..end].rfind(['\n', '\r']).map_or(floor, |at| floor + at + 1);
    let words = words(text, start..end);
    for (nth, word) in words.iter().enumerate().rev() {
        if word.ends_sentence {
            break;
        }
        let gap = &text[word.range.end..end];
        let links = [
            "is", "for", "when", "that's", "thats", "ist", "est", "es", "er", "är", "je", "to",
            "jest",
        ];
        let between = || gap.split_whitespace().map(str::to_lowercase);
        // `VALUE as the password`
        let is_given = gap.starts_with(" is the ")
            || gap.starts_with(" is my ")
            || gap.starts_with(" is our ");
        let is_named = (is_given
            || between().next().is_some_and(|first| AS.contains(&first.as_str())))
            && between().count() <= 4;
        // `changed it from VALUE to VALUE`
        let last = nth.checked_sub(1).map(|before| &text[words[before].range.clone()]);
        let is_changed = matches!(last, Some("from" | "to"))
            && look(&text[word.range.clone()]) == Some(Look::Made)
            && is_change(&text[start..word.range.start]);
        let is_typed = last.is_some_and(is_typing);
        if is_changed || is_typed && is_password(&text[word.range.clone()]) {
            return Some(word.range.clone());
        }
        let is_linked = is_named || between().any(|part| links.contains(&part.as_str()));
        if let Some(look) = look(&text[word.range.clone()])
            && is_linked
            && !is_about_else(gap)
            && !gap.contains(['(', '{', '=', ':'])
            && (word.is_quoted
                || nth > 0
                || look > Look::Plain && is_named_or_cased(gap, &text[word.range.clone()]))
            && nth.checked_sub(1).is_none_or(|before| {
                !is_about_else(&text[words[before].range.clone()])
                    && !OWNERS.contains(&text[words[before].range.clone()].to_lowercase().as_str())
            })
            && (look == Look::Made
                || word.is_quoted
                || is_named
                || look == Look::Words && between().any(|part| part.starts_with("that")))
        {
            return Some(word.range.clone());
        }
    }
    None
}

/// True for a word by which something is typed.
fn is_typing(word: &str) -> bool {
    let words = ["type", "typed", "typing", "enter", "entered", "entering", "tippe", "tippte"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// True if a word tells that something became another.
fn is_change(head: &str) -> bool {
    ["chang", "rotat", "reset", "switch"].iter().any(|stem| head.contains(stem))
}

/// Returns the password on the line below that of a name: the answer to a question, or what a command shows.
fn below(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let ceiling = text.floor_char_boundary(text.len().min(name.end + TAIL));
    let tail = text[name.end..ceiling].find('\n')?;
    let tail = &text[name.end..name.end + tail];
    let asks = tail.trim_end().ends_with('?') || is_request(head(text, name.start, LINE));
    let shows = is_prompt(head(text, name.start, LINE));
    let announces = asks
        || tail.trim_end().ends_with(':')
        || tail.chars().all(|part| !part.is_alphanumeric() && part != ',')
        || shows;
    let mut at = name.end + tail.len();
    // An answer may come late.
    for line in 0..if asks { ANSWERS } else { 1 } {
        let mut next = line_below(text, at)?;
        let is_rule = |line: &Range<usize>| {
            line.len() > 2 && !text[line.clone()].contains(char::is_alphanumeric)
        };
        if is_rule(&next) {
            // The line below the head of a table, or above it.
            next = line_below(text, next.end)?;
            let rule = line_below(text, next.end).filter(|below| shows && is_rule(below));
            if let Some(rule) = rule.filter(|_| text[next.clone()].starts_with('|')) {
                next = line_below(text, rule.end).unwrap_or(next);
            }
        }
        if shown::is_prompt(&text[next.clone()]) {
            return None;
        }
        at = next.end;
        let words = words(text, next.start + after_speaker(&text[next.clone()])..next.end);
        let is_word = |word: &&Word| text[word.range.clone()].contains(char::is_alphanumeric);
        let is_alone = words.iter().filter(is_word).count() == 1;
        for (nth, word) in words.iter().take(8).enumerate() {
            let Some(look) = look(&text[word.range.clone()]) else { continue };
            let is_last = nth + 1 == words.len();
            let may_be = match look {
                Look::Made | Look::Words if shows && is_last && word.is_quoted => true,
                Look::Made => is_alone && (announces || tail.len() < 40) || asks,
                Look::Words => {
                    is_alone && announces || asks && line == 0 && (word.is_quoted || is_last)
                }
                Look::Plain => is_alone && announces && (asks || line == 0),
            };
            if may_be {
                return Some(word.range.clone());
            }
        }
    }
    None
}

/// The most bytes between the sign of a comment and the name in it.
const COMMENT: usize = 40;

/// True if, in text or in raw JSON, a comment behind a value may stand before this place.
pub(crate) fn may_be_comment(bytes: &[u8], start: usize) -> bool {
    let near = &bytes[start.saturating_sub(COMMENT)..start];
    let sign =
        ["# ", "// ", "-- ", "/* "].iter().find_map(|sign| memmem::rfind(near, sign.as_bytes()));
    sign.is_some_and(|at| {
        let before = near[..at].trim_ascii_end();
        before.ends_with(b"\"")
            || before.ends_with(b"'")
            || before.ends_with(b";")
            || before.ends_with(b")")
    })
}

/// Returns the value in quotation marks before a comment that names it: `x = "VALUE"  # db password`.
pub(crate) fn commented(text: &str, start: usize, telling: Telling) -> Option<Range<usize>> {
    let line = head(text, start, BEFORE + COMMENT);
    let floor = start - line.len();
    let sign = ["# ", "// ", "-- ", "/* "].iter().filter_map(|sign| line.rfind(sign)).max()?;
    let code = line[..sign].trim_end().trim_end_matches([';', ')', ',', ']']);
    let mark = code.chars().next_back().filter(|mark| "\"'`".contains(*mark))?;
    let inner = &code[..code.len() - 1];
    let open = inner.rfind(mark)?;
    let value = &inner[open + 1..];
    let is_secret = match telling.kind {
        Kind::Password => made::is_certain(value),
        _ => looks_random(value) && value.len() >= 16,
    };
    let is_one = line.len() - sign <= COMMENT && !is_about_else(&line[sign..]);
    (is_secret && is_one).then(|| floor + open + 1..floor + inner.len())
}

/// True for the beginning of a sentence that asks for what it names, without a question mark.
fn is_request(head: &str) -> bool {
    let lower = head.to_lowercase();
    [
        "can you",
        "i need",
        "please confirm",
        "could you",
        "send me",
        "give me",
        "what's",
        "whats",
        "what is",
        "what was",
        "share the",
        "anyone have",
        "was ist",
        "wie ist",
        "wie lautet",
        "quel est",
        "cuál es",
        "cual es",
        "hva er",
        "vad är",
    ]
    .iter()
    .any(|words| lower.contains(words))
}

/// Returns the passwords of a list whose heading the name stands in: a label, a sign and the value in each row.
pub(crate) fn listed(text: &str, name: &Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<(Look, Range<usize>)> = Vec::new();
    let ceiling = text.floor_char_boundary(text.len().min(name.end + TAIL));
    let head = head(text, name.start, TAIL);
    let Some(tail) = text[name.end..ceiling].find('\n') else { return Vec::new() };
    let end = name.end + tail;
    let tail = text[name.end..end].trim_end();
    let is_object = tail.ends_with('{') && text[..name.end].ends_with('s');
    let is_heading = is_object
        || tail.ends_with(':')
        || head.trim_start().starts_with(['#', '*', '=', '-'])
        || text[end..].starts_with("\n\n")
        || tail.trim_end_matches(['*', '#', '=', '-', ' ']).len() < 2 && head.len() < 24;
    if !is_heading || head.len() + tail.len() > 80 {
        return Vec::new();
    }
    let mut at = end;
    for _ in 0..ROWS {
        let Some(row) = line_below(text, at) else { break };
        at = row.end;
        let words = words(text, row.clone());
        let Some(last) = words.last().filter(|_| (2..=6).contains(&words.len())) else { break };
        let label = &words[words.len() - 2];
        let gap = &text[label.range.end..last.range.start];
        let is_row = gap.contains([':', '=', '|', '/', '\t', '→', '–', ',', ';'])
            || gap.contains("  ")
            || gap.contains(" - ")
            || matches!(&text[label.range.clone()], "-" | "–" | "/" | "|" | ":" | "=" | "→" | "->");
        match look(&text[last.range.clone()]).filter(|_| is_row) {
            Some(look) => found.push((look, last.range.clone())),
            None if is_row => {}
            None => break,
        }
    }
    // Names are joined like words of passwords.
    found.retain(|(look, _)| *look > Look::Plain);
    let is_list = found.len() > 1 || found.first().is_some_and(|(look, _)| *look == Look::Made);
    if is_list { found.into_iter().map(|(_, range)| range).collect() } else { Vec::new() }
}

/// Returns the next line that is not empty, if at most one is between.
fn line_below(text: &str, end: usize) -> Option<Range<usize>> {
    let ceiling = text.floor_char_boundary(text.len().min(end + LINE));
    let rest = &text[end..ceiling];
    let blank = rest.len() - rest.trim_start().len();
    if !(1..=2).contains(&rest[..blank].matches('\n').count()) {
        return None;
    }
    let start = end + blank;
    let length = text[start..ceiling].find(['\n', '\r']);
    // The line must end within what is read.
    let end = match length {
        Some(length) => start + length,
        None if ceiling == text.len() => ceiling,
        None => return None,
    };
    Some(start..end)
}

/// True for the beginning of a line with a command in a terminal.
fn is_prompt(head: &str) -> bool {
    let head = head.trim_start();
    let first = head.split_whitespace().next().unwrap_or_default();
    // `mysql>`, `shop=#`, `(gdb)`, `In [3]:`
    let is_interpreter = first.len() <= 24
        && !first.contains(['<', '/', '='])
        && first.trim_end_matches('>').len() > 1
        && (first.ends_with('>') && !first.ends_with("->"))
        || first.len() <= 24 && first.ends_with("=#")
        || matches!(first, "(gdb)" | "(lldb)" | "(Pdb)" | "PS")
        || head.starts_with("In [");
    ["$ ", "# ", "> ", "% ", "❯ "].iter().any(|sign| head.starts_with(sign))
        || head.contains("$ ")
        || is_interpreter
}

/// Returns the bytes of a time and a speaker that a line of a chat begins with.
fn after_speaker(line: &str) -> usize {
    // What an interpreter shows.
    if line.starts_with("=> ") {
        return 3;
    }
    let near = &line[..line.floor_char_boundary(48)];
    let Some(colon) = near.find(": ").or_else(|| near.find("> ")) else {
        return 0;
    };
    let speaker = &near[..colon];
    let is_part = |part: char| part.is_alphanumeric() || " []:.,-_@<*()/".contains(part);
    if speaker.chars().all(is_part) && speaker.split_whitespace().count() <= 4 {
        colon + 2
    } else {
        0
    }
}

/// True if the words before a candidate tell that it is something else.
pub(crate) fn is_about_else(gap: &str) -> bool {
    gap.split(|part: char| !part.is_alphanumeric())
        .any(|word| OTHERS.contains(&word.to_ascii_lowercase().as_str()))
}

/// True if a sign that gives a value ends the text.
fn ends_with_sign(gap: &str) -> bool {
    let gap = gap.trim_end_matches(|part: char| part.is_whitespace() || "\"'`*_“„«".contains(part));
    gap.ends_with([':', '=', '→', '|', '│']) || gap.ends_with("->") || gap.ends_with("...")
}

/// Returns the line around a position, if it is not long.
pub(crate) fn line_around(text: &str, at: usize) -> Option<Range<usize>> {
    let floor = text.ceil_char_boundary(at.saturating_sub(2 * LINE));
    let ceiling = text.floor_char_boundary(text.len().min(at + 2 * LINE));
    let start = text.get(floor..at)?.rfind('\n').map(|found| floor + found + 1);
    let end = text.get(at..ceiling)?.find(['\n', '\r']).map(|found| at + found);
    let start = start.or_else(|| (floor == 0).then_some(0))?;
    let end = end.or_else(|| (ceiling == text.len()).then_some(ceiling))?;
    Some(start..end)
}

/// Returns the line above the one that starts here, if it is not long.
pub(crate) fn line_above(text: &str, start: usize) -> Option<Range<usize>> {
    line_around(text, start.checked_sub(1)?)
}

/// Returns the line behind the one that ends here, empty or not, if it is not long.
pub(crate) fn next_line(text: &str, end: usize) -> Option<Range<usize>> {
    if end < text.len() { line_around(text, end + 1) } else { None }
}

/// Returns where the words of a part of a text stand.
pub(crate) fn ranges(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    words(text, part).into_iter().map(|word| word.range).collect()
}

/// Returns the words of a part of a text.
fn words(text: &str, part: Range<usize>) -> Vec<Word> {
    let is_open = |mark: char| "\"'`«“„‘(*_[<".contains(mark);
    let is_close = |mark: char| "\"'`»”“’)*_]>".contains(mark);
    let is_quote = |mark: char| "\"'`«»“”„‘’*".contains(mark);
    let mut found = Vec::new();
    let mut at = part.start;
    for piece in text[part].split_inclusive(char::is_whitespace) {
        let whole = piece.trim_end();
        let start = whole.trim_start_matches(is_open);
        let stem = start.trim_end_matches(['.', ',', ';', ':', '?']);
        let inner = stem.trim_end_matches(is_close).trim_end_matches(['.', ',', ';']);
        let from = at + whole.len() - start.len();
        let is_quoted = whole.starts_with(is_quote) && stem.ends_with(is_quote);
        let ends_sentence = whole.ends_with(['.', '?', ';']) && !whole.ends_with("..")
            || stem.ends_with('!') && !stem.bytes().any(|byte| byte.is_ascii_digit());
        at += piece.len();
        if !inner.is_empty() {
            found.push(Word { range: from..from + inner.len(), is_quoted, ends_sentence });
        }
    }
    found
}

/// Returns what a word looks like, if it may be a password.
pub(crate) fn look(word: &str) -> Option<Look> {
    let bytes = word.as_bytes();
    if !(SHORTEST..=64).contains(&bytes.len()) || !may_be_password(bytes) || is_other(word) {
        return None;
    }
    let is_made = is_made(bytes) && value::is_said(Telling::PASSWORD, b"password", word, false);
    if is_made {
        return Some(Look::Made);
    }
    let is_words = value::is_joined_words(word) && bytes.iter().any(u8::is_ascii_digit)
        || value::is_said_word(Telling::PASSWORD, b"password", word)
        || value::is_said(Telling::PASSWORD, b"password", word, true);
    if is_words {
        return Some(Look::Words);
    }
    match made::made(word) {
        Some(Made::Numbered) => Some(Look::Words),
        Some(Made::Cased) => Some(Look::Plain),
        Some(Made::Joined) if made::is_made(word) => Some(Look::Plain),
        _ => None,
    }
}

/// True for what can be a password, and hardly anything else.
pub(crate) fn is_password(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_small = |byte: &u8| byte.is_ascii_lowercase();
    let has_word = word.as_bytes().split(|byte| !is_small(byte)).any(|letters| letters.len() > 2);
    match look(word) {
        Some(Look::Made) => has_word || word.bytes().any(|byte| is_small(&byte)) && digits > 1,
        Some(Look::Words) => digits > 1 && has_word,
        _ => false,
    }
}

/// True for letters, digits and marks in an order that no name has.
fn is_made(bytes: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    bytes.len() >= 8
        && digits > 0
        && count(u8::is_ascii_alphabetic) > 1
        && (count(is_mark) > 0 && (digits > 1 || count(u8::is_ascii_uppercase) > 0)
            || has_both_cases(bytes) && digits > 1
            || changes(bytes) > 3 && !bytes.contains(&b'-'))
}

/// True for a word that is something else: a path, an address, a name in code, a version, an id.
fn is_other(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has = |signs: &[&str]| signs.iter().any(|sign| word.contains(sign));
    let is_name = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let is_host = word.rsplit_once('.').is_some_and(|(stem, end)| {
        (2..=5).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphabetic())
            && stem.split('.').all(|part| is_name(part) || part.contains('@'))
    });
    let is_field = word.split_once('=').is_some_and(|(name, _)| {
        name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    });
    let is_constant = bytes.iter().all(|byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    }) && has(&["_", "-"]);
    let is_snake = bytes.contains(&b'_')
        && bytes.iter().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.')
        });
    let stem = word.trim_end_matches(|last: char| last.is_ascii_digit()).as_bytes();
    let has_hump =
        || stem.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    // `validatesLength8`
    let is_name_in_code = stem.iter().all(u8::is_ascii_alphabetic)
        && bytes.len() - stem.len()
            <= 1 + usize::from(stem.first().is_some_and(u8::is_ascii_lowercase))
        && letters_in_words(stem) * 2 >= stem.len()
        && has_hump();
    let is_hex = bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_version =
        word.trim_start_matches(['v', 'V']).split(['.', '-', ':', 'T', 'Z', '+']).all(is_number);
    has(&[
        "/", "\\", "(", ")", "<", ">", "{", "}", "[", "]", "`", "\"", ":", "|", "->", "==", "&&",
        "$", "…",
    ]) && !(has(&["$"])
        && bytes.iter().filter(|byte| **byte == b'$').count() == 1
        && bytes[0] != b'$'
        && !has(&["{", "(", "/"]))
        || matches!(bytes[0], b'-' | b'.' | b'@' | b'#' | b'%' | b'&' | b'+')
        || !bytes.is_ascii()
        || is_host
        || is_field
        || is_constant
        || is_snake && made::made(word).is_none()
        || is_hex
        || is_name_in_code && made::made(word).is_none()
        || is_version
        || is_uuid(word)
        || names::judge(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, word: &str) -> Option<&'a str> {
        let start = text.find(word).unwrap();
        let name = start..start + word.len();
        let secret = find(text, &name)?;
        assert!(is_possible(text.as_bytes(), &name), "{text}");
        Some(&text[secret])
    }

    #[test]
    fn passwords_are_found_wherever_a_text_tells_them() {
        for text in [
            "You get in as bob@mx.acme.io, password Xq7=mmL^k9. Please look.",
            "the password, unless Ann changed it again last week, is still Xq7=mmL^k9.",
            "password der Kasse lautet seit Montag Xq7=mmL^k9",
            "I typed \"Xq7=mmL^k9\" when it asked me for the password",
            "so Xq7=mmL^k9 is the new password",
            "ann: what was the password again?\nbob: Xq7=mmL^k9 I think",
            "[10:02] ann: password?\n[10:03] bob: Xq7=mmL^k9",
            "$ vault get password shop\nXq7=mmL^k9\n$",
            "password ........ Xq7=mmL^k9",
        ] {
            assert_eq!(found(text, "password"), Some("Xq7=mmL^k9"), "{text}");
        }
        for text in [
            "password: >-\n  amber-kettle-rocket-lamp\n",
            "the password for the router is now amber-kettle-rocket-lamp",
            "$ show password shop\namber-kettle-rocket-lamp\n",
        ] {
            assert_eq!(found(text, "password"), Some("amber-kettle-rocket-lamp"), "{text}");
        }
    }

    #[test]
    fn what_else_stands_there_stays() {
        for text in [
            "password for user Bob2024x is required",
            "password hash Xq7=mmL^k9aa",
            "the password is checked in login_v2.py",
            "password reset was shipped in v2.10.3",
            "password rules. See Xq7=mmL^k9",
            "password must match ^[A-Z0-9]{8,}$",
            "Tests for the password:\nvalidatesLength8\n2 failed",
            "reset the password?\nSee https://acme.io/Xq7mmLk9",
        ] {
            assert_eq!(found(text, "password"), None, "{text}");
        }
    }

    #[test]
    fn lists_below_a_heading_are_read() {
        let text = "Passwords (rotate)\n\n  cloud   Xq7mmLk92T\n  box     amber-lamp-77\n\nBye now";
        let secrets: Vec<_> = listed(text, &(0..9)).into_iter().map(|range| &text[range]).collect();
        assert_eq!(secrets, ["Xq7mmLk92T", "amber-lamp-77"]);
        assert!(listed("Passwords\n\nWe store none of them2.\n", &(0..9)).is_empty());
    }
}
