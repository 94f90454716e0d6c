//! The last step of every answer: redacted once more as a whole, then fenced.

use thru_recall::fenced;
use thru_redact::Clean;

use crate::memory::Memory;

/// An answer of the memory. Its parts are clean and harmless already; the redactor sees the whole once more,
/// because parts that are put together may make something that none of them was.
pub(crate) fn answer(memory: &dyn Memory, text: &str) -> Clean<String> {
    memory.clean(text).map(|text| fenced(&text))
}

/// A sentence of ours that may quote what was asked: one line, without tags.
pub(crate) fn sentence(memory: &dyn Memory, text: &str) -> Clean<String> {
    memory.clean(&thru_recall::plain(text, 2_000))
}
