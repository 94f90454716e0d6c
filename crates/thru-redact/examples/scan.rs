//! Scans transcripts with the built-in rules and prints what would be redacted, and how fast.
//!
//! Usage: `cargo run --release -p thru-redact --example scan -- [--text] [--quiet] FILE…`
//! With `--text` files are read as plain text and not as JSON lines. What is printed holds the
//! secrets found, so that a person can judge them: it must not be kept.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::time::{Duration, Instant};

use thru_redact::{Redactor, Report};

/// The number of bytes of context to show on either side.
const CONTEXT: usize = 60;

fn main() -> std::io::Result<()> {
    let mut quiet = false;
    let mut as_text = false;
    let mut paths = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quiet" => quiet = true,
            "--text" => as_text = true,
            _ => paths.push(argument),
        }
    }
    let redactor = Redactor::builtin();
    let mut total = Report::default();
    let mut bytes = 0;
    let mut changed_lines = 0;
    let mut time = Duration::ZERO;
    for path in &paths {
        let content = std::fs::read(path)?;
        bytes += content.len();
        for (number, line) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let mut report = Report::default();
            let started = Instant::now();
            let cleaned = if as_text {
                redactor.clean_bytes(line, &mut report)
            } else {
                redactor.clean_json_line(line, &mut report)
            };
            time += started.elapsed();
            if cleaned.get() != line {
                changed_lines += 1;
                if !quiet {
                    show(path, number + 1, line, cleaned.get(), &report);
                }
            }
            total.merge(&report);
        }
    }
    println!("{:#?}", total.secrets);
    println!(
        "{} secrets and {} private passages in {changed_lines} lines",
        total.secrets.values().sum::<u64>(),
        total.private
    );
    let seconds = time.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let megabytes = bytes as f64 / 1e6;
    println!("{megabytes:.1} MB in {seconds:.3} s: {:.0} MB/s", megabytes / seconds);
    Ok(())
}

/// Prints each replaced range with its surroundings, before and after.
fn show(path: &str, number: usize, before: &[u8], after: &[u8], report: &Report) {
    println!("{path}:{number} {:?} private={}", report.secrets, report.private);
    let (mut old, mut new) = (0, 0);
    while let Some(offset) = before[old..].iter().zip(&after[new..]).position(|(a, b)| a != b) {
        let place = new + offset;
        let start = after[..=place].iter().rposition(|byte| *byte == b'[').unwrap_or(place);
        let length = after[start..].iter().position(|byte| *byte == b']').map_or(0, |at| at + 1);
        let old_start = old + offset - (place - start);
        let rest = &after[start + length..];
        // The replaced text ends where the text after the placeholder is found again.
        let tail = &rest[..rest.len().min(24)];
        let from = old_start + 1;
        let replaced = before[from.min(before.len())..]
            .windows(tail.len().max(1))
            .position(|window| window == tail)
            .map_or(before.len() - old_start, |at| at + 1);
        let old_end = old_start + replaced;
        println!(
            "    {} >>>{}<<< {}   {}",
            text(&before[old_start.saturating_sub(CONTEXT)..old_start]),
            text(&before[old_start..old_end.min(old_start + 200)]),
            text(&before[old_end..before.len().min(old_end + CONTEXT)]),
            text(&after[start..start + length]),
        );
        (old, new) = (old_end, start + length);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\n', "⏎")
}
