//! Privacy: text that must not be kept is removed here, before anything is written or shown.
//!
//! [`Clean`] is the only form in which text reaches the journal, the archive, the store, the index or
//! an output (invariant I-5), and only the [`Redactor`] makes one.

mod alias;
mod assignment;
mod base64;
mod blank;
mod checks;
mod clean;
mod column;
mod command;
mod connector;
mod cookie;
mod copies;
mod decode;
mod edits;
mod foreign;
mod json;
mod keys;
mod keywords;
mod made;
mod names;
mod near;
mod pairs;
mod parts;
mod pattern;
mod private_key;
mod protocol;
mod redactor;
mod report;
mod rules;
mod secrets;
mod shape;
mod shown;
mod sought;
mod spoken;
mod tags;
mod told;
mod user_rules;
mod value;
mod wrap;

pub use clean::Clean;
pub use redactor::Redactor;
pub use report::Report;
pub use rules::{RuleInfo, rules};
pub use sought::Sought;
pub use user_rules::{RuleError, UserRule};
