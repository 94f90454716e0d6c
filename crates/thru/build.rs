//! Makes the program start sooner on Linux with glibc: it is linked at a fixed address, and with GCC's unwinder inside.
//!
//! A program that can be loaded anywhere has 44,000 addresses to be written at every start, a good part of the time of a
//! hook. It then lies at the same place in every process; libraries, stack and heap keep their random places. The unwinder
//! is one library less to find, map and bind.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // The standard library asks for the shared unwinder by name, so that `-static-libgcc` does not help.
        let folder = std::env::var("OUT_DIR").unwrap_or_default();
        if std::fs::write(Path::new(&folder).join("libgcc_s.so"), "INPUT(-lgcc_eh)\n").is_ok() {
            println!("cargo:rustc-link-search=native={folder}");
        }
    }
}
