//! Drawings of facts, as SVG: a thing among its neighbours, and the time in which its facts held.
//!
//! They are images: nothing in them runs or is fetched, and recorded text is text in them. The colours suit light and dark.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use thru_core::{Timestamp, one_line};

/// Facts that are drawn; of more, only the number is told.
const MOST: usize = 24;
/// Characters of a name.
const NAME: usize = 38;

/// The size of a box, the space between two beside each other, and the margin.
const BOX: i64 = 280;
const GAP: i64 = 60;
const MARGIN: i64 = 10;
/// The height of a row, of a box, and of a bar.
const ROW: i64 = 34;
const HIGH: i64 = 26;
const BAR: i64 = 14;
/// The width of a character, at most, and of the time that bars stand in.
const LETTER: i64 = 8;
const SPAN: i64 = 480;
/// The number of steps between marks of time.
const TICKS: i64 = 4;

/// A fact, seen from the thing that is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// The relation.
    pub(crate) relation: &'static str,
    /// The other end.
    pub(crate) other: String,
    /// True if the fact is about the thing that is drawn; false if it is the other end.
    pub(crate) is_outgoing: bool,
    /// The first moment at which it held.
    pub(crate) from: Timestamp,
    /// The first moment at which it no longer held.
    pub(crate) until: Option<Timestamp>,
}

/// Draws a thing with its neighbours: those that point at it on the left, those that it points at on the right.
pub(crate) fn ego(name: &str, edges: &[Edge]) -> String {
    let shown = unique(edges);
    let side = |is_outgoing: bool| -> Vec<&Edge> {
        let of_side = shown.iter().copied().filter(|edge| edge.is_outgoing == is_outgoing);
        of_side.take(MOST / 2).collect()
    };
    let (left, right) = (side(false), side(true));
    let hidden = shown.len() - left.len() - right.len();
    let rows = left.len().max(right.len()).max(1) as i64;
    let middle = (rows + 1) * ROW / 2;
    let own = if left.is_empty() { MARGIN } else { MARGIN + BOX + GAP };
    let beyond = own + BOX + GAP;
    let mut canvas = Canvas::default();
    for (edges, x, from, to) in
        [(&left, MARGIN, MARGIN + BOX, own), (&right, beyond, beyond, own + BOX)]
    {
        let top = ROW / 2 + (rows - edges.len() as i64) * ROW / 2;
        for (at, edge) in edges.iter().enumerate() {
            let y = top + at as i64 * ROW + ROW / 2;
            let bend = (from + to) / 2;
            let curve = format!("M{from} {y}C{bend} {y} {bend} {middle} {to} {middle}");
            canvas.path(if edge.until.is_some() { "line past" } else { "line" }, &curve);
            canvas.boxed("box", x, y, &edge.words());
        }
    }
    canvas.boxed("box self", own, middle, name);
    let mut height = (rows + 1) * ROW;
    if hidden > 0 {
        canvas.text("quiet", "start", own, height, &format!("and {hidden} more"));
        height += ROW;
    }
    let width = if right.is_empty() { own + BOX } else { beyond + BOX } + MARGIN;
    canvas.finish(width, height, &format!("{name} and its neighbours"))
}

/// Draws the time in which the facts of a thing held, the latest first. Those that still hold reach to the right.
pub(crate) fn timeline(name: &str, edges: &[Edge], now: Timestamp, zone: &TimeZone) -> String {
    let mut shown: Vec<&Edge> = edges.iter().collect();
    shown.sort_by(|a, b| b.from.cmp(&a.from).then_with(|| a.other.cmp(&b.other)));
    let hidden = shown.len().saturating_sub(MOST);
    shown.truncate(MOST);
    let names: Vec<String> = shown.iter().map(|edge| one_line(&edge.words(), NAME)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or_default() as i64;
    // The first mark of time stands around the beginning.
    let left = (longest * LETTER + 2 * MARGIN).max(5 * LETTER);
    let first = shown.iter().map(|edge| edge.from).min().unwrap_or(now);
    let (start, end) = (first.as_millisecond(), now.max(first).as_millisecond());
    let place = |at: Timestamp| {
        left + (at.as_millisecond().clamp(start, end) - start) * SPAN / (end - start).max(1)
    };
    let mut canvas = Canvas::default();
    let mut y = ROW;
    for (edge, name) in shown.iter().zip(&names) {
        let (x, until) = (place(edge.from), edge.until.map_or(left + SPAN, place));
        canvas.text("name", "end", left - MARGIN, y + 5, name);
        let class = if edge.until.is_some() { "bar past" } else { "bar" };
        canvas.rect(class, x, y - BAR / 2, (until - x).max(4), BAR);
        y += ROW;
    }
    canvas.path("line", &format!("M{left} {}h{SPAN}", y - ROW / 2));
    for tick in 0..=TICKS {
        let at = start + (end - start) * tick / TICKS;
        let day = Timestamp::from_millisecond(at).unwrap_or(now).to_zoned(zone.clone()).date();
        canvas.text("quiet", "middle", left + SPAN * tick / TICKS, y + 4, &day.to_string());
    }
    if hidden > 0 {
        y += ROW;
        canvas.text("quiet", "start", left, y, &format!("and {hidden} earlier"));
    }
    let title = format!("The time in which the facts about {name} held");
    canvas.finish(left + SPAN + 6 * LETTER, y + ROW / 2, &title)
}

/// Returns the neighbours, each once for each relation: the fact that holds, else the latest.
fn unique(edges: &[Edge]) -> Vec<&Edge> {
    let mut sorted: Vec<&Edge> = edges.iter().collect();
    sorted.sort_by_key(|edge| (edge.until.is_some(), Reverse(edge.from)));
    let mut seen = HashSet::new();
    sorted.retain(|edge| seen.insert((edge.relation, &edge.other, edge.is_outgoing)));
    sorted
}

impl Edge {
    fn words(&self) -> String {
        format!("{}: {}", self.relation, self.other)
    }
}

/// The elements of a drawing. Writing them to a string cannot fail.
#[derive(Default)]
struct Canvas(String);

impl Canvas {
    fn path(&mut self, class: &str, curve: &str) {
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{curve}\"/>");
    }

    fn rect(&mut self, class: &str, x: i64, y: i64, width: i64, height: i64) {
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
        );
    }

    fn text(&mut self, class: &str, anchor: &str, x: i64, y: i64, words: &str) {
        let words = escaped(words);
        let _ = writeln!(
            self.0,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }

    /// A box with words in it, around a height.
    fn boxed(&mut self, class: &str, x: i64, middle: i64, words: &str) {
        self.rect(class, x, middle - HIGH / 2, BOX, HIGH);
        self.text("name", "middle", x + BOX / 2, middle + 5, &one_line(words, NAME));
    }

    fn finish(self, width: i64, height: i64, title: &str) -> String {
        let (title, body) = (escaped(&one_line(title, 120)), self.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title>{title}</title>\n{STYLE}{body}</svg>\n"
        )
    }
}

const STYLE: &str = "<style>text{font:13px system-ui,sans-serif;fill:#1d1c1a}.quiet{fill:#625e57}\
    .box{fill:#fff;stroke:#dcd8d0}.self{stroke:#0b5c8a;stroke-width:2}.line{fill:none;stroke:#625e57}.past{stroke-dasharray:4 4}\
    .bar{fill:#0b5c8a}.bar.past{fill:#7fb0cd}\
    @media(prefers-color-scheme:dark){text{fill:#ebe7df}.quiet{fill:#a39d92}.box{fill:#201e1b;stroke:#3a3733}\
    .self{stroke:#7cc0e8}.line{stroke:#a39d92}.bar{fill:#7cc0e8}.bar.past{fill:#2b6d92}}</style>\n";

/// A text as XML: a line in which nothing is hidden, so that all its characters may stand there.
fn escaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // XML has no such characters.
            '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn day(day: i64) -> Timestamp {
        Timestamp::from_second(day * 86_400).unwrap()
    }

    fn edge(relation: &'static str, other: &str, from: i64, until: Option<i64>) -> Edge {
        let (from, until) = (day(from), until.map(day));
        Edge { relation, other: other.to_owned(), is_outgoing: relation != "TOUCHES", from, until }
    }

    /// A drawing without its style.
    fn plain(drawing: &str) -> String {
        drawing.replace(STYLE, "")
    }

    #[test]
    fn a_thing_stands_between_its_neighbours() {
        let edges = [
            edge("FAILED_WITH", "error <E0308> & \"more\"\u{202e}", 10, Some(12)),
            edge("FAILED_WITH", "error <E0308> & \"more\"\u{202e}", 8, Some(9)),
            edge("OUTCOME", "pass", 12, None),
            edge("TOUCHES", "session 4f1c", 9, None),
        ];
        assert_snapshot!(plain(&ego("cargo test importer", &edges)), @r#"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 102" width="980" height="102">
        <title>cargo test importer and its neighbours</title>
        <path class="line" d="M290 51C320 51 320 51 350 51"/>
        <rect class="box" x="10" y="38" width="280" height="26" rx="4"/>
        <text class="name" x="150" y="56" text-anchor="middle">TOUCHES: session 4f1c</text>
        <path class="line" d="M690 34C660 34 660 51 630 51"/>
        <rect class="box" x="690" y="21" width="280" height="26" rx="4"/>
        <text class="name" x="830" y="39" text-anchor="middle">OUTCOME: pass</text>
        <path class="line past" d="M690 68C660 68 660 51 630 51"/>
        <rect class="box" x="690" y="55" width="280" height="26" rx="4"/>
        <text class="name" x="830" y="73" text-anchor="middle">FAILED_WITH: error &lt;E0308&gt; &amp; &quot;more&quot;</text>
        <rect class="box self" x="350" y="38" width="280" height="26" rx="4"/>
        <text class="name" x="490" y="56" text-anchor="middle">cargo test importer</text>
        </svg>
        "#);
    }

    #[test]
    fn facts_are_drawn_in_the_time_in_which_they_held() {
        let edges = [
            edge("DEPENDS_ON", "serde 1.0.1", 0, Some(20)),
            edge("DEPENDS_ON", "serde 1.0.2", 20, None),
        ];
        assert_snapshot!(plain(&timeline("serde", &edges, day(40), &TimeZone::UTC)), @r#"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 732 119" width="732" height="119">
        <title>The time in which the facts about serde held</title>
        <text class="name" x="194" y="39" text-anchor="end">DEPENDS_ON: serde 1.0.2</text>
        <rect class="bar" x="444" y="27" width="240" height="14" rx="4"/>
        <text class="name" x="194" y="73" text-anchor="end">DEPENDS_ON: serde 1.0.1</text>
        <rect class="bar past" x="204" y="61" width="240" height="14" rx="4"/>
        <path class="line" d="M204 85h480"/>
        <text class="quiet" x="204" y="106" text-anchor="middle">1970-01-01</text>
        <text class="quiet" x="324" y="106" text-anchor="middle">1970-01-11</text>
        <text class="quiet" x="444" y="106" text-anchor="middle">1970-01-21</text>
        <text class="quiet" x="564" y="106" text-anchor="middle">1970-01-31</text>
        <text class="quiet" x="684" y="106" text-anchor="middle">1970-02-10</text>
        </svg>
        "#);
    }

    #[test]
    fn hostile_names_and_many_facts_make_one_image_of_bounded_size() {
        let hostile =
            "</text><script>alert(1)</script><image href='http://evil.example'/>\0\u{ffff}";
        let edges: Vec<Edge> = (0..500)
            .map(|at| {
                edge("FIXED_BY", &format!("{hostile}{at}"), at, (at % 2 == 0).then_some(at + 1))
            })
            .collect();
        for drawing in [ego(hostile, &edges), timeline(hostile, &edges, day(600), &TimeZone::UTC)] {
            assert!(!drawing.contains("<script") && !drawing.contains("<image"), "{drawing}");
            assert!(drawing.contains("more") || drawing.contains("earlier"));
            assert!(drawing.len() < 20_000 && drawing.chars().all(|c| c >= ' ' || c == '\n'));
            let opened = drawing.matches('<').count();
            assert_eq!(opened, drawing.matches('>').count());
        }
        assert!(ego("x", &[]).contains("</svg>"));
        assert!(timeline("x", &[], day(1), &TimeZone::UTC).contains("</svg>"));
    }
}
