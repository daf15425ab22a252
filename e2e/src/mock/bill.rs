//! What an answer costs, counted from bytes so that it is never zero and always the same; and the provider's prefix cache. No IO.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::ask::Block;

/// Bytes that make a token.
const TOKEN_BYTES: u64 = 4;
/// How far Anthropic looks back from a mark for a prefix that it knows.
const LOOKBACK: usize = 20;
/// Prefixes that are remembered; then all are forgotten at once.
const PREFIXES: usize = 200_000;

/// What tokens cost, in dollars.
const INPUT: f64 = 3e-6;
const CACHE_READ: f64 = 0.3e-6;
const CACHE_WRITE: f64 = 3.75e-6;
const OUTPUT: f64 = 15e-6;

/// A bill.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bill {
    /// Of the request, those in the cache included.
    pub prompt: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Written to the cache.
    pub written: u64,
    /// Of the reply.
    pub completion: u64,
    /// Of the reply, those that were thoughts.
    pub reasoning: u64,
    /// Dollars.
    pub cost: f64,
}

impl Bill {
    /// What these tokens cost.
    #[must_use]
    pub fn price(&self) -> f64 {
        let tokens = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        tokens(self.prompt.saturating_sub(self.cached).saturating_sub(self.written)) * INPUT
            + tokens(self.cached) * CACHE_READ
            + tokens(self.written) * CACHE_WRITE
            + tokens(self.completion) * OUTPUT
    }
}

/// The tokens of a text.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX).div_ceil(TOKEN_BYTES)
}

/// The prefixes that earlier requests left in the provider's cache.
#[derive(Debug, Default)]
pub struct Cache(HashSet<u64>);

/// What a request read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached {
    /// Tokens of the whole request.
    pub prompt: u64,
    /// Tokens of the longest known prefix.
    pub read: u64,
    /// Tokens that were written after it.
    pub written: u64,
}

impl Cache {
    /// Looks the request up and remembers it. With marks, as Anthropic does: prefixes are written at marks only, found at most
    /// 20 blocks before one, and writing is billed. Without, as the others do: every prefix, for nothing.
    pub fn request(&mut self, blocks: &[Block]) -> Cached {
        if self.0.len() > PREFIXES {
            self.0.clear();
        }
        let prefixes = prefixes(blocks);
        let marks: Vec<usize> = blocks.iter().enumerate().filter(|(_, block)| block.marked).map(|(index, _)| index).collect();
        let reachable = |index: usize| marks.is_empty() || marks.iter().any(|mark| index <= *mark && mark - index <= LOOKBACK);
        let known = prefixes.iter().enumerate().rfind(|(index, prefix)| reachable(*index) && self.0.contains(&prefix.hash));
        let read = known.map_or(0, |(_, prefix)| prefix.tokens);
        let end = marks.last().and_then(|mark| prefixes.get(*mark)).map_or(0, |prefix| prefix.tokens);
        let left = prefixes.iter().enumerate().filter(|(index, _)| marks.is_empty() || marks.contains(index));
        self.0.extend(left.map(|(_, prefix)| prefix.hash));
        Cached { prompt: prefixes.last().map_or(0, |prefix| prefix.tokens), read, written: end.saturating_sub(read) }
    }
}

struct Prefix {
    hash: u64,
    tokens: u64,
}

fn prefixes(blocks: &[Block]) -> Vec<Prefix> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let add = |before: &mut (u64, u64), block: &Block| {
        *before = (hasher.hash_one((before.0, &block.text)), before.1.saturating_add(tokens(&block.text)));
        Some(Prefix { hash: before.0, tokens: before.1 })
    };
    blocks.iter().scan((0, 0), add).collect()
}

#[cfg(test)]
mod tests;
