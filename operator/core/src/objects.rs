//! The objects of one namespace, whoever holds them.

use std::collections::BTreeMap;
use std::fmt;

use thetis_core::key::Key;
use thetis_core::settings::AspectKind;
use thetis_crds::{Aspect, Conversation, Mode, Model, Skill};

use crate::problem::{Kind, What};

/// The objects of one namespace. Names are unique within a kind; whoever fills it sees to that.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Conversations.
    pub conversations: Vec<Conversation>,
    /// Modes.
    pub modes: Vec<Mode>,
    /// Skills.
    pub skills: Vec<Skill>,
    /// Models.
    pub models: Vec<Model>,
    /// Aspects.
    pub aspects: Vec<Aspect>,
    /// What Secrets and `ConfigMaps` hold.
    pub data: Data,
}

/// What the Secrets and `ConfigMaps` of a namespace hold, as far as anything refers to them.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// By name of the Secret and key.
    pub secrets: Secrets,
    /// By name of the ConfigMap and key.
    pub config_maps: BTreeMap<String, BTreeMap<String, String>>,
    /// For models of openrouter.ai that name no key.
    pub openrouter_key: Option<Key>,
}

/// What Secrets hold, by name and key. Its `Debug` shows no value.
#[derive(Clone, Default)]
pub struct Secrets(pub BTreeMap<String, BTreeMap<String, Vec<u8>>>);

/// The names that a conversation can refer to.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Modes.
    pub modes: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Skills.
    pub skills: Vec<String>,
    /// Aspects and their kinds.
    pub aspects: Vec<(String, AspectKind)>,
}

impl Objects {
    /// The names that a conversation can refer to, whether or not what they name is valid.
    #[must_use]
    pub fn known(&self) -> Known {
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        Known {
            modes: sorted(self.modes.iter().filter_map(|mode| mode.metadata.name.clone()).collect()),
            models: sorted(self.models.iter().filter_map(|model| model.metadata.name.clone()).collect()),
            skills: sorted(self.skills.iter().filter_map(|skill| skill.metadata.name.clone()).collect()),
            aspects: self
                .aspects
                .iter()
                .filter_map(|aspect| Some((aspect.metadata.name.clone()?, crate::aspect::kind(aspect.spec.kind))))
                .collect(),
        }
    }
}

impl Secrets {
    /// The API key that the reference names.
    pub fn key(&self, reference: &thetis_crds::reference::KeyRef) -> Result<Key, What> {
        let value = look_up(Kind::Secret, &self.0, reference)?;
        let text = std::str::from_utf8(value).unwrap_or("\u{fffd}");
        Key::new(text).map_err(|why| What::NotAKey { secret: reference.name.clone(), key: reference.key.clone(), why })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, keys)| (name, keys.keys().collect::<Vec<_>>()))).finish()
    }
}

/// What a reference names in `objects` of that kind.
pub(crate) fn look_up<'a, T>(
    kind: Kind,
    objects: &'a BTreeMap<String, BTreeMap<String, T>>,
    reference: &thetis_crds::reference::KeyRef,
) -> Result<&'a T, What> {
    let keys = objects.get(&reference.name).ok_or_else(|| What::Missing {
        kind,
        name: reference.name.clone(),
        present: objects.keys().cloned().collect(),
    })?;
    keys.get(&reference.key).ok_or_else(|| What::MissingKey {
        kind,
        name: reference.name.clone(),
        key: reference.key.clone(),
        present: keys.keys().cloned().collect(),
    })
}
