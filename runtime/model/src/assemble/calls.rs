//! Tool calls whose id, name and arguments arrive in pieces. Pure.
//!
//! The documented shape is: `index` in every piece, `id` and `name` in the first. Known deviations that this takes: no index,
//! no id, the id in every piece, whole calls that all say index 0, an id that is used twice.

use std::collections::HashSet;

use thetis_core::event::ToolCall;

use super::chunk::{Arguments, CallPiece};
use crate::step::Error;
use crate::wire::CALLS;

/// The longest id that is kept; a longer one is replaced.
const ID_BYTES: usize = 256;

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Partial>);

#[derive(Debug)]
struct Partial {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Adds a piece; `began` hears a call's name once.
    pub(super) fn push(&mut self, piece: CallPiece<'_>, began: impl FnOnce(&str)) -> Result<(), Error> {
        let id = piece.id.unwrap_or_default();
        let (name, arguments) = piece.function.map(|function| (function.name, function.arguments)).unwrap_or_default();
        let name = name.unwrap_or_default();
        let found = self.slot(piece.index, &id, &name);
        let partial = if let Some(partial) = found.and_then(|slot| self.0.get_mut(slot)) {
            partial
        } else {
            if self.0.len() == CALLS {
                return Err(Error::TooLarge { what: "128 tool calls" });
            }
            let index = piece.index.unwrap_or_else(|| self.0.iter().map(|call| call.index).max().map_or(0, |max| max.saturating_add(1)));
            self.0.push_mut(Partial { index, id: String::new(), name: String::new(), arguments: String::new() })
        };
        if partial.id.is_empty() {
            partial.id.push_str(&id);
        }
        if partial.name.is_empty() && !name.is_empty() {
            partial.name.push_str(&name);
            began(&partial.name);
        }
        partial.arguments.push_str(&arguments.map(Arguments::text).unwrap_or_default());
        Ok(())
    }

    /// Where the piece belongs; none where it begins a call.
    fn slot(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let Some(index) = index else {
            return if id.is_empty() { self.0.len().checked_sub(1) } else { self.0.iter().rposition(|call| call.id == id) };
        };
        let slot = self.0.iter().rposition(|call| call.index == index)?;
        let another = |call: &Partial| !id.is_empty() && !name.is_empty() && !call.id.is_empty() && call.id != id;
        if self.0.get(slot).is_some_and(another) { None } else { Some(slot) }
    }

    /// The calls in the order of their index, each with an id of its own.
    pub(super) fn finish(mut self) -> Vec<ToolCall> {
        self.0.sort_by_key(|call| call.index);
        let mut taken = HashSet::new();
        let named = self.0.into_iter().enumerate().map(|(position, call)| {
            let mut id = if (1..=ID_BYTES).contains(&call.id.len()) { call.id } else { format!("call_{position}") };
            while !taken.insert(id.clone()) {
                id.push_str("_again");
            }
            ToolCall { id, name: call.name, arguments: call.arguments }
        });
        named.collect()
    }
}
