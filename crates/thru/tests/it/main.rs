//! The program as people run it: a process of its own, in a home of its own.

mod asking;
mod configuring;
mod crashing;
#[path = "../../../thru-intake/tests/it/dump.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod dump;
mod forgetting;
mod helping;
mod home;
mod importing;
mod outside;
mod projects;
#[path = "../../../thru-intake/tests/it/records.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod records;
mod redacting;
mod restoring;
mod verifying;
