//! Questions: read from the store, built into requests, and cleaned by the current rules.

use thru_core::{
    Agent, Id, MemoryKind, PassageKind, SessionId, SessionKey, Statement, Timestamp, WorkOutcome,
    head,
};
use thru_distil::refine::{
    self, ActivityProfile, Grounded, GroundedSession, Limits, SessionAnswer, SessionInput,
    SessionMaterial, TurnAnswer, TurnFacts, TurnInput, TurnMoment, Unusable,
};
use thru_distil::wants_text;
use thru_redact::{Clean, Redactor, Report};
use thru_store::{MemoryBody, MemoryFilter, PassageFilter, PassageRow, Result, Store, Touch};

/// Bytes of one passage, and of all passages of a turn, in which an answer is looked up.
const PASSAGE: usize = 256 * 1024;
const TURN: usize = 8 * 1024 * 1024;
/// Number of the agent's last texts shown for a session, and bytes of each.
const LAST_TEXTS: usize = 2;
const LAST_TEXT: usize = 16 * 1024;
/// Bytes and passages of a session in which an answer is looked up.
const SESSION: usize = 16 * 1024 * 1024;
const SEEN: usize = 20_000;

/// A question to a model.
pub struct Question {
    /// The version of the prompt.
    pub prompt: &'static str,
    /// Hash of the whole request, without the model.
    content: Id,
    /// The request, cleaned by the current rules.
    pub request: Clean<thru_models::Request>,
    /// The material against which the answer is checked.
    pub material: Material,
}

impl Question {
    /// Returns the hash of the whole request to `model`.
    pub fn input(&self, model: &str) -> Id {
        Id::derive(&[b"input", self.content.as_bytes(), model.as_bytes()])
    }
}

/// The material against which an answer is checked.
pub enum Material {
    /// The passages of a turn.
    Turn(Box<TurnMaterial>),
    /// The known facts about a session.
    Session(Box<SessionKnown>),
}

/// The passages of a turn.
pub struct TurnMaterial {
    input: TurnInput,
    material: refine::Material,
    agent: Agent,
    session: SessionId,
    content: Vec<u8>,
    turn: u32,
    at: Option<Timestamp>,
    raw_tokens: u64,
    outcome: WorkOutcome,
}

/// The known facts about a session.
pub struct SessionKnown {
    input: SessionInput,
    material: refine::Material,
    outcome: WorkOutcome,
}

/// The part of an answer that the record supports.
pub enum Grounding {
    /// About a turn.
    Turn(Grounded),
    /// About a session.
    Session(GroundedSession),
}

impl Material {
    /// Reads an answer and keeps the part that the record supports.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable`] if nothing in the answer can be read.
    pub fn ground(
        &self,
        text: &str,
        structured: Option<&serde_json::Value>,
    ) -> std::result::Result<Grounding, Unusable> {
        match self {
            Self::Turn(turn) => {
                let answer = match structured {
                    Some(value) => TurnAnswer::from_value(value),
                    None => TurnAnswer::from_text(text),
                }?;
                let about = TurnFacts {
                    agent: turn.agent,
                    session: &turn.session,
                    content_key: &turn.content,
                    turn: turn.turn,
                    at: turn.at,
                    raw_tokens: turn.raw_tokens,
                    outcome: turn.outcome,
                };
                let grounded = refine::ground_turn(&answer, &turn.input, &turn.material, &about);
                Ok(Grounding::Turn(grounded))
            }
            Self::Session(known) => {
                let answer = match structured {
                    Some(value) => SessionAnswer::from_value(value),
                    None => SessionAnswer::from_text(text),
                }?;
                let grounded =
                    refine::ground_session(&answer, &known.input, &known.material, known.outcome);
                Ok(Grounding::Session(grounded))
            }
        }
    }
}

/// Returns the question about a turn; `None` if the turn is not worth one.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn of_turn(
    store: &Store,
    redactor: &Redactor,
    session: i64,
    turn: u32,
    limits: Limits,
    answer_tokens: u32,
) -> Result<Option<Question>> {
    let Some(key) = store.session_key(session)? else { return Ok(None) };
    let mut touches = store.touches_of_session(session)?;
    let passages = store.passages(PassageFilter::Session(session))?;
    let mut moments = Vec::new();
    let (mut at, mut raw, mut room) = (None, 0, TURN);
    for passage in passages.into_iter().filter(|passage| passage.turn == turn) {
        at = at.max(passage.at);
        raw += passage.length().div_ceil(4);
        let text = match room {
            0 => String::new(),
            room => head(&store.text_of(&passage)?, room.min(PASSAGE)).to_owned(),
        };
        room -= text.len();
        let touched = touches.remove(&passage.row).unwrap_or_default();
        moments.push(moment(passage, touched, text));
    }
    let input = TurnInput::new(&moments, limits);
    if input.is_slight() {
        return Ok(None);
    }
    let asked = input.request(&ActivityProfile::from_moments(&moments));
    let outcome = summary_of(store, session)?
        .and_then(|summary| summary.turns.into_iter().find(|(number, _)| *number == turn))
        .map(|(_, digest)| digest.outcome)
        .unwrap_or_default();
    let SessionKey { agent, id } = key;
    let material = TurnMaterial {
        material: refine::Material::from_moments(&moments),
        content: asked.content_key().as_bytes().to_vec(),
        input,
        agent,
        session: id,
        turn,
        at,
        raw_tokens: raw,
        outcome,
    };
    Ok(Some(question(asked, redactor, answer_tokens, Material::Turn(Box::new(material)))))
}

/// Computes the kinds of work in a session from its passages.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn activity_profile(
    store: &Store,
    session: i64,
    mut passages: Vec<PassageRow>,
) -> Result<ActivityProfile> {
    // What the agent said is no work, and it is most of what a session holds.
    passages.retain(|passage| passage.kind != PassageKind::Assistant);
    let is_told = |passage: &PassageRow| {
        let PassageRow { kind, tool, outcome, agent_id, .. } = passage;
        wants_text(*kind, tool.as_deref(), *outcome, agent_id.is_some())
    };
    Ok(ActivityProfile::from_moments(&last_moments(store, session, passages, is_told)?))
}

/// Reads the moments of a session from its passages, with the texts of those that `is_told` picks; of a longer session, the
/// moments at its end.
fn last_moments(
    store: &Store,
    session: i64,
    passages: Vec<PassageRow>,
    is_told: impl Fn(&PassageRow) -> bool,
) -> Result<Vec<TurnMoment>> {
    let mut touches = store.touches_of_session(session)?;
    let mut moments = Vec::new();
    let mut room = SESSION;
    for passage in passages.into_iter().rev() {
        if moments.len() >= SEEN || room == 0 {
            break;
        }
        let text = match is_told(&passage) {
            true => head(&store.text_of(&passage)?, room.min(PASSAGE)).to_owned(),
            false => String::new(),
        };
        room -= text.len();
        let touched = touches.remove(&passage.row).unwrap_or_default();
        moments.push(moment(passage, touched, text));
    }
    moments.reverse();
    Ok(moments)
}

/// Returns the question about a session as a whole; `None` if nothing is known of it.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn of_session(
    store: &Store,
    redactor: &Redactor,
    session: i64,
    limits: Limits,
    answer_tokens: u32,
) -> Result<Option<Question>> {
    let Some(summary) = summary_of(store, session)? else { return Ok(None) };
    let filter =
        MemoryFilter { session: Some(session), oldest_first: true, ..MemoryFilter::default() };
    let (mut observations, mut rulings) = (Vec::new(), Vec::new());
    for memory in store.memories(&filter)? {
        if memory.kind == MemoryKind::Summary || memory.flags.is_uncertain {
            continue;
        }
        let MemoryBody::Observation(observation) = store.body_of(&memory)? else { continue };
        if memory.flags.is_rule && memory.flags.is_from_person {
            let (text, sources) = (observation.title.clone(), observation.sources.clone());
            rulings.push(Statement { text, sources });
        }
        observations.push(*observation);
    }
    observations.sort_by_key(|observation| observation.turn);
    let mut final_texts = Vec::new();
    let passages = store.passages(PassageFilter::Session(session))?;
    let said =
        |kind: PassageKind, is_subagent: bool| kind == PassageKind::Assistant && !is_subagent;
    let last_texts = passages
        .iter()
        .rev()
        .filter(|passage| said(passage.kind, passage.agent_id.is_some()))
        .take(LAST_TEXTS);
    for passage in last_texts {
        let text = head(&store.text_of(passage)?, LAST_TEXT).to_owned();
        final_texts.insert(0, Statement { text, sources: vec![passage.id] });
    }
    let moments = last_moments(store, session, passages, |_| true)?;
    let known = SessionMaterial {
        title: summary.title,
        turns: summary.turns,
        observations,
        files: summary.digest.files,
        rulings,
        final_texts,
    };
    let input = SessionInput::new(&known, limits);
    if input.is_empty() {
        return Ok(None);
    }
    let asked = input.request(&ActivityProfile::from_moments(&moments));
    // The distilled part covers passages there was no room for.
    let mut material = known.material();
    moments.iter().for_each(|moment| material.add(moment));
    let material = SessionKnown { input, material, outcome: summary.digest.outcome };
    Ok(Some(question(asked, redactor, answer_tokens, Material::Session(Box::new(material)))))
}

fn moment(passage: PassageRow, touched: Vec<Touch>, text: String) -> TurnMoment {
    TurnMoment {
        passage: passage.id,
        kind: passage.kind,
        is_subagent: passage.agent_id.is_some(),
        tool: passage.tool,
        command: passage.command,
        outcome: passage.outcome,
        files: touched.into_iter().map(|touch| touch.file).collect(),
        text,
    }
}

fn question(
    asked: refine::Request,
    redactor: &Redactor,
    answer_tokens: u32,
    material: Material,
) -> Question {
    let content = asked.content_key();
    let request = thru_models::Request {
        system: asked.system,
        prompt: asked.user,
        schema: Some(asked.schema),
        schema_name: asked.schema_name.to_owned(),
        max_output_tokens: answer_tokens,
        temperature: None,
    };
    // It was clean when it was stored, but the rules may be newer (invariant I-5).
    let request = redactor.clean_texts(
        request,
        |request, each| {
            // All that a model reads. The schema is ours.
            let thru_models::Request {
                system,
                prompt,
                schema: _,
                schema_name: _,
                max_output_tokens: _,
                temperature: _,
            } = request;
            each(system);
            each(prompt);
        },
        &mut Report::default(),
    );
    Question { prompt: asked.version, content, request, material }
}

/// Returns the distilled summary of a session, with models' results for its turns but not for the
/// session itself.
fn summary_of(store: &Store, session: i64) -> Result<Option<thru_core::Summary>> {
    let filter = MemoryFilter {
        session: Some(session),
        kinds: Some(vec![MemoryKind::Summary]),
        superseded: true,
        ..MemoryFilter::default()
    };
    let found = store.memories(&filter)?;
    let distilled = found.iter().find(|memory| !memory.flags.is_refined);
    Ok(match distilled.map(|memory| store.body_of(memory)).transpose()? {
        Some(MemoryBody::Summary(summary)) => Some(*summary),
        _ => None,
    })
}
