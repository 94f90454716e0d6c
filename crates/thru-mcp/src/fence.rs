//! The last step of every answer: redacted once more as a whole, then fenced.

use thru_app::App;
use thru_core::plain_line;
use thru_recall::fenced;
use thru_redact::{Clean, Report};

/// Fences an answer. Its parts are clean and defused already; the redactor sees the whole once more,
/// because composed parts may form a secret that none of them was.
pub(crate) fn answer(app: &App, text: &str) -> Clean<String> {
    app.redactor().clean_text(text, &mut Report::default()).map(|text| fenced(&text))
}

/// Prepares a sentence of our own that may quote the request: one line, without tags.
pub(crate) fn sentence(app: &App, text: &str) -> Clean<String> {
    app.redactor().clean_text(&plain_line(text, 2_000), &mut Report::default())
}
