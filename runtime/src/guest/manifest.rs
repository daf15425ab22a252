//! What a tool says of itself, checked: the model and people will read it. No IO.

use thetis_core::outcome::Outcome;
use thetis_core::tool::{Manifest, Replay};

use crate::bindings::exports::thetis::grip::tool;
use crate::bindings::thetis::grip::types;

/// Bounds of the texts, in bytes.
const MAX_NAME_BYTES: usize = 64;
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// A manifest that breaks a rule is a refusal, whose text says which.
pub(super) fn parse(manifest: tool::Manifest) -> Outcome<Manifest> {
    match checked(manifest) {
        Ok(manifest) => Outcome::Answered(manifest),
        Err(rule) => Outcome::Refused(format!("the manifest's {rule}")),
    }
}

fn checked(manifest: tool::Manifest) -> Result<Manifest, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let name = manifest.name;
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(plain) {
        return Err(format!("name has to be 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ -"));
    }
    if manifest.description.is_empty() || manifest.description.len() > MAX_DESCRIPTION_BYTES {
        return Err(format!("description has to have 1 to {MAX_DESCRIPTION_BYTES} bytes"));
    }
    if manifest.input_schema.len() > MAX_SCHEMA_BYTES {
        return Err(format!("input schema has more than {MAX_SCHEMA_BYTES} bytes"));
    }
    let input_schema: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&manifest.input_schema).map_err(|error| format!("input schema is not a JSON object: {error}"))?;
    Ok(Manifest {
        name,
        description: manifest.description,
        input_schema: input_schema.into(),
        mutating: manifest.mutating,
        parallel: manifest.parallel,
        replay: manifest.replay.into(),
    })
}

impl From<types::Replay> for Replay {
    fn from(replay: types::Replay) -> Self {
        match replay {
            types::Replay::Safe => Self::Safe,
            types::Replay::Keyed => Self::Keyed,
            types::Replay::Unsafe => Self::Unsafe,
        }
    }
}
