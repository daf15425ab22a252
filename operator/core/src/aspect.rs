//! Aspect objects.

use thetis_core::settings::{AspectKind, Grants};
use thetis_crds::aspect::{File, Git, Kind as SpecKind, SelfModification};
use thetis_crds::{Aspect, names};

use crate::problem::{Kind, Problem, Problems, What, ranged};

/// An aspect that should run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredAspect {
    /// The object's name.
    pub name: String,
    /// What the component does.
    pub kind: AspectKind,
    /// Where its code comes from.
    pub source: Source,
    /// What it may reach.
    pub grants: Grants,
    /// The revision to run; none means the newest good one.
    pub pin: Option<u32>,
    /// What agents may do to its code.
    pub self_modification: SelfModification,
}

/// Where an aspect's code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A component that comes with the release, by name.
    Builtin(String),
    /// A source tree, its paths checked to stay inside it.
    Inline(Vec<File>),
    /// A source tree in the ConfigMap with this name.
    ConfigMap(String),
    /// A source tree at a commit.
    Git(Git),
}

/// The aspect as the registry takes it.
pub fn aspect(object: &Aspect) -> Result<DeclaredAspect, Vec<Problem>> {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let spec = &object.spec;
    let mut problems = Problems::new(Kind::Aspect, name);
    problems.name_at_most(names::STEM_MAX);
    for (at, host) in spec.grants.egress.iter().enumerate() {
        let path = || format!("spec.grants.egress[{at}]");
        if !is_host(host) {
            problems.add(path(), What::NotAHost(host.clone()));
        }
        if spec.grants.egress.iter().take(at).any(|earlier| earlier == host) {
            problems.add(path(), What::Twice(host.clone()));
        }
    }
    let pin = problems.take("spec.pin", spec.pin.map(|pin| ranged(pin, 1, i32::MAX)).transpose());
    let Ok(source) = source(&spec.source).map_err(|what| problems.add("spec.source", what)) else {
        return Err(problems.into_found());
    };
    problems.finish(DeclaredAspect {
        name: name.to_owned(),
        kind: kind(spec.kind),
        source,
        grants: Grants { notes: spec.grants.notes, egress: spec.grants.egress.clone() },
        pin,
        self_modification: spec.self_modification,
    })
}

/// The kind, in the runtime's words.
#[must_use]
pub const fn kind(kind: SpecKind) -> AspectKind {
    match kind {
        SpecKind::Agent => AspectKind::Agent,
        SpecKind::Gateway => AspectKind::Gateway,
        SpecKind::Tool => AspectKind::Tool,
    }
}

fn source(source: &thetis_crds::aspect::Source) -> Result<Source, What> {
    match (&source.builtin, &source.inline, &source.config_map, &source.git) {
        (Some(builtin), None, None, None) => Ok(Source::Builtin(builtin.name.clone())),
        (None, Some(inline), None, None) => Ok(Source::Inline(inline.files.clone())),
        (None, None, Some(map), None) => Ok(Source::ConfigMap(map.name.clone())),
        (None, None, None, Some(git)) => Ok(Source::Git(git.clone())),
        _ => Err(What::NotOne(&["builtin", "inline", "configMap", "git"])),
    }
}

/// A host name of labels, perhaps with `*.` before it and a port after it.
fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253
        && host.strip_prefix("*.").unwrap_or(host).split('.').all(label)
        && port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests;
