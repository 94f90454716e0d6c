//! An edit of a manifest, or of configuration, holds arbitrary text: reading it is the same every time, and takes no more than its lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::Id;
use thru_fuzz::lossy;
use thru_graph::manifest_edit;

const MANIFESTS: [&str; 11] = [
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
];

fuzz_target!(|data: &[u8]| {
    let text = lossy(data);
    let id = Id::derive(&[b"fuzz"]);
    for path in MANIFESTS {
        assert_eq!(manifest_edit(id, path, &text), manifest_edit(id, path, &text), "{path}");
    }
});
