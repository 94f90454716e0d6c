//! An edit of a manifest, of configuration or of code holds arbitrary text: reading it is the same every time, and takes no more than its lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::Id;
use thru_fuzz::lossy;
use thru_graph::file_edit;

const FILES: [&str; 16] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "rust-toolchain.toml",
    ".nvmrc",
    "kiln.toml",
    "kiln.yaml",
    "settings.json",
    ".env",
    "kiln.rs",
    "kiln.ts",
    "kiln.py",
    "kiln.go",
    "kiln.rb",
];

fuzz_target!(|data: &[u8]| {
    let text = lossy(data);
    let id = Id::derive(&[b"fuzz"]);
    for path in FILES {
        assert_eq!(file_edit(id, path, &text), file_edit(id, path, &text), "{path}");
    }
});
