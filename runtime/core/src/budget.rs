//! What a turn may still use, asked before each model request. Pure; time is measured where the turn runs.

use crate::settings::Limits;
use crate::usage::{Cost, Usage};

#[cfg(test)]
mod tests;

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsedUp {
    /// The turn's model requests.
    #[error("the turn has made its {0} model requests")]
    Steps(u32),
    /// What the conversation may spend in its life.
    #[error("the conversation has spent {spent} of its {limit}")]
    Spend {
        /// By now.
        spent: Cost,
        /// Allowed.
        limit: Cost,
    },
}

/// Whether one more model request is within the limits, after what the turn and the whole conversation have used. The cost
/// of a request is known only afterwards, so the last one may go over.
///
/// # Errors
/// The budget that is used up.
pub fn check(limits: &Limits, turn: &Usage, conversation: &Usage) -> Result<(), UsedUp> {
    if turn.steps >= limits.steps {
        return Err(UsedUp::Steps(limits.steps));
    }
    match limits.spend.map(Cost) {
        Some(limit) if conversation.cost >= limit => Err(UsedUp::Spend { spent: conversation.cost, limit }),
        _ => Ok(()),
    }
}
