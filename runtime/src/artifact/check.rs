//! Whether a component is what it is said to be: which of the grip's worlds it is made for, and that it asks for nothing
//! beyond what it is granted. Reads types only; no IO.

use thetis_core::settings::{AspectKind, Grants};
use wasmtime::component::Component;

use crate::engine::Engine;
use crate::host;
use crate::host::wasi::BASELINE;

/// A component that is valid, and still not the aspect that it is said to be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It exports none of the grip's interfaces in a version that this host knows.
    #[error("the component exports none of {}; it exports {exports:?}", known())]
    NoWorld {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It exports more than one of them.
    #[error("the component exports several of the grip's interfaces: {exports:?}")]
    SeveralWorlds {
        /// Which.
        exports: Vec<String>,
    },
    /// It is made for another kind of aspect.
    #[error("the component is made to be a {found:?}, not a {wanted:?}")]
    WrongWorld {
        /// What the Aspect says it is.
        wanted: AspectKind,
        /// What its exports say.
        found: AspectKind,
    },
    /// It imports what it is not granted.
    #[error("the component imports what it is not granted: {imports:?}")]
    NotGranted {
        /// The imports, with versions.
        imports: Vec<String>,
    },
}

/// The interface that each kind of aspect exports.
pub(crate) const WORLDS: [(AspectKind, &str); 2] =
    [(AspectKind::Agent, "thetis:grip/agent@0.1.0"), (AspectKind::Tool, "thetis:grip/tool@0.1.0")];

fn known() -> String {
    WORLDS.map(|(_, export)| export).join(", ")
}

/// The component's kind is `kind`, and its imports are within the baseline, its world and `grants`.
pub fn check(engine: &Engine, component: &Component, kind: AspectKind, grants: &Grants) -> Result<(), Error> {
    let types = component.component_type();
    let engine = engine.wasmtime();
    let exports: Vec<String> = types.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let imports: Vec<String> = types.imports(engine).map(|(name, _)| name.to_owned()).collect();
    world(&exports, kind)?;
    within(imports, kind, grants)
}

fn world(exports: &[String], wanted: AspectKind) -> Result<(), Error> {
    let mut found = WORLDS.iter().filter(|(_, export)| exports.iter().any(|name| name == export));
    match (found.next(), found.next()) {
        (None, _) => Err(Error::NoWorld { exports: exports.to_vec() }),
        (Some(_), Some(_)) => Err(Error::SeveralWorlds { exports: exports.to_vec() }),
        (Some((found, _)), None) if *found != wanted => Err(Error::WrongWorld { wanted, found: *found }),
        (Some(_), None) => Ok(()),
    }
}

fn within(mut imports: Vec<String>, kind: AspectKind, grants: &Grants) -> Result<(), Error> {
    let granted = host::granted(kind, grants);
    imports.retain(|import| {
        let interface = import.split('@').next().unwrap_or(import);
        !BASELINE.contains(&interface) && !granted.contains(&interface)
    });
    if imports.is_empty() { Ok(()) } else { Err(Error::NotGranted { imports }) }
}
