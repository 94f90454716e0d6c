//! The questions to a model about real turns and sessions, and its answers beside what is
//! distilled without one: of the same turns, measured by the same means.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use thru_core::Micros;
use thru_core::{Digest, Distillate, Observation, Speaker, estimated_tokens};
use thru_distil::refine::{Dropped, Limits};
use thru_models::{Key, Kind, Prices, Provider, Request, Settings, connect};
use thru_redact::Redactor;
use thru_refine::{Grounding as Grounded, Question, of_session, of_turn};
use thru_store::{Store, TurnFilter};

use super::coverage::Coverage;
use super::grounding::GroundingReport;
use super::history::Session;
use super::readable;
use super::shape::Shape;
use crate::home::Home;
use crate::metrics::{median, percent, quantile};
use crate::rng::Rng;

/// Whom to ask, and about how much.
#[derive(clap::Args, Default)]
#[group(id = "refined")]
pub(super) struct Arguments {
    /// Print what would be sent about every turn and session: how many tokens. Nothing is sent
    #[arg(long, conflicts_with_all = ["provider", "show", "sample"])]
    dry: bool,
    /// Ask this provider (anthropic, openai, ollama, claude-cli) about turns and sessions, drawn at
    /// random, and compare
    #[arg(long, value_name = "NAME", requires = "model", conflicts_with_all = ["show", "sample"])]
    provider: Option<Kind>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The URL of the provider, if not the usual one
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The environment variable with its key, if it has no usual one
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// Turns to ask about
    #[arg(long, value_name = "N", default_value_t = 50)]
    turns: usize,
    /// Sessions to ask about
    #[arg(long, value_name = "N", default_value_t = 5)]
    sessions: usize,
    /// Tokens that an answer may have
    #[arg(long, value_name = "N", default_value_t = 1_500)]
    answer_tokens: u32,
    /// Seconds after which an answer is given up
    #[arg(long, value_name = "N", default_value_t = 120)]
    timeout: u64,
    /// Print what was made, too: words of the transcripts
    #[arg(long)]
    texts: bool,
}

impl Arguments {
    pub(super) const fn is_wanted(&self) -> bool {
        self.dry || self.provider.is_some()
    }

    fn provider(&self) -> Result<Option<Box<dyn Provider>>> {
        let Some(kind) = self.provider else { return Ok(None) };
        let mut settings = Settings::new(kind, self.model.as_deref().unwrap_or_default());
        settings.url.clone_from(&self.url);
        settings.timeout = Duration::from_secs(self.timeout);
        if kind == Kind::ClaudeCli {
            settings.environment = std::env::vars_os().collect();
            settings.scratch = Some(std::env::temp_dir());
        }
        let variable = self.key_env.as_deref().or_else(|| settings.key_variable());
        let key = variable.and_then(|name| std::env::var(name).ok());
        if let (Some(name), None) = (&self.key_env, &key) {
            anyhow::bail!("{name} is not set");
        }
        settings.key = key.as_deref().and_then(Key::new);
        Ok(Some(connect(&settings)?))
    }
}

/// Brings the sessions into a store of their own, and measures what would be sent, or asks.
pub(super) fn run(
    arguments: &Arguments,
    folder: &Path,
    sessions: &[Session],
    seed: u64,
) -> Result<()> {
    let provider = arguments.provider()?;
    let home = Home::temporary()?;
    home.import_paths(&[PathBuf::from(folder)])?;
    let corpus = Corpus::of(&home.store()?, sessions, arguments.answer_tokens)?;
    let Some(provider) = provider else {
        corpus.print();
        return Ok(());
    };
    let measured = Measured::of(arguments, &corpus, provider.as_ref(), seed);
    measured.print(sessions)
}

/// Everything that would be asked.
struct Corpus {
    /// By session (its place in the list) and turn.
    turns: Vec<(usize, u32, Question)>,
    sessions: Vec<(usize, Question)>,
    /// Turns that are not worth a question.
    slight: usize,
}

impl Corpus {
    fn of(store: &Store, sessions: &[Session], answer_tokens: u32) -> Result<Self> {
        let redactor = Redactor::builtin();
        let mut corpus = Self { turns: Vec::new(), sessions: Vec::new(), slight: 0 };
        for (place, session) in sessions.iter().enumerate() {
            let Some(row) = store.session_by_key(&session.key)? else { continue };
            let filter = TurnFilter { session: Some(row), ..TurnFilter::default() };
            let mut turns = store.turns(&filter)?;
            turns.retain(|turn| turn.turn > 0);
            turns.sort_by_key(|turn| turn.turn);
            for turn in turns {
                let number = turn.turn;
                match of_turn(store, &redactor, row, number, Limits::TURN, answer_tokens)? {
                    Some(question) => corpus.turns.push((place, number, question)),
                    None => corpus.slight += 1,
                }
            }
            let whole = of_session(store, &redactor, row, Limits::SESSION, answer_tokens)?;
            corpus.sessions.extend(whole.map(|question| (place, question)));
        }
        Ok(corpus)
    }

    fn print(&self) {
        let turns: Vec<f64> = self.turns.iter().map(|(.., one)| sent(one.request.get())).collect();
        let sessions: Vec<f64> =
            self.sessions.iter().map(|(_, one)| sent(one.request.get())).collect();
        println!("| would be sent | questions | tokens (estimated) | in all |\n|---|---|---|---|");
        for (name, tokens) in [("turns", turns), ("sessions", sessions)] {
            let all: f64 = tokens.iter().sum();
            println!("| {name} | {} | {} | {all:.0} |", tokens.len(), spread(&tokens));
        }
        println!("\nTurns that are not worth a question: {}.", self.slight);
    }
}

/// Tokens of all that is sent: prompt, record and the form of the answer.
fn sent(request: &Request) -> f64 {
    let schema = request.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    let texts = [&request.system, &request.prompt, &schema];
    texts.into_iter().map(|text| estimated_tokens(text)).sum::<u64>() as f64
}

/// Measurements of questions of one kind.
#[derive(Debug, Default)]
struct Asked {
    requests: usize,
    /// Tokens, as estimated before and as the provider says.
    estimated: Vec<f64>,
    input: Vec<f64>,
    output: Vec<f64>,
    seconds: Vec<f64>,
    cost: Micros,
    /// Answers of unknown cost.
    without_price: usize,
    dropped: Dropped,
    /// Answers that could not be used and questions without an answer, by why.
    useless: BTreeMap<String, usize>,
}

/// The results of all questions.
#[derive(Default)]
struct Measured {
    model: String,
    turns: Asked,
    sessions: Asked,
    /// Refinements of turns, by session and turn.
    made: BTreeMap<(usize, u32), (Vec<Observation>, Digest)>,
    /// The reason not all were asked.
    ended: Option<String>,
    texts: bool,
}

impl Measured {
    fn of(arguments: &Arguments, corpus: &Corpus, provider: &dyn Provider, seed: u64) -> Self {
        let mut measured = Self {
            model: format!("{} {}", provider.name(), provider.model()),
            texts: arguments.texts,
            ..Self::default()
        };
        for place in drawn(corpus.turns.len(), arguments.turns, seed) {
            let Some((session, turn, question)) = corpus.turns.get(place) else { continue };
            let Some(grounding) = measured.turns.ask(question, provider, &mut measured.ended)
            else {
                if measured.ended.is_some() {
                    return measured;
                }
                continue;
            };
            if let Grounded::Turn(grounded) = grounding {
                measured.turns.dropped.add(grounded.dropped);
                measured.made.insert((*session, *turn), (grounded.observations, grounded.digest));
            }
        }
        for place in drawn(corpus.sessions.len(), arguments.sessions, seed) {
            let Some((_, question)) = corpus.sessions.get(place) else { continue };
            let grounding = measured.sessions.ask(question, provider, &mut measured.ended);
            if let Some(Grounded::Session(grounded)) = grounding {
                measured.sessions.dropped.add(grounded.dropped);
            }
            if measured.ended.is_some() {
                break;
            }
        }
        measured
    }

    /// Memories of the answered turns, without a model and with one.
    fn compare(&self, sessions: &[Session]) -> Result<[Quality; 2]> {
        let (mut plain, mut refined) = (Quality::new()?, Quality::new()?);
        let places: BTreeSet<usize> = self.made.keys().map(|(place, _)| *place).collect();
        for place in places {
            let Some(session) = sessions.get(place) else { continue };
            let is_asked = |turn: u32| self.made.contains_key(&(place, turn));
            let part = Session {
                key: session.key.clone(),
                facts: session.facts.clone(),
                passages: session
                    .passages
                    .iter()
                    .filter(|passage| is_asked(passage.turn))
                    .cloned()
                    .collect(),
                bytes: session.bytes,
            };
            let mut distillate = super::distil(session);
            distillate.observations.retain(|one| is_asked(one.turn));
            if let Some(summary) = &mut distillate.summary {
                summary.turns.retain(|(turn, _)| is_asked(*turn));
                summary.digest = Digest::default();
            }
            plain.add(&part, &distillate)?;
            refined.add(&part, &self.laid_over(place, distillate))?;
        }
        Ok([plain, refined])
    }

    /// As intake lays it over: what a model made takes the place of what the agent did, not of what a
    /// person said.
    fn laid_over(&self, place: usize, mut distillate: Distillate) -> Distillate {
        let has_made = |turn: u32| {
            self.made.get(&(place, turn)).is_some_and(|(observations, _)| !observations.is_empty())
        };
        distillate
            .observations
            .retain(|one| one.speaker != Speaker::Agent || one.is_rule || !has_made(one.turn));
        for ((_, turn), (observations, digest)) in self.made.range((place, 0)..=(place, u32::MAX)) {
            distillate.observations.extend(observations.iter().cloned());
            let turns = distillate.summary.iter_mut().flat_map(|summary| &mut summary.turns);
            for (_, known) in turns.filter(|(number, _)| number == turn) {
                *known = digest.clone();
            }
        }
        distillate.observations.sort_by_key(|one| one.turn);
        distillate
    }

    fn print(&self, sessions: &[Session]) -> Result<()> {
        println!("Asked: {}.\n", self.model);
        self.turns.print("turns");
        self.sessions.print("sessions");
        if let Some(why) = &self.ended {
            println!("It ended early: {why}.\n");
        }
        if self.texts {
            for ((place, _), (observations, _)) in &self.made {
                let session = sessions.get(*place).map(Session::short).unwrap_or_default();
                for observation in observations {
                    readable::print_observation(&session, observation);
                }
            }
        }
        let [plain, refined] = self.compare(sessions)?;
        println!("## The same {} turns without a model\n", self.made.len());
        plain.print();
        println!("## … and with one\n");
        refined.print();
        Ok(())
    }
}

impl Asked {
    /// Asks, and says what is believed of the answer; nothing where it is of no use.
    fn ask(
        &mut self,
        question: &Question,
        provider: &dyn Provider,
        ended: &mut Option<String>,
    ) -> Option<Grounded> {
        let request = question.request.get();
        self.requests += 1;
        self.estimated.push(sent(request));
        let reply = match provider.ask(request, &AtomicBool::new(false)) {
            Ok(reply) => reply,
            Err(error) => {
                if error.concerns_provider() {
                    *ended = Some(error.to_string());
                }
                // What it says may hold what was asked; of what kind it is does not.
                let kind = format!("{error:?}");
                let kind = kind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                *self.useless.entry(format!("no answer: {kind}")).or_default() += 1;
                return None;
            }
        };
        self.input.push(reply.usage.input as f64);
        self.output.push(reply.usage.output as f64);
        self.seconds.push(reply.latency.as_secs_f64());
        match Prices::default().cost_of(provider, &reply) {
            Some(cost) => self.cost = Micros(self.cost.0.saturating_add(cost.0)),
            None => self.without_price += 1,
        }
        match question.material.ground(&reply.text, reply.structured.as_ref()) {
            Ok(grounding) => Some(grounding),
            Err(unusable) => {
                *self.useless.entry(unusable.to_string()).or_default() += 1;
                None
            }
        }
    }

    fn print(&self, name: &str) {
        let Self { requests, dropped, .. } = self;
        println!("| {name} | value |\n|---|---|");
        println!("| requests | {requests} |");
        println!("| tokens sent, estimated | {} |", spread(&self.estimated));
        println!("| tokens sent, as the provider says | {} |", spread(&self.input));
        println!("| tokens of the answer | {} |", spread(&self.output));
        let seconds = |share: f64| quantile(&self.seconds, share).unwrap_or_default();
        println!("| seconds | median {:.1}, p95 {:.1} |", seconds(0.5), seconds(0.95));
        let unknown = match self.without_price {
            0 => String::new(),
            count => format!(", and {count} answers without a known price"),
        };
        println!("| cost | {}{unknown} |", self.cost);
        for (why, count) in &self.useless {
            println!("| of no use: {why} | {count} |");
        }
        let said = dropped.kept + dropped.statements();
        println!("| statements | {said} |");
        for (kind, count) in [
            ("files", dropped.files),
            ("identifiers", dropped.identifiers),
            ("commands", dropped.commands),
            ("codes", dropped.codes),
            ("numbers", dropped.numbers),
            ("steering", dropped.steering),
        ] {
            let share = (said > 0).then(|| f64::from(count) / f64::from(said));
            println!("| dropped: {kind}, % | {} ({count}) |", percent(share));
        }
        println!("| observations dropped whole | {} |", dropped.observations);
        println!("| citations of nothing | {} |\n", dropped.cites);
    }
}

/// Scores memories by all measures.
struct Quality {
    coverage: Coverage,
    grounding: GroundingReport,
    shape: Shape,
}

impl Quality {
    fn new() -> Result<Self> {
        Ok(Self {
            coverage: Coverage::new()?,
            grounding: GroundingReport::new()?,
            shape: Shape::default(),
        })
    }

    fn add(&mut self, session: &Session, distillate: &Distillate) -> Result<()> {
        self.coverage.add(session, &distillate.observations);
        self.grounding.add(session, distillate);
        self.shape.add(session, distillate)
    }

    fn print(&self) {
        self.coverage.print(false);
        self.grounding.print(false);
        self.shape.print(None);
    }
}

/// So many of the places below `end`, drawn at random, in order.
fn drawn(end: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut rng = Rng::part(seed, 1);
    let mut all: Vec<usize> = (0..end).collect();
    let mut chosen: Vec<usize> =
        (0..count.min(end)).map(|_| all.swap_remove(rng.below(all.len()))).collect();
    chosen.sort_unstable();
    chosen
}

fn spread(values: &[f64]) -> String {
    let number =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"));
    format!(
        "median {}, p95 {}, most {}",
        number(median(values)),
        number(quantile(values, 0.95)),
        number(quantile(values, 1.0))
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use thru_testkit::provider::{ModelServer, body, error, ollama};

    use super::*;
    use crate::home::temporary_directory;

    /// The demo's session, in a store, and its sessions as they are measured.
    fn corpus() -> (Vec<Session>, Corpus) {
        let folder = temporary_directory().unwrap();
        let lock = include_str!("../../../crates/thru/demo/lock.jsonl");
        std::fs::write(folder.path().join("lock.jsonl"), lock).unwrap();
        let sessions = super::super::history::sessions(folder.path());
        let home = Home::temporary().unwrap();
        home.import_paths(&[folder.path().to_owned()]).unwrap();
        let corpus = Corpus::of(&home.store().unwrap(), &sessions, 1_500).unwrap();
        (sessions, corpus)
    }

    fn arguments(server: &ModelServer) -> Arguments {
        Arguments {
            provider: Some(Kind::Ollama),
            model: Some("small".to_owned()),
            url: Some(server.url()),
            turns: 50,
            sessions: 5,
            timeout: 20,
            ..Arguments::default()
        }
    }

    #[test]
    fn what_would_be_sent_is_counted_and_not_sent() {
        let (_, corpus) = corpus();
        assert!(!corpus.turns.is_empty() && corpus.sessions.len() == 1);
        for (.., question) in &corpus.turns {
            let tokens = sent(question.request.get());
            assert!(tokens > 500.0 && tokens <= 4_000.0, "{tokens}");
        }
        corpus.print();
    }

    #[test]
    fn what_a_model_makes_is_measured_beside_what_is_distilled() {
        let (sessions, corpus) = corpus();
        let server = ModelServer::answering(|asked| {
            if body(asked).to_string().contains("errors_resolved") {
                return ollama("I would rather sing.");
            }
            let said = json!({
                "observations": [{
                    "type": "bugfix", "title": "Updates of the index were lost",
                    "narrative": "Two writers wrote at once. It took 98765 ms.",
                    "facts": [{ "text": "See src/nowhere.rs", "cite": [1] }],
                    "concepts": [], "files_read": [], "files_modified": [], "cite": [1, 999],
                }],
                "summary": { "request": "Find the lost updates", "investigated": [], "learned": [],
                    "completed": [], "next_steps": [] },
            });
            ollama(&said.to_string())
        })
        .unwrap();
        let arguments = arguments(&server);
        let provider = arguments.provider().unwrap().unwrap();
        let measured = Measured::of(&arguments, &corpus, provider.as_ref(), 1);
        let turns = corpus.turns.len();
        assert_eq!((measured.turns.requests, measured.sessions.requests), (turns, 1));
        assert_eq!(server.requests().len(), turns + 1);
        let dropped = measured.turns.dropped;
        let each = u32::try_from(turns).unwrap();
        assert_eq!((dropped.numbers, dropped.files, dropped.cites), (each, each, each));
        assert_eq!(measured.turns.cost, Micros(0), "it is on this machine");
        assert_eq!(measured.sessions.useless.values().sum::<usize>(), 1);
        assert_eq!(measured.made.len(), turns);
        let laid = measured.laid_over(0, super::super::distil(&sessions[0]));
        let made = laid.observations.iter().filter(|one| one.title.starts_with("Updates of"));
        assert_eq!(made.count(), turns);
        measured.print(&sessions).unwrap();
    }

    #[test]
    fn who_is_not_let_in_asks_no_further() {
        let (_, corpus) = corpus();
        let server = ModelServer::start([error(401, "authentication_error", "no")]).unwrap();
        let arguments = arguments(&server);
        let provider = arguments.provider().unwrap().unwrap();
        let measured = Measured::of(&arguments, &corpus, provider.as_ref(), 1);
        assert!(measured.ended.is_some() && measured.made.is_empty());
        assert_eq!(server.requests().len(), 1);
    }
}
