//! The store through its public calls: schema, writing, index.

mod index;
mod opening;
mod schema;
mod support;
mod writing;
