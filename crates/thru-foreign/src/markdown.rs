//! Notes in Markdown, with the front matter and the observations of basic-memory where a note has them.

use thru_core::{ForeignSource, ObservationType, Timestamp};

use crate::{ForeignMemory, Holds, filled};

/// Characters of a memory. A longer note becomes several, cut between its sections.
const LONGEST_PART: usize = 6_000;

/// Converts a note into memories. `name` is its path, relative to the folder it was found in.
pub fn memories(source: ForeignSource, name: &str, text: &str) -> Vec<ForeignMemory> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let (front, body) = front_matter(&text);
    let field = |wanted: &str| {
        front
            .iter()
            .find(|(name, _)| *name == wanted)
            .and_then(|(_, value)| filled(unquoted(value)))
    };
    let (heading, body) = heading(body);
    let body = &without_block_ids(body);
    let stem = name.rsplit('/').next().unwrap_or(name);
    let stem = stem.strip_suffix(".md").unwrap_or(stem);
    let title = field("title").or(heading).unwrap_or_else(|| stem.replace(['-', '_'], " "));
    let name = match source {
        ForeignSource::BasicMemory => field("permalink").unwrap_or_else(|| name.to_owned()),
        ForeignSource::ClaudeMem | ForeignSource::Markdown => name.to_owned(),
    };
    let (body, facts) = match source {
        ForeignSource::BasicMemory => observations(body),
        ForeignSource::ClaudeMem | ForeignSource::Markdown => (body.to_owned(), Vec::new()),
    };
    let is_decision = field("type").is_some_and(|kind| is_decision(&kind))
        || name.split('/').rev().skip(1).any(is_decision)
        || facts.iter().any(|fact| fact.starts_with("decision: "));
    let kind = if is_decision { ObservationType::Decision } else { ObservationType::Discovery };
    let at = ["date", "created", "created_at"].iter().find_map(|name| time(&field(name)?));
    let parts = parts(&body);
    let count = parts.len();
    if count == 0 && facts.is_empty() {
        return Vec::new();
    }
    let part = |(number, text): (usize, String)| {
        let (name, title) = match number {
            0 => (name.clone(), title.clone()),
            _ => {
                let below =
                    self::heading(&text).0.unwrap_or_else(|| format!("part {}", number + 1));
                (format!("{name}#{}", number + 1), format!("{title}: {below}"))
            }
        };
        ForeignMemory {
            identity: name.clone(),
            name,
            holds: Holds::Note,
            title,
            text: filled(&text),
            kind: Some(kind),
            facts: if number == 0 { facts.clone() } else { Vec::new() },
            at,
            ..ForeignMemory::default()
        }
    };
    match count {
        0 => vec![part((0, String::new()))],
        _ => parts.into_iter().enumerate().map(part).collect(),
    }
}

/// Splits off the lines between two `---` at the beginning, as names and values. Lists and nested values are passed over.
fn front_matter(text: &str) -> (Vec<(&str, &str)>, &str) {
    let Some(inner) = text.strip_prefix("---\n") else { return (Vec::new(), text) };
    let Some((front, body)) = inner.split_once("\n---") else { return (Vec::new(), text) };
    // `---more` is no end.
    let Some(body) = body.strip_prefix('\n').or(body.is_empty().then_some("")) else {
        return (Vec::new(), text);
    };
    let field = |line: &'_ str| !line.starts_with([' ', '-', '#']);
    let fields = front.lines().filter(|line| field(line)).filter_map(|line| line.split_once(':'));
    (fields.map(|(name, value)| (name.trim(), value.trim())).collect(), body)
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    value
}

/// Splits off a heading that stands first.
fn heading(text: &str) -> (Option<String>, &str) {
    let text = text.trim_start_matches('\n');
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    match is_heading(line) {
        true => (filled(line.trim_matches(['#', ' '])), rest),
        false => (None, text),
    }
}

/// Takes the block ids of Obsidian off the ends of lines. They name places in the note, and say nothing elsewhere.
fn without_block_ids(body: &str) -> String {
    let mut is_code = false;
    let lines = body.split_inclusive('\n').map(|line| {
        is_code ^= line.trim_start().starts_with("```");
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (line, ""),
        };
        let is_id = |id: &str| {
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        match text.rsplit_once(" ^").filter(|(_, id)| !is_code && is_id(id)) {
            Some((text, _)) => format!("{}{end}", text.trim_end()),
            None => line.to_owned(),
        }
    });
    lines.collect()
}

fn is_heading(line: &str) -> bool {
    let level = line.len() - line.trim_start_matches('#').len();
    (1..=6).contains(&level) && line[level..].starts_with(' ')
}

fn is_decision(name: &str) -> bool {
    ["decision", "decisions", "adr", "adrs"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Takes out lines of the form `- [category] text`, as facts. `- [x]` is a task.
fn observations(body: &str) -> (String, Vec<String>) {
    let mut facts = Vec::new();
    let mut is_code = false;
    let rest: Vec<&str> = body
        .lines()
        .filter(|line| {
            is_code ^= line.trim_start().starts_with("```");
            let observation = line
                .trim_start()
                .strip_prefix("- [")
                .and_then(|line| line.split_once("] "))
                .filter(|(category, _)| {
                    !is_code && category.len() > 1 && !category.contains(['[', ']'])
                });
            facts
                .extend(observation.map(|(category, text)| format!("{category}: {}", text.trim())));
            observation.is_none()
        })
        .collect();
    (rest.join("\n"), facts)
}

fn time(text: &str) -> Option<Timestamp> {
    let parsed = text.parse().ok();
    parsed.or_else(|| format!("{}T00:00:00Z", text.get(..10)?).parse().ok())
}

/// Cuts a text into parts of no more than [`LONGEST_PART`] characters: before headings if it can be, else between lines,
/// else in a line. No part is blank, and no word is lost.
fn parts(body: &str) -> Vec<String> {
    let mut parts: Vec<(String, usize)> = Vec::new();
    let mut is_code = false;
    for section in sections(body, &mut is_code) {
        let length = section.chars().count();
        match parts.last_mut() {
            Some((part, held)) if *held + length <= LONGEST_PART => {
                part.push_str(section);
                *held += length;
            }
            _ => parts.push((section.to_owned(), length)),
        }
    }
    let parts = parts.into_iter().flat_map(|(part, length)| match length <= LONGEST_PART {
        true => vec![part],
        false => between_lines(&part),
    });
    parts.filter(|part| !part.trim().is_empty()).collect()
}

/// The sections of a text, each with the heading that it begins with.
fn sections<'t>(body: &'t str, is_code: &mut bool) -> Vec<&'t str> {
    let (mut sections, mut start, mut at) = (Vec::new(), 0, 0);
    for line in body.split_inclusive('\n') {
        *is_code ^= line.trim_start().starts_with("```");
        if !*is_code && is_heading(line) && at > start {
            sections.push(&body[start..at]);
            start = at;
        }
        at += line.len();
    }
    sections.push(&body[start..]);
    sections
}

fn between_lines(section: &str) -> Vec<String> {
    let (mut parts, mut part, mut held) = (Vec::new(), String::new(), 0);
    for line in section.split_inclusive('\n') {
        let length = line.chars().count();
        if held > 0 && held + length > LONGEST_PART {
            parts.push(std::mem::take(&mut part));
            held = 0;
        }
        for character in line.chars() {
            if held == LONGEST_PART {
                parts.push(std::mem::take(&mut part));
                held = 0;
            }
            part.push(character);
            held += 1;
        }
    }
    parts.push(part);
    parts
}
