//! The tool `recall`: reads the notes of the conversation.

use thetis_sdk::tool::{Call, Facts, Tool, notes};

#[cfg(test)]
mod tests;

thetis_sdk::arguments! {
    /// What to recall.
    struct Arguments {
        /// The key it was remembered under; without one, all keys are listed.
        key: Option<String>,
    }
}

struct Recall;

thetis_sdk::export_tool!(Recall);

impl Tool for Recall {
    type Arguments = Arguments;
    const FACTS: Facts = Facts::pure("recall", "Reads a note that remember kept, or lists the keys of all of them.");

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        let Some(key) = arguments.key else {
            return Ok(list(&notes::keys().map_err(notes::explain)?));
        };
        match notes::get(&key).map_err(notes::explain)? {
            Some(content) => Ok(content),
            None => Err(format!("Nothing is remembered under {key:?}. {}", list(&notes::keys().map_err(notes::explain)?))),
        }
    }
}

fn list(keys: &[String]) -> String {
    if keys.is_empty() {
        return "There are no notes.".to_owned();
    }
    let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
    format!("There are notes under: {}.", keys.join(", "))
}
