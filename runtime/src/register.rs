//! The gate before the registry: a component becomes a revision, and the active one, when it fits its aspect and answers a
//! probe under limits. One that does not leaves everything as it was.

use bytes::Bytes;
use thetis_core::id::Digest;
use thetis_core::outcome::Outcome;
use thetis_core::settings::{AspectKind, Grants};
use thetis_core::tool::Manifest;
use thetis_store::registry::{self, NewRevision};
use tracing::info;

use crate::guest::{Target, Unfit};
use crate::kernel::Kernel;
use crate::limits::Bounds;

/// What is to become an aspect's active revision.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where the aspect is.
    pub namespace: String,
    /// What it is.
    pub kind: AspectKind,
    /// Its name among those of its kind.
    pub name: String,
    /// What it may reach.
    pub grants: Grants,
    /// The component.
    pub component: Bytes,
}

/// Why a component is not activated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a component, of another world, or asking for more than it is granted.
    #[error("{aspect} is not fit to run")]
    Unfit {
        /// For example `tool/fetch`.
        aspect: String,
        /// What is wrong.
        #[source]
        cause: Unfit,
    },
    /// It did not answer its probe, or not well.
    #[error("{aspect} failed its probe: it {outcome}")]
    Probe {
        /// For example `tool/fetch`.
        aspect: String,
        /// How the probe ended; in part the guest's words.
        outcome: String,
    },
    /// Models know tools by name: two of one name cannot be told apart.
    #[error("{aspect} calls its tool {tool:?}, which is the name of the tool of tool/{other}")]
    ToolNameTaken {
        /// For example `tool/fetch`.
        aspect: String,
        /// The tool's name.
        tool: String,
        /// The aspect that has it.
        other: String,
    },
    /// The registry could not be read or written.
    #[error("register {aspect}")]
    Registry {
        /// For example `tool/fetch`.
        aspect: String,
        /// What failed.
        #[source]
        cause: registry::Error,
    },
}

/// Makes the candidate the active revision of its aspect and returns the revision's number. Where the active one is the
/// same already, with the same grants, nothing is probed or written.
pub async fn register(kernel: &Kernel, candidate: Candidate) -> Result<u32, Error> {
    let aspect = format!("{}/{}", candidate.kind.as_str(), candidate.name);
    let failed = |cause| Error::Registry { aspect: aspect.clone(), cause };
    let component = Digest::of(&candidate.component);
    let active = kernel.store.active(&candidate.namespace, candidate.kind, &candidate.name).await.map_err(failed)?;
    if let Some(active) = active.filter(|active| active.component == component && active.grants == candidate.grants) {
        return Ok(active.revision);
    }
    let admitted = kernel.guests.admit(candidate.component.clone(), candidate.kind, &candidate.grants).await;
    admitted.map_err(|cause| Error::Unfit { aspect: aspect.clone(), cause })?;
    let target = Target { component, kind: candidate.kind, grants: &candidate.grants };
    let manifest = probe(kernel, target, &aspect).await?;
    if let Some(manifest) = &manifest {
        let tools = kernel.store.active_tools(&candidate.namespace).await.map_err(failed)?;
        let same = |manifest_of: &Option<Manifest>| manifest_of.as_ref().is_some_and(|other| other.name == manifest.name);
        if let Some(other) = tools.into_iter().find(|other| other.name != candidate.name && same(&other.manifest)) {
            return Err(Error::ToolNameTaken { aspect, tool: manifest.name.clone(), other: other.name });
        }
    }
    let revision = kernel
        .store
        .register(&NewRevision {
            namespace: candidate.namespace,
            kind: candidate.kind,
            name: candidate.name,
            grants: candidate.grants,
            component: candidate.component,
            manifest,
        })
        .await;
    let revision = revision.map_err(failed)?;
    info!(aspect, revision, %component, "aspect activated");
    Ok(revision)
}

/// An agent says that it is well, a tool what it is.
async fn probe(kernel: &Kernel, target: Target<'_>, aspect: &str) -> Result<Option<Manifest>, Error> {
    let bounds = Bounds::probe();
    let outcome = match target.kind {
        AspectKind::Agent => kernel.guests.agent_health(target, &bounds).await.map(|()| None),
        AspectKind::Tool => kernel.guests.tool_manifest(target, &bounds).await.map(Some),
        AspectKind::Gateway => return Ok(None),
    };
    match outcome {
        Outcome::Answered(manifest) => Ok(manifest),
        ended => Err(Error::Probe { aspect: aspect.to_owned(), outcome: ended.ending().into_owned() }),
    }
}
