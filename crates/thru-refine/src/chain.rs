//! The order of providers: the user's choice, then a local one if the user named one.

use thru_core::{Micros, Spent};
use thru_models::{Prices, Provider, Reply, Request, Usage};

/// Upper bound of the tokens that the `claude` program sends beside the question.
const CLIENT: u64 = 4_000;

/// One provider, by its name in the settings.
pub struct ChainLink {
    /// The name in the settings.
    pub name: String,
    /// The provider itself.
    pub provider: Box<dyn Provider>,
}

/// Providers in the order in which they are asked, and their prices.
pub struct Chain {
    /// The providers.
    pub links: Vec<ChainLink>,
    /// Their prices.
    pub prices: Prices,
}

impl Chain {
    /// Returns the most that a question may cost at a provider.
    pub fn most(&self, link: &ChainLink, request: &Request) -> Spent {
        let input = request.prompt.len() + request.system.len();
        let schema = request.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        // Two bytes to a token: no human or machine text averages fewer. The program adds a prompt of
        // its own.
        let own = if link.provider.name() == "claude-cli" { CLIENT } else { 0 };
        let usage = Usage {
            input: own + (input + schema).div_ceil(2) as u64,
            output: u64::from(request.max_output_tokens),
            cached_input: 0,
            estimated: true,
        };
        self.spent(link, usage, None)
    }

    /// Returns the actual cost of an answer.
    pub fn paid(&self, link: &ChainLink, reply: &Reply) -> Spent {
        let cost = self.prices.cost_of(link.provider.as_ref(), reply);
        Spent { input: reply.usage.input, output: reply.usage.output, cost }
    }

    /// Returns the cost of a question without an answer.
    pub fn lost(&self, link: &ChainLink, usage: Option<Usage>) -> Spent {
        usage.map_or_else(Spent::default, |usage| self.spent(link, usage, None))
    }

    fn spent(&self, link: &ChainLink, usage: Usage, told: Option<Micros>) -> Spent {
        let cost = match link.provider.is_local() {
            true => Some(Micros(0)),
            false => told.or_else(|| self.prices.cost(link.provider.model(), usage)),
        };
        Spent { input: usage.input, output: usage.output, cost }
    }

    /// Returns true if the price of the first provider is unknown.
    pub fn has_no_price(&self) -> bool {
        self.links.first().is_some_and(|link| {
            !link.provider.is_local() && self.prices.price(link.provider.model()).is_none()
        })
    }
}
