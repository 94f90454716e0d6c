//! The frontmatter of a note: keys of ours are read and spliced, every other line is the person's.
//!
//! No YAML library edits without changing what it does not touch. Ours are five shapes at the top level (a scalar, an
//! empty list, a block list, a missing key, a missing block); a block that holds anything which makes lines depend on
//! each other in another way is refused, and so is one that is no YAML.

use std::ops::Range;

use crate::note::Note;

/// The value of a key of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text, or a date.
    Text(String),
    /// A list of texts. Members that a person added stay.
    Members(Vec<String>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

impl Property {
    /// Makes a text of a key.
    pub fn text(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: Value::Text(value.into()) }
    }

    /// Makes a list of a key.
    pub fn members(key: &'static str, members: Vec<String>) -> Self {
        Self { key, value: Value::Members(members) }
    }

    /// Returns its lines.
    pub(crate) fn lines(&self, newline: &str) -> String {
        match &self.value {
            Value::Text(text) => format!("{}: {}{newline}", self.key, scalar(text)),
            Value::Members(members) => list(self.key, members, newline),
        }
    }
}

/// Returns the lines of a list.
pub(crate) fn list(key: &str, members: &[String], newline: &str) -> String {
    if members.is_empty() {
        return format!("{key}: []{newline}");
    }
    let members = members.iter().map(|one| format!("  - {}{newline}", scalar(one)));
    format!("{key}:{newline}{}", members.collect::<String>())
}

/// The frontmatter of a note, as keys with their lines.
#[derive(Clone, Debug, Default)]
pub struct Front {
    keys: Vec<(String, Range<usize>)>,
}

/// An error for frontmatter that cannot be edited safely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the properties at the top cannot be read: {0}")]
pub struct Unreadable(pub &'static str);

impl Front {
    /// Reads the frontmatter of a note. One without has no keys.
    ///
    /// # Errors
    /// Fails if it is no YAML, or has a form in which a line cannot be replaced alone.
    pub fn read(note: &Note<'_>) -> Result<Self, Unreadable> {
        let Some(block) = note.front.clone() else { return Ok(Self::default()) };
        let mut front = Self::default();
        let mut at = block.start;
        // The indent of a block text, whose lines are no YAML.
        let mut is_text = false;
        // Open brackets and quotes of a value that goes on over several lines.
        let mut open = Flow::default();
        for line in note.source[block].split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let bare = line.trim_end();
            let is_inner = bare.starts_with(' ') || bare == "-" || bare.starts_with("- ");
            if open.is_open() {
                open.read(bare)?;
                front.extend(range.end);
            } else if bare.is_empty() || bare.trim_start().starts_with('#') && !is_text {
                // A comment belongs to what stands below it, and stays when that is replaced.
            } else if bare.starts_with('\t') {
                return Err(Unreadable("a line begins with a tab"));
            } else if is_inner {
                if front.keys.is_empty() {
                    return Err(Unreadable("it begins with a list or an indented line"));
                }
                if !is_text {
                    let item = bare.trim_start().trim_start_matches("- ");
                    let value = split_key(item).map_or(item, |(_, value)| value);
                    open.read(value)?;
                }
                front.extend(range.end);
            } else {
                let (key, value) =
                    split_key(bare).ok_or(Unreadable("a line of them is not `key: value`"))?;
                if front.keys.iter().any(|(known, _)| known == key) {
                    return Err(Unreadable("a property stands there twice"));
                }
                is_text = matches!(value.as_bytes().first(), Some(b'|' | b'>'));
                if !is_text {
                    open.read(value)?;
                }
                front.keys.push((key.to_owned(), range));
            }
        }
        match open.is_open() {
            true => Err(Unreadable("a quote or bracket is not closed")),
            false => Ok(front),
        }
    }

    fn extend(&mut self, end: usize) {
        if let Some((_, range)) = self.keys.last_mut() {
            range.end = end;
        }
    }

    /// Returns the lines of a key.
    pub fn range(&self, key: &str) -> Option<Range<usize>> {
        let found = self.keys.iter().find(|(known, _)| known == key);
        found.map(|(_, range)| range.clone())
    }

    /// Returns the keys with their lines.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.keys.iter().map(|(key, range)| (key.as_str(), range))
    }

    /// Returns the value of a key, if it has one of the shapes that we write or that an editor makes of them.
    pub fn value(&self, key: &str, source: &str) -> Option<Value> {
        let lines = source.get(self.range(key)?)?;
        let mut lines = lines.lines();
        let (_, first) = split_key(lines.next()?.trim_end())?;
        let first = without_comment(first);
        if let Some(flow) = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let members = split_flow(flow).into_iter().map(plain_value).collect::<Option<_>>()?;
            return Some(Value::Members(members));
        }
        let rest: Vec<&str> = lines
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        match rest.is_empty() {
            true => plain_value(first).map(Value::Text),
            false if first.is_empty() => {
                let item =
                    |line: &str| plain_value(without_comment(line.strip_prefix('-')?.trim()));
                rest.into_iter().map(item).collect::<Option<_>>().map(Value::Members)
            }
            false => None,
        }
    }

    /// Returns the text of a key.
    pub fn text(&self, key: &str, source: &str) -> Option<String> {
        match self.value(key, source)? {
            Value::Text(text) => Some(text),
            Value::Members(_) => None,
        }
    }
}

/// The brackets and the quote that are open at the end of a line.
#[derive(Debug, Default)]
struct Flow {
    brackets: usize,
    quote: Option<char>,
}

impl Flow {
    const fn is_open(&self) -> bool {
        self.brackets > 0 || self.quote.is_some()
    }

    /// Reads a value, or a line of one that goes on.
    fn read(&mut self, value: &str) -> Result<(), Unreadable> {
        let value = value.trim();
        if !self.is_open() {
            match value.chars().next() {
                Some('&' | '*' | '!' | '%' | '@' | '`') => {
                    return Err(Unreadable(
                        "a value begins with a sign that YAML keeps for itself",
                    ));
                }
                Some('[' | '{' | '"' | '\'') => {}
                Some('#') | None => return Ok(()),
                _ => {
                    let plain = without_comment(value);
                    return match plain.contains(": ") || plain.ends_with(':') {
                        true => Err(Unreadable("a value holds a colon and no quotes")),
                        false => Ok(()),
                    };
                }
            }
        }
        let mut characters = value.chars().peekable();
        let mut is_over = false;
        while let Some(character) = characters.next() {
            match (self.quote, character) {
                (Some('"'), '\\') => drop(characters.next()),
                (Some('\''), '\'') if characters.peek() == Some(&'\'') => drop(characters.next()),
                (Some(quote), _) if quote == character => self.quote = None,
                (Some(_), _) => {}
                (None, '#') => break,
                (None, _) if is_over && !character.is_whitespace() => {
                    return Err(Unreadable("something stands behind a quoted value"));
                }
                (None, '"' | '\'') => self.quote = Some(character),
                (None, '[' | '{') => self.brackets += 1,
                (None, ']' | '}') => {
                    self.brackets =
                        self.brackets.checked_sub(1).ok_or(Unreadable("a bracket is not open"))?;
                }
                (None, _) => {}
            }
            is_over = !self.is_open();
        }
        Ok(())
    }
}

/// Splits a line of the top level into key and value.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = match line.split_once(": ") {
        Some((key, value)) => (key, value.trim()),
        None => (line.strip_suffix(':')?, ""),
    };
    let is_key = !key.is_empty()
        && !key
            .starts_with(['"', '\'', '{', '[', '?', '&', '*', '!', '|', '>', '%', '@', '`', '#'])
        && key == key.trim()
        && !key.contains(" #");
    is_key.then_some((key, value))
}

fn without_comment(value: &str) -> &str {
    let value = value.trim();
    if value.starts_with(['"', '\'']) {
        return value;
    }
    match value.find(" #") {
        Some(at) => value[..at].trim_end(),
        None if value.starts_with('#') => "",
        None => value,
    }
}

fn split_flow(flow: &str) -> Vec<&str> {
    let (mut parts, mut quote, mut from) = (Vec::new(), None, 0);
    for (at, character) in flow.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, ',') => {
                parts.push(flow[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(flow[from..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Reads a scalar.
fn plain_value(written: &str) -> Option<String> {
    if let Some(rest) = written.strip_prefix('"') {
        let (mut text, mut characters) = (String::new(), rest.chars());
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => text.push(match characters.next()? {
                    'n' => '\n',
                    't' => '\t',
                    sign @ ('"' | '\\' | '/') => sign,
                    _ => return None,
                }),
                character => text.push(character),
            }
        }
        return Some(text);
    }
    if let Some(rest) = written.strip_prefix('\'') {
        let end = rest.rfind('\'')?;
        return Some(rest[..end].replace("''", "'"));
    }
    (!written.starts_with(['{', '[', '|', '>', '&', '*', '!'])).then(|| written.to_owned())
}

/// Writes a scalar so that every reader takes it for this text, or for this date.
fn scalar(text: &str) -> String {
    let is_word =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '/' | '.' | '-' | '(' | ')');
    let first = text.chars().next();
    let is_plain = first.is_some_and(char::is_alphabetic)
        && text.chars().all(is_word)
        && !text.ends_with(' ')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_plain || is_date(text) {
        return text.to_owned();
    }
    let escaped = text.chars().filter(|c| !c.is_control()).fold(String::new(), |mut all, c| {
        if matches!(c, '"' | '\\') {
            all.push('\\');
        }
        all.push(c);
        all
    });
    format!("\"{escaped}\"")
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(front: &str) -> Result<Vec<(String, Option<Value>)>, Unreadable> {
        let source = format!("---\n{front}---\nbody\n");
        let note = Note::parse(&source);
        let front = Front::read(&note)?;
        Ok(front.lines().map(|(key, _)| (key.to_owned(), front.value(key, &source))).collect())
    }

    fn text(text: &str) -> Option<Value> {
        Some(Value::Text(text.to_owned()))
    }

    #[test]
    fn shapes_of_editors_are_read() {
        let front = "# mine\nstatus: active # for now\n\"quoted\": 1\n";
        assert!(read(front).is_err(), "a quoted key may be one of ours");
        let front = "status: \"a: \\\"b\\\"\"\ntags: [session, 'project/x']\naliases:\n- one\n  # c\n- \"two: 2\"\n\
                     note: |\n  # text\n  a: b\nempty:\nflow: {a: [1,\n  2]}\n";
        let members =
            |all: &[&str]| Some(Value::Members(all.iter().map(|one| (*one).to_owned()).collect()));
        let expected = [
            ("status", text("a: \"b\"")),
            ("tags", members(&["session", "project/x"])),
            ("aliases", members(&["one", "two: 2"])),
            ("note", None),
            ("empty", text("")),
            ("flow", None),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        assert_eq!(read(front).unwrap(), expected);
    }

    #[test]
    fn what_is_no_yaml_or_depends_on_other_lines_is_refused() {
        for front in [
            "a: 1\na: 2\n",
            "\ta: 1\n",
            "a: &x 1\n",
            "b: *x\n",
            "c: !!str 1\n",
            "{a: 1}\n",
            "just words\n",
            "- item\n",
            "a: b: c\n",
            "a: \"open\n",
            "a: [1, 2\n",
            "a: \"b\" c\n",
            "a: ]\n- b]\n: x\n",
            "? a\n: b\n",
        ] {
            assert!(read(front).is_err(), "{front}");
        }
    }

    #[test]
    fn a_scalar_is_read_back_as_it_was() {
        for written in
            ["a", "2026-11-09", "12", "yes", "a: b", "\"", "\\", "- x", "", "#1", "a #b", "é ü"]
        {
            let property = Property::text("key", written);
            let (_, value) = read(&property.lines("\n")).unwrap().remove(0);
            assert_eq!(value, text(written));
        }
    }
}
