//! A whole namespace at once: all of it is valid, or every problem is told.

use std::collections::BTreeMap;

use thetis_core::key::Key;
use thetis_core::settings::{Mode, Model, Skill};

use crate::aspect::{DeclaredAspect, aspect};
use crate::conversation::{DeclaredConversation, conversation};
use crate::mode::mode;
use crate::model::model;
use crate::objects::Objects;
use crate::problem::Problem;
use crate::skill::skill;

/// What a namespace's objects come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// What turns run with.
    pub settings: SettingsSet,
    /// What should run, by name.
    pub aspects: Vec<DeclaredAspect>,
    /// Which conversations there should be, by name.
    pub conversations: Vec<DeclaredConversation>,
}

/// A namespace's settings, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsSet {
    /// Modes.
    pub modes: BTreeMap<String, Mode>,
    /// Skills.
    pub skills: BTreeMap<String, Skill>,
    /// Models, each with its key.
    pub models: BTreeMap<String, (Model, Option<Key>)>,
}

/// What the objects come to, or every problem in them.
pub fn resolve(objects: &Objects) -> Result<Resolved, Vec<Problem>> {
    let mut problems = Vec::new();
    let known = objects.known();
    let data = &objects.data;
    let resolved = Resolved {
        settings: SettingsSet {
            modes: named(&mut problems, &objects.modes, |object| object.metadata.name.as_ref(), mode),
            skills: named(&mut problems, &objects.skills, |object| object.metadata.name.as_ref(), |object| skill(object, data)),
            models: named(&mut problems, &objects.models, |object| object.metadata.name.as_ref(), |object| model(object, data)),
        },
        aspects: named(&mut problems, &objects.aspects, |object| object.metadata.name.as_ref(), aspect).into_values().collect(),
        conversations: named(
            &mut problems,
            &objects.conversations,
            |object| object.metadata.name.as_ref(),
            |object| conversation(object, &known),
        )
        .into_values()
        .collect(),
    };
    if problems.is_empty() { Ok(resolved) } else { Err(problems) }
}

/// The objects' values by name; the problems of those that have none go to `problems`.
fn named<O, T>(
    problems: &mut Vec<Problem>,
    objects: &[O],
    name: impl Fn(&O) -> Option<&String>,
    read: impl Fn(&O) -> Result<T, Vec<Problem>>,
) -> BTreeMap<String, T> {
    let mut values = BTreeMap::new();
    for object in objects {
        match read(object) {
            Ok(value) => {
                values.insert(name(object).cloned().unwrap_or_default(), value);
            }
            Err(found) => problems.extend(found),
        }
    }
    values
}

#[cfg(test)]
pub(crate) mod tests;
