//! `thru models list`.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;

use crate::commands::Outcome;
use crate::environment::Environment;
use crate::ui::{Page, Tone, printable};
use thru_app::models::{KNOWN, Known, Models};

/// A provider as it is shown.
struct Row {
    known: Known,
    model: String,
    key: String,
    role: Option<&'static str>,
}

pub(super) fn run(environment: &Environment, plain: bool, json: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let rows: Vec<Row> = KNOWN.into_iter().map(|known| row(known, environment)).collect();
    let models = Models::of(environment);
    let no_price = matches!(&models, Ok(Some(models)) if models.chain().has_no_price());
    let trouble = models.err().map(|error| format!("{error:#}"));
    if json {
        let providers: Vec<Value> = rows.iter().map(|row| as_json(row, environment)).collect();
        page.json(&json!({
            "version": 1,
            "kind": "models",
            "provider": environment.config.models.provider(),
            "fallback": environment.config.models.fallback(),
            "trouble": trouble,
            "price_known": !no_price,
            "providers": providers,
        }))?;
    } else {
        show(&mut page, &rows, environment);
        if let Some(trouble) = &trouble {
            page.gap();
            page.line(
                page.paint(Tone::Bad, &format!("It cannot be asked: {}", printable(trouble))),
            );
        }
        if no_price {
            page.gap();
            page.line("What this model costs is not known: limits in cents hold for nothing, those in tokens do.");
            page.line("`models.input_price_cents` and `models.output_price_cents` say it.");
        }
    }
    page.print()?;
    Ok(if trouble.is_some() { Outcome::Wrong } else { Outcome::Done })
}

fn row(known: Known, environment: &App) -> Row {
    let models = &environment.config.models;
    let is_set = models.provider() == Some(known.name);
    let is_fallback = models.fallback() == Some(known.name);
    let key = match known.wants_key(environment) {
        false => "none needed".to_owned(),
        true => match known.key_source(environment) {
            Ok(Some(source)) => source.to_string(),
            Ok(None) => "missing".to_owned(),
            Err(error) => format!("{error:#}"),
        },
    };
    let model = match (is_set, is_fallback) {
        (true, _) => models.model.as_deref().or(known.model),
        (_, true) => models.fallback_model.as_deref().or(known.model),
        _ => known.model,
    };
    let role = match (is_set, is_fallback) {
        (true, _) => Some("set"),
        (_, true) => Some("fallback"),
        _ => None,
    };
    Row { known, model: model.unwrap_or("-").to_owned(), key, role }
}

fn show(page: &mut Page, rows: &[Row], environment: &App) {
    let heading = format!("{:2}{:11}  {:22}  {:24}  WHAT", "", "PROVIDER", "MODEL", "KEY");
    page.line(page.paint(Tone::Quiet, &heading));
    for row in rows {
        let mark = match row.role {
            Some("set") => "* ",
            Some(_) => "+ ",
            None => "  ",
        };
        page.line(format!(
            "{mark}{:11}  {:22}  {:24}  {}",
            row.known.name,
            printable(&row.model),
            printable(&row.key),
            row.known.about
        ));
    }
    page.gap();
    match environment.config.models.provider() {
        None => page.line("None is set: memories are made without a model, and nothing is sent anywhere."),
        Some(_) => page.line("* is asked; + is asked where * does not answer; then memories stay as made without a model."),
    }
}

fn as_json(row: &Row, environment: &Environment) -> Value {
    json!({
        "name": row.known.name,
        "model": row.model,
        "key": row.key,
        "local": row.known.is_local(environment, None),
        "role": row.role,
    })
}
