//! Whom to ask: the provider of the user's choice, then one on this machine if the user named one.

use thru_core::{Micros, Spent};
use thru_models::{Prices, Provider, Reply, Request, Usage};

/// Tokens that the `claude` program sends beside the question, at most.
const CLIENT: u64 = 4_000;

/// One provider, by the name that settings have for it.
pub struct Link {
    /// What settings call it.
    pub name: String,
    /// How it is asked.
    pub provider: Box<dyn Provider>,
}

/// Providers in the order in which they are asked, and what they cost.
pub struct Chain {
    /// The providers.
    pub links: Vec<Link>,
    /// What they cost.
    pub prices: Prices,
}

impl Chain {
    /// The most that a question may cost at a provider.
    pub fn most(&self, link: &Link, request: &Request) -> Spent {
        let input = request.prompt.len() + request.system.len();
        let schema = request.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        // Two bytes to a token: no text that people or programs write has shorter ones on the average. The
        // program sends something of its own.
        let own = if link.provider.name() == "claude-cli" { CLIENT } else { 0 };
        let usage = Usage {
            input: own + (input + schema).div_ceil(2) as u64,
            output: u64::from(request.max_output_tokens),
            cached_input: 0,
            estimated: true,
        };
        self.spent(link, usage, None)
    }

    /// What an answer really cost.
    pub fn paid(&self, link: &Link, reply: &Reply) -> Spent {
        let cost = self.prices.cost_of(link.provider.as_ref(), reply);
        Spent { input: reply.usage.input, output: reply.usage.output, cost: cost.map(micros) }
    }

    /// What was spent in vain.
    pub fn lost(&self, link: &Link, usage: Option<Usage>) -> Spent {
        usage.map_or_else(Spent::default, |usage| self.spent(link, usage, None))
    }

    fn spent(&self, link: &Link, usage: Usage, told: Option<Micros>) -> Spent {
        let cost = match link.provider.is_local() {
            true => Some(Micros(0)),
            false => told.or_else(|| self.prices.cost(link.provider.model(), usage).map(micros)),
        };
        Spent { input: usage.input, output: usage.output, cost }
    }

    /// Whether nobody knows what the first of them costs.
    pub fn has_no_price(&self) -> bool {
        self.links.first().is_some_and(|link| {
            !link.provider.is_local() && self.prices.price(link.provider.model()).is_none()
        })
    }
}

fn micros(cost: thru_models::Micros) -> Micros {
    Micros(cost.0)
}
