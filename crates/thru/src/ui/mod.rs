//! What people see: colour, tables, ages, the pager. Nothing here knows what is being shown.

mod outcome;
mod page;
mod progress;
mod streams;
mod style;
mod terminal;

pub(crate) use outcome::Outcome;
pub(crate) use page::Page;
pub(crate) use progress::Shown;
pub use streams::Streams;
pub use terminal::Terminal;
pub(crate) use terminal::Unseen;
pub(crate) use thru_app::words::{
    age, ago, count, day_and_time, made_of, meaning, plural, printable, size, without_middle,
};
pub(crate) use thru_ui::Tone;
pub(crate) use thru_ui::fold::fold;
pub(crate) use thru_ui::table::{Long, Table};
pub(crate) use thru_ui::text::{cut, one_line, short_ids, width, wrap};
