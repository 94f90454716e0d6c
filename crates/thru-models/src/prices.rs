//! Prices of models and costs of answers.

use std::collections::BTreeMap;

use thru_core::Micros;

use crate::provider::Provider;
use crate::request::{Reply, Usage};

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
    pub fn cost(self, usage: Usage) -> Micros {
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
        Some(self.price(model)?.cost(usage))
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
}
