//! Tools: from what the author declares to what the world `tool-aspect` exports.

use serde::de::DeserializeOwned;

use crate::schema::Schema;
pub use bindings::thetis::grip::types::Replay;

#[expect(clippy::pedantic, missing_docs, reason = "generated")]
pub mod bindings {
    //! The world `tool-aspect`, as `wit-bindgen` writes it.
    wit_bindgen::generate!({
        path: "../../wit",
        world: "tool-aspect",
        pub_export_macro: true,
        export_macro_name: "export_tool",
        default_bindings_module: "thetis_sdk::tool::bindings",
    });
}

/// The conversation's notes; only where the Aspect grants them.
pub mod notes {
    pub use super::bindings::thetis::grip::notes::{Error, get, keys, put};

    /// What to tell the model about an error.
    #[must_use]
    pub fn explain(error: Error) -> String {
        match error {
            Error::Refused(why) => why,
            Error::Unavailable => "The notes cannot be reached just now; nothing was changed. Try again later.".to_owned(),
        }
    }
}

/// A tool. `thetis_sdk::export_tool!(TheType);` makes the component out of it.
pub trait Tool {
    /// What the model has to send; declare it with [`arguments!`](crate::arguments).
    type Arguments: DeserializeOwned + Schema;

    /// What the host and the model have to know of the tool.
    const FACTS: Facts;

    /// Does the work. Either text is shown to the model; an error is marked as a failure, so say what would succeed.
    fn call(arguments: Self::Arguments, call: &Call) -> Result<String, String>;
}

/// What the host and the model have to know of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What the model calls it by: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: &'static str,
    /// What it does and when to use it, for the model.
    pub description: &'static str,
    /// Changes something outside the conversation; read-only modes withhold it.
    pub mutating: bool,
    /// May run beside its neighbours in the same message.
    pub parallel: bool,
    /// What happens to a call that a dead process left without a result.
    pub replay: Replay,
}

impl Facts {
    /// A tool that changes nothing: runs beside others and is run again after a crash.
    #[must_use]
    pub const fn pure(name: &'static str, description: &'static str) -> Self {
        Self { name, description, mutating: false, parallel: true, replay: Replay::Safe }
    }

    /// A tool that changes something: runs alone, and after a crash the model is told that it may or may not have happened.
    #[must_use]
    pub const fn mutating(name: &'static str, description: &'static str) -> Self {
        Self { name, description, mutating: true, parallel: false, replay: Replay::Unsafe }
    }
}

/// What a call brings beside its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// The same for every run of this call, also after a crash: hand it to whatever you change outside.
    pub idempotency_key: String,
}

impl<T: Tool> bindings::exports::thetis::grip::tool::Guest for T {
    fn describe() -> bindings::exports::thetis::grip::tool::Manifest {
        let Facts { name, description, mutating, parallel, replay } = T::FACTS;
        bindings::exports::thetis::grip::tool::Manifest {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: T::Arguments::schema(""),
            mutating,
            parallel,
            replay,
        }
    }

    fn run(call: bindings::exports::thetis::grip::tool::Call) -> Result<String, String> {
        let bindings::exports::thetis::grip::tool::Call { arguments, idempotency_key } = call;
        T::call(parse(&arguments)?, &Call { idempotency_key })
    }
}

/// The arguments, or what the model has to change about them.
fn parse<A: DeserializeOwned + Schema>(arguments: &str) -> Result<A, String> {
    // Several models send nothing at all where no argument is required.
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let refuse = |error: &dyn std::fmt::Display| {
        format!("The arguments do not fit: {error}. They have to match this JSON Schema: {}", A::schema(""))
    };
    // serde would also take a list, as the fields in their order.
    if !arguments.trim_start().starts_with('{') {
        return Err(refuse(&"not a JSON object"));
    }
    serde_json::from_str(arguments).map_err(|error| refuse(&error))
}

#[cfg(test)]
mod tests;
