//! `thru models list`.

use thru_app::Result;
use thru_app::models::catalog::{self, ProviderList, ProviderRole};

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, printable, width};

pub(super) fn run(environment: &Environment, json: bool) -> Result<Outcome> {
    let list = catalog::list(environment);
    environment.answer(json, &list, |page| show(page, &list))?;
    Ok(if list.trouble.is_some() { Outcome::Wrong } else { Outcome::Done })
}

fn show(page: &mut Page, list: &ProviderList) {
    let rows: Vec<[String; 3]> = list
        .providers
        .iter()
        .map(|one| [one.name.to_string(), printable(&one.model), printable(&one.key)])
        .collect();
    let mut widths = ["PROVIDER", "MODEL", "KEY"].map(width);
    for row in &rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    let cells = |row: [&str; 3]| {
        let cell =
            |(text, widest): (&str, &usize)| format!("{text}{:1$}  ", "", widest - width(text));
        row.into_iter().zip(&widths).map(cell).collect::<String>()
    };
    page.toned(Tone::Quiet, &format!("  {}WHAT", cells(["PROVIDER", "MODEL", "KEY"])));
    for (provider, row) in list.providers.iter().zip(&rows) {
        let mark = match provider.role {
            Some(ProviderRole::Set) => "* ",
            Some(ProviderRole::Fallback) => "+ ",
            None => "  ",
        };
        page.line(format!("{mark}{}{}", cells(row.each_ref().map(String::as_str)), provider.about));
    }
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
    if let Some(trouble) = &list.trouble {
        page.gap();
        page.toned(Tone::Bad, &format!("It cannot be asked: {trouble}"));
    }
    if !list.price_known {
        page.gap();
        page.line(
            "What this model costs is not known: limits in cents are checked after answers that tell their cost, those in tokens before each question.",
        );
        page.line("`models.input_price_cents` and `models.output_price_cents` say it.");
    }
}
