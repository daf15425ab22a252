//! Tokens and what they cost. Sums saturate: a provider's nonsense must not panic.

use serde::{Deserialize, Serialize};

use crate::settings::Prices;

#[cfg(test)]
mod tests;

/// Picodollars: a millionth of a millionth of a US dollar. A `u64` holds 18 million dollars of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u64);

/// What model steps used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Model requests.
    pub steps: u32,
    /// Tokens of the requests that no cache held.
    pub input: u64,
    /// Tokens of the requests that the provider's cache held.
    pub cache_read: u64,
    /// Tokens of the requests that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of the replies, reasoning included.
    pub output: u64,
    /// What the provider says it cost, else what the model's prices make of it.
    pub cost: Cost,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            cost: Cost(self.cost.0.saturating_add(other.cost.0)),
        }
    }

    /// What these tokens cost at `prices`.
    #[must_use]
    pub const fn priced(&self, prices: &Prices) -> Cost {
        Cost(
            self.input
                .saturating_mul(prices.input)
                .saturating_add(self.cache_read.saturating_mul(prices.cache_read))
                .saturating_add(self.cache_write.saturating_mul(prices.cache_write))
                .saturating_add(self.output.saturating_mul(prices.output)),
        )
    }
}

impl std::fmt::Display for Cost {
    /// Dollars, to a hundredth of a cent: `$0.0106`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const TEN_THOUSANDTH: u64 = 100_000_000;
        let ten_thousandths = (self.0 / TEN_THOUSANDTH).saturating_add(u64::from(self.0 % TEN_THOUSANDTH >= TEN_THOUSANDTH / 2));
        write!(f, "${}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000)
    }
}
