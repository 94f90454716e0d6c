//! Notes with foreign text: every byte of it stays.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test, what cannot be is a failure")]

mod folders;
mod foreign;
mod persons;
mod rendering;
