//! Drawings of facts, as SVG: a thing among its neighbours, and the time in which its facts held.
//!
//! They are images: nothing in them runs or is fetched, and recorded text is text in them. The colours suit light and dark.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use thru_core::{Timestamp, one_line};

/// Facts that are drawn; of more, only the number is told.
const MOST: usize = 24;
/// Characters of a name.
const NAME: usize = 34;

/// The width of a drawing, of a box, and of the names beside bars.
const WIDTH: i64 = 860;
const BOX: i64 = 240;
const NAMES: i64 = 330;
/// The height of a row, and of what stands in it.
const ROW: i64 = 34;
const BAR: i64 = 14;
/// Marks of time below the bars.
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
        shown
            .iter()
            .copied()
            .filter(|edge| edge.is_outgoing == is_outgoing)
            .take(MOST / 2)
            .collect()
    };
    let (left, right) = (side(false), side(true));
    let rows = left.len().max(right.len()).max(1) as i64;
    let hidden = shown.len() - left.len() - right.len();
    let height = rows * ROW + if hidden > 0 { 2 * ROW } else { ROW };
    let middle = ROW / 2 + rows * ROW / 2;
    let mut body = String::new();
    for (edges, is_outgoing) in [(&left, false), (&right, true)] {
        let top = ROW / 2 + (rows - edges.len() as i64) * ROW / 2;
        for (at, edge) in edges.iter().enumerate() {
            let y = top + at as i64 * ROW + ROW / 2;
            let (x, from, to) = match is_outgoing {
                false => (10, 10 + BOX, WIDTH / 2 - BOX / 2),
                true => (WIDTH - BOX - 10, WIDTH - BOX - 10, WIDTH / 2 + BOX / 2),
            };
            let bend = (from + to) / 2;
            let class = if edge.until.is_some() { "line past" } else { "line" };
            put(
                &mut body,
                format_args!(
                    "<path class=\"{class}\" d=\"M{from} {y}C{bend} {y} {bend} {middle} {to} {middle}\"/>"
                ),
            );
            boxed(&mut body, x, y, "box", &format!("{}: {}", edge.relation, edge.other));
        }
    }
    boxed(&mut body, WIDTH / 2 - BOX / 2, middle, "box self", name);
    if hidden > 0 {
        let y = height - ROW / 2;
        put(
            &mut body,
            format_args!(
                "<text class=\"quiet\" x=\"{}\" y=\"{y}\" text-anchor=\"middle\">and {hidden} more</text>",
                WIDTH / 2
            ),
        );
    }
    document(height, &format!("{name} and its neighbours"), &body)
}

/// Draws the time in which the facts of a thing held, the latest first. Those that still hold reach to the right.
pub(crate) fn timeline(name: &str, edges: &[Edge], now: Timestamp, zone: &TimeZone) -> String {
    let mut shown: Vec<&Edge> = edges.iter().collect();
    shown.sort_by(|a, b| b.from.cmp(&a.from).then_with(|| a.other.cmp(&b.other)));
    let hidden = shown.len().saturating_sub(MOST);
    shown.truncate(MOST);
    let first = shown.iter().map(|edge| edge.from).min().unwrap_or(now);
    let (start, end) = (first.as_millisecond(), now.max(first).as_millisecond());
    let room = WIDTH - NAMES - 20;
    let place = |at: Timestamp| {
        NAMES + (at.as_millisecond().clamp(start, end) - start) * room / (end - start).max(1)
    };
    let rows = shown.len() as i64;
    let mut body = String::new();
    for (at, edge) in shown.iter().enumerate() {
        let y = ROW / 2 + at as i64 * ROW + ROW / 2;
        let (x, until) = (place(edge.from), edge.until.map_or(NAMES + room, place));
        let class = if edge.until.is_some() { "bar past" } else { "bar" };
        let words = escaped(&one_line(&format!("{}: {}", edge.relation, edge.other), NAME + 8));
        put(
            &mut body,
            format_args!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{words}</text>",
                NAMES - 10,
                y + 5
            ),
        );
        put(
            &mut body,
            format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"{}\" height=\"{BAR}\" rx=\"4\"/>",
                y - BAR / 2,
                (until - x).max(4)
            ),
        );
    }
    let axis = ROW / 2 + rows * ROW + 4;
    put(&mut body, format_args!("<path class=\"line\" d=\"M{NAMES} {axis}H{}\"/>", NAMES + room));
    for tick in 0..=TICKS {
        let at = start + (end - start) * tick / TICKS;
        let day = Timestamp::from_millisecond(at).unwrap_or(now).to_zoned(zone.clone()).date();
        let x = NAMES + room * tick / TICKS;
        let anchor = if tick == TICKS { "end" } else { "middle" };
        put(
            &mut body,
            format_args!(
                "<text class=\"quiet\" x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{day}</text>",
                axis + 20
            ),
        );
    }
    let mut height = axis + ROW;
    if hidden > 0 {
        put(
            &mut body,
            format_args!(
                "<text class=\"quiet\" x=\"10\" y=\"{}\">and {hidden} earlier</text>",
                axis + 20
            ),
        );
        height += ROW / 2;
    }
    document(height, &format!("When the facts about {name} held"), &body)
}

/// The neighbours, each once for each relation: the fact that holds, else the latest.
fn unique(edges: &[Edge]) -> Vec<&Edge> {
    let mut shown: Vec<&Edge> = Vec::new();
    let mut sorted: Vec<&Edge> = edges.iter().collect();
    sorted.sort_by_key(|edge| (edge.until.is_some(), std::cmp::Reverse(edge.from)));
    for edge in sorted {
        let is_known = |one: &&Edge| {
            (one.relation, &one.other, one.is_outgoing)
                == (edge.relation, &edge.other, edge.is_outgoing)
        };
        if !shown.iter().any(is_known) {
            shown.push(edge);
        }
    }
    shown
}

fn boxed(body: &mut String, x: i64, y: i64, class: &str, text: &str) {
    let (top, words) = (y - 13, escaped(&one_line(text, NAME)));
    put(
        body,
        format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{BOX}\" height=\"26\" rx=\"5\"/>"
        ),
    );
    put(
        body,
        format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{words}</text>",
            x + BOX / 2,
            y + 5
        ),
    );
}

fn put(body: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(body, "{element}");
}

fn document(height: i64, title: &str, body: &str) -> String {
    let title = escaped(&one_line(title, 120));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n{STYLE}{body}</svg>\n"
    )
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
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 102" width="860" height="102" role="img">
        <title>cargo test importer and its neighbours</title>
        <path class="line" d="M250 51C280 51 280 51 310 51"/>
        <rect class="box" x="10" y="38" width="240" height="26" rx="5"/>
        <text x="130" y="56" text-anchor="middle">TOUCHES: session 4f1c</text>
        <path class="line" d="M610 34C580 34 580 51 550 51"/>
        <rect class="box" x="610" y="21" width="240" height="26" rx="5"/>
        <text x="730" y="39" text-anchor="middle">OUTCOME: pass</text>
        <path class="line past" d="M610 68C580 68 580 51 550 51"/>
        <rect class="box" x="610" y="55" width="240" height="26" rx="5"/>
        <text x="730" y="73" text-anchor="middle">FAILED_WITH: error &lt;E0308&gt; &amp;…</text>
        <rect class="box self" x="310" y="38" width="240" height="26" rx="5"/>
        <text x="430" y="56" text-anchor="middle">cargo test importer</text>
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
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 123" width="860" height="123" role="img">
        <title>When the facts about serde held</title>
        <text x="320" y="39" text-anchor="end">DEPENDS_ON: serde 1.0.2</text>
        <rect class="bar" x="585" y="27" width="255" height="14" rx="4"/>
        <text x="320" y="73" text-anchor="end">DEPENDS_ON: serde 1.0.1</text>
        <rect class="bar past" x="330" y="61" width="255" height="14" rx="4"/>
        <path class="line" d="M330 89H840"/>
        <text class="quiet" x="330" y="109" text-anchor="middle">1970-01-01</text>
        <text class="quiet" x="457" y="109" text-anchor="middle">1970-01-11</text>
        <text class="quiet" x="585" y="109" text-anchor="middle">1970-01-21</text>
        <text class="quiet" x="712" y="109" text-anchor="middle">1970-01-31</text>
        <text class="quiet" x="840" y="109" text-anchor="end">1970-02-10</text>
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
