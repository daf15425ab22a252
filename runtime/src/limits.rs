//! What a guest may hold and how long it may run: the bounds of one call, and what keeps count of them inside a store.
//! No IO.

use std::time::Duration;

use thetis_core::outcome::{Clock, Limit};
use wasmtime::{ResourceLimiter, StoreContextMut, UpdateDeadline};

use crate::engine::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS, MAX_TABLES, TICK};
use crate::guest::Ctx;

/// Bounds of one call into a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of the whole call, time in host calls included. It starts when the guest has its place, not while it queues.
    pub budget: Duration,
    /// Of running without a call to the host. Counted in [`TICK`]s that the guest itself ran, so a crowded host costs
    /// it nothing.
    pub slice: Duration,
    /// Of all linear memories together, in bytes.
    pub memory: usize,
    /// Of what the call returns, in bytes.
    pub output: usize,
    /// Of standard output and error together, in bytes; the last part is kept for people.
    pub printed: usize,
    /// Of what one call to the host may pass in strings and lists, in bytes.
    pub host_call: usize,
    /// Of resources and their handles that are alive at once.
    pub handles: usize,
}

impl Bounds {
    /// What an aspect needs to say that it is well, or what it is.
    #[must_use]
    pub fn probe() -> Self {
        Self { budget: Duration::from_secs(5), output: 1 << 20, ..Self::default() }
    }
}

impl Default for Bounds {
    /// What a tool needs that fetches a large page and works on it.
    fn default() -> Self {
        Self {
            budget: Duration::from_secs(30),
            slice: Duration::from_secs(2),
            memory: 64 << 20,
            output: 8 << 20,
            printed: 1 << 20,
            host_call: 16 << 20,
            handles: 1024,
        }
    }
}

/// A host function refuses to go on because the guest reached a limit. Traps the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a limit on the guest was reached: {0:?}")]
pub struct Exceeded(pub Limit);

/// The guest's time is up. Traps the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guest's time is up: {0:?}")]
pub(crate) struct Spent(pub(crate) Clock);

/// A host function failed through no fault of the guest. Traps the guest; the outcome is a host fault.
#[derive(Debug, thiserror::Error)]
#[error("{operation}")]
pub struct Fault {
    /// What was being done.
    pub operation: &'static str,
    /// Why it failed.
    #[source]
    pub cause: Box<dyn std::error::Error + Send + Sync>,
}

/// Counts what the guest holds. A denied growth is not a trap: the guest sees the failure that the wasm specification
/// gives it. If it ends badly after that, the limit is what ended it.
#[derive(Debug)]
pub(crate) struct Held {
    memory_limit: usize,
    memory: usize,
    denied: Option<Limit>,
}

impl Held {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self { memory_limit: bounds.memory.min(MAX_MEMORY_BYTES), memory: 0, denied: None }
    }

    /// The limit that the guest ran into, if any.
    pub(crate) const fn denied(&self) -> Option<Limit> {
        self.denied
    }
}

impl ResourceLimiter for Held {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.memory_limit || maximum.is_some_and(|maximum| desired > maximum) {
            self.denied = Some(Limit::Memory);
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let allowed = desired <= MAX_TABLE_ELEMENTS && maximum.is_none_or(|maximum| desired <= maximum);
        if !allowed {
            self.denied = Some(Limit::Table);
        }
        Ok(allowed)
    }

    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}

/// The no-yield slice. Each tick that finds the guest running counts, until it calls the host.
#[derive(Debug)]
pub(crate) struct Slice {
    ticks: u32,
    limit: u32,
}

impl Slice {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let limit = bounds.slice.as_millis().div_ceil(TICK.as_millis());
        Self { ticks: 0, limit: u32::try_from(limit).unwrap_or(u32::MAX) }
    }

    /// The guest called the host.
    pub(crate) const fn restart(&mut self) {
        self.ticks = 0;
    }

    /// What happens to a guest that a tick found running: it lets others run, unless its slice is used up.
    pub(crate) fn tick(mut store: StoreContextMut<'_, Ctx>) -> wasmtime::Result<UpdateDeadline> {
        let slice = store.data_mut().slice();
        if slice.ticks >= slice.limit {
            return Err(Spent(Clock::Slice).into());
        }
        slice.ticks += 1;
        Ok(UpdateDeadline::Yield(1))
    }
}
