//! When to ask a model once more, and after how long. Pure: time left and chance are arguments.

use std::time::Duration;

use crate::step::Error;

/// How often and how patiently a step is tried.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Requests that one step may make; at least one is made.
    pub attempts: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub first_wait: Duration,
    /// Where doubling stops.
    pub longest_wait: Duration,
    /// The longest wait that a provider may ask for; one that asks for more is not asked again.
    pub patience: Duration,
}

impl Default for Policy {
    /// Three retries within about ten seconds: enough for a provider's hiccup, short enough for somebody who watches.
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            patience: Duration::from_mins(1),
        }
    }
}

impl Policy {
    /// How long to wait before the next request, `made` requests having failed, the last with `error`; none to give up.
    ///
    /// `chance` is between 0 and 1 and spreads the waits of many conversations over the upper half of each wait.
    #[must_use]
    pub fn wait(&self, made: u32, error: &Error, left: Duration, chance: f64) -> Option<Duration> {
        if made >= self.attempts || !error.is_transient() {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(made.saturating_sub(1)));
        let backoff = doubled.min(self.longest_wait).mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0));
        let asked = if let Error::RateLimited { after, .. } | Error::Unavailable { after, .. } = error { *after } else { None };
        if asked.is_some_and(|asked| asked > self.patience) {
            return None;
        }
        let wait = asked.map_or(backoff, |asked| asked.max(backoff));
        (wait < left).then_some(wait)
    }
}

#[cfg(test)]
mod tests;
