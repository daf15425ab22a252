//! What Thetis decides, without doing anything: events and the fold over them, the tool barrier, repair of an interrupted
//! turn, what a model request may hold, titles, usage and cost, policy. No IO, no clock, no randomness; also compiles to
//! wasm, because the agent's SDK uses it.

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
