//! `thru models list`.

use thru_app::Result;
use thru_app::models::catalog::{self, ProviderList, ProviderRole};
use thru_app::wording::sentence;

use crate::environment::Environment;

use crate::ui::{Long, Outcome, Page, Table, Tone, printable};

pub(super) fn run(environment: &Environment, json: bool) -> Result<Outcome> {
    let list = catalog::list(environment);
    environment.answer(json, &list, |page| show(page, &list))?;
    Ok(if list.trouble.is_some() { Outcome::Wrong } else { Outcome::Done })
}

fn show(page: &mut Page, list: &ProviderList) {
    let mut table = Table::new(["  PROVIDER", "MODEL", "KEY", "WHAT"], Long::Wrapped);
    for provider in &list.providers {
        let mark = match provider.role {
            Some(ProviderRole::Set) => "*",
            Some(ProviderRole::Fallback) => "+",
            None => " ",
        };
        let cells = [&format!("{mark} {}", provider.name), &provider.model, &provider.key];
        let cells = cells.into_iter().chain([&provider.about]);
        table.row(cells.map(|text| (Tone::Plain, printable(text))).collect::<Vec<_>>());
    }
    page.table(&table);
    page.gap();
    page.line(match list.provider {
        None => "None is set: memories are made without a model, and nothing is sent anywhere.",
        Some(_) => {
            "* is asked; + is asked where * does not answer; then memories stay as made without a model."
        }
    });
    if let Some(named) = &list.session_model {
        let model = printable(&named.model);
        page.line(format!("Summaries of sessions: {model} (`{}`).", named.named_by));
    }
    let is_told = |text: &String| list.trouble.as_ref().is_none_or(|told| !told.contains(text));
    for provider in &list.providers {
        if let Some(trouble) = provider.key_trouble.as_ref().filter(|text| is_told(text)) {
            let text = sentence(&format!("{}: {trouble}", provider.name));
            page.toned(Tone::Bad, &text);
        }
    }
    if let Some(trouble) = &list.trouble {
        page.gap();
        page.toned(Tone::Bad, &format!("It cannot be asked: {}", sentence(trouble)));
    }
    if !list.price_known {
        page.gap();
        page.line(
            "What this model costs is not known: limits in cents are checked after answers that tell their cost, those in tokens before each question.",
        );
        page.line("`models.input_price_cents` and `models.output_price_cents` say it.");
    }
}
