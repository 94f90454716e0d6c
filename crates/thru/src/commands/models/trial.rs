//! `thru models test`: one small question to each provider that is set.

use thru_app::Result;
use thru_app::models::trial::{self, ProviderTrial};
use thru_app::wording::sentence;

use crate::environment::Environment;

use crate::ui::{Outcome, Page, Tone, count};

pub(super) fn run(environment: &Environment, json: bool) -> Result<Outcome> {
    let trial = trial::try_models(environment, environment.progress().call())?;
    environment.answer(json, &trial, |page| {
        trial.providers.iter().for_each(|provider| show(page, provider))
    })?;
    Ok(if trial.is_well() { Outcome::Done } else { Outcome::Wrong })
}

fn show(page: &mut Page, provider: &ProviderTrial) {
    if let Some(error) = &provider.error {
        let text = sentence(&format!("{}: {error}", provider.name));
        return page.toned(Tone::Bad, &text);
    }
    let form = match provider.structured {
        Some(true) => "in the form that was asked for",
        _ => "in a form of its own, which is read as far as possible",
    };
    page.line(format!(
        "{}: {} answered in {:.1} s, {form}.",
        provider.name,
        provider.model.as_deref().unwrap_or_default(),
        provider.seconds.unwrap_or_default()
    ));
    let cost = provider.cost.map_or("cost not known".to_owned(), |cost| cost.to_string());
    page.line(format!("  {} tokens, {cost}.", count(provider.tokens)));
}
