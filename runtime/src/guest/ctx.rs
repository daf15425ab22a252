//! What one call's store holds: the state of every capability, for this call only. Nothing here outlives the call but
//! the turn's session, which goes back to whoever made the call.

use std::sync::Arc;

use wasmtime::component::ResourceTable;

use super::Origin;
use crate::host::http::{self, Egress};
use crate::host::notes::Notes;
use crate::host::wasi;
use crate::limits::{Bounds, Held, Slice};
use crate::turn::Session;

/// The data of a guest's store.
pub struct Ctx {
    table: ResourceTable,
    held: Held,
    slice: Slice,
    wasi: wasi::State,
    http: http::State,
    notes: Option<Notes>,
    turn: Option<Box<Session>>,
}

impl Ctx {
    pub(super) fn new(bounds: &Bounds, egress: Arc<Egress>, origin: Origin) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(bounds.handles);
        Self {
            table,
            held: Held::new(bounds),
            slice: Slice::new(bounds),
            wasi: wasi::State::new(bounds.printed),
            http: http::State::new(egress),
            notes: origin.notes,
            turn: origin.turn,
        }
    }

    /// The way of every host function to its state: it notes that the guest called the host.
    pub fn called(&mut self) -> &mut Self {
        self.slice.restart();
        self
    }

    /// The turn that the call belongs to. None in calls outside turns, such as an agent's health.
    pub fn turn(&mut self) -> Option<&mut Session> {
        self.turn.as_deref_mut()
    }

    /// Resources that the host holds for the guest.
    pub fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    pub(crate) fn wasi(&mut self) -> &mut wasi::State {
        &mut self.wasi
    }

    pub(crate) fn wasi_and_table(&mut self) -> (&mut wasi::State, &mut ResourceTable) {
        (&mut self.wasi, &mut self.table)
    }

    pub(crate) fn http_and_table(&mut self) -> (&mut http::State, &mut ResourceTable) {
        (&mut self.http, &mut self.table)
    }

    /// None in calls outside conversations, such as a tool's description of itself.
    pub(crate) const fn notes(&self) -> Option<&Notes> {
        self.notes.as_ref()
    }

    pub(crate) fn held(&mut self) -> &mut Held {
        &mut self.held
    }

    pub(crate) fn slice(&mut self) -> &mut Slice {
        &mut self.slice
    }

    pub(super) fn into_turn(self) -> Option<Box<Session>> {
        self.turn
    }
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx").field("held", &self.held).field("slice", &self.slice).finish_non_exhaustive()
    }
}
