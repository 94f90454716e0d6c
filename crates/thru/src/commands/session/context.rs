//! The part of `thru session show` that says where one can go on.

use thru_app::ask::session::{ContextEvent, ContextOutline};
use thru_redact::Clean;

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
    let shown = if full { context.events.len() } else { EVENTS_SHOWN };
    let hidden = context.events.len().saturating_sub(shown);
    for (place, event) in context.events.iter().skip(hidden).enumerate() {
        let label = if place == 0 { "Events" } else { "" };
        moment(page, label, &age(event.at, now), &described(event));
    }
    if hidden > 0 {
        let more = format!("            {} before", plural(hidden as u64, "event"));
        page.toned(Tone::Quiet, &more);
    }
}

fn moment(page: &mut Page, label: &str, age: &str, text: &str) {
    let label = page.paint(Tone::Quiet, &format!("   {label:7}  {age:9}"));
    let room = page.columns().saturating_sub(23);
    page.line(format!("{label}  {}", one_line(text, room)));
}

fn described(event: &ContextEvent) -> String {
    let mut text = event.event.clone();
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
