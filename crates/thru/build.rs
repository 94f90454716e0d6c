//! Links the program at a fixed address on Linux with glibc.
//!
//! A program that can be loaded anywhere has 44,000 addresses to be written at every start, a good part of the time of a
//! hook. It then lies at the same place in every process; libraries, stack and heap keep their random places.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
