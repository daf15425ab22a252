//! Where prompt-cache marks go. Pure, and a matter of positions only: the agent cannot break caching.
//!
//! Anthropic looks back at most 20 blocks from a mark for a prefix that an earlier request wrote. Marks therefore stand at the
//! end of the history and at two anchors whose place is a multiple of a stride counted from the start: an anchor never moves
//! while the log grows, so what one request wrote the next one finds.

use serde::Serialize;

use super::history::Message;
use super::{Content, Part};

/// The most marks in a request, counted on the wire: one for the system message, two anchors, one for the end.
pub const MARKS: usize = 4;

/// Blocks between anchors. Below Anthropic's 20, since an anchor moves back to the nearest message that can carry it.
const STRIDE: usize = 15;

/// Anthropic's `cache_control`, with its default life of five minutes.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Mark {
    Ephemeral,
}

impl Mark {
    pub(super) const EPHEMERAL: Self = Self::Ephemeral;
}

/// Marks the end of `messages` and up to two anchors before it.
pub(super) fn mark(messages: &mut [Message<'_>]) {
    let slots: Vec<Slot> = messages.iter().map(|message| Slot { blocks: message.blocks(), carries: message.carrier().is_some() }).collect();
    for index in places(&slots) {
        if let Some(cache_control) = messages.get_mut(index).and_then(Message::carrier_mut) {
            *cache_control = Some(Mark::EPHEMERAL);
        }
    }
}

/// What placing marks needs to know of a message.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// How many of the provider's blocks it becomes.
    blocks: usize,
    /// Whether it has a text that a mark can stand on.
    carries: bool,
}

/// The messages to mark: the last that carries one, and the last at or before each of the two highest anchors below it.
fn places(slots: &[Slot]) -> Vec<usize> {
    let ends: Vec<usize> = slots
        .iter()
        .scan(0, |end: &mut usize, slot| {
            *end = end.saturating_add(slot.blocks);
            Some(*end)
        })
        .collect();
    let last_by = |bound: usize| slots.iter().zip(&ends).rposition(|(slot, end)| slot.carries && *end <= bound);
    let Some(last) = last_by(usize::MAX) else { return Vec::new() };
    let top = ends.get(last).map_or(0, |end| end.saturating_sub(1) / STRIDE);
    let anchors = [top.saturating_sub(1), top].into_iter().filter(|anchor| *anchor > 0).filter_map(|anchor| last_by(anchor * STRIDE));
    let mut places: Vec<usize> = anchors.chain([last]).collect();
    places.dedup();
    places
}

impl<'a> Message<'a> {
    /// The message's last text, if a mark may stand on it. Assistant messages carry none: thinking and calls cannot, and the
    /// tool results behind them can.
    fn carrier(&self) -> Option<&Part<'a>> {
        match self {
            Self::User { content: Content::Parts(parts) } | Self::Tool { content: Content::Parts(parts), .. } => {
                parts.iter().rev().find(|part| matches!(part, Part::Text { .. }))
            }
            _ => None,
        }
    }

    fn carrier_mut(&mut self) -> Option<&mut Option<Mark>> {
        match self {
            Self::User { content: Content::Parts(parts) } | Self::Tool { content: Content::Parts(parts), .. } => {
                parts.iter_mut().rev().find_map(|part| match part {
                    Part::Text { cache_control, .. } => Some(cache_control),
                    Part::ImageUrl { .. } => None,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
