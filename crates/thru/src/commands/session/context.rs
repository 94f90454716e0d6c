//! What a session is at: the part of `thru session show` that says where one can go on.

use serde_json::{Value, json};
use thru_app::App;
use thru_recall::{RecentEvent, SessionContext};
use thru_redact::Clean;
use thru_store::Store;

use crate::ui::{Page, Tone, age, one_line, plural, width};

/// Events shown before the rest is only counted.
const EVENTS_SHOWN: usize = 5;

/// Shows it, where there is anything to show.
pub(super) fn show(page: &mut Page, context: &SessionContext, full: bool, environment: &App) {
    page.gap();
    page.line(page.paint(Tone::Heading, "Where it is"));
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
    for (place, deed) in context.hot.iter().enumerate() {
        let label = if place == 0 { "Lately" } else { "" };
        moment(page, label, &age(deed.at, now), deed.summary.get());
    }
    let shown = if full { context.events.len() } else { EVENTS_SHOWN };
    let hidden = context.events.len().saturating_sub(shown);
    for (place, event) in context.events.iter().skip(hidden).enumerate() {
        let label = if place == 0 { "Events" } else { "" };
        moment(page, label, &age(event.at, now), &told(event));
    }
    if hidden > 0 {
        let more = format!("            {} before", plural(hidden as u64, "event"));
        page.line(page.paint(Tone::Quiet, &more));
    }
}

fn moment(page: &mut Page, label: &str, age: &str, text: &str) {
    let label = page.paint(Tone::Quiet, &format!("   {label:7}  {age:9}"));
    let room = page.columns().saturating_sub(23);
    page.line(format!("{label}  {}", one_line(text, room)));
}

fn told(event: &RecentEvent) -> String {
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

/// The same as JSON.
pub(super) fn as_json(store: &Store, context: &SessionContext) -> thru_app::Result<Value> {
    let texts = |texts: &[Clean<String>]| -> Vec<String> {
        texts.iter().map(|text| text.get().clone()).collect()
    };
    let files: Vec<Value> = context
        .files
        .iter()
        .map(|file| json!({ "path": file.path.get(), "modified": file.modified, "at": file.at }))
        .collect();
    let mut hot = Vec::new();
    for deed in &context.hot {
        let id = store.short_id(&deed.passage)?;
        hot.push(json!({ "at": deed.at, "id": id, "summary": deed.summary.get() }));
    }
    let events: Vec<Value> = context
        .events
        .iter()
        .map(|event| {
            json!({
                "at": event.at,
                "event": event.event,
                "tool": event.tool.as_ref().map(Clean::get),
                "note": event.note.as_ref().map(Clean::get),
            })
        })
        .collect();
    Ok(json!({
        "task": context.task.as_ref().map(Clean::get),
        "directory": context.directory.as_ref().map(Clean::get),
        "files": files,
        "tools": texts(&context.tools),
        "entities": texts(&context.entities),
        "hot": hot,
        "events": events,
        "last": context.last,
    }))
}
