//! What people see: colour, tables, ages, the pager. Nothing here knows what is being shown.

mod page;
mod streams;
mod style;
mod text;

pub(crate) use page::Page;
pub use streams::Streams;
pub(crate) use text::fold;
pub(crate) use thru_app::words::{
    age, ago, count, day_and_time, made_of, meaning, plural, printable, size,
};
pub(crate) use thru_ui::Tone;
pub(crate) use thru_ui::text::{cut, one_line, width, wrap};
