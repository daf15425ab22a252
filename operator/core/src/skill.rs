//! Skill objects.

use thetis_core::settings;
use thetis_crds::Skill;

use crate::objects::{Data, look_up};
use crate::problem::{Kind, Problem, Problems, What};

/// The longest instructions that a ConfigMap may hold, in bytes: what the schema allows inline, in four-byte characters.
pub const INSTRUCTIONS_BYTES: usize = 512 << 10;

/// The skill as turns use it.
pub fn skill(object: &Skill, data: &Data) -> Result<settings::Skill, Vec<Problem>> {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let mut problems = Problems::new(Kind::Skill, name);
    let (path, text) = match (&object.spec.instructions, &object.spec.instructions_from) {
        (Some(text), None) => ("spec.instructions", Ok(text.clone())),
        (None, Some(from)) => {
            ("spec.instructionsFrom.configMapKeyRef", look_up(Kind::ConfigMap, &data.config_maps, &from.config_map_key_ref).cloned())
        }
        (None, None) | (Some(_), Some(_)) => ("spec", Err(What::NotOne(&["instructions", "instructionsFrom"]))),
    };
    let instructions = problems.take(path, text.and_then(checked));
    problems.finish(settings::Skill {
        title: object.spec.title.clone().unwrap_or_else(|| name.to_owned()),
        description: object.spec.description.clone(),
        instructions,
    })
}

fn checked(text: String) -> Result<String, What> {
    if text.trim().is_empty() {
        return Err(What::Blank);
    }
    if text.len() > INSTRUCTIONS_BYTES {
        return Err(What::TooLong { bytes: text.len(), most: INSTRUCTIONS_BYTES });
    }
    Ok(text)
}
