//! Variables whose use tells that they hold a secret: `P=… ; mysql -p$P`, `T=… ; curl -H "X-Token: $T"`.
//!
//! Within a fixed number of bytes around the use, and for a fixed number of variables, so it is linear on any input.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use crate::checks::looks_random;
use crate::{made, names};

/// The most variables that are looked for, and the most bytes on either side of a use.
const MOST: usize = 16;
const NEAR: usize = 4096;
/// The most bytes before a use that tell what it is.
const HEAD: usize = 80;
/// The most bytes of a name, and of a value.
const LONGEST: usize = 32;
const LOOK: usize = 512;

/// Returns the secrets that variables are given, each with the name of its rule.
pub(crate) fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for at in memchr_iter(b'$', text.as_bytes()) {
        let rest = &text[at + 1..];
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let length = rest.bytes().take(LONGEST + 1).take_while(|byte| is_part(*byte)).count();
        let name = &rest[..length];
        if !(1..=LONGEST).contains(&length)
            || name.as_bytes()[0].is_ascii_digit()
            || seen.contains(&name)
        {
            continue;
        }
        let Some(rule) = told(text, at, at + length) else { continue };
        if seen.len() == MOST {
            break;
        }
        seen.push(name);
        let start = text.ceil_char_boundary(at.saturating_sub(NEAR));
        let end = text.floor_char_boundary(text.len().min(at + NEAR));
        let given = given(&text[start..end], name);
        found.extend(given.into_iter().map(|range| (start + range.start..start + range.end, rule)));
    }
    found
}

/// Calls of ciphers and the like, in lower case.
#[rustfmt::skip]
pub(crate) const CIPHERS: [&str; 12] = [
    "cipheriv(", "aes.new(", "des3.new(", "chacha20.new(", "fernet(", "createhmac(", "hmac.new(", "secretkeyspec(", "aesgcm(", "secretbox(",
    "newcipher(", "hmac_sha256(",
];

/// Arguments of ciphers that are no keys.
const NO_KEYS: [&str; 9] =
    ["iv", "nonce", "data", "mode", "aes", "msg", "message", "payload", "body"];

/// Returns the keys that variables are given which a cipher is given.
pub(crate) fn keys(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let end = text.floor_char_boundary(text.len().min(word.end + HEAD));
    let arguments = text[word.end..end].split([')', '\n']).next().unwrap_or_default();
    let names = arguments.split(',').take(3).map(|argument| argument.trim());
    let is_name = |name: &&str| {
        !name.is_empty()
            && name.bytes().all(is_part)
            && !name.as_bytes()[0].is_ascii_digit()
            && !NO_KEYS.iter().any(|other| name.eq_ignore_ascii_case(other))
    };
    let start = text.ceil_char_boundary(word.start.saturating_sub(NEAR));
    let mut found = Vec::new();
    for name in names.filter(is_name) {
        let given = given(&text[start..word.start], name).into_iter();
        let given = given.map(|range| start + range.start..start + range.end);
        found.extend(given.filter(|range| looks_random(&text[range.clone()])));
    }
    found
}

const fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the rule of the secret that a variable is used as here.
fn told(text: &str, at: usize, end: usize) -> Option<&'static str> {
    let floor = text.ceil_char_boundary(at.saturating_sub(HEAD));
    let line = text[floor..at].rsplit('\n').next()?;
    let head = without_variables(line).trim_end_matches(['"', '\'', '`', '\\']);
    let is_after = |signs: &[&str]| signs.iter().any(|sign| head.ends_with(sign));
    if is_after(&["Bearer ", "bearer ", "Token ", "Basic ", "Authorization: "]) {
        return Some("token");
    }
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let is_login =
        head.ends_with(':') && has(&["-u ", "--user ", "://", "-u\"", "-u'", "--creds "]);
    let is_option = is_after(&["sshpass -p ", "-storepass ", "-keypass ", "pass:"])
        || head.ends_with("-p") && has(&["mysql", "maria", "7z", "sshpass"])
        || is_after(&["-a "]) && has(&["redis-cli"])
        || is_after(&["-p "]) && has(&["login"]);
    let tail = &text[end..text.floor_char_boundary(text.len().min(end + HEAD))];
    let tail = tail.split('\n').next().unwrap_or_default();
    let is_piped = is_after(&["echo ", "echo -n ", "printf '%s' ", "<<< "])
        && ["-stdin", "sudo -S", "chpasswd", "passwd"]
            .iter()
            .any(|word| tail.contains(word) || line.contains(word));
    if is_login || is_option || is_piped {
        return Some("password");
    }
    let stem = head.trim_end_matches([' ', ':', '=']);
    let sign = &head[stem.len()..];
    let stem = stem.trim_end_matches(['"', '\'']);
    let length = stem.bytes().rev().take_while(|byte| is_part(*byte) || *byte == b'-').count();
    let name = &stem[stem.len() - length..];
    let is_given = sign.contains([':', '=']) || name.starts_with("--");
    names::judge(name.as_bytes()).filter(|_| is_given).map(|telling| telling.rule)
}

/// Returns what stands before the variables that end a line: `A=$B$C` uses both.
fn without_variables(line: &str) -> &str {
    let mut head = line;
    loop {
        let stem = head.trim_end_matches(['{', '}']);
        let stem = stem.trim_end_matches(|part: char| part.is_ascii_alphanumeric() || part == '_');
        let Some(before) = stem.trim_end_matches('{').strip_suffix('$') else { return head };
        if before.len() + 1 >= head.len() {
            return head;
        }
        head = before;
    }
}

/// Returns the values that a variable of this name is given in a text.
fn given(text: &str, name: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for at in memmem::find_iter(bytes, name).take(MOST) {
        let begins = at.checked_sub(1).is_none_or(|before| {
            b" \t\n;&('\":".contains(&bytes[before]) || bytes[..at].ends_with(br"\n")
        });
        let rest = &text[at + name.len()..];
        let sign = ["=", " = ", " := ", "+=", " += "].iter().find(|sign| rest.starts_with(**sign));
        let Some(sign) = sign.filter(|_| begins) else { continue };
        let start = at + name.len() + sign.len();
        let value = &text[start..text.floor_char_boundary(text.len().min(start + LOOK))];
        // `bytes.fromhex("VALUE")`
        let is_call = |byte: &u8| is_part(*byte) || b".:".contains(byte);
        let call = value.bytes().take(LONGEST).take_while(is_call).count();
        let is_call = value.as_bytes().get(call) == Some(&b'(')
            && value[call + 1..].starts_with(['"', '\'', '`']);
        let call = is_call.then_some(call + 1);
        let prefix = call
            .unwrap_or_else(|| value.len() - value.trim_start_matches(['\\', '$', 'r', 'b']).len());
        let mark = value[prefix..].chars().next().filter(|mark| "\"'`".contains(*mark));
        let open = mark.map_or(0, |_| prefix + 1);
        let end = match mark {
            Some(mark) => value[open..].find([mark, '\n', '\\']),
            None => value.find(|part: char| part.is_whitespace() || ";&\"'`|)\\".contains(part)),
        };
        let range = start + open..end.map_or(start + value.len(), |end| start + open + end);
        // `P="${P}more"`
        let own = [format!("${{{name}}}"), format!("${name}")];
        let own = own.iter().find(|own| text[range.clone()].starts_with(own.as_str()));
        let range = range.start + own.map_or(0, String::len)..range.end;
        if made::is_certain(&text[range.clone()]) {
            found.push(range);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_a_variable_tells_what_it_holds() {
        for (text, secrets) in [
            ("P=moldyFigs88\nmysql -uroot -p$P shop", &["moldyFigs88"][..]),
            ("export T='rusty-Nail'; curl -u \"app:${T}\" x", &["rusty-Nail"]),
            ("K=5f2018a2c109e394a617\ncurl -H \"X-Api-Key: $K\"", &["5f2018a2c109e394a617"]),
            ("T=moldyFigs88\necho $T | docker login --password-stdin", &["moldyFigs88"]),
            ("const t = \"moldyFigs88\"; fetch(u, { token: `${t}` })", &["moldyFigs88"]),
            ("P=5432\npsql -p $P", &[]),
            ("H=ferret88-box\nssh $H", &[]),
            ("P=$OTHER\nmysql -p$P", &[]),
        ] {
            let found: Vec<_> = find(text).into_iter().map(|(range, _)| &text[range]).collect();
            assert_eq!(found, secrets, "{text}");
        }
    }
}
