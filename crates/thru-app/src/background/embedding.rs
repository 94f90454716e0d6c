//! The daemon's thread that embeds new texts at the lowest priority; and its model, which embeds the queries of other
//! processes for as long as it is loaded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::trouble::{Context, Result};
use thru_daemon::{Log, lower_thread_priority};
use thru_embed::{EmbedError, Embedder};
use thru_intake::{Embedding, IntakeError};
use thru_recall::QueryEmbedding;

use crate::app::App;
use crate::embedding::own::Embeds;
use crate::embedding::{Chosen, EmbeddedQuery, Lazy, may_see};
use crate::words::{plural, printable};

/// The time that news wait, so that texts that come together are embedded together.
const QUIET: Duration = Duration::from_secs(5);
/// Texts of one step: other processes that embed get their turn between two.
const STEP: usize = 256;
/// The rest between two steps.
const REST: Duration = Duration::from_millis(200);
/// The interval of a look although nothing came.
const LONGEST: Duration = Duration::from_mins(15);
/// The rest after a failure; doubled after every further one, up to [`LONGEST_REST`].
const SHORTEST_REST: Duration = Duration::from_mins(1);
const LONGEST_REST: Duration = Duration::from_hours(1);
/// After so long without use the model is let go. Where it is not loaded, questions may load it meanwhile.
const UNUSED: Duration = Duration::from_mins(2);
/// The interval at which an unused model is looked for.
const LOOK: Duration = Duration::from_secs(15);
/// The interval at which vectors of texts that are gone are taken out. Forgetting does it at once by itself.
const SWEEP: Duration = Duration::from_hours(24);

/// Texts that are embedded between two looks for activity: some tenths of a second.
const AT_ONCE: usize = 4;
/// For so long after the last hook or question nothing is embedded: on few cores even a thread of the lowest
/// priority makes others take half as long again.
const AT_WORK: Duration = Duration::from_secs(1);
/// The interval at which the end of activity is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// The model that the settings name, as long as they do.
#[derive(Default)]
pub struct Chooser {
    current: Mutex<Option<Current>>,
    /// The time of the last activity.
    at_work: Mutex<Option<Instant>>,
}

struct Current {
    /// The settings that it follows from.
    settings: Vec<String>,
    model: Arc<Lazy>,
}

impl Chooser {
    /// The model of these settings; nothing where there is to be none.
    fn current(&self, app: &App) -> Result<Option<Arc<Lazy>>> {
        let all = app.config.all().filter(|one| one.key.starts_with("embedding."));
        let settings: Vec<String> = all.map(|one| format!("{}={}", one.key, one.value)).collect();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|current| current.settings != settings) {
            let model = Chosen::from_config(app)?.map(|chosen| Arc::new(Lazy::new(chosen, 1)));
            *current = model.map(|model| Current { settings, model });
        }
        Ok(current.as_ref().map(|current| Arc::clone(&current.model)))
    }

    /// Drops an unused model. Returns true if it is still there.
    fn tidy(&self) -> bool {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not loaded goes as a whole: a key may be another one the next time.
        current.take_if(|current| !current.model.let_go_after(UNUSED));
        current.is_some()
    }

    /// Notes activity: a hook wrote, or a question was asked.
    pub fn note_activity(&self) {
        *self.at_work.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Waits until there is none, or it is to stop.
    fn wait_for_quiet(&self, stop: &AtomicBool) {
        let last = || *self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        while last().is_some_and(|last| last.elapsed() < AT_WORK) && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
    }

    /// Embeds a query.
    ///
    /// # Errors
    /// Fails if embedding is off or the model fails.
    pub fn answer(&self, app: &App, text: &str) -> Result<EmbeddedQuery> {
        self.note_activity();
        let model = self.current(app)?.context("embedding is off, by `embedding.provider`")?;
        let vector = model.question(app, text)?;
        Ok(EmbeddedQuery { model: model.chosen().model(), vector })
    }
}

impl Embeds for Chooser {
    fn embed(&self, app: &App, text: &str) -> QueryEmbedding {
        let answer = self.answer(app, text);
        answer.map(|it| (it.model, it.vector)).map_err(|error| format!("{error:#}"))
    }
}

/// Embeds in the background for as long as it lives, where the settings say so.
pub struct EmbeddingThread {
    chooser: Arc<Chooser>,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    running: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl EmbeddingThread {
    /// Makes the thread's handle. Nothing runs before it is woken.
    pub fn new(chooser: &Arc<Chooser>, log: &Arc<Log>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        Self { chooser: Arc::clone(chooser), log: Arc::clone(log), stop, running: None }
    }

    /// Notes activity.
    pub fn note_activity(&self) {
        self.chooser.note_activity();
    }

    /// Says that there may be something to embed.
    pub fn wake(&mut self, app: &App) {
        if let Some((wake, _)) = self.running.as_ref().filter(|(_, thread)| !thread.is_finished()) {
            // One that is awake looks again anyway.
            let _ = wake.try_send(());
            return;
        }
        if app.config.embedding.provider == thru_config::EmbeddingProvider::None {
            self.running = None;
            return;
        }
        let (wake, woken) = sync_channel(1);
        let worker = Worker {
            app: app.clone(),
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
    app: App,
    chooser: Arc<Chooser>,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    /// The last trouble that was logged, so that it is not repeated at every look.
    last_trouble: Option<String>,
    /// The rest after the next trouble.
    rest: Duration,
    /// The time of the last sweep.
    swept: Option<Instant>,
}

/// The next look.
enum Next {
    /// As soon as others had their turn.
    Soon,
    /// When woken.
    Woken,
    /// Not before this time, whatever comes.
    Later(Duration),
    /// Never: embedding is off.
    Never,
}

impl Worker {
    fn work(mut self, woken: &Receiver<()>) {
        lower_thread_priority();
        // The caller had news.
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
        self.app = self.app.again()?;
        let Some(embedder) = self.chooser.current(&self.app)? else {
            return Ok(Next::Never);
        };
        let intake = self.app.intake()?;
        let making_way = MakingWay { model: &embedder, chooser: &self.chooser };
        let how = Embedding {
            embedder: &making_way,
            most: Some(STEP),
            may_see: &may_see(&self.app, embedder.chosen()),
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

#[cfg(test)]
mod tests {
    use thru_core::ObservationType;

    use super::*;
    use crate::ask::ProjectScope;
    use crate::call::{Call, Patience};
    use crate::embedding::{fill, own::OwnModel};
    use crate::keep::remember::{Remember, remember};
    use crate::machine::Machine;

    #[test]
    fn a_question_that_the_daemon_asks_itself_takes_its_one_model() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { host: "test".to_owned(), ..Machine::default() };
        let mut app = App::below(folder.path(), machine);
        let request = Remember {
            text: "Deploy on Mondays".to_owned(),
            title: None,
            kind: ObservationType::Decision,
            is_rule: false,
            files: Vec::new(),
            scope: ProjectScope::Everywhere,
            by_agent: false,
        };
        let call = || Call::unattended(Patience::Endless);
        remember(&app, &request, call()).unwrap();
        assert_eq!(fill::embed(&app, None, call()).unwrap().texts, 1);
        let own = fill::query_vector(&app, "When do we deploy?").unwrap();
        let chooser = Arc::new(Chooser::default());
        app.model = OwnModel::of_daemon(chooser.clone());
        assert!(!chooser.tidy());
        let shared = fill::query_vector(&app, "When do we deploy?").unwrap();
        assert!(chooser.tidy(), "it is not the daemon's model that answered");
        let likeness: f32 = own.vector.iter().zip(&shared.vector).map(|(a, b)| a * b).sum();
        assert!(likeness > 0.99, "{likeness}");
    }

    #[test]
    fn nothing_is_embedded_while_note_activity() {
        let chooser = Chooser::default();
        let go_on = AtomicBool::new(false);
        chooser.wait_for_quiet(&go_on);
        let last = Instant::now();
        chooser.note_activity();
        // One that is to stop does not wait.
        chooser.wait_for_quiet(&AtomicBool::new(true));
        chooser.wait_for_quiet(&go_on);
        assert!(last.elapsed() >= AT_WORK);
    }
}
