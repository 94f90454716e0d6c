//! `crash`: kills imports, rebuilds, upgrades, hooks and daemons at random moments, lets one run finish, and
//! compares everything with what a run that was never killed gives (invariants I-1, I-3 and I-4).

mod daemons;
mod hooks;
mod old_store;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use tempfile::TempDir;
use thru_core::Layout;
use thru_store::{SCHEMA_VERSION, Store};

use self::daemons::Daemons;
use self::hooks::{Counts, Hooks};
use crate::home::{Home, copy, temporary_directory};
use crate::process::{Program, Task};
use crate::rng::Rng;
use crate::store_dump::{Dump, archived, expected};

/// Differences that are shown.
const SHOWN: usize = 12;

/// The arguments of `crash`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to kill
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// The agent's folder, with `projects/` in it; a few megabytes are enough
    #[arg(long, value_name = "DIR", required_unless_present = "only")]
    history: Option<PathBuf>,
    /// Number of rounds: kill, finish, compare
    #[arg(long)]
    rounds: usize,
    /// Another seed kills at other moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin with this round
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// Only rounds of this kind
    #[arg(long)]
    only: Option<Kind>,
}

/// The kind of process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Import,
    Rebuild,
    Migration,
    Hooks,
    Daemon,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Import => "import",
            Self::Rebuild => "rebuild",
            Self::Migration => "migration",
            Self::Hooks => "hooks",
            Self::Daemon => "daemon",
        })
    }
}

/// The homes that rounds start from and are compared with.
struct Bench {
    program: Program,
    /// A home that was filled without being killed.
    whole: TempDir,
    /// The same with a store of the oldest schema.
    old: TempDir,
    dump: Dump,
    /// The duration of each kind of run when it is not killed.
    durations: [Duration; 3],
}

/// Factors for the estimate of a duration after a kill that came too late, and after one that hit. The
/// machine may have been busier when the duration was measured.
const SHORTER: f64 = 0.9;
const LONGER: f64 = 1.03;

/// Counts over all rounds so far.
#[derive(Default)]
struct Tally {
    rounds: [usize; 5],
    killed: usize,
    too_late: usize,
    hooks: Counts,
    daemons: daemons::Counts,
}

/// Runs the rounds. Fails at the first difference.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // What only hooks do needs no history.
    let mut bench = match arguments.only {
        Some(Kind::Hooks | Kind::Daemon) => None,
        _ => Some(Bench::prepare(arguments)?),
    };
    let hooks = Hooks::prepare(&arguments.thru)?;
    let daemons = Daemons::prepare(&arguments.thru)?;
    let mut tally = Tally::default();
    for number in arguments.from..arguments.from + arguments.rounds {
        let mut rng = Rng::part(arguments.seed, number as u64);
        let drawn = match rng.below(6) {
            0 | 1 => Kind::Import,
            2 => Kind::Rebuild,
            3 => Kind::Migration,
            4 => Kind::Hooks,
            _ => Kind::Daemon,
        };
        let kind = arguments.only.unwrap_or(drawn);
        let home = temporary_directory()?;
        let done = match (kind, &mut bench) {
            (Kind::Hooks, _) => hooks.round(home.path(), &mut rng, &mut tally.hooks),
            (Kind::Daemon, _) => daemons.round(home.path(), &mut rng, &mut tally.daemons),
            (_, Some(bench)) => bench.round(kind, home.path(), &mut rng, &mut tally),
            (_, None) => bail!("there is nothing to compare with"),
        };
        tally.rounds[kind as usize] += 1;
        if let Err(error) = done {
            let kept = home.keep();
            return Err(error.context(format!(
                "seed {}, round {number} ({kind}); the home is left in {}",
                arguments.seed,
                kept.display()
            )));
        }
        let done = number + 1 - arguments.from;
        if done.is_multiple_of(10) || done == arguments.rounds {
            tally.print(done);
        }
    }
    Ok(())
}

impl Tally {
    fn print(&self, done: usize) {
        let [imports, rebuilds, migrations, hooks, daemons] = self.rounds;
        println!(
            "{done} rounds: {imports} imports, {rebuilds} rebuilds, {migrations} migrations; \
             {} kills, {} came too late; no difference",
            self.killed, self.too_late
        );
        println!("  {hooks} with hooks: {}", self.hooks);
        println!("  {daemons} with daemons: {}", self.daemons);
    }
}

impl Bench {
    fn prepare(arguments: &Arguments) -> Result<Self> {
        let history = arguments.history.as_deref().context("give --history DIR")?;
        let program = Program::new(&arguments.thru, history)?;
        let (whole, old, scratch) =
            (temporary_directory()?, temporary_directory()?, temporary_directory()?);
        let timed = |home: &Path, task: Task<'_>| -> Result<Duration> {
            let started = Instant::now();
            program.run(home, task)?;
            Ok(started.elapsed())
        };
        let import = timed(whole.path(), Task::Import)?;
        program.run(whole.path(), Task::Verify)?;
        let dump = Dump::of(whole.path())?;
        ensure!(dump.len() > 0, "the history holds nothing");
        check_archive(program.history(), whole.path())?;

        let again = scratch.path().join("rebuild");
        copy(whole.path(), &again)?;
        let rebuild = timed(&again, Task::Rebuild)?;
        compare(&dump, &again)?;

        old_store::make(whole.path(), old.path())?;
        let again = scratch.path().join("migration");
        copy(old.path(), &again)?;
        let migration = timed(&again, Task::Import)?;
        check_schema(&again)?;
        compare(&dump, &again)?;
        println!(
            "Undisturbed: import {:.2} s, rebuild {:.2} s, migration {:.2} s; {} things to compare.",
            import.as_secs_f64(),
            rebuild.as_secs_f64(),
            migration.as_secs_f64(),
            dump.len()
        );
        Ok(Self { program, whole, old, dump, durations: [import, rebuild, migration] })
    }

    fn round(&mut self, kind: Kind, home: &Path, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
        let task = match kind {
            Kind::Import | Kind::Hooks | Kind::Daemon => Task::Import,
            Kind::Rebuild => {
                copy(self.whole.path(), home)?;
                Task::Rebuild
            }
            Kind::Migration => {
                copy(self.old.path(), home)?;
                Task::Import
            }
        };
        for _ in 0..rng.between(1, 4) {
            let duration = &mut self.durations[kind as usize];
            let delay = duration.mul_f64(rng.unit());
            let mut child = self.program.start(home, task)?;
            std::thread::sleep(delay);
            match child.try_wait()? {
                Some(status) if !status.success() => {
                    bail!("{task:?} ended with {status} by itself")
                }
                Some(_) => {
                    *duration = duration.mul_f64(SHORTER);
                    tally.too_late += 1;
                    // All is done: another run would have nothing to do that could be killed.
                    break;
                }
                None => {
                    child.kill().context("cannot kill")?;
                    child.wait()?;
                    *duration = duration.mul_f64(LONGER);
                    tally.killed += 1;
                }
            }
        }
        // A rebuild that never finished must have left the store that there was.
        let last = if kind == Kind::Rebuild && rng.chance(0.5) { Task::Import } else { task };
        self.program.run(home, last)?;
        self.program.run(home, Task::Verify)?;
        if kind == Kind::Migration {
            check_schema(home)?;
        }
        compare(&self.dump, home)?;
        Ok(())
    }
}

/// The home must hold what the dump says.
fn compare(dump: &Dump, home: &Path) -> Result<()> {
    let differences = Dump::of(home)?.differences(dump, SHOWN);
    if !differences.is_empty() {
        bail!("what is there (-) is not what should be (+):\n{}", differences.join("\n"));
    }
    Ok(())
}

/// The archive must hold each transcript, cleaned, line for line.
fn check_archive(history: &Path, home: &Path) -> Result<()> {
    let found = archived(&Layout::new(home))?;
    let wanted = expected(history, Home::at(home)?.intake())?;
    for (path, wanted) in &wanted {
        let found = found.get(path).with_context(|| format!("{path} is not in the archive"))?;
        ensure!(found == wanted, "{path}: the archive has {found:?}, the source {wanted:?}");
    }
    Ok(())
}

fn check_schema(home: &Path) -> Result<()> {
    let store = Store::open_to_read(&Layout::new(home))?;
    let found = store.schema_version()?;
    ensure!(found == SCHEMA_VERSION, "the store is at schema {found}");
    let database = rusqlite::Connection::open(Layout::new(home).database())?;
    let unnamed: u64 =
        database.query_row("SELECT count(*) FROM files WHERE name = ''", [], |row| row.get(0))?;
    ensure!(unnamed == 0, "{unnamed} files were not migrated");
    Ok(())
}
