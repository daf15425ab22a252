//! What Thetis decides, without doing anything: the events of a log and the fold over them, what a model request may hold,
//! which calls run together, how an interrupted turn goes on, what a long history is cut down to, and what modes, budgets and
//! bounds allow. No IO, no clock, no randomness; also compiles to wasm, because the agent's SDK uses it.

pub mod barrier;
pub mod budget;
pub mod compaction;
pub mod event;
pub mod fold;
pub mod id;
pub mod input;
pub mod key;
pub mod outcome;
pub mod outline;
pub mod output;
pub mod policy;
pub mod projection;
pub mod repair;
pub mod settings;
pub mod title;
pub mod tool;
pub mod usage;

#[cfg(test)]
mod sample;
