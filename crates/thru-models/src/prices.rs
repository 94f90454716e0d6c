//! Prices of models and costs of answers.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::provider::Provider;
use crate::request::{Reply, Usage};

/// Millionths of a US dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Micros(pub u64);

impl Micros {
    /// Converts dollars; `None` for anything that is no amount of money.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast keeps to the range of the type, and nothing is negative"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars.max(0.0) * 1e6).round() as u64)
    }
}

impl fmt::Display for Micros {
    /// Formats dollars: two digits from one cent up, else as many as it takes to show something.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if self.0 == 0 || self.0 >= 10_000 {
            let cents = (self.0 + 5_000) / 10_000;
            write!(formatter, "${}.{:02}", cents / 100, cents % 100)
        } else {
            let digits = format!("{rest:06}");
            write!(formatter, "${dollars}.{}", digits.trim_end_matches('0'))
        }
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self(0), Add::add)
    }
}

/// The price of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Of input.
    pub input: Micros,
    /// Of output.
    pub output: Micros,
    /// Of cached input.
    pub cached_input: Micros,
}

impl Price {
    /// Creates a price in dollars for a million tokens; cached input costs a tenth.
    pub const fn dollars(input: u64, output: u64) -> Self {
        Self {
            input: Micros(input * 1_000_000),
            output: Micros(output * 1_000_000),
            cached_input: Micros(input * 100_000),
        }
    }

    /// Returns the cost of these tokens, rounded up.
    pub fn of(self, usage: Usage) -> Micros {
        let cached = usage.cached_input.min(usage.input);
        let parts = [
            (usage.input - cached, self.input),
            (cached, self.cached_input),
            (usage.output, self.output),
        ];
        let total: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(price.0)).sum();
        Micros(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// The list prices of August 2026, by prefixes of model names.
const KNOWN: [(&str, Price); 4] = [
    ("claude-fable-5", Price::dollars(10, 50)),
    ("claude-opus-5", Price::dollars(5, 25)),
    ("claude-sonnet-5", Price::dollars(2, 10)),
    ("claude-haiku-4-5", Price::dollars(1, 5)),
];

/// The `claude` program's aliases of the newest models.
const ALIASES: [(&str, &str); 4] = [
    ("fable", "claude-fable-5"),
    ("opus", "claude-opus-5"),
    ("sonnet", "claude-sonnet-5"),
    ("haiku", "claude-haiku-4-5"),
];

/// Prices of models: the known ones, and the user's own, which take precedence.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// Combines the known prices with these, by names of models.
    pub fn new(own: impl IntoIterator<Item = (String, Price)>) -> Self {
        Self { own: own.into_iter().collect() }
    }

    /// Returns the price of a model, if it is known.
    pub fn price(&self, model: &str) -> Option<Price> {
        // Routers put the vendor's name before a model's.
        let bare = model.rsplit('/').next().unwrap_or(model);
        let own = self.own.get(model).or_else(|| self.own.get(bare));
        own.copied().or_else(|| {
            let name =
                ALIASES.iter().find(|(alias, _)| *alias == bare).map_or(bare, |(_, name)| name);
            // A name may continue with a date; with another version it is another model.
            let is_model = |known: &str| {
                name.strip_prefix(known).is_some_and(|rest| {
                    rest.is_empty()
                        || rest.strip_prefix(['-', '@']).is_some_and(|date| date.len() >= 6)
                })
            };
            KNOWN.iter().find(|(known, _)| is_model(known)).map(|(_, price)| *price)
        })
    }

    /// Returns the cost of these tokens, if the model's price is known.
    pub fn cost(&self, model: &str, usage: Usage) -> Option<Micros> {
        Some(self.price(model)?.of(usage))
    }

    /// Returns the cost of an answer: the provider's own figure, zero for a local model, else by the
    /// price.
    pub fn cost_of(&self, provider: &dyn Provider, reply: &Reply) -> Option<Micros> {
        if provider.is_local() {
            return Some(Micros(0));
        }
        reply
            .cost
            .or_else(|| self.cost(&reply.model, reply.usage))
            .or_else(|| self.cost(provider.model(), reply.usage))
    }
}

/// Returns the cost of these tokens by the known prices.
pub fn cost(model: &str, usage: Usage) -> Option<Micros> {
    Prices::default().cost(model, usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage { input: 2_000, output: 300, cached_input: 1_000, estimated: false };

    #[test]
    fn what_is_known_has_its_price() {
        // 1,000 × 1 $ + 1,000 × 0.1 $ + 300 × 5 $, by the million.
        for model in
            ["claude-haiku-4-5", "claude-haiku-4-5-20251001", "haiku", "anthropic/claude-haiku-4-5"]
        {
            assert_eq!(cost(model, USAGE), Some(Micros(2_600)), "{model}");
        }
        for model in ["", "gpt-5", "claude-opus-5-1", "claude-haiku-4-55", "llama3.2:3b"] {
            assert_eq!(cost(model, USAGE), None, "{model}");
        }
        let own = Prices::new([
            ("gpt-5".to_owned(), Price::dollars(10, 10)),
            ("haiku".to_owned(), Price::dollars(0, 0)),
        ]);
        assert_eq!(own.cost("openai/gpt-5", USAGE), Some(Micros(14_000)));
        assert_eq!(own.cost("haiku", USAGE), Some(Micros(0)));
        let most = Usage { input: u64::MAX, output: u64::MAX, ..USAGE };
        assert_eq!(cost("opus", most), Some(Micros(u64::MAX)));
        assert_eq!(cost("haiku", Usage { input: 1, ..Usage::default() }), Some(Micros(1)));
    }

    #[test]
    fn money_is_shown_in_dollars() {
        for (micros, shown) in [
            (0, "$0.00"),
            (26, "$0.000026"),
            (2_600, "$0.0026"),
            (10_000, "$0.01"),
            (15_000, "$0.02"),
            (1_234_567, "$1.23"),
            (999_999, "$1.00"),
        ] {
            assert_eq!(Micros(micros).to_string(), shown);
        }
        assert_eq!(Micros::from_dollars(0.012_345_6), Micros(12_346));
        assert_eq!(Micros::from_dollars(-1.0), Micros(0));
        assert_eq!(Micros::from_dollars(f64::NAN), Micros(0));
    }
}
