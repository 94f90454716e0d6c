//! `thru doctor`: find out what does not work, and mend it.

use thru_app::health::{self, Examination, Finding, Level, Seen};
use thru_app::{Progress, Result, Unit};

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, plural};

/// Looks at hooks, settings and everything that is kept, and says what does not work and what to do
/// about it. Reads journal and archive to their ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru doctor                      check everything\n  \
    thru doctor --fix                make the repairs that are safe\n  \
    thru doctor --report > issue.md  for an issue: no text, no paths, no names of yours\n\n\
    Exit status: 0 all is well, 2 there is a problem.")]
pub(crate) struct DoctorArguments {
    /// Mend what is safe to mend, then look again
    #[arg(long)]
    fix: bool,
    /// Print a report for an issue, as Markdown
    #[arg(long, conflicts_with_all = ["fix", "json"])]
    report: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &DoctorArguments, environment: &Environment) -> Result<Outcome> {
    let quiet = arguments.json || arguments.report;
    let mut mended = Vec::new();
    let mut seen = look(environment, quiet);
    let mut findings = health::examine(&seen);
    if arguments.fix && findings.iter().any(|finding| finding.mend.is_some()) {
        // What is open would keep others from the lock.
        drop(seen);
        mended = health::mend(&findings, environment)?;
        seen = look(environment, quiet);
        findings = health::examine(&seen);
    }
    let worst = findings.iter().map(|finding| finding.level).max();
    let mut page = environment.page();
    if arguments.report {
        page.line(health::report(&seen, &findings));
    } else if arguments.json {
        page.json(&Examination::new(findings, mended))?;
    } else {
        list(&mut page, &findings, &mended);
    }
    page.print()?;
    Ok(if worst == Some(Level::Problem) { Outcome::Wrong } else { Outcome::Done })
}

fn look(environment: &Environment, quiet: bool) -> Seen<'_> {
    let shown = environment.progress_unless(quiet);
    Seen::at(environment, &mut |done, total| shown.step("Checking", done, total, Unit::Files))
}

fn list(page: &mut Page, findings: &[Finding], mended: &[String]) {
    for done in mended {
        page.toned(Tone::Good, &format!("fixed: {done}"));
    }
    page.gap();
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for finding in findings {
        let tone = match finding.level {
            Level::Ok => Tone::Good,
            Level::Note => Tone::Match,
            Level::Problem => Tone::Bad,
        };
        let level = page.paint(tone, &format!("{:7}", finding.level.as_str()));
        page.line(format!("{level}  {:width$}  {}", finding.check, finding.line));
        if let Some(remedy) = finding.remedy.as_ref().filter(|_| finding.level != Level::Ok) {
            let indent = " ".repeat(7 + 2 + width + 2);
            page.toned(Tone::Quiet, &format!("{indent}{remedy}"));
        }
    }
    page.gap();
    let of = |level| findings.iter().filter(|finding| finding.level == level).count() as u64;
    page.line(match (of(Level::Problem), of(Level::Note)) {
        (0, 0) => page.paint(Tone::Good, "All is well."),
        (0, notes) => format!("No problem; {} worth knowing.", plural(notes, "thing")),
        (problems, _) => format!("{}.", plural(problems, "problem")),
    });
    if mended.is_empty() && findings.iter().any(|finding| finding.mend.is_some()) {
        page.line("`thru doctor --fix` makes the repairs that are safe.");
    }
}
