//! Which tools a mode lets the agent use: asked for the listing, and again for every call, because a model may call what it
//! was never offered. Pure. The refusals are what the model is told.

use std::borrow::Cow;

use crate::settings::Mode;
use crate::tool::Manifest;

#[cfg(test)]
mod tests;

/// Why a call is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No tool of that name.
    #[error("not run: there is no tool named {name:?}")]
    Unknown {
        /// The name, cut to 64 characters.
        name: String,
    },
    /// The mode names the tools it allows, and this is none of them.
    #[error("not run: {name} is not among the tools of this mode")]
    NotInMode {
        /// The tool's name.
        name: String,
    },
    /// The mode is read-only and the tool changes something.
    #[error("not run: {name} changes something, and this mode is read-only")]
    ReadOnly {
        /// The tool's name.
        name: String,
    },
    /// What the model wrote as arguments is not a JSON object.
    #[error("not run: the arguments are not a JSON object ({cause})")]
    Arguments {
        /// What is wrong with them; part of the text because the model has to correct it.
        cause: String,
    },
}

/// Whether the mode lets the agent see and call the tool.
///
/// # Errors
/// Why not.
pub fn admit(mode: &Mode, tool: &Manifest) -> Result<(), Refusal> {
    if mode.tools.as_ref().is_some_and(|allowed| !allowed.contains(&tool.name)) {
        return Err(Refusal::NotInMode { name: tool.name.clone() });
    }
    if mode.read_only && tool.mutating {
        return Err(Refusal::ReadOnly { name: tool.name.clone() });
    }
    Ok(())
}

/// The answer to a call of a tool that does not exist.
#[must_use]
pub fn unknown(name: &str) -> Refusal {
    Refusal::Unknown { name: name.chars().take(64).collect() }
}

/// The arguments as the tool gets them: a JSON object, as the model wrote it. Some models write nothing where they mean none.
///
/// # Errors
/// When they are not JSON, or not an object.
pub fn arguments(written: &str) -> Result<Cow<'_, str>, Refusal> {
    if written.trim().is_empty() {
        return Ok(Cow::Borrowed("{}"));
    }
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(written) {
        Ok(_) => Ok(Cow::Borrowed(written)),
        Err(cause) => Err(Refusal::Arguments { cause: cause.to_string() }),
    }
}
