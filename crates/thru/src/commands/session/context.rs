//! The part of `thru session show` that says where one can go on.

use thru_app::ask::session::{ContextEvent, ContextOutline};
use thru_redact::Clean;

use crate::commands::shared::event_words;
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, one_line, plural, width};

/// Events shown before the rest is only counted.
const EVENTS_SHOWN: usize = 5;

/// Shows it, where there is anything to show.
pub(super) fn show(
    page: &mut Page,
    context: &ContextOutline,
    full: bool,
    environment: &Environment,
) {
    page.gap();
    page.toned(Tone::Heading, "Where it is");
    let room = page.columns().saturating_sub(12);
    let files: Vec<Clean<String>> = context.files.iter().map(|file| file.path.clone()).collect();
    let rows = [
        ("Task", context.task.as_ref().map(|task| task.get().clone())),
        ("Files", list(&files)),
        ("Tools", list(&context.tools)),
        ("Named", list(&context.entities)),
    ];
    for (label, text) in rows {
        if let Some(text) = text {
            let label = page.paint(Tone::Quiet, &format!("   {label:7}"));
            page.line(format!("{label}  {}", one_line(&text, room)));
        }
    }
    let now = environment.clock.now();
    for (place, action) in context.hot.iter().enumerate() {
        let label = if place == 0 { "Lately" } else { "" };
        moment(page, label, &age(action.at, now), action.summary.get());
    }
    let events: Vec<(&ContextEvent, String)> =
        context.events.iter().map(|event| (event, described(event))).collect();
    // Events of one kind that follow each other are one line.
    let runs: Vec<&[(&ContextEvent, String)]> =
        events.chunk_by(|(_, before), (_, after)| before == after).collect();
    let hidden = if full { 0 } else { runs.len().saturating_sub(EVENTS_SHOWN) };
    for (place, run) in runs.iter().skip(hidden).enumerate() {
        let Some((event, text)) = run.last() else { continue };
        let label = if place == 0 { "Events" } else { "" };
        let text = match run.len() {
            1 => text.clone(),
            times => format!("{text}, {times} times"),
        };
        moment(page, label, &age(event.at, now), &text);
    }
    let before: usize = runs.iter().take(hidden).map(|run| run.len()).sum();
    if before > 0 {
        let more = format!("            {} before", plural(before as u64, "event"));
        page.toned(Tone::Quiet, &more);
    }
}

fn moment(page: &mut Page, label: &str, age: &str, text: &str) {
    let label = page.paint(Tone::Quiet, &format!("   {label:7}  {age:9}"));
    let room = page.columns().saturating_sub(23);
    page.line(format!("{label}  {}", one_line(text, room)));
}

fn described(event: &ContextEvent) -> String {
    let mut text = event_words(&event.event).to_owned();
    for part in [&event.tool, &event.note].into_iter().flatten() {
        text.push_str("  ");
        text.push_str(part.get());
    }
    text
}

/// Joined by commas; nothing where there is none.
fn list(texts: &[Clean<String>]) -> Option<String> {
    let texts: Vec<&str> = texts.iter().map(|text| text.get().as_str()).collect();
    Some(texts.join(", ")).filter(|text| width(text) > 0)
}
