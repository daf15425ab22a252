//! Guests that are ready: one `InstancePre` per component and grants, made once however many ask, the least recently
//! used dropped first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use thetis_core::id::Digest;
use thetis_core::settings::{AspectKind, Grants};
use tokio::sync::OnceCell;
use wasmtime::Store;
use wasmtime::component::{Component, Instance, InstancePre, Linker};

use super::{Ctx, Target};
use crate::bindings::exports::thetis::grip::{agent, tool};
use crate::engine::Engine;
use crate::host;
use crate::host::http::Egress;

/// A component that is linked: instantiating it is all that is left.
pub(super) struct Guest {
    pub(super) instance: InstancePre<Ctx>,
    exports: Exports,
    pub(super) egress: Arc<Egress>,
}

/// Where the functions are that the host calls.
enum Exports {
    Agent(agent::GuestIndices),
    Tool(tool::GuestIndices),
}

impl Guest {
    /// Links `component` as a guest of this kind with these grants, of which `egress` is what the hosts came to.
    pub(super) fn link(
        engine: &Engine,
        component: &Component,
        kind: AspectKind,
        grants: &Grants,
        egress: Egress,
    ) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(engine.wasmtime());
        host::link(&mut linker, kind, grants)?;
        let instance = linker.instantiate_pre(component)?;
        let exports = match kind {
            AspectKind::Agent => Exports::Agent(agent::GuestIndices::new(&instance)?),
            AspectKind::Tool => Exports::Tool(tool::GuestIndices::new(&instance)?),
            AspectKind::Gateway => wasmtime::bail!("gateways have no world yet"),
        };
        Ok(Self { instance, exports, egress: Arc::new(egress) })
    }

    pub(super) fn agent(&self, store: &mut Store<Ctx>, instance: &Instance) -> wasmtime::Result<agent::Guest> {
        match &self.exports {
            Exports::Agent(agent) => agent.load(store, instance),
            Exports::Tool(_) => wasmtime::bail!("the guest is not an agent"),
        }
    }

    pub(super) fn tool(&self, store: &mut Store<Ctx>, instance: &Instance) -> wasmtime::Result<tool::Guest> {
        match &self.exports {
            Exports::Tool(tool) => tool.load(store, instance),
            Exports::Agent(_) => wasmtime::bail!("the guest is not a tool"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Name {
    component: Digest,
    kind: AspectKind,
    grants: Grants,
}

struct Entry {
    guest: Arc<OnceCell<Guest>>,
    used: u64,
}

/// The guests that are ready.
pub(super) struct Loaded {
    entries: Mutex<(u64, HashMap<Name, Entry>)>,
    most: usize,
}

impl Loaded {
    pub(super) fn new(most: usize) -> Self {
        Self { entries: Mutex::new((0, HashMap::new())), most }
    }

    /// The place of the target's guest, which may still be empty.
    pub(super) fn place(&self, target: &Target<'_>) -> Arc<OnceCell<Guest>> {
        let name = Name { component: target.component, kind: target.kind, grants: target.grants.clone() };
        let mut locked = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (clock, entries) = &mut *locked;
        *clock += 1;
        if let Some(entry) = entries.get_mut(&name) {
            entry.used = *clock;
            return Arc::clone(&entry.guest);
        }
        if entries.len() >= self.most
            && let Some(oldest) = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone())
        {
            entries.remove(&oldest);
        }
        let guest = Arc::new(OnceCell::new());
        entries.insert(name, Entry { guest: Arc::clone(&guest), used: *clock });
        guest
    }
}
