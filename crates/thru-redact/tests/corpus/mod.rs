//! A corpus of made-up secrets and of lines that only look like them.
//!
//! The tables name the kinds, the settings and the harmless lines; every value is made at run time from a seed, so
//! that no file holds a token, and so that each run sees the same ones.
//! They were written from what vendors document about their tokens, not from the rules of the crate.

use std::fmt::Write as _;

const KINDS: &str = include_str!("kinds.txt");
const SETTINGS: &str = include_str!("settings.txt");
const HARMLESS: &str = include_str!("harmless.txt");

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const WORDS: &[&str] = &[
    "river", "falcon", "copper", "winter", "orange", "harbor", "velvet", "thunder", "meadow",
    "silver", "cactus", "lantern", "marble", "pepper", "rocket", "shadow", "timber", "walnut",
    "zephyr", "glacier",
];

/// A source of numbers that gives the same ones for the same seed.
struct Dice(u64);

impl Dice {
    fn new(seed: &str, turn: u64) -> Dice {
        let folded = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Dice(folded ^ turn.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn run(&mut self, alphabet: &str, len: usize) -> String {
        let bytes = alphabet.as_bytes();
        (0..len).map(|_| char::from(bytes[self.roll(bytes.len())])).collect()
    }

    /// `len` characters of the alphabet and the marks between them; a letter stands at both ends.
    fn marked(&mut self, marks: &str, len: usize) -> String {
        let plain = format!("{UPPER}{LOWER}{DIGITS}");
        let mixed = format!("{plain}{plain}{plain}{marks}");
        let mut made = self.run(&mixed, len).into_bytes();
        for at in [0, len - 1] {
            made[at] = self.run(&plain, 1).as_bytes()[0];
        }
        String::from_utf8(made).unwrap()
    }

    /// A password as people make them, with at least one mark in most.
    fn password(&mut self, marks: &str) -> String {
        let word = self.pick(WORDS);
        let title = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
        let leet = title.replace('o', "0").replace('e', "3").replace('i', "1");
        let mark = self.run(marks, 1);
        let digits = self.run(DIGITS, 3);
        match self.roll(6) {
            0 => format!("{leet}{digits}{mark}{}", self.run(LOWER, 4)),
            1 => format!("{title}{mark}{}{}", self.run(UPPER, 3), digits),
            2 => {
                let long = format!("{UPPER}{LOWER}{LOWER}{DIGITS}{DIGITS}{marks}");
                format!("{}{}{}", self.run(UPPER, 1), self.run(&long, 16), self.run(LOWER, 1))
            }
            3 => format!("{leet}{mark}{}{mark}{digits}x", self.pick(WORDS)),
            4 => format!("{}{mark}{digits}{}", self.run(LOWER, 5), self.run(UPPER, 4)),
            _ => format!("{title}20{}{mark}{}", self.run(DIGITS, 2), self.run(LOWER, 2)),
        }
    }
}

/// A made-up text, and those parts of it that are secret: what fills the holes, without what all such texts have in common.
struct Made {
    text: String,
    secrets: Vec<String>,
}

/// Makes a text of the shape, as the head of `kinds.txt` explains shapes.
fn make(shape: &str, dice: &mut Dice) -> Made {
    let mut text = String::new();
    let mut secrets: Vec<String> = Vec::new();
    let mut rest = shape;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let filled =
            behind.split_once('}').and_then(|(hole, after)| Some((hole, fill(hole, dice)?, after)));
        let Some((hole, filled, after)) = filled else {
            text.push('{');
            rest = behind;
            continue;
        };
        text.push_str(&filled);
        if !hole.starts_with('d') {
            secrets.push(filled);
        }
        rest = after;
    }
    text.push_str(rest);
    let longest = secrets.iter().map(String::len).max().unwrap_or_default();
    secrets.retain(|secret| secret.len() * 2 >= longest);
    Made { text, secrets }
}

fn fill(hole: &str, dice: &mut Dice) -> Option<String> {
    if let Some(label) = hole.strip_prefix("pem:") {
        let mut block = format!("-----BEGIN {label}-----\n");
        for _ in 0..6 {
            writeln!(block, "{}", dice.marked("+/", 64)).unwrap();
        }
        write!(block, "{}==\n-----END {label}-----", dice.marked("+/", 30)).unwrap();
        return Some(block);
    }
    let text = match hole {
        "uuid" => {
            let hex = format!("{DIGITS}abcdef");
            [8, 4, 4, 4, 12].map(|len| dice.run(&hex, len)).join("-")
        }
        "jwt" => {
            format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", dice.marked("-_", 60), dice.marked("-_", 43))
        }
        "pw" => dice.password("!#%&*;()?^~+=,@"),
        "pw50" => dice.marked("!#%&*()^+=@-_", 50),
        "upw" => dice.password("!*-_~"),
        "words" => [0; 4].map(|_| dice.pick(WORDS)).join("-"),
        "mnemonic" => [0; 12].map(|_| dice.pick(WORDS)).join(" "),
        _ => {
            let (class, len) = hole.split_at_checked(1)?;
            let len: usize = len.parse().ok()?;
            match class {
                "A" => dice.marked("", len),
                "a" => dice.run(&format!("{LOWER}{DIGITS}"), len),
                "U" => dice.run(&format!("{UPPER}{DIGITS}"), len),
                "h" => dice.run(&format!("{DIGITS}abcdef"), len),
                "H" => dice.run(&format!("{DIGITS}ABCDEF"), len),
                "d" => dice.run(DIGITS, len),
                "l" => dice.run(LOWER, len),
                "b" => dice.marked("+/", len),
                "w" => dice.marked("-_", len),
                "B" => dice.run(&format!("{UPPER}234567"), len),
                _ => return None,
            }
        }
    };
    Some(text)
}

/// A family of kinds: what gives them away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Form,
    Block,
    Name,
}

struct Kind {
    family: Family,
    name: &'static str,
    variable: &'static str,
    shape: &'static str,
}

fn kinds() -> Vec<Kind> {
    let mut family = Family::Form;
    let mut kinds = Vec::new();
    for line in KINDS.lines() {
        if let Some(head) = line.strip_prefix("# --- ") {
            family = match head.split(':').next() {
                Some("key") => Family::Block,
                Some("name") => Family::Name,
                _ => Family::Form,
            };
        }
        let mut parts = line.splitn(3, ' ');
        if let (Some(name), Some(variable), Some(shape)) =
            (parts.next(), parts.next(), parts.next())
            && !name.starts_with('#')
        {
            kinds.push(Kind { family, name, variable, shape });
        }
    }
    kinds
}

struct Setting {
    name: &'static str,
    needs: Vec<&'static str>,
    text: &'static str,
}

impl Setting {
    fn has(&self, flag: &str) -> bool {
        self.needs.contains(&flag)
    }

    /// True if a secret of the kind can be found here: its form or its surroundings give it away.
    fn takes(&self, kind: &Kind) -> bool {
        match kind.family {
            Family::Block => self.has("block"),
            Family::Form => {
                (!self.has("block") || self.has("name") || self.has("form")) && self.suits(kind)
            }
            Family::Name => {
                (self.has("name") || self.has("command") || self.has("said")) && self.suits(kind)
            }
        }
    }

    /// True if a value of the kind is what people write here: no passphrase in a cookie, and no address.
    fn suits(&self, kind: &Kind) -> bool {
        let is = |part: &str| kind.shape.contains(part);
        let worded = is("{pw") || is("{upw}") || is("{words}") || is("://");
        !(self.has("token") && worded)
            && (!is("{mnemonic}") || self.has("name") && !self.has("hard"))
    }
}

fn settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    let (_, body) = SETTINGS.split_once("--- plain:").unwrap();
    for part in format!("plain:{body}").leak().split("\n--- ") {
        let (head, text) = part.split_once('\n').unwrap();
        let (name, needs) = head.split_once(':').unwrap();
        settings.push(Setting { name, needs: needs.split_whitespace().collect(), text });
    }
    settings
}

/// The class a case is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Form,
    Name,
    Hard,
}

/// One secret in one setting.
pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) setting: &'static str,
    pub(crate) class: Class,
    pub(crate) text: String,
    /// The secret as it is written there.
    written: Vec<String>,
    /// Lines of the setting that hold nothing secret.
    kept: Vec<String>,
}

impl Case {
    /// Returns a run of the secret that is left in a cleaned text.
    pub(crate) fn leak<'a>(&'a self, cleaned: &str) -> Option<&'a str> {
        let cleaned = bare(cleaned);
        self.written.iter().find_map(|secret| {
            let run = if secret.len() <= 20 { 4 } else { 8 };
            let runs = (0..=secret.len().checked_sub(run)?).map(|at| &secret[at..at + run]);
            runs.into_iter().find(|part| cleaned.contains(part))
        })
    }

    /// Returns a harmless line of the setting that a cleaned text lost.
    pub(crate) fn lost(&self, cleaned: &str) -> Option<&str> {
        self.kept.iter().map(String::as_str).find(|line| !cleaned.contains(line))
    }
}

/// Takes out what may stand between the characters of a secret.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next == '\u{1b}' {
            while rest.next().is_some_and(|part| !part.is_ascii_alphabetic()) {}
        } else if next.is_ascii_graphic() && next != '\\' {
            bare.push(next);
        }
    }
    bare
}

/// Returns each kind in every `step`th setting that takes it; a step of one gives all.
pub(crate) fn cases(step: usize) -> Vec<Case> {
    let settings = settings();
    let mut cases = Vec::new();
    for (row, kind) in kinds().iter().enumerate() {
        for (column, setting) in settings.iter().filter(|setting| setting.takes(kind)).enumerate() {
            if !(column + row).is_multiple_of(step) {
                continue;
            }
            let made = make(kind.shape, &mut Dice::new(kind.name, column as u64));
            let mut written = Vec::new();
            let text = fill_setting(setting.text, kind, &made, &mut written);
            let class = match kind.family {
                _ if setting.has("hard") => Class::Hard,
                Family::Name => Class::Name,
                Family::Form | Family::Block => Class::Form,
            };
            let kept = setting.text.lines().filter(|line| !line.contains('«') && line.len() > 2);
            let kept = kept.map(unescape).collect();
            cases.push(Case { kind: kind.name, setting: setting.name, class, text, written, kept });
        }
    }
    cases
}

/// Returns the harmless lines, each made `turns` times.
pub(crate) fn harmless(turns: u64) -> Vec<String> {
    let lines =
        HARMLESS.lines().filter(|line| !line.starts_with("# ---") && !line.starts_with("# Lines"));
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .flat_map(|line| {
            (0..turns).map(move |turn| {
                make(&unescape(line).replace("\\n", "\n"), &mut Dice::new(line, turn)).text
            })
        })
        .collect()
}

fn unescape(text: &str) -> String {
    text.replace("\\e", "\u{1b}")
}

fn fill_setting(template: &str, kind: &Kind, made: &Made, written: &mut Vec<String>) -> String {
    let mut filled = String::new();
    let template = unescape(template);
    let mut rest = template.as_str();
    while let Some((before, behind)) = rest.split_once('«') {
        filled.push_str(before);
        let (hole, after) = behind.split_once('»').unwrap();
        let (what, way) = hole.split_once(':').unwrap_or((hole, ""));
        let text = match what {
            "N" => kind.variable.to_string(),
            "n" => kind.variable.to_lowercase(),
            "k" => kind.variable.to_lowercase().replace('_', "-"),
            "c" => camel(kind.variable, false),
            "P" => camel(kind.variable, true),
            "E" => write(&format!("DEBUG=1\n{}={}\n", kind.variable, made.text), way),
            _ => write(&made.text, way),
        };
        if what == "E" || matches!(way, "b64" | "basic" | "docker") {
            // The beginning is the same for all that begin with the same words.
            written.push(text[8..].to_string());
        } else if what == "V" {
            written.extend(
                made.secrets
                    .iter()
                    .flat_map(|secret| secret.split('\n'))
                    .filter(|line| !line.starts_with("---"))
                    .map(|line| bare(&write(line, way))),
            );
        }
        filled.push_str(&text);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn camel(name: &str, first: bool) -> String {
    let mut upper = first;
    let mut made = String::new();
    for part in name.chars() {
        match part {
            '_' => upper = true,
            _ if upper => {
                made.push(part);
                upper = false;
            }
            _ => made.push(part.to_ascii_lowercase()),
        }
    }
    made
}

/// Writes the secret as the setting's syntax asks.
fn write(secret: &str, way: &str) -> String {
    let lines =
        |head: &str| secret.split('\n').map(|line| format!("{head}{line}")).collect::<Vec<_>>();
    match way {
        "json" | "json-lines" => json(secret),
        "json2" | "json2-lines" => json(&json(secret)),
        "sh" => {
            let safe = secret
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-./:=+@%".contains(&byte));
            if safe { secret.to_string() } else { format!("'{secret}'") }
        }
        "url" => percent(secret),
        "xml" => secret.replace('&', "&amp;").replace('<', "&lt;"),
        "b64" => base64(secret.as_bytes()),
        "basic" => base64(format!("admin:{secret}").as_bytes()),
        "docker" => {
            let auth = base64(format!("bot:{secret}").as_bytes());
            base64(format!("{{\"auths\":{{\"ghcr.io\":{{\"auth\":\"{auth}\"}}}}}}").as_bytes())
        }
        "wrap" => chunks(secret, 24).join("\n"),
        "soft" => chunks(secret, 24).join(" │\n│ "),
        "continued" => chunks(secret, 24).join("\\\n"),
        "zero" => chunks(secret, 7).join("\u{200b}"),
        "colour" => chunks(secret, 9).join("\u{1b}[0m\u{1b}[01;31m"),
        "spaced" => secret.chars().flat_map(|part| [part, '\0']).collect(),
        "indent" => lines("    ").join("\n").trim_start().to_string(),
        "plus" => lines("+").join("\n"),
        "comment" => lines("# ").join("\n"),
        "quoted" => lines("> ").join("\n"),
        "numbered" => {
            let numbered =
                secret.split('\n').enumerate().map(|(at, line)| format!("{:>6}\t{line}", at + 1));
            numbered.collect::<Vec<_>>().join("\n")
        }
        "coloured-lines" => lines("\u{1b}[33m").join("\u{1b}[0m\n"),
        "one-line" => secret.replace('\n', " "),
        "crlf" => secret.replace('\n', "\r\n"),
        "cut" => secret[..secret.len().saturating_sub(60).max(secret.len().min(64))].to_string(),
        _ => secret.to_string(),
    }
}

fn chunks(text: &str, len: usize) -> Vec<String> {
    text.as_bytes().chunks(len).map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_string()
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut made, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            made.push(char::from(byte));
        } else {
            write!(made, "%{byte:02X}").unwrap();
        }
        made
    })
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = format!("{UPPER}{LOWER}{DIGITS}+/");
    let mut made = String::new();
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0_u32, |word, byte| (word << 8) | u32::from(*byte))
            << (8 * (3 - group.len()));
        for at in 0..4 {
            let index = (word >> (18 - 6 * at)) & 63;
            made.push(if at <= group.len() {
                char::from(alphabet.as_bytes()[index as usize])
            } else {
                '='
            });
        }
    }
    made
}
