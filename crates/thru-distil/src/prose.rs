//! Markdown as agents and people write it: classified lines, and sentences.

/// The kind of a line of Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Part of a paragraph.
    Text,
    /// A heading, or a line that is nothing but bold.
    Heading,
    /// An item of a list.
    Item,
    /// A blank line between paragraphs.
    Blank,
}

/// One line of a Markdown text, without the marks of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'t> {
    pub(crate) kind: LineKind,
    pub(crate) text: &'t str,
}

/// Returns the lines of `text` that are prose: no code, tables, rules, quotations or drawings.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fence: Option<&'static str> = None;
    text.lines().filter_map(move |line| {
        let trimmed = line.trim();
        match fence {
            Some(mark) => {
                if trimmed.starts_with(mark) {
                    fence = None;
                }
                return None;
            }
            None if trimmed.starts_with("```") => fence = Some("```"),
            None if trimmed.starts_with("~~~") => fence = Some("~~~"),
            None => return classify(line, trimmed),
        }
        None
    })
}

fn classify<'t>(line: &str, trimmed: &'t str) -> Option<Line<'t>> {
    if trimmed.is_empty() {
        return Some(Line { kind: LineKind::Blank, text: "" });
    }
    let is_dropped = trimmed.starts_with(['|', '>', '<'])
        || line.starts_with("    ") && !is_item(trimmed)
        || line.starts_with('\t') && !is_item(trimmed)
        || is_drawing(trimmed);
    if is_dropped {
        return None;
    }
    if let Some(heading) = trimmed.strip_prefix('#') {
        let text = heading.trim_start_matches('#').trim();
        return (!text.is_empty()).then_some(Line { kind: LineKind::Heading, text });
    }
    if let Some(item) = item(trimmed) {
        return Some(Line { kind: LineKind::Item, text: item });
    }
    let kind = match is_bold_line(trimmed) {
        true => LineKind::Heading,
        false => LineKind::Text,
    };
    Some(Line { kind, text: trimmed })
}

fn is_item(trimmed: &str) -> bool {
    item(trimmed).is_some()
}

/// Returns the text of a list item: the part after a bullet, a number or a tick.
fn item(trimmed: &str) -> Option<&str> {
    for bullet in ["- [x] ", "- [X] ", "- [ ] ", "- ", "* ", "+ ", "• ", "✅ ", "✓ ", "✔ ", "☑ "]
    {
        if let Some(text) = trimmed.strip_prefix(bullet) {
            return Some(text.trim()).filter(|text| !text.is_empty());
        }
    }
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    let text = trimmed[digits..].strip_prefix(['.', ')'])?;
    text.strip_prefix(' ').map(str::trim).filter(|text| !text.is_empty())
}

/// Returns true for a line of nothing but bold text, which is a heading by another name.
fn is_bold_line(trimmed: &str) -> bool {
    let inner = trimmed.strip_prefix("**").and_then(|rest| {
        rest.strip_suffix("**")
            .or_else(|| rest.strip_suffix("**:"))
            .or_else(|| rest.strip_suffix(":**"))
    });
    inner.is_some_and(|inner| !inner.contains("**"))
}

/// Returns true for rules, boxes and progress bars, which have hardly a letter in them.
fn is_drawing(trimmed: &str) -> bool {
    trimmed.starts_with(['━', '─', '═', '│', '┃', '╭', '╰', '┌', '└', '╔', '╚', '║', '█', '▓', '├'])
        || !trimmed.chars().any(char::is_alphanumeric)
        || trimmed.contains("[###")
        || trimmed.contains("......")
}

/// Returns the sentences of one line. A sentence ends at a mark followed by white space and a new
/// beginning.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    sentences_at(line).map(|(_, sentence)| sentence)
}

/// Returns the sentences of one line, each with its byte offset in the line.
pub(crate) fn sentences_at(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = line.len() - line.trim_start().len();
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = sentence_end(rest);
        let (sentence, after) = rest.split_at(end);
        let next = after.trim_start();
        let found = (at, sentence.trim());
        at += rest.len() - next.len();
        rest = next;
        Some(found)
    })
}

/// Returns true if a text has words that every longer English text has.
pub(crate) fn is_english(text: &str) -> bool {
    const COMMON: [&str; 22] = [
        "the", "to", "and", "of", "it", "is", "that", "this", "for", "you", "we", "can", "with",
        "are", "not", "be", "on", "please", "have", "fix", "add", "make",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (common, all) = words.take(60).fold((0, 0), |(common, all), word| {
        (common + usize::from(COMMON.iter().any(|one| word.eq_ignore_ascii_case(one))), all + 1)
    });
    common * 8 >= all
}

fn sentence_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    // The end of a run of marks, and true if a sentence begins after it: computed once per run.
    let mut end = 0;
    let mut begins = false;
    for (at, mark) in text.char_indices() {
        if matches!(mark, '。' | '！' | '？') {
            return at + mark.len_utf8();
        }
        if !matches!(mark, '.' | '!' | '?') {
            continue;
        }
        if at >= end {
            // Bold or quotes may close after the mark.
            end = at + 1;
            while let Some(width) = closing(&bytes[end..]) {
                end += width;
            }
            begins = text.get(end..).is_some_and(|after| begins_sentence(after.trim_start()));
        }
        match bytes.get(end) {
            None => return end,
            Some(b' ' | b'\t') => {}
            Some(_) => continue,
        }
        if mark == '.' && (is_abbreviation(&text[..at]) || !begins) {
            continue;
        }
        return end;
    }
    text.len()
}

/// Returns the width of a mark that may follow the end of a sentence.
fn closing(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'*' | b'"' | b')' | b'\'' | b'!' | b'?' | b'.', ..] => Some(1),
        _ if rest.starts_with("”".as_bytes()) || rest.starts_with("’".as_bytes()) => Some(3),
        _ => None,
    }
}

fn begins_sentence(rest: &str) -> bool {
    !rest.starts_with([',', ';', ')', '+', '='])
}

fn is_abbreviation(before: &str) -> bool {
    // Longer than any abbreviation: there is no need to look back to the beginning of a word.
    const REACH: usize = 12;
    let reach = before.floor_char_boundary(before.len().saturating_sub(REACH));
    let word = before[reach..].rsplit([' ', '(']).next().unwrap_or_default();
    matches!(
        word.to_ascii_lowercase().as_str(),
        "e.g" | "i.e" | "vs" | "approx" | "no" | "fig" | "cf" | "resp" | "incl" | "dr" | "mr"
    ) && (word != "no" || before.len() > 4)
        || !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) && before.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prose_is_read() {
        let text = "Intro line.\n\n```\nalways break\n```\n| a | b |\n> quoted\n## Head\n- [x] item one\n2) item two\n━━━━\n**Bold head:**\nlast";
        let kinds: Vec<(LineKind, &str)> = lines(text)
            .map(|line| (line.kind, line.text))
            .filter(|line| line.0 != LineKind::Blank)
            .collect();
        assert_eq!(
            kinds,
            [
                (LineKind::Text, "Intro line."),
                (LineKind::Heading, "Head"),
                (LineKind::Item, "item one"),
                (LineKind::Item, "item two"),
                (LineKind::Heading, "**Bold head:**"),
                (LineKind::Text, "last"),
            ]
        );
    }

    #[test]
    fn sentences_end_where_new_ones_begin() {
        let split = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(
            split("Fixed a.rs. It works! Does it?"),
            ["Fixed a.rs.", "It works!", "Does it?"]
        );
        assert_eq!(split("Use e.g. this v1.2 one"), ["Use e.g. this v1.2 one"]);
        assert_eq!(split("**Done.** Next."), ["**Done.**", "Next."]);
        assert_eq!(split("これは文。次の文"), ["これは文。", "次の文"]);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split("See e.g.. Then go"), ["See e.g..", "Then go"]);
    }

    #[test]
    fn sentences_know_their_places() {
        let line = "  Eins é.  Zwei. これは文。次";
        for (at, sentence) in sentences_at(line) {
            assert!(line[at..].starts_with(sentence), "{at} {sentence}");
        }
        assert_eq!(sentences_at(line).count(), 4);
    }

    #[test]
    fn long_runs_of_marks_take_linear_time() {
        for text in [
            format!("{}x", "!".repeat(400_000)),
            format!("a{} ,", ".".repeat(400_000)),
            format!("{}{}", ".".repeat(200_000), " ".repeat(200_000) + ","),
        ] {
            assert_eq!(sentences(&text).count(), 1);
        }
    }
}
