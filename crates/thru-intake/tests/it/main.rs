//! Intake as a whole, through its public calls: files of an agent in, archive, store and index out.

mod copies;
mod dump;
mod excluded;
mod faults;
mod forgetting;
mod growth;
mod healing;
mod machine;
mod odd;
mod privacy;
mod prompts;
mod records;
mod rewriting;
