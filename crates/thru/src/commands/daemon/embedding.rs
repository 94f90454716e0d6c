//! The daemon's thread that embeds what is new, behind everything else; and the model, which answers those
//! who ask what a question means for as long as it is loaded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thru_app::{Context, Result};
use thru_daemon::Log;
use thru_embed::{EmbedError, Embedder};
use thru_intake::{Embedding, IntakeError};

use crate::environment::Environment;
use crate::ui::{plural, printable};
use thru_app::embedding::{Answer, Chosen, Lazy, may_see};

/// How long news wait, so that what comes together is embedded together.
const QUIET: Duration = Duration::from_secs(5);
/// Texts of one step: others who want to embed get their turn between two.
const STEP: usize = 256;
/// How long it rests between two steps.
const REST: Duration = Duration::from_millis(200);
/// How long it is until somebody looks again although nothing came.
const LONGEST: Duration = Duration::from_mins(15);
/// How long it rests after something went wrong; twice as long after every further time, up to
/// [`LONGEST_REST`].
const SHORTEST_REST: Duration = Duration::from_mins(1);
const LONGEST_REST: Duration = Duration::from_hours(1);
/// After so long without use the model is let go. Where it is not loaded, questions may load it meanwhile.
const UNUSED: Duration = Duration::from_mins(2);
/// How often it is looked whether it can be let go.
const LOOK: Duration = Duration::from_secs(15);
/// How often the vectors of texts that are gone are taken out. Forgetting does it at once by itself.
const SWEEP: Duration = Duration::from_hours(24);

/// Texts that are embedded between two looks whether somebody is at work: some tenths of a second.
const AT_ONCE: usize = 4;
/// For so long after the last hook or question nothing is embedded: on few cores even a thread of the lowest
/// priority makes others take half as long again.
const AT_WORK: Duration = Duration::from_secs(1);
/// How often it is looked whether that is over.
const PAUSE: Duration = Duration::from_millis(50);

/// The model that the settings name, as long as they do.
#[derive(Default)]
pub(super) struct Chooser {
    current: Mutex<Option<Current>>,
    /// When somebody was last at work.
    at_work: Mutex<Option<Instant>>,
}

struct Current {
    /// What it follows from.
    settings: Vec<String>,
    model: Arc<Lazy>,
}

impl Chooser {
    /// The model of these settings; nothing where there is to be none.
    fn current(&self, environment: &Environment) -> Result<Option<Arc<Lazy>>> {
        let all = environment.config.all().filter(|one| one.key.starts_with("embedding."));
        let settings: Vec<String> = all.map(|one| format!("{}={}", one.key, one.value)).collect();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|current| current.settings != settings) {
            let model = Chosen::of(environment)?.map(|chosen| Arc::new(Lazy::new(chosen, 1)));
            *current = model.map(|model| Current { settings, model });
        }
        Ok(current.as_ref().map(|current| Arc::clone(&current.model)))
    }

    /// Lets the model go where nobody needs it; says whether it is still there.
    fn tidy(&self) -> bool {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not loaded goes as a whole: a key may be another one the next time.
        current.take_if(|current| !current.model.let_go_after(UNUSED));
        current.is_some()
    }

    /// Somebody is at work: a hook wrote, or a question was asked.
    pub(super) fn somebody_works(&self) {
        *self.at_work.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Waits until nobody is, or it is to stop.
    fn wait_for_quiet(&self, stop: &AtomicBool) {
        let last = || *self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        while last().is_some_and(|last| last.elapsed() < AT_WORK) && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
    }

    /// What a text means.
    pub(super) fn answer(&self, environment: &Environment, text: &str) -> Result<Answer> {
        self.somebody_works();
        let model = self.current(environment)?.context("nobody embeds, by `embedding.provider`")?;
        let vector = model.question(environment, text)?;
        Ok(Answer { model: model.chosen().model(), vector })
    }
}

/// Embeds in the background for as long as it lives, where the settings say so.
pub(super) struct EmbeddingThread {
    chooser: Arc<Chooser>,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    running: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl EmbeddingThread {
    /// Nothing is done before somebody wakes it.
    pub(super) fn new(chooser: &Arc<Chooser>, log: &Arc<Log>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        Self { chooser: Arc::clone(chooser), log: Arc::clone(log), stop, running: None }
    }

    /// Somebody is at work.
    pub(super) fn somebody_works(&self) {
        self.chooser.somebody_works();
    }

    /// Says that there may be something to embed.
    pub(super) fn wake(&mut self, environment: &Environment) {
        if let Some((wake, _)) = self.running.as_ref().filter(|(_, thread)| !thread.is_finished()) {
            // One that is awake looks again anyway.
            let _ = wake.try_send(());
            return;
        }
        if environment.config.embedding().provider() == thru_config::EmbeddingProvider::None {
            self.running = None;
            return;
        }
        let (wake, woken) = sync_channel(1);
        let worker = Worker {
            environment: environment.clone(),
            chooser: Arc::clone(&self.chooser),
            log: Arc::clone(&self.log),
            stop: Arc::clone(&self.stop),
            last_trouble: None,
            rest: SHORTEST_REST,
            swept: None,
        };
        let builder = std::thread::Builder::new().name("embedding".to_owned());
        match builder.spawn(move || worker.work(&woken)) {
            Ok(thread) => self.running = Some((wake, thread)),
            Err(error) => self.log.warn(&format!("nothing is embedded: {error}")),
        }
    }
}

impl Drop for EmbeddingThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some((wake, thread)) = self.running.take() {
            drop(wake);
            let _ = thread.join();
        }
    }
}

/// A model that makes way for those who are at work.
struct MakingWay<'m> {
    model: &'m Lazy,
    chooser: &'m Chooser,
}

impl Embedder for MakingWay<'_> {
    fn model(&self) -> &str {
        self.model.model()
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let at_once = match self.model.chosen() {
            Chosen::Bundled(_) => AT_ONCE,
            // It is another process that works, and each request costs.
            Chosen::Served(..) => texts.len().max(1),
        };
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(at_once) {
            self.chooser.wait_for_quiet(stop);
            vectors.extend(self.model.embed(some, stop)?);
        }
        Ok(vectors)
    }
}

struct Worker {
    environment: Environment,
    chooser: Arc<Chooser>,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    /// What was told last, so that it is not told at every look.
    last_trouble: Option<String>,
    /// How long to rest after the next trouble.
    rest: Duration,
    /// When vectors of texts that are gone were last taken out.
    swept: Option<Instant>,
}

/// When to look again.
enum Next {
    /// As soon as others had their turn.
    Soon,
    /// When something came.
    Woken,
    /// Not before this time, whatever comes.
    Later(Duration),
    /// Never: nobody is to embed.
    Never,
}

impl Worker {
    fn work(mut self, woken: &Receiver<()>) {
        let_others_go_first();
        // Whoever started us had news.
        let mut due = Instant::now() + QUIET;
        let mut not_before = due;
        loop {
            let now = Instant::now();
            let look = if self.chooser.tidy() { LOOK } else { UNUSED };
            let wait = due.saturating_duration_since(now).min(look);
            match woken.recv_timeout(wait) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(()) => due = due.min(Instant::now() + QUIET).max(not_before),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let now = Instant::now();
            if now < due {
                continue;
            }
            let next = match self.step() {
                Ok(next) => {
                    (self.last_trouble, self.rest) = (None, SHORTEST_REST);
                    next
                }
                Err(error) => {
                    self.trouble(format!("{error:#}"));
                    let rest = self.rest;
                    self.rest = (rest * 2).min(LONGEST_REST);
                    Next::Later(rest)
                }
            };
            let now = Instant::now();
            (due, not_before) = match next {
                Next::Soon => (now + REST, now),
                Next::Woken => (now + LONGEST, now),
                Next::Later(rest) => (now + rest, now + rest),
                Next::Never => return,
            };
        }
    }

    fn trouble(&mut self, trouble: String) {
        if self.last_trouble.as_ref() != Some(&trouble) {
            self.log.warn(&format!("nothing is embedded: {}", printable(&trouble)));
        }
        self.last_trouble = Some(trouble);
    }

    /// Embeds some of what waits.
    fn step(&mut self) -> Result<Next> {
        self.environment = self.environment.again()?;
        let Some(embedder) = self.chooser.current(&self.environment)? else {
            return Ok(Next::Never);
        };
        let intake = self.environment.intake()?;
        let making_way = MakingWay { model: &embedder, chooser: &self.chooser };
        let how = Embedding {
            embedder: &making_way,
            most: Some(STEP),
            may_see: &may_see(&self.environment, embedder.chosen()),
            stop: &self.stop,
        };
        let done = match intake.embed(&how, &mut |_| {}) {
            // By hand, or another daemon that is ending.
            Err(IntakeError::Embedding) => return Ok(Next::Later(SHORTEST_REST)),
            done => done?,
        };
        if done.texts > 0 {
            let texts = plural(done.texts, "text");
            self.log.info(&format!("embedded {texts}; {} to go", done.waiting));
        }
        if done.stopped {
            return Ok(Next::Woken);
        }
        if done.left_out > 0 {
            // What is refused once is refused again.
            return Ok(Next::Later(LONGEST));
        }
        if done.texts as usize >= STEP {
            return Ok(Next::Soon);
        }
        if self.swept.is_none_or(|swept| swept.elapsed() >= SWEEP) {
            match intake.sweep_vectors() {
                // An import is on its way: after it.
                Err(IntakeError::NotSwept) => {}
                swept => {
                    swept?;
                    self.swept = Some(Instant::now());
                }
            }
        }
        Ok(Next::Woken)
    }
}

/// Lets every other thread go first: on Linux each has a priority of its own.
fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_embedded_while_somebody_works() {
        let chooser = Chooser::default();
        let go_on = AtomicBool::new(false);
        chooser.wait_for_quiet(&go_on);
        let last = Instant::now();
        chooser.somebody_works();
        // Who is to stop waits for nobody.
        chooser.wait_for_quiet(&AtomicBool::new(true));
        chooser.wait_for_quiet(&go_on);
        assert!(last.elapsed() >= AT_WORK);
    }
}
