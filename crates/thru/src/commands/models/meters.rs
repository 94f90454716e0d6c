//! The rows of `thru status` about models.

use thru_app::models::meters::{Meters, Spending};

use crate::ui::{Tone, count, plural};

/// The meters as rows of a page.
pub(crate) fn rows(meters: &Meters) -> Vec<(&'static str, Option<Tone>, String)> {
    let model = meters.model.as_ref().map_or_else(String::new, |model| format!(" {model}"));
    let asked = match meters.provider.as_str() {
        "none" => "none is asked".to_owned(),
        provider => format!("{provider}{model}"),
    };
    let waits = match meters.waiting {
        0 => String::new(),
        number => format!(", {} waiting", plural(number, "question")),
    };
    let given_up = match meters.given_up {
        0 => String::new(),
        number => format!(", {number} given up (`thru jobs`)"),
    };
    let spent = format!("today {}; this month {}", used(&meters.today), used(&meters.month));
    let mut rows = vec![("models", None, format!("{asked}{waits}{given_up}")), ("", None, spent)];
    if let Some((limit, until)) = meters.exhausted.zip(meters.exhausted_until) {
        let until = until.strftime("%Y-%m-%d %H:%M UTC");
        let text = format!("{limit} are spent: memories are made without a model until {until}");
        rows.push(("", Some(Tone::Bad), text));
    }
    rows
}

/// `12,300 of 500,000 tokens, $0.04 of $1.00`
fn used(spent: &Spending) -> String {
    let limit = spent.limit_cents as f64 / 100.0;
    let money = spent.cost.map_or_else(String::new, |cost| format!(", {cost} of ${limit:.2}"));
    format!("{} of {} tokens{money}", count(spent.tokens), count(spent.limit_tokens))
}
