//! What comes back from a model: pieces while it speaks, and the whole at the end. Pure data.

use serde_json::Value;
use thetis_core::event::{Finish, ToolCall};
use thetis_core::usage::Usage;

/// A piece of a reply, shown to whoever watches and never stored. The text is the model's: hostile, show it as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of what the model says.
    Text(&'a str),
    /// More of what it thinks, where the provider shows it.
    Reasoning(&'a str),
    /// It began to ask for a tool; the arguments come with the whole reply.
    Call(&'a str),
    /// Forget every piece so far: the stream broke and the model starts over.
    Restart,
}

/// A whole reply, in the words of the log. Its total size is bounded by [`crate::wire::REPLY_BYTES`].
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the model said; may be empty.
    pub text: String,
    /// A JSON object of what has to go back unchanged with this message: `reasoning_details`, `reasoning_content` or
    /// `reasoning`, as the provider named it; and `model`, the wire id of the one model that takes it back.
    pub reasoning: Option<Value>,
    /// The calls it asks for, at most [`crate::wire::CALLS`], in order; their ids are unique and not empty.
    pub calls: Vec<ToolCall>,
    /// Why it ended. [`Finish::Calls`] exactly when there are calls; never [`Finish::Cut`], which is the caller's word.
    pub finish: Finish,
    /// One step. All zero but `steps` where the provider said nothing.
    pub usage: Usage,
}
