//! Search for a name in the material, in any of its spellings.

use super::material::{Border, Material};
use super::names::{Kind, Name};

/// Returns the places of a name in the material, in any of its spellings.
pub(super) fn places(material: &Material, name: &Name) -> Vec<usize> {
    let text = name.text.as_str();
    let first = |forms: &mut dyn Iterator<Item = String>, border| {
        forms.map(|form| material.places(&form, border)).find(|places| !places.is_empty())
    };
    match name.kind {
        Kind::File => {
            let border = if text.starts_with('.') { Border::End } else { Border::Path };
            material.places(text, border)
        }
        Kind::Command => {
            let places = material.places(text, Border::Name);
            if places.is_empty() { material.runs(text) } else { places }
        }
        Kind::Code => {
            let places = material.places(text, Border::Name);
            match places.is_empty() && text.len() >= 7 {
                // Hashes are often abbreviated.
                true => material.places(text, Border::Start),
                false => places,
            }
        }
        Kind::Number => number(material, text),
        Kind::Line => {
            let places = number(material, text);
            match text.parse() {
                Ok(line) if places.is_empty() => material.lines(line),
                _ => places,
            }
        }
        Kind::Identifier => {
            let stem = text.trim_end_matches("()");
            let plural = stem.strip_suffix('s').map(str::to_owned);
            let dashed = stem.contains('_').then(|| stem.replace('_', "-"));
            let whole = first(
                &mut std::iter::once(stem.to_owned()).chain(plural).chain(dashed),
                Border::Name,
            );
            whole.unwrap_or_else(|| parts(material, stem))
        }
    }
}

/// Returns the places of all parts of a name, each searched by itself: `Reader::read` may be written in
/// two places.
fn parts(material: &Material, name: &str) -> Vec<usize> {
    let is_between = |c: char| matches!(c, ':' | '.' | '/' | '@' | '-' | '>');
    let parts: Vec<&str> = name.split(is_between).filter(|part| !part.is_empty()).collect();
    if parts.len() < 2 || name.starts_with('-') {
        return Vec::new();
    }
    let mut rarest: Vec<usize> = Vec::new();
    for part in parts {
        let places = material.places(part, Border::Name);
        if places.is_empty() {
            return places;
        }
        if rarest.is_empty() || places.len() < rarest.len() {
            rarest = places;
        }
    }
    rarest
}

/// Returns the places of a number: with or without thousands separators, or as a word.
fn number(material: &Material, number: &str) -> Vec<usize> {
    const WORDS: [&str; 10] =
        ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let places = material.places(number, Border::Number);
    if !places.is_empty() {
        return places;
    }
    let whole: usize = number.parse().unwrap_or_default();
    if let Some(word) = whole.checked_sub(3).and_then(|at| WORDS.get(at)) {
        return material.places(word, Border::Name);
    }
    if whole < 1000 {
        return Vec::new();
    }
    let grouped = |separator: &str| {
        let digits = number.as_bytes();
        let mut text = String::new();
        for (at, digit) in digits.iter().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push_str(separator);
            }
            text.push(char::from(*digit));
        }
        text
    };
    let forms = [",", "_", "'", "’", " ", "."].map(grouped);
    let mut found = forms.iter().map(|form| material.places(form, Border::Number));
    found.find(|places| !places.is_empty()).unwrap_or_default()
}
