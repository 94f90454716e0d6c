//! The last step of every answer: redacted once more as a whole, then fenced.

use thru_recall::fenced;
use thru_redact::Clean;

use crate::memory::Memory;

/// Redacts an answer of the memory. Its parts are already clean and harmless; the redactor sees the
/// whole once more, because joined parts may form a secret that none of them was.
pub(crate) fn answer(memory: &dyn Memory, text: &str) -> Clean<String> {
    memory.clean(text).map(|text| fenced(&text))
}

/// Cleans a sentence of ours that may quote the request: one line, without tags.
pub(crate) fn sentence(memory: &dyn Memory, text: &str) -> Clean<String> {
    memory.clean(&thru_core::plain_line(text, 2_000))
}
