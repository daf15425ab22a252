//! Puts what the folder declares into the database: settings, components, conversations. The operator does the same for what
//! the Kubernetes API declares. IO; what the declarations mean was decided before.
//!
//! As with `kubectl apply`, a conversation or an aspect that is no longer declared stays as it is; a mode, model or skill
//! that is no longer declared is gone.

use std::io;
use std::path::{Path, PathBuf};

use thetis_core::id::ConversationId;
use thetis_core::settings::AspectKind;
use thetis_operator_core::aspect::Source;
use thetis_operator_core::{DeclaredAspect, DeclaredConversation, Resolved, resolve};
use thetis_runtime::kernel::Kernel;
use thetis_runtime::register::{self, Candidate};
use thetis_store::conversation::New;
use thetis_store::hint::Hint;
use thetis_store::seal::Secret;
use thetis_store::settings::SettingsSet;
use thetis_store::{conversation, settings};

/// The namespace of everything that a folder declares.
pub const NAMESPACE: &str = "default";

/// Something could not be put into force.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An aspect's code is to come from somewhere that this deployment cannot take it from.
    #[error("Aspect {name}: {field} is not for one machine: only builtin aspects, at their newest revision, run here")]
    NotHere {
        /// The aspect.
        name: String,
        /// The field.
        field: &'static str,
    },
    /// A component that comes with Thetis is not there.
    #[error("Aspect {name}: read its component {}; `make aspects` builds it, --aspects says where it is", path.display())]
    Component {
        /// The aspect.
        name: String,
        /// Where it was looked for.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// A component is not fit to run.
    #[error("Aspect {name} is not activated")]
    Aspect {
        /// The aspect.
        name: String,
        /// Why.
        #[source]
        cause: Box<register::Error>,
    },
    /// Modes, models and skills were not written.
    #[error("put modes, models and skills into the database")]
    Settings(#[source] settings::Error),
    /// A conversation was not written.
    #[error("put Conversation {name} into the database")]
    Conversation {
        /// Its name.
        name: String,
        /// What failed.
        #[source]
        cause: conversation::Error,
    },
}

/// Whether this deployment can do what is declared, before anything is started for it.
pub fn check(resolved: &Resolved, components: &Path) -> Result<(), Error> {
    resolved.aspects.iter().try_for_each(|aspect| {
        let path = component(aspect, components)?;
        std::fs::metadata(&path).map(drop).map_err(|cause| Error::Component { name: aspect.name.clone(), path, cause })
    })
}

/// Puts all of it into force. What is so already is not written again.
pub async fn apply(kernel: &Kernel, resolved: Resolved, components: &Path) -> Result<(), Error> {
    for aspect in resolved.aspects {
        activate(kernel, aspect, components).await?;
    }
    if kernel.store.put_settings(NAMESPACE, &settings(resolved.settings)).await.map_err(Error::Settings)? {
        kernel.hints.publish(Hint::Settings { namespace: NAMESPACE.to_owned() });
        tracing::info!("modes, models and skills are in force");
    }
    for declared in resolved.conversations {
        let name = declared.name.clone();
        declare(kernel, declared).await.map_err(|cause| Error::Conversation { name, cause })?;
    }
    Ok(())
}

async fn activate(kernel: &Kernel, aspect: DeclaredAspect, components: &Path) -> Result<(), Error> {
    let path = component(&aspect, components)?;
    let name = aspect.name.clone();
    let bytes = tokio::fs::read(&path).await.map_err(|cause| Error::Component { name: name.clone(), path, cause })?;
    let candidate =
        Candidate { namespace: NAMESPACE.to_owned(), kind: aspect.kind, name: aspect.name, grants: aspect.grants, component: bytes.into() };
    register::register(kernel, candidate).await.map(drop).map_err(|cause| Error::Aspect { name, cause: Box::new(cause) })
}

/// Where the component of a builtin aspect is: `tool-fetch.wasm` for the tool `tool-fetch`.
fn component(aspect: &DeclaredAspect, components: &Path) -> Result<PathBuf, Error> {
    let not_here = |field| Error::NotHere { name: aspect.name.clone(), field };
    if aspect.pin.is_some() {
        return Err(not_here("spec.pin"));
    }
    if aspect.kind == AspectKind::Gateway {
        return Err(not_here("spec.kind"));
    }
    match &aspect.source {
        Source::Builtin(name) => Ok(components.join(format!("{name}.wasm"))),
        Source::Inline(_) => Err(not_here("spec.source.inline")),
        Source::ConfigMap(_) => Err(not_here("spec.source.configMap")),
        Source::Git(_) => Err(not_here("spec.source.git")),
    }
}

async fn declare(kernel: &Kernel, declared: DeclaredConversation) -> Result<(), conversation::Error> {
    let store = &kernel.store;
    let id = if let Some(known) = store.conversation(NAMESPACE, &declared.name).await? {
        store.declare(known.id, &declared.choice).await?;
        if known.suspended == declared.suspended {
            return Ok(());
        }
        known.id
    } else {
        let id = declared.uid.unwrap_or_else(|| ConversationId(uuid::Uuid::new_v4()));
        let new = New {
            id,
            namespace: NAMESPACE.to_owned(),
            name: declared.name.clone(),
            title: None,
            choice: declared.choice,
            prompt: declared.prompt,
        };
        store.create(&new).await?;
        tracing::info!(conversation = declared.name, "conversation made");
        id
    };
    store.suspend(id, declared.suspended).await?;
    kernel.hints.publish(Hint::Runnable(id));
    Ok(())
}

fn settings(set: resolve::SettingsSet) -> SettingsSet {
    let secret = |key: thetis_core::key::Key| Secret::new(key.expose().to_owned());
    SettingsSet {
        modes: set.modes,
        skills: set.skills,
        models: set.models.into_iter().map(|(name, (model, key))| (name, (model, key.map(secret)))).collect(),
    }
}
