//! Functions and types: the definitions that an edit of source code shows.
//!
//! No grammar is asked, since an edit shows a few lines that seldom parse. A definition is a line that begins with its language's own
//! word for one, and goes on as one does. It reaches as far as the lines below it are indented.

use std::collections::BTreeMap;

use thru_core::{file_name, is_made_by_tools};

use crate::edit::{Extent, Fragment};

/// Most definitions of one edit.
const MOST: usize = 300;

/// Most lines that are looked at, and the longest, in bytes.
const LINES: usize = 20_000;
const LONGEST: usize = 400;

/// Definitions within each other that are followed.
const DEPTH: usize = 8;

/// Longest name, in bytes.
const NAME: usize = 80;

/// A language whose definitions are known by their first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    CSharp,
    Go,
    Java,
    JavaScript,
    Kotlin,
    Php,
    Python,
    Ruby,
    Rust,
    Swift,
}

impl Language {
    /// Returns the language of the file at a path, if it is code that people write.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if is_made_by_tools(path) || path.split(['/', '\\']).any(|part| part == "fixtures") {
            return None;
        }
        let (stem, extension) = file_name(path).rsplit_once('.')?;
        Some(match extension {
            "cs" => Self::CSharp,
            "go" => Self::Go,
            "java" => Self::Java,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte"
                if !stem.ends_with(".min") =>
            {
                Self::JavaScript
            }
            "kt" | "kts" => Self::Kotlin,
            "php" => Self::Php,
            "py" | "pyi" => Self::Python,
            "rb" => Self::Ruby,
            "rs" => Self::Rust,
            "swift" => Self::Swift,
            _ => return None,
        })
    }

    /// Returns its words for functions and types.
    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::CSharp => &["class", "interface", "struct", "enum", "record"],
            Self::Go => &["func", "type"],
            Self::Java => &["class", "interface", "enum", "record"],
            Self::JavaScript => &["function", "class", "interface", "enum", "type"],
            Self::Kotlin => &["fun", "class", "interface", "object"],
            Self::Php => &["function", "class", "interface", "trait", "enum"],
            Self::Python => &["def", "class"],
            Self::Ruby => &["def", "class", "module"],
            Self::Rust => &["fn", "struct", "enum", "trait", "union", "type", "macro_rules!"],
            Self::Swift => &["func", "class", "struct", "enum", "protocol", "actor"],
        }
    }

    /// Returns the columns by which it is usually indented.
    const fn step(self) -> usize {
        match self {
            Self::JavaScript | Self::Ruby => 2,
            _ => TAB,
        }
    }
}

/// Columns of a tab.
const TAB: usize = 4;

/// What an edit did to a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It is there now, and was not in the lines that were replaced.
    Added,
    /// Lines of it were changed.
    Changed,
    /// It was shown, and stayed as it was.
    Kept,
    /// It was taken out.
    Removed,
}

/// A definition that an edit shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolChange {
    /// The word that defines it: `fn`.
    pub(crate) word: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// True if it stands at the margin: no other of its name can be in the file.
    pub(crate) is_top: bool,
    /// What the edit did to it.
    pub(crate) act: Act,
}

/// Returns the definitions that an edit shows, by their names.
pub(crate) fn changes(language: Language, fragments: &[Fragment]) -> Vec<SymbolChange> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for fragment in fragments {
        definitions(language, &fragment.old, fragment.extent, &mut before);
        definitions(language, &fragment.new, fragment.extent, &mut after);
    }
    let mut found: Vec<SymbolChange> = Vec::new();
    for (name, Definition { word, is_top, text }) in &after {
        let act = match before.get(name) {
            None => Act::Added,
            Some(old) if old.text == *text => Act::Kept,
            Some(_) => Act::Changed,
        };
        found.push(SymbolChange { word, name: name.clone(), is_top: *is_top, act });
    }
    let removed = before.iter().filter(|(name, _)| !after.contains_key(*name));
    found.extend(removed.map(|(name, Definition { word, is_top, .. })| SymbolChange {
        word,
        name: name.clone(),
        is_top: *is_top,
        act: Act::Removed,
    }));
    found
}

/// A definition, with its lines; all of them, where several in a text have one name.
struct Definition {
    word: &'static str,
    is_top: bool,
    text: String,
}

/// Adds the definitions in a part of a file.
fn definitions(
    language: Language,
    part: &str,
    extent: Extent,
    found: &mut BTreeMap<String, Definition>,
) {
    // Those that the line lies in, with their columns.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut lines = part.lines().take(LINES).peekable();
    let mut is_first = extent == Extent::Part;
    while let Some(line) = lines.next() {
        let text = line.trim();
        let mut column = columns(line);
        if std::mem::take(&mut is_first) && column == 0 {
            // What comes before it was cut off: the next line tells where it stands.
            let next = lines.peek().copied().unwrap_or_default();
            let step = if next.starts_with('\t') { TAB } else { language.step() };
            column = columns(next).saturating_sub(step);
        }
        // A bracket that closes ends what it belongs to, unless a body follows.
        let closes = text.starts_with(['}', ')', ']']);
        let goes_on = closes && !text.starts_with('}') && text.ends_with(['{', ':', '(']);
        let mut ended = Vec::new();
        if !text.is_empty() {
            while let Some((from, _)) = open.last()
                && (column < *from || column == *from && !goes_on)
            {
                ended.extend(open.pop().filter(|(from, _)| closes && *from == column));
            }
        }
        for (_, name) in open.iter().chain(&ended) {
            if let Some(definition) = found.get_mut(name) {
                definition.text.push_str(line);
                definition.text.push('\n');
            }
        }
        if line.len() > LONGEST || open.len() >= DEPTH || found.len() >= MOST {
            continue;
        }
        let Some((word, name)) = definition(language, text, column) else { continue };
        let is_top = column == 0;
        let known = found.entry(name.to_owned());
        let known = known.or_insert(Definition { word, is_top, text: String::new() });
        known.is_top &= is_top;
        known.text.push_str(text);
        known.text.push('\n');
        open.push((column, name.to_owned()));
    }
}

/// Returns the column at which the text of a line begins.
fn columns(line: &str) -> usize {
    let blank = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
    blank.map(|character| if character == '\t' { TAB } else { 1 }).sum()
}

/// Returns the word and the name of what a line defines.
fn definition(language: Language, line: &str, column: usize) -> Option<(&'static str, &str)> {
    const MODIFIERS: [&str; 26] = [
        "export",
        "default",
        "declare",
        "abstract",
        "async",
        "public",
        "private",
        "protected",
        "internal",
        "static",
        "final",
        "sealed",
        "partial",
        "open",
        "data",
        "override",
        "inline",
        "suspend",
        "unsafe",
        "const",
        "pub",
        "extern",
        "\"C\"",
        "readonly",
        "fileprivate",
        "mutating",
    ];
    let (mut rest, mut is_modified) = (line, false);
    loop {
        // `pub(crate)`
        if let Some(inner) = rest.strip_prefix("pub(") {
            rest = inner.split_once(')')?.1.trim_start();
        }
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let after = after.trim_start();
        let word = first.strip_suffix('*').unwrap_or(first);
        if let Some(word) = language.words().iter().find(|one| **one == word) {
            let name = named(language, word, after, column)?;
            return Some((word, name));
        }
        if language == Language::JavaScript
            && matches!(first, "const" | "let" | "var")
            && let Some(name) = bound_function(after)
        {
            return Some(("function", name));
        }
        if !MODIFIERS.contains(&first) {
            break;
        }
        (rest, is_modified) = (after, true);
    }
    if language == Language::JavaScript && column > 0 {
        return method(rest, is_modified).map(|name| ("function", name));
    }
    None
}

/// Returns the name after the word of a definition, if what follows it does so there.
fn named<'l>(language: Language, word: &str, after: &'l str, column: usize) -> Option<&'l str> {
    let mut from = after;
    if language == Language::Go && word == "func" && from.starts_with('(') {
        from = from.split_once(')')?.1.trim_start();
    }
    // `fun List<Glaze>.melt(`, `def self.melt`
    if matches!(word, "fun" | "def")
        && let Some((receiver, _)) = from.split('(').next()?.rsplit_once('.')
    {
        from = &from[receiver.len() + 1..];
    }
    let (name, rest) = split_name(from)?;
    let (is_spaced, rest) = (rest.starts_with(' '), rest.trim_start());
    let follows = |marks: &[char]| rest.starts_with(marks);
    let next = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_one = match (language, word) {
        (Language::Python, "def") => follows(&['(', '[']),
        (Language::Python, _) => follows(&['(', ':', '[']),
        (Language::Ruby, "def") => rest.is_empty() || follows(&['(', ';', '#']) || is_spaced,
        (Language::Ruby, _) => rest.is_empty() || follows(&['<', ';', ':']),
        // Types within others are members of these.
        (_, "type") if column > 0 => false,
        (Language::Go, "type") => {
            let is_short = rest.split_whitespace().count() == 1;
            follows(&['=', '[', '*']) || is_short || rest.ends_with(['{', '}', ')'])
        }
        (_, "type") => follows(&['=', '<']),
        (_, "fn" | "func" | "fun" | "function") => follows(&['(', '<', '[']),
        (_, "macro_rules!") => follows(&['{', '(']),
        _ => {
            rest.is_empty()
                || follows(&['{', '<', '(', ':', ';'])
                || matches!(next, "extends" | "implements" | "where")
        }
    };
    (is_one && !matches!(name, "extends" | "implements")).then_some(name)
}

/// Splits a text after the name that it begins with.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    // Ruby's names may end so.
    let is_name = name.starts_with(|first: char| is_part(first) && !first.is_numeric());
    (is_name && name.len() <= NAME).then(|| (name, rest.trim_start_matches(['?', '!'])))
}

/// Returns the name of a function that is bound to it: `melt = async (heat: number) => {`.
fn bound_function(text: &str) -> Option<&str> {
    let (name, rest) = split_name(text)?;
    if !rest.starts_with([' ', ':']) {
        return None;
    }
    let (_, value) =
        rest.split_once("= ").filter(|(before, _)| !before.ends_with(['=', '!', '>']))?;
    const WRAPPERS: [&str; 4] = ["useCallback(", "memo(", "React.memo(", "forwardRef("];
    if WRAPPERS.iter().any(|wrapper| value.starts_with(wrapper)) {
        return Some(name);
    }
    let is_async = value.starts_with("async");
    let mut value = value.strip_prefix("async").unwrap_or(value).trim_start();
    if value.starts_with("function") {
        return Some(name);
    }
    if value.starts_with('<') {
        value = &value[value.find(">(")? + 1..];
    }
    let is_function = match value.strip_prefix('(').map(closed) {
        Some(Some(rest)) => {
            let rest = rest.trim_start();
            rest.starts_with("=>") || rest.starts_with(':') && rest.contains("=>")
        }
        // Its parameters go on in the next line.
        Some(None) => is_async || value.starts_with("({"),
        None => split_name(value).is_some_and(|(_, rest)| rest.trim_start().starts_with("=>")),
    };
    is_function.then_some(name)
}

/// Returns the name of a method, as in `melt(heat: number): Promise<void> {`. The parameters of one with a modifier may go on in
/// the next line.
fn method(text: &str, is_modified: bool) -> Option<&str> {
    const OTHERS: [&str; 10] = [
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "with",
        "function",
        "return",
        "constructor",
        "super",
    ];
    let text = text.strip_prefix("get ").or_else(|| text.strip_prefix("set ")).unwrap_or(text);
    let (name, rest) = split_name(text.trim_start_matches(['*', '#']))?;
    let is_method = match closed(rest.strip_prefix('(')?) {
        Some(body) => body.ends_with('{') && body.trim_start().starts_with(['{', ':']),
        None => is_modified && rest == "(",
    };
    (is_method && !OTHERS.contains(&name)).then_some(name)
}

/// Returns what follows the parenthesis that closes one that was opened before the text.
fn closed(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(old: &str, new: &str) -> Fragment {
        Fragment { old: old.to_owned(), new: new.to_owned(), extent: Extent::Part }
    }

    /// Renders changes as `act word name`, those below others indented.
    fn changed(path: &str, fragments: &[Fragment]) -> Vec<String> {
        let language = Language::of(path).unwrap();
        let shown = |one: SymbolChange| {
            let indent = if one.is_top { "" } else { "  " };
            format!("{indent}{:?} {} {}", one.act, one.word, one.name).to_lowercase()
        };
        changes(language, fragments).into_iter().map(shown).collect()
    }

    fn whole(path: &str, new: &str) -> Vec<String> {
        let extent = Extent::Whole;
        changed(path, &[Fragment { old: String::new(), new: new.to_owned(), extent }])
    }

    #[test]
    fn each_language_defines_by_its_own_words() {
        for (path, text, names) in [
            ("a.rs", "pub(crate) async fn melt<T>(x: T) {\n    fn inner() {}\n}", "melt,  inner"),
            (
                "a.rs",
                "#[derive(Debug)]\npub struct Kiln;\nimpl Kiln {\n    pub fn fire(&self) {}\n}",
                "kiln,  fire",
            ),
            (
                "a.rs",
                "// fn none()\nlet fn_name = 1;\ntype Heat = u32;\n    type Item = u8;",
                "heat",
            ),
            ("a.py", "class Kiln(Base):\n    async def fire(self):\n        pass\n", "kiln,  fire"),
            ("a.py", "\"\"\"The\nclass of things, and def of none.\n\"\"\"", ""),
            ("a.ts", "export default async function melt(x: T) {}", "melt"),
            (
                "a.ts",
                "import {\n  type Foo,\n  type Bar\n} from 'x'\nexport type Heat<T> = T;",
                "heat",
            ),
            ("a.tsx", "export const Kiln: React.FC<Props> = ({ heat }) => {", "kiln"),
            ("a.tsx", "const view = (\n  <div />\n);\nconst sum = (a + b) * 2;", ""),
            ("a.ts", "const melt = async (\n  heat: number,\n) => {\n};", "melt"),
            (
                "a.ts",
                "const far = items.map((x) => x);\nconst near = x => x;\nconst { a } = b;",
                "near",
            ),
            (
                "a.ts",
                "class Kiln {\n  async fire(heat: number): Promise<void> {\n    if (heat) {\n    }\n    fetchAll(x, {\n    });\n  }\n}",
                "  fire,kiln",
            ),
            (
                "a.ts",
                "class Kiln {\n  private cool(\n    heat: number,\n  ): void {\n  }\n  const view = useCallback(() => 1);",
                "kiln,  cool,  view",
            ),
            (
                "a.ts",
                "it('melts', () => {\n  expect(1);\n});\nexport interface Heat extends Base {",
                "heat",
            ),
            (
                "a.go",
                "func (k *Kiln) Fire(heat int) error {\n}\ntype Kiln struct {\n}",
                "fire,kiln",
            ),
            (
                "a.kt",
                "suspend fun List<Glaze>.melt(x: Int) {}\ndata class Kiln(val x: Int)",
                "kiln,melt",
            ),
            ("a.rb", "class Kiln < Base\n  def self.fire?\n  end\nend", "kiln,  fire"),
        ] {
            let mut names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
            let mut found: Vec<String> = whole(path, text)
                .iter()
                .map(|one| {
                    let name = one.rsplit(' ').next().unwrap_or_default();
                    if one.starts_with(' ') { format!("  {name}") } else { name.to_owned() }
                })
                .collect();
            names.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, names, "{text}");
        }
        for path in ["README.md", "a.json", "web/dist/a.js", "a.min.js", "node_modules/x/a.ts"] {
            assert!(Language::of(path).is_none(), "{path}");
        }
    }

    #[test]
    fn an_edit_changes_what_its_lines_lie_in() {
        let old = "fn melt() {\n    1\n}\n\nfn cool() {\n    2\n}\nconst HEAT: u8 = 1;";
        let new = "fn melt() {\n    3\n}\n\nfn cool() {\n    2\n}\nconst HEAT: u8 = 2;";
        assert_eq!(changed("a.rs", &[part(old, new)]), ["kept fn cool", "changed fn melt"]);
        let new = "fn fire() {}\n\nfn cool() {\n    2\n}";
        assert_eq!(
            changed("a.rs", &[part(old, new)]),
            ["kept fn cool", "added fn fire", "removed fn melt"]
        );
        let (old, new) = (
            "class Kiln:\n    def fire(self):\n        a\n",
            "class Kiln:\n    def fire(self):\n        b\n",
        );
        assert_eq!(
            changed("a.py", &[part(old, new)]),
            ["changed class kiln", "  changed def fire"]
        );
        let long = "def melt(\n    heat,\n) -> int:\n    return ";
        let edit = part(&format!("{long}1"), &format!("{long}2"));
        assert_eq!(changed("a.py", &[edit]), ["changed def melt"]);
    }

    #[test]
    fn a_part_that_begins_within_a_line_is_placed_by_the_next() {
        let cut = "fn fire(&self) {\n        self.melt()\n    }";
        assert_eq!(changed("a.rs", &[part("", cut)]), ["  added fn fire"]);
        let top = "fn fire() {\n    melt()\n}";
        assert_eq!(changed("a.rs", &[part("", top)]), ["added fn fire"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(old in "((pub |async |fn |class |type |const )?[a-zé(){}<>=:., \n\t-]{0,12})*", new in ".*") {
            for path in ["a.rs", "a.py", "a.ts", "a.go", "a.rb", "a.kt"] {
                let language = Language::of(path).unwrap();
                let found = changes(language, &[part(&old, &new), part(&new, &old)]);
                prop_assert!(found.len() <= 2 * MOST);
            }
        }
    }
}
