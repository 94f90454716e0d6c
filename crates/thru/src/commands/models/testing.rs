//! `thru models test`: one small question to each provider that is set.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use thru_app::Result;
use thru_core::{Purpose, Question, Spent};
use thru_intake::Operation;
use thru_models::{AskError, Reply, Request};
use thru_refine::{Chain, Link, Meter};
use thru_store::Store;

use crate::commands::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, count, printable};
use thru_app::models::Models;

pub(super) fn run(environment: &Environment, plain: bool, json: bool) -> Result<Outcome> {
    let Some(models) = Models::of(environment)? else {
        return Err(advised("no model is set", "`thru models` lists what can be set"));
    };
    let chain = models.chain();
    let mut page = Page::new(environment, plain);
    let mut answers = Vec::new();
    for link in &chain.links {
        let answer = ask(environment, chain, link)?;
        if !json {
            show(&mut page, link, &answer);
        }
        answers.push(as_json(link, &answer));
    }
    let is_well = answers.first().is_some_and(|answer| answer["answered"] == true);
    if json {
        page.json(&json!({ "version": 1, "kind": "models-test", "providers": answers }))?;
    }
    page.print()?;
    Ok(if is_well { Outcome::Done } else { Outcome::Wrong })
}

/// What came of a question, and what it cost.
struct Answer {
    reply: Result<Reply, AskError>,
    spent: Spent,
}

fn ask(environment: &Environment, chain: &Chain, link: &Link) -> Result<Answer> {
    let request = Request {
        system: "You are asked whether you answer. Say so in the form that you are given."
            .to_owned(),
        prompt: "Answer with ready: true.".to_owned(),
        schema: Some(json!({
            "type": "object",
            "properties": { "ready": { "type": "boolean" } },
            "required": ["ready"],
            "additionalProperties": false,
        })),
        schema_name: "readiness".to_owned(),
        max_output_tokens: 200,
        temperature: None,
    };
    let intake = environment.intake()?;
    let (most, now) = (chain.most(link, &request), environment.clock.now());
    if let Some(store) = Store::open_if_there(&environment.layout)? {
        let limits = environment.config.budget.limits();
        let exhausted = Meter::read(&store, now, None)?.exhausted(&limits, most, now);
        if let Some(exhausted) = exhausted {
            return Err(advised(
                format!("{} are spent", exhausted.what),
                "`thru config set budget.daily_tokens NUMBER` allows more, and so do the other limits",
            ));
        }
    }
    // This counts like everything else that is asked.
    let question = intake.record_question(Question {
        purpose: Purpose::Test,
        session: None,
        project: None,
        provider: link.name.clone(),
        model: link.provider.model().to_owned(),
        spent: most,
    })?;
    let reply = link.provider.ask(&request, &AtomicBool::new(false));
    let (spent, error) = match &reply {
        Ok(reply) => (chain.paid(link, reply), None),
        Err(error) => (chain.lost(link, error.spent()), Some(error.to_string())),
    };
    intake.record(&[Operation::QuestionSettled { question, spent, error }])?;
    if environment.layout.database().exists() {
        let lock = shared::lock(&intake, environment)?;
        intake.apply_answers(&lock, &[])?;
    }
    Ok(Answer { reply, spent })
}

fn show(page: &mut Page, link: &Link, answer: &Answer) {
    match &answer.reply {
        Ok(reply) => {
            let form = match reply.structured.is_some() {
                true => "in the form that was asked for",
                false => "in a form of its own, which is read as far as possible",
            };
            page.line(format!(
                "{}: {} answered in {:.1} s, {form}.",
                link.name,
                printable(&reply.model),
                reply.latency.as_secs_f64()
            ));
            let cost =
                answer.spent.cost.map_or("cost not known".to_owned(), |cost| cost.to_string());
            page.line(format!("  {} tokens, {cost}.", count(answer.spent.tokens())));
        }
        Err(error) => {
            let said = printable(&error.to_string());
            page.line(page.paint(Tone::Bad, &format!("{}: {said}.", link.name)));
        }
    }
}

fn as_json(link: &Link, answer: &Answer) -> Value {
    json!({
        "name": link.name,
        "answered": answer.reply.is_ok(),
        "model": answer.reply.as_ref().ok().map(|reply| &reply.model),
        "structured": answer.reply.as_ref().ok().map(|reply| reply.structured.is_some()),
        "seconds": answer.reply.as_ref().ok().map(|reply| reply.latency.as_secs_f64()),
        "error": answer.reply.as_ref().err().map(ToString::to_string),
        "tokens": answer.spent.tokens(),
        "cost_micros": answer.spent.cost.map(|cost| cost.0),
    })
}
