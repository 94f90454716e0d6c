//! Byte identity of what is not ours.

use std::collections::HashSet;

use proptest::prelude::*;
use thru_core::Id;
use thru_vault::{LineId, Note, Plan, PlannedLine, Property, Section, Shows, changes, without_ids};

const SECTIONS: [&str; 3] = ["Key Decisions", "Work Log", "References"];

/// A plan with these texts as its lines, by number.
pub(crate) fn plan(texts: &[(usize, &str)], status: &str) -> Plan {
    let line = |number: usize, text: &str| PlannedLine {
        id: id(number),
        group: (number % 3 == 1).then(|| format!("2026-11-0{} 14:02", number % 9 + 1)),
        parent: None,
        task: (number % 5 == 2).then_some(false),
        text: text.to_owned(),
        shows: Shows::Derived,
    };
    let sections = SECTIONS.iter().enumerate().map(|(place, name)| Section {
        name,
        lines: texts
            .iter()
            .filter(|(number, _)| number % 3 == place)
            .map(|(number, text)| line(*number, text))
            .collect(),
    });
    Plan {
        id: Id::derive(&[b"note"]),
        folder: "projects/rocket/entities".to_owned(),
        name: "index.rs (rocket)".to_owned(),
        properties: vec![
            Property::text("type", "entity"),
            Property::members("tags", vec!["entity".to_owned(), "project/rocket".to_owned()]),
            Property::text("status", status),
            Property::text("thru_id", Id::derive(&[b"note"]).to_string()),
        ],
        title: "index.rs".to_owned(),
        sections: sections.collect(),
        points_to: None,
    }
}

pub(crate) fn id(number: usize) -> LineId {
    LineId::new(&Id::derive(&[b"line", &number.to_le_bytes()]))
}

/// The parts of a note that people write.
const FRONTS: [&str; 9] = [
    "",
    "---\n---\n",
    "---\ntags: [mine, entity]\ncssclasses:\n  - wide\n---\n",
    "---\n# a comment\nstatus: \"waiting\" # why\nrating: 4\nlinks:\n- \"[[A]]\"\n  # inner\n- \"[[B]]\"\n---\n",
    "---\nflow: {a: [1, \"x, y\"], b: 'it''s'}\ntext: |\n  --- not a mark\n  key: x\nempty:\n---\n",
    "---\naliases:\n  - \"Индекс\"\ndate: 2026-11-09T10:30:00\n\n---\n",
    "---\ntype: entity\nthru_id: x\n---\n",
    "\u{feff}---\ntags:\n- a\n---\n",
    "\u{feff}",
];

const BODIES: [&str; 28] = [
    "# A title\n\nSome words.\n",
    "A paragraph that\nsetext makes a heading\n---\n",
    "## Key Decisions\n- mine, in our section\n\t- nested with a tab\n",
    "## Key Decisions\n\n1. numbered\n2) other\n   * deep\n     + deeper\n",
    "## Work Log\n### 2026-11-02 14:02\nprose below\n",
    "## work log\n* star list\n\n* loose item\n\n  second paragraph\n",
    "> [!question]- A callout\n> - with a list\n>   1. and more\n> ```\n> code\n> ```\n",
    "```yaml\n---\nkey: value\n---\n## Key Decisions\n- not ours ^t-aaaaaaaaaa\n```\n",
    "~~~~\n```\n~~~\n~~~~\n",
    "    indented code\n    ## Key Decisions\n",
    "```dataview\nTABLE file.ctime FROM #project\n```\n",
    "<% tp.date.now(\"YYYY-MM-DD\") %>\n<%* const x = 1 %>\n",
    "| a | b |\n|---|---|\n| [[x\\|y]] | 2 |\n",
    "Inline:: field, [key:: value] and (k:: v)\n",
    "- [ ] open ➕ 2026-01-01\n- [x] done\n- [/] half\n",
    "%% hidden\n- comment %%\n",
    "$$\nx = \\frac{1}{2}\n- y\n$$\n",
    "![[image.png|300]] and [[Note#^abc123]] and #tag/nested\n",
    "Text with a block id ^mine-1\n\n- item with theirs ^abc\n",
    "Footnote[^1]\n\n[^1]: The note\n    goes on\n",
    "<div>\n- not a list\n</div>\n\n<!-- a comment\n## Key Decisions\n-->\n",
    "日本語のメモ、検索の索引\n- 決定：ロックは一つ\n",
    "مرحبا بالعالم\n- قائمة\n",
    "e\u{301}te\u{301} NFD and \u{e9}t\u{e9} NFC, 👩‍👩‍👧 and ﬁ\n",
    "line with trailing spaces  \nand a backslash\\\nbreak\n",
    "***\n___\n- - -\n",
    "- a\n- b\n\n\n\n- c after blanks\n\t\n",
    "Some text with \rlone CR and \tTabs\n",
];

/// Notes that people made, out of the parts above.
fn hand_made() -> impl Strategy<Value = String> {
    let bodies = prop::collection::vec(prop::sample::select(BODIES.to_vec()), 0..6);
    let ends = prop::sample::select(vec!["\n", "\r\n"]);
    let last =
        prop::sample::select(vec!["", "no line break at the end", "- list at the end", "\n\n\n"]);
    (prop::sample::select(FRONTS.to_vec()), bodies, last, ends).prop_map(
        |(front, bodies, last, end)| {
            let text = format!("{front}{}{last}", bodies.join("\n"));
            if end == "\r\n" { text.replace('\n', "\r\n") } else { text }
        },
    )
}

/// The lines of a note without those that end in an id of ours and those that only we write.
fn foreign(text: &str) -> Vec<String> {
    let note = Note::parse(text);
    let own: Vec<_> = note.own_lines().map(|(_, line)| line.own.clone()).collect();
    let mut rest = String::new();
    let mut done = 0;
    for range in own {
        rest.push_str(&text[done..range.start.max(done)]);
        done = done.max(range.end);
    }
    rest.push_str(&text[done..]);
    let ours = |line: &str| {
        let bare = line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}');
        bare.trim().is_empty()
            || bare == "---"
            || SECTIONS.iter().any(|name| bare == format!("## {name}"))
            || bare.starts_with("### 2026-11-0")
            || ["type:", "tags:", "status:", "thru_id:", "  - entity", "  - project/rocket"]
                .iter()
                .any(|own| bare.starts_with(own))
    };
    rest.split_inclusive('\n')
        .filter(|line| !ours(line))
        .map(|line| line.trim_matches(['\r', '\n', '\u{feff}']).to_owned())
        .collect()
}

/// The members of the person's own tags, which are written anew when ours are added.
fn without_tags(lines: Vec<String>) -> Vec<String> {
    let is_tag = |line: &String| matches!(line.trim(), "- a" | "- mine" | "- wide");
    lines.into_iter().filter(|line| !is_tag(line)).collect()
}

#[test]
fn a_property_keeps_its_line_break_where_a_note_has_both_kinds() {
    let note = "---\ntitle: mine\nstatus: one\r\n---\r\n\nMine.\r\n";
    let nothing = HashSet::new();
    let written = plan(&[], "one").put_into(note, None, &nothing).unwrap();
    let changed = plan(&[], "two").put_into(&written, Some(&written), &nothing).unwrap();
    assert!(changed.contains("status: two\r\n"), "{changed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Notes, each after 50 rounds of memory changing.
    #[test]
    fn every_foreign_byte_stays_through_fifty_rounds(
        note in hand_made(),
        rounds in prop::collection::vec((prop::collection::vec((0usize..12, 0usize..4), 0..8), any::<bool>()), 50),
    ) {
        let texts = ["a lock for each file", "`cargo test` red → green", "日本語", "[decision] x \\[y\\]"];
        let (mut disk, mut base): (String, Option<String>) = (note.clone(), None);
        let expected = without_tags(foreign(&note));
        for (lines, is_archived) in rounds {
            let mut numbers = HashSet::new();
            let lines: Vec<(usize, &str)> = lines
                .into_iter()
                .filter(|(number, _)| numbers.insert(*number))
                .map(|(number, text)| (number, texts[text]))
                .collect();
            let plan = plan(&lines, if is_archived { "archived" } else { "active" });
            match plan.put_into(&disk, base.as_deref(), &HashSet::new()) {
                Ok(written) => {
                    prop_assert_eq!(without_tags(foreign(&written)), expected.clone(), "{}", written);
                    prop_assert_eq!(written.starts_with('\u{feff}'), note.starts_with('\u{feff}'));
                    let again = plan.put_into(&written, Some(&written), &HashSet::new());
                    prop_assert_eq!(again.as_deref(), Ok(written.as_str()), "twice is once");
                    if base.is_some() {
                        let note = Note::parse(&written);
                        let ids: HashSet<LineId> = note.own_lines().map(|(id, _)| id.clone()).collect();
                        let planned: HashSet<LineId> = lines.iter().map(|(number, _)| id(*number)).collect();
                        prop_assert_eq!(ids, planned, "{}", written);
                    }
                    disk.clone_from(&written);
                    base = Some(written);
                }
                // Nothing is changed then.
                Err(_) => base = base.or(Some(disk.clone())),
            }
        }
    }

    #[test]
    fn our_lines_go_in_and_out_of_any_text(
        text in "([-*+>#|`~:.0-9)( \\[\\]x✓é\u{feff}\n\r\t]|---\n|- \\[✓\\] |## Key Decisions\n|tags: |\\^t-){0,60}",
    ) {
        let nothing = HashSet::new();
        let (one, two) = (plan(&[(0, "one"), (2, "one")], "one"), plan(&[(0, "two")], "two"));
        if let Ok(written) = one.put_into(&text, None, &nothing)
            && let Ok(other) = two.put_into(&written, Some(&written), &nothing)
        {
            prop_assert!(changes(&written, &written).is_empty());
            let back = plan(&[(0, "one")], "one").put_into(&other, Some(&other), &nothing).unwrap();
            prop_assert_eq!(foreign(&back), foreign(&written));
            let bare = without_ids(&back);
            prop_assert!(!bare.contains(&id(0).to_string()), "{}", bare);
        }
    }

    #[test]
    fn any_text_is_a_note(text in "[-#>`|\\[\\]\\^ta-c0-9 \n\r\t:\"'{}~*]{0,200}") {
        let plan = plan(&[(0, "x"), (1, "y"), (2, "z")], "active");
        if let Ok(written) = plan.put_into(&text, None, &HashSet::new()) {
            prop_assert!(written.len() >= text.len());
            let note = Note::parse(&written);
            prop_assert!((0..3).all(|number| note.with_id(&id(number)).is_some()));
        }
    }
}

#[test]
fn a_note_of_five_megabytes_is_edited_and_a_longer_one_is_left() {
    let plan = plan(&[(0, "x")], "active");
    let long = format!("# Long\n\n{}", "words and more words\n".repeat(249_000));
    let written = plan.put_into(&long, None, &HashSet::new()).unwrap();
    assert!(written.contains(&long[8..]));
    let longer = format!("{long}{long}");
    assert!(plan.put_into(&longer, None, &HashSet::new()).is_err());
}

#[test]
fn notes_that_cannot_be_edited_safely_are_refused() {
    let plan = plan(&[(0, "x")], "active");
    for note in [
        "---\na: 1\na: 2\n---\n",
        "---\nkey: [open\n---\n",
        "---\n\tkey: 1\n---\n",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n",
        "## Key Decisions\n```\nnever closed\n",
    ] {
        assert!(plan.put_into(note, None, &HashSet::new()).is_err(), "{note}");
    }
}
