//! Tokens that are known by their shape: a prefix and drawn characters, or drawn characters beside a word that tells of
//! them. Vendors whose prefix stands in no table are found too.
//!
//! Most text has no run of letters and digits as long as a token's, so looking for them takes hardly any time.

use std::ops::Range;

use memchr::memmem;

use crate::checks::{is_masked, is_uuid, letters_in_words, looks_random};
use crate::names;

/// The fewest letters and digits in a row that a token has.
const SHORTEST: usize = 18;
/// The fewest of them in a token of several runs.
const SHORTEST_PART: usize = 12;
/// The most bytes of a token.
const LONGEST: usize = 320;
/// The most digits of a text in hexadecimal digits or in base64, on either side of a run.
const LONGEST_CODE: usize = 2048;
/// The most bytes of a prefix.
const LONGEST_PREFIX: usize = 40;
/// The bytes before a token in which a word may tell of it.
const NEAR: usize = 72;

/// Calls `found` with the end of each run of letters and digits that is as long as those of tokens, and no part of base64.
///
/// It goes by blocks of eight bytes, each of which a run must fill at least one.
pub(crate) fn each(bytes: &[u8], mut found: impl FnMut(usize)) {
    let (blocks, _) = bytes.as_chunks::<8>();
    let mut had_digit = false;
    let mut at = 0;
    while let Some(block) = blocks.get(at) {
        let (is_full, has_digit) = classes(u64::from_le_bytes(*block));
        at += 1;
        // Hardly any token has no digit for so long.
        if !is_full || !(has_digit || had_digit || next_has_digit(blocks, at)) {
            had_digit = has_digit;
            continue;
        }
        let start = at - 1;
        while blocks.get(at).is_some_and(|block| classes(u64::from_le_bytes(*block)).0) {
            at += 1;
        }
        had_digit = false;
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric();
        let start = start * 8 - bytes[..start * 8].iter().rev().take(8).take_while(is_part).count();
        let end = at * 8 + bytes[at * 8..].iter().take(8).take_while(is_part).count();
        let is_base64 = |byte: Option<&u8>| matches!(byte, Some(b'+' | b'/'));
        let is_cut = is_base64(bytes.get(end)) || start > 0 && bytes[start - 1] == b'+';
        // The first run of base64, and the last one.
        let is_end = is_cut
            && (!is_base64(bytes.get(end)) || start == 0 || !is_base64(bytes.get(start - 1)));
        if (end - start >= SHORTEST || is_one_of_several(bytes, start, end)) && (!is_cut || is_end)
        {
            found(end);
        }
    }
}

/// True for a run that may be one of several in a token. Those of a UUID are none.
fn is_one_of_several(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_sign = |byte: Option<&u8>| matches!(byte, Some(b'_' | b'-'));
    let run = &bytes[start..end];
    run.len() >= SHORTEST_PART
        && (is_sign(bytes.get(end)) || start > 0 && is_sign(bytes.get(start - 1)))
        && !run.iter().all(u8::is_ascii_hexdigit)
        && std::str::from_utf8(run).is_ok_and(looks_random)
}

/// True if there is a digit in the block at this position.
fn next_has_digit(blocks: &[[u8; 8]], at: usize) -> bool {
    blocks.get(at).is_some_and(|block| block.iter().any(u8::is_ascii_digit))
}

/// Returns true if all eight bytes of the block are letters and digits, and if one is a digit.
const fn classes(block: u64) -> (bool, bool) {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Most blocks hold a blank or a mark below the digits.
    if (block.wrapping_sub(ONES * 0x30) | block) & HIGH != 0 {
        return (false, false);
    }
    let small = block | (ONES * 0x20);
    let letters = (small + ONES * (0x80 - 0x61)) & !(small + ONES * (0x7f - 0x7a));
    let digits = !(block + ONES * (0x7f - 0x39));
    ((letters | digits) & HIGH == HIGH, digits & HIGH != 0)
}

/// Returns the token whose run of letters and digits ends here, and the name of its rule. In raw JSON what stands around a
/// string is none of its text, so that there each token counts that may be told by a word.
pub(crate) fn find(bytes: &[u8], end: usize, is_raw: bool) -> Option<(Range<usize>, &'static str)> {
    if let Some(token) = in_hex(bytes, end) {
        return Some((token, "hex"));
    }
    if let Some(token) = in_base64(bytes, end) {
        return Some((token, "base64"));
    }
    let Some(token) = around(bytes, end) else {
        let token = padded(bytes, end)?;
        let text = std::str::from_utf8(&bytes[token.clone()]).ok()?;
        let is_token = is_raw || stands_alone(bytes, &token, text);
        return is_token.then_some((token, "token-shape"));
    };
    let text = std::str::from_utf8(&bytes[token.clone()]).ok()?;
    let before = &bytes[..token.start];
    if is_digest(before) {
        return None;
    }
    if let Some(rule) = known(text) {
        // The key that encrypts stands behind the rest.
        let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=:".contains(byte);
        let key = bytes[token.end..].iter().take(32).take_while(is_key).count();
        let end = token.end + if rule == "bitwarden-token" { key } else { 0 };
        return Some((token.start..end, rule));
    }
    if let Some((start, rule)) = paired(before, text) {
        return Some((start..token.end, rule));
    }
    let (prefix, tail) = parts(text);
    let is_token = if prefix.is_empty() {
        is_drawn(text)
            && (is_raw
                || is_told(&before[before.len().saturating_sub(NEAR)..])
                || stands_alone(bytes, &token, text))
    } else {
        !before.ends_with(b"/") && has_prefix(prefix, tail) && !is_masked(text)
    };
    is_token.then_some((token, "token-shape"))
}

/// True if the name of a digest stands before it: `SHA256:…`, as of the key of a host.
fn is_digest(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(7)..];
    [&b"sha256:"[..], b"sha512:", b"md5:"].iter().any(|name| {
        near.len() >= name.len() && near[near.len() - name.len()..].eq_ignore_ascii_case(name)
    })
}

/// Returns the rule of a token whose form has no keyword that would be rare in text.
fn known(text: &str) -> Option<&'static str> {
    let after =
        |prefix: &str, length: usize| text.strip_prefix(prefix).filter(|rest| rest.len() == length);
    let is_base32 = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'));
    if after("S", 55).is_some_and(is_base32) {
        return Some("wallet-key");
    }
    if after("SK", 32).is_some_and(is_hex) {
        return Some("twilio-key");
    }
    let is_vault = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if after("s.", 24).is_some_and(is_vault) && looks_random(text) {
        return Some("vault-token");
    }
    let is_zhipu = |(id, secret): (&str, &str)| {
        id.len() == 32 && is_hex(id) && secret.len() == 16 && looks_random(secret)
    };
    if text.split_once('.').is_some_and(is_zhipu) {
        return Some("zhipu-key");
    }
    let is_codefresh = |(id, secret): (&str, &str)| {
        id.len() == 24 && secret.len() == 32 && is_hex(id) && is_hex(secret)
    };
    if text.split_once('.').is_some_and(is_codefresh) {
        return Some("codefresh-token");
    }
    let is_robot = |(id, secret): (&str, &str)| {
        let digits = id.strip_prefix("ur").or_else(|| id.strip_prefix('m')).unwrap_or_default();
        digits.len() >= 6
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && secret.len() == 24
            && is_hex(secret)
    };
    if text.split_once('-').is_some_and(is_robot) {
        return Some("uptimerobot-key");
    }
    if after("YC", 38).is_some_and(|rest| has_both_cases(rest) && looks_random(rest)) {
        return Some("yandex-key");
    }
    let is_zoho = |rest: &str| {
        rest.split_once('.').is_some_and(|(one, other)| {
            [one, other].iter().all(|part| part.len() == 32 && is_hex(part))
        })
    };
    if text.strip_prefix("1000.").is_some_and(is_zoho) {
        return Some("zoho-token");
    }
    let is_mailgun = text.len() == 50 && text.split('-').map(str::len).eq([32, 8, 8]);
    if is_mailgun && text.split('-').all(is_hex) {
        return Some("mailgun-key");
    }
    let is_bitwarden = |(id, secret): (&str, &str)| is_uuid(id) && secret.len() == 30;
    if text.strip_prefix("0.").and_then(|rest| rest.split_once('.')).is_some_and(is_bitwarden) {
        return Some("bitwarden-token");
    }
    // Bitcoin's keys for import: base58, which has neither 0 nor O, I and l.
    let is_base58 = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte))
    };
    let is_import = text.len() == 52 && text.starts_with(['K', 'L'])
        || text.len() == 51 && text.starts_with('5');
    if is_import && is_base58(text) && looks_random(text) {
        return Some("wallet-key");
    }
    // Sanity's tokens have no sign at all.
    let is_sanity = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if text.len() >= 150 && text.strip_prefix("sk").is_some_and(is_sanity) && looks_random(text) {
        return Some("sanity-token");
    }
    is_split(text).then_some("discord-token")
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the start of a token of two parts with a sign between them, of which this is the second, and its rule.
fn paired(before: &[u8], text: &str) -> Option<(usize, &'static str)> {
    let (sign, first) = before.split_last()?;
    let run = |test: fn(&u8) -> bool| {
        first.iter().rev().take(LONGEST_PREFIX).take_while(|byte| test(byte)).count()
    };
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'/';
    let (length, rule) = match (sign, text.len()) {
        // `1/12345:` and `2/12345/12345:`
        (b':', 32) if is_hex(text) => {
            let length = run(is_number);
            let numbers = &first[first.len() - length..];
            let is_asana = matches!(numbers, [b'1' | b'2', b'/', ..]) && length >= 11;
            let id = first.get(first.len().saturating_sub(36)..);
            let is_fal = id.and_then(|id| std::str::from_utf8(id).ok()).is_some_and(is_uuid);
            // `user::DOMAIN:challenge:response`, as it is guessed from.
            let challenge = run(|byte| byte.is_ascii_hexdigit());
            let is_challenge = challenge == 16 && first[..first.len() - 16].ends_with(b":");
            match () {
                () if is_asana => (length, "asana-token"),
                () if is_fal => (36, "fal-key"),
                () => (is_challenge.then_some(16)?, "password-hash"),
            }
        }
        (b':', 64) if is_hex(text) => {
            let length = run(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            ((length == 24).then_some(length)?, "ghost-key")
        }
        (b':', 43) if looks_random(text) => {
            let length = run(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
            let is_ably = length == 13 && first[first.len() - 7] == b'.';
            (is_ably.then_some(length)?, "ably-key")
        }
        (b'|', 26..=28) if looks_random(text) => {
            let length = run(u8::is_ascii_digit);
            ((15..=16).contains(&length).then_some(length)?, "facebook-token")
        }
        (b'|', 40 | 48) if has_both_cases(text) && looks_random(text) => {
            let length = run(u8::is_ascii_digit);
            ((1..=8).contains(&length).then_some(length)?, "laravel-token")
        }
        (b'$', 256) if is_hex(text) => {
            let length = run(u8::is_ascii_digit);
            ((1..=8).contains(&length).then_some(length)?, "gcore-token")
        }
        _ => return None,
    };
    Some((first.len() - length, rule))
}

const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns the token around a run of letters and digits; `None` if it is a part of a path, of base64 or of a name of a file.
fn around(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let floor = end.saturating_sub(LONGEST);
    let before = bytes[floor..end].iter().rev().take_while(|byte| is_token_byte(**byte)).count();
    let behind = bytes[end..].iter().take(LONGEST).take_while(|byte| is_token_byte(**byte)).count();
    let (mut start, mut stop) = (end - before, end + behind);
    // The letter of an escape is not a part of it.
    if start > 0 && bytes[start - 1] == b'\\' {
        start += 1;
    }
    while stop > end && matches!(bytes[stop - 1], b'.' | b'-') {
        stop -= 1;
    }
    while start < end && matches!(bytes[start], b'.' | b'-' | b'_') {
        start += 1;
    }
    let is_part = |byte: &u8| matches!(byte, b'+' | b'/' | b'%');
    let is_cut = bytes.get(stop).is_some_and(is_part)
        || begins_with_letter(&bytes[stop..])
        || start > 0 && matches!(bytes[start - 1], b'+' | b'%');
    let padding = bytes[stop..].iter().take(2).take_while(|byte| **byte == b'=').count();
    (!is_cut && stop - start <= LONGEST).then_some(start..stop + padding)
}

/// Returns the hexadecimal digits that end here if they stand for a text that holds a secret. Drawn ones stand for no text.
fn in_hex(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let floor = end.saturating_sub(LONGEST_CODE);
    let run = bytes[floor..end].iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = bytes[end - run..end].as_chunks::<2>().0.iter();
    // Most are no text from their first digits on.
    pairs.clone().take(8).all(|[high, _]| matches!(high, b'2'..=b'7')).then_some(())?;
    let letters = pairs.map(|[high, low]| char::from_u32(digit(*high)? * 16 + digit(*low)?));
    let is_text = |letter: &char| matches!(letter, ' '..='~' | '\n' | '\r' | '\t');
    let text: String = letters.map_while(|letter| letter.filter(is_text)).collect();
    (run % 2 == 0 && text.len() * 2 == run && crate::base64::holds_secret(&text))
        .then_some(end - run..end)
}

/// Returns the base64 that a run of letters and digits begins if it stands for a text that holds a secret. Drawn bytes are no text.
fn in_base64(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
    let before = &bytes[end.saturating_sub(LONGEST_CODE)..end];
    let run = before.iter().rev().take_while(is_part).count();
    // Only the first run counts, so that nothing is decoded twice.
    before[before.len() - run..].iter().all(u8::is_ascii_alphanumeric).then_some(())?;
    // The letter of an escape is not a part of it.
    let start = end - run + usize::from(before[..before.len() - run].ends_with(b"\\"));
    let stop = end + bytes[end..].iter().take(LONGEST_CODE).take_while(is_part).count();
    let padding = bytes[stop..].iter().take(2).take_while(|byte| **byte == b'=').count();
    let text = std::str::from_utf8(bytes.get(start..stop)?).ok()?;
    // Most are no text from their first bytes on: of each four letters, the first stands for most of a letter.
    let is_text = |byte: u8| matches!(byte, b'I'..=b'Z' | b'a'..=b'f' | b'C');
    text.bytes().step_by(4).take(6).all(is_text).then_some(())?;
    let decoded = crate::base64::decode_text(text).filter(|text| text.is_ascii())?;
    crate::base64::holds_secret(&decoded).then_some(start..stop + padding)
}

/// Returns the base64 of 64 drawn bytes around a run of letters and digits: no other is as long as keys are.
fn padded(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    const LENGTH: usize = 86;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let floor = end.saturating_sub(LENGTH + 1);
    let before = bytes[floor..end].iter().rev().take_while(is_part).count();
    let behind = bytes[end..].iter().take(LENGTH + 1).take_while(is_part).count();
    let (start, stop) = (end - before, end + behind);
    (stop - start == LENGTH && bytes[stop..].starts_with(b"==")).then_some(start..stop + 2)
}

/// True if a letter of another script that is written with blanks between words comes next.
fn begins_with_letter(bytes: &[u8]) -> bool {
    // Such letters take two bytes; signs of two bytes begin with 0xc2.
    matches!(bytes.first(), Some(0xc3..=0xdf))
}

/// Returns the plain words that a token begins with, with the signs behind them, and the rest.
fn parts(token: &str) -> (&str, &str) {
    let mut length = 0;
    while let Some(sign) = token[length..].find(['_', '-', '.'])
        && length + sign < LONGEST_PREFIX
        && is_plain(&token[length..length + sign])
    {
        length += sign + 1;
    }
    token.split_at(length)
}

/// True for a word of a prefix: a short one in one case, with a digit or two.
fn is_plain(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    // `Word` counts as `word` does.
    let is_small = !bytes.iter().skip(1).any(u8::is_ascii_uppercase);
    let is_cased = is_small || !bytes.iter().any(u8::is_ascii_lowercase);
    (1..=14).contains(&bytes.len()) && digits <= 2 && digits < bytes.len() && is_cased
}

/// Words of prefixes that tell of a secret.
#[rustfmt::skip]
const TELLING: [&str; 37] = [
    "sk", "rk", "tk", "ek", "pat", "sat", "uat", "key", "apikey", "api", "secret", "sec", "token", "tok", "live", "auth", "oauth", "at", "rt", "ak",
    "pw", "priv", "private", "access", "refresh", "cred", "creds", "admin", "svc", "ingest", "personal", "webhook", "prod", "production",
    "deploy", "signing", "bot",
];
/// The ends of words of prefixes that tell of a secret.
const TELLING_ENDS: [&str; 5] = ["key", "token", "secret", "pat", "sec"];

/// Words of prefixes of what is no secret: ids, digests, names of files.
#[rustfmt::skip]
const HARMLESS: [&str; 126] = [
    "id", "ids", "uid", "uuid", "req", "request", "resp", "response", "msg", "message", "call", "toolu", "tool", "run", "thread", "asst", "file",
    "org", "user", "usr", "cus", "evt", "event", "pi", "acct", "sub", "job", "task", "chatcmpl", "cmpl", "fp", "ses", "sess", "session", "conv",
    "batch", "item", "trace", "span", "build", "commit", "sha", "sha1", "sha256", "sha384", "sha512", "md5", "blake3", "hash", "digest", "etag",
    "rev", "img", "image", "chunk", "index", "main", "vendor", "tmp", "temp", "cache", "node", "pod", "pk", "pub", "public", "pubkey", "cid",
    "cursor", "page", "ref", "worker", "lb", "dist", "vpc", "step", "rs", "fc", "ws", "vs", "gen", "project", "price", "inv", "cs", "txn", "seti", "phc",
    "snapshot", "layer", "lib", "docker", "agent", "key1", "block", "addr", "address", "tx", "urn", "x", "h1", "srv",
    "prj", "proj", "dpl", "team", "tm", "deployment", "ch", "pm", "py", "il", "ii", "si", "ba", "po", "tr", "dp", "li", "src", "card",
    "mandate", "plink", "bps", "collection", "doc",
];

/// True for a token with this prefix: the less the prefix tells, the more of it must be drawn.
fn has_prefix(prefix: &str, tail: &str) -> bool {
    let lower = prefix.to_ascii_lowercase();
    let words = || lower.split(['_', '-', '.']).filter(|word| !word.is_empty());
    // `tr_prod_`, but not `pub_key_`
    let is_last_telling = words().next_back().is_some_and(|word| TELLING.contains(&word))
        && !words().any(|word| ["pk", "pub", "public", "pubkey", "id"].contains(&word));
    if !is_last_telling && words().any(|word| HARMLESS.contains(&word))
        || !prefix.bytes().any(|b| b.is_ascii_alphabetic())
    {
        return false;
    }
    let is_telling = words()
        .any(|word| TELLING.contains(&word) || TELLING_ENDS.iter().any(|end| word.ends_with(end)));
    // Prefixes in capitals are made to be seen.
    let is_telling =
        is_telling || prefix.len() >= 4 && !prefix.bytes().any(|byte| byte.is_ascii_lowercase());
    let drawn = Drawn::new(tail);
    let length = tail.len();
    let is_part = |part: &str| part.len() >= 12 && has_both_cases(part) && looks_random(part);
    // What people tell tokens apart by has a low line behind it.
    let fewest = |telling, low_line, other| match is_telling {
        true => telling,
        false if prefix.ends_with('_') => low_line,
        false => other,
    };
    drawn.is_random(tail)
        && match drawn {
            _ if tail.contains('.') => length >= 40 && (is_telling || tail.split('.').all(is_part)),
            Drawn { upper: true, lower: true, .. } => length >= fewest(20, 28, 28),
            // The digest of what a cache keeps.
            Drawn { is_hex: true, .. } => length >= fewest(28, 40, usize::MAX),
            _ => length >= fewest(24, 28, 32),
        }
}

fn has_both_cases(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The classes of the characters of a text.
struct Drawn {
    upper: bool,
    lower: bool,
    digits: usize,
    is_hex: bool,
}

impl Drawn {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        Self {
            upper: bytes.iter().any(u8::is_ascii_uppercase),
            lower: bytes.iter().any(u8::is_ascii_lowercase),
            digits: bytes.iter().filter(|byte| byte.is_ascii_digit()).count(),
            is_hex: bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-'),
        }
    }

    /// True if the text of these classes has digits amid letters, and hardly a word.
    fn is_random(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        (self.digits >= 2 || self.digits == 1 && bytes.len() >= 28)
            && letters_in_words(&bytes[..bytes.len().min(LONGEST)]) * 10 < bytes.len() * 6
            && looks_random(text)
    }
}

/// True for a token of three parts that is drawn, as Discord's: an id in base64, a time and a signature.
fn is_split(text: &str) -> bool {
    let mut parts = text.split('.');
    let lengths = [23..=28, 6..=6, 27..=40];
    text.starts_with(['M', 'N', 'O'])
        && lengths
            .iter()
            .all(|length| parts.next().is_some_and(|part| length.contains(&part.len())))
        && parts.next().is_none()
        && looks_random(text)
}

/// True for letters of both cases and digits without order.
fn is_drawn(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    let drawn = Drawn::new(text);
    (24..=LONGEST).contains(&text.len())
        && drawn.upper
        && drawn.lower
        && !text.contains('.')
        && drawn.is_random(text)
        && !["AAAA", "MII", "iVBOR", "R0lGOD", "eyJ", "sha", "AF1Qip"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// Words of names of what is drawn and public.
#[rustfmt::skip]
const PUBLIC: [&str; 50] = [
    "id", "ids", "kid", "x5t", "nonce", "etag", "cursor", "address", "addr", "mint", "cid", "hash", "digest", "sha",
    "sha1", "sha256", "sha384", "sha512", "md5", "checksum", "integrity", "public", "pub", "pubkey", "site", "publishable", "page", "next",
    "after", "before", "src", "data", "image", "fingerprint", "thumbprint", "sig", "signature", "proof", "contract", "iv", "commit",
    "challenge", "chunk", "version", "peer", "state", "continuation", "did", "marker", "content",
];

/// True for a long drawn token that no name, path or block of base64 explains: nothing else is so long, and of capitals, small
/// letters and digits.
fn stands_alone(bytes: &[u8], token: &Range<usize>, text: &str) -> bool {
    let stem = text.trim_end_matches('=');
    let is_base58 = !stem.bytes().any(|byte| b"0OIl-_".contains(&byte));
    // Addresses of blockchains and of files in IPFS, ids of documents.
    let is_address = is_base58 && matches!(stem.len(), 43..=46 | 87 | 88)
        || is_base58 && stem.len() <= 35 && stem.starts_with(['1', '3'])
        || stem.len() == 44 && stem.starts_with('1')
        || stem.len() == 46 && stem.starts_with("Qm")
        || stem.get(2..).is_some_and(is_hex);
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    if stem.len() < 32 || digits < 3 || is_address || is_masked(text) {
        return false;
    }
    if crate::base64::decode_text(text).is_some_and(|text| text.is_ascii()) {
        return false;
    }
    // The letter of an escape stands before it in raw JSON.
    let before = &bytes[token.start.saturating_sub(NEAR)..token.start];
    let before = match before {
        [stem @ .., b'\\', b'n' | b't' | b'r'] => stem,
        _ => before,
    };
    let next = &bytes[token.end..];
    let ends = match next.first() {
        None
        | Some(
            0..=b' '
            | b'"'
            | b'\''
            | b'`'
            | b')'
            | b']'
            | b'}'
            | b'<'
            | b'|'
            | b';'
            | b'\\'
            | b'&'
            | 0xe2..=0xef,
        ) => true,
        Some(b',' | b'.' | b':' | b'!') => {
            next.get(1).is_none_or(|next| *next <= b' ' || *next == b'\\')
        }
        Some(_) => false,
    };
    let opens = before.last().is_none_or(|last| {
        matches!(last, 0..=b' ' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'{' | b'>' | b'|' | b'=' | b':' | b'\\' | 0x80..)
    });
    if !ends || !opens {
        return false;
    }
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let cut = memmem::rfind(line, br"\n").map_or(0, |at| at + 2);
    let line = &line[cut..];
    // The lines of a block are as long as those of PEM and MIME.
    let is_line =
        line.iter().all(|byte| b" \t>+|".contains(byte)) && !matches!(next.first(), Some(b' '));
    let above = before[..before.len() - line.len()].trim_ascii_end();
    let is_part_of_block = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let in_block = above.iter().rev().take_while(is_part_of_block).count() >= 40;
    if is_line && (in_block || matches!(text.len(), 60 | 64 | 70 | 72 | 76)) {
        return false;
    }
    let near = line[line.len().saturating_sub(40)..].to_ascii_lowercase();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric();
    let name_end = near.iter().rposition(is_part).map_or(0, |at| at + 1);
    let is_name = |byte: &u8| is_part(byte) || matches!(byte, b'_' | b'-');
    let length = near[..name_end].iter().rev().take_while(|byte| is_name(byte)).count();
    let (before, name) = near[..name_end].split_at(name_end - length);
    // A page or a list in the query of an address.
    let in_query = matches!(before.last(), Some(b'?' | b'&'));
    // `fooId`, but not `RAPID`.
    let start = line.len() - near.len() + before.len();
    let is_id = line[start..start + name.len()].ends_with(b"Id");
    let is_named = name.len() > 3 && (name.ends_with(b"key") || name.ends_with(b"token"));
    let is_public = is_id || is_named && names::judge(name).is_none();
    if name.len() == 1 || in_query || is_public {
        return false;
    }
    // The `x` of `X-Header` is no word.
    let words = near.split(|byte| !is_part(byte)).filter(|word| word.len() > 1);
    let words: Vec<&[u8]> = words.collect();
    !words[words.len().saturating_sub(3)..].iter().any(|word| {
        let is_known = |known: &&str| known.as_bytes() == *word;
        let ends = ["hash", "url", "uri"].map(str::as_bytes);
        PUBLIC.iter().chain(&HARMLESS).any(is_known) || ends.iter().any(|end| word.ends_with(end))
    })
}

/// True if a word that tells of a key or a token stands in what is before it, and nothing that is public.
fn is_told(before: &[u8]) -> bool {
    let line = before.rsplitn(4, |byte| *byte == b'\n').take(3).map(<[u8]>::len).sum::<usize>();
    let before = &before[before.len() - (line + 2).min(before.len())..];
    if before.last().is_some_and(|byte| b"/_-.@#:".contains(byte)) {
        return false;
    }
    let lower = before.to_ascii_lowercase();
    let has = |word: &str| memmem::rfind(&lower, word.as_bytes());
    let told = [
        "api key",
        "apikey",
        "api_key",
        "token",
        "secret",
        "credential",
        "client(",
        "the key",
        "your key",
        "this key",
        "new key",
    ]
    .iter()
    .filter_map(|word| has(word))
    .max();
    let public = [
        "public",
        "verif",
        "cache",
        "next",
        "page",
        "uuid",
        "fingerprint",
        "sha",
        "digest",
        "hash",
        "integrity",
    ];
    told.is_some_and(|at| {
        let start = lower[..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let behind = lower[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b' ' | b'('))
            .count();
        let name = lower[at - start..at + behind].trim_ascii();
        let is_name = name.ends_with(b"(")
            || memmem::find(name, b" ").is_some()
            || names::judge(name).is_some();
        is_name && !public.iter().any(|word| has(word).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each(text.as_bytes(), |end| {
            found.extend(find(text.as_bytes(), end, false).map(|(range, _)| &text[range]));
        });
        found.dedup();
        found
    }

    /// Returns thirty characters, as a vendor draws them.
    fn drawn() -> String {
        ["q7Xv2LmP0Rt", "Zs9KdW4hY8", "bNc3JfGu6T"].concat()
    }

    #[test]
    fn tokens_are_known_by_their_shape() {
        let drawn = drawn();
        let hex = "5f2018a2c109e394a6174e9aa4331ddc";
        for (text, token) in [
            (format!("using {} and no word that tells", &drawn[1..]), None),
            (format!("using {drawn}0 and no word that tells"), Some(format!("{drawn}0"))),
            (format!("x=qzx_{drawn} y"), Some(format!("qzx_{drawn}"))),
            (format!("Paste 'acme-sk-{drawn}' here"), Some(format!("acme-sk-{drawn}"))),
            (format!("krn_live_{hex}."), Some(format!("krn_live_{hex}"))),
            (format!("SK{hex}"), Some(format!("SK{hex}"))),
            (format!("2/1234567890123:{hex}"), Some(format!("2/1234567890123:{hex}"))),
            (format!("a.py:10:2/1234567890123:{hex}"), Some(format!("2/1234567890123:{hex}"))),
            (format!("{}:{hex}{hex}", &hex[..24]), Some(format!("{}:{hex}{hex}", &hex[..24]))),
            (format!("{hex}.w85BQIvGsooXXfhW"), Some(format!("{hex}.w85BQIvGsooXXfhW"))),
            (format!("密钥qzx_{drawn}，"), Some(format!("qzx_{drawn}"))),
            (format!("qzx_{drawn}ß"), None),
            (format!("The API key ends up being {drawn}, ok?"), Some(drawn.clone())),
            (format!("co = Client(\"{drawn}\")"), Some(drawn.clone())),
            (format!("\\nqzx_{drawn}"), Some(format!("qzx_{drawn}"))),
            (format!("req_{drawn} failed"), None),
            (format!("lib-{hex}.rlib"), None),
            (format!("cache_{hex}"), None),
            (format!("index-{drawn}.js"), None),
            (format!("public key {drawn}"), None),
            (format!("a/qzx_{drawn}/b"), None),
            ("getUserByEmail2AddressAndOrganization token".to_owned(), None),
            ("token: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9".to_owned(), None),
        ] {
            let token: Vec<&str> = token.iter().map(String::as_str).collect();
            assert_eq!(found(&text), token, "{text}");
        }
    }

    #[test]
    fn each_run_is_seen_wherever_it_begins() {
        for shift in 0..16 {
            let text = format!("{}{}_", " ".repeat(shift), &drawn()[..SHORTEST]);
            let mut ends = Vec::new();
            each(text.as_bytes(), |end| ends.push(end));
            assert_eq!(ends, [shift + SHORTEST]);
        }
    }
}
