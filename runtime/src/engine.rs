//! The one `wasmtime::Config`, shared by the process that runs guests and the step that compiles them, and the clock
//! that interrupts guests. Knows nothing of what a guest may import.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig, Strategy, WasmFeatures};

/// How often a running guest yields to the others, and the grain of its no-yield slice.
pub const TICK: Duration = Duration::from_millis(10);

/// The most linear memory that any guest may be given, in bytes; a call's own limit is lower.
pub const MAX_MEMORY_BYTES: usize = 512 << 20;

/// The most elements that any one table may have.
pub const MAX_TABLE_ELEMENTS: usize = 20_000;

/// Core instances of one component: a Rust component has four or five, one made by composition several times as many.
pub const MAX_CORE_INSTANCES: u32 = 32;

/// Linear memories of one component.
pub const MAX_MEMORIES: u32 = 2;

/// Tables of one component.
pub const MAX_TABLES: u32 = 8;

/// A guest's own stack, in bytes.
const WASM_STACK_BYTES: usize = 512 << 10;

/// The guest's stack and the host functions' that it calls, in bytes of address space.
const STACK_BYTES: usize = 2 << 20;

/// How much of a slot's memory is reset in place instead of being given back to the kernel, in bytes.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;

/// Slots that stay warm for a component that is not running.
const WARM_SLOTS: u32 = 32;

/// The engine could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings contradict each other, or the machine cannot reserve the address space.
    #[error("set up wasmtime with {slots} slots")]
    Configure {
        /// How many guests were to run at once.
        slots: u32,
        /// What wasmtime said.
        #[source]
        cause: wasmtime::Error,
    },
    /// No thread for the clock.
    #[error("start the guests' clock")]
    Clock(#[source] std::io::Error),
}

/// Runs guests. Cheap to clone; the clock stops with the last clone.
#[derive(Clone)]
pub struct Engine {
    wasmtime: wasmtime::Engine,
    slots: u32,
    _clock: Arc<Clock>,
}

impl Engine {
    /// An engine with room for `slots` guests at once. Each reserves about 4 GiB of address space and no memory.
    pub fn new(slots: u32) -> Result<Self, Error> {
        let mut config = config();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(slots)));
        let wasmtime = wasmtime::Engine::new(&config).map_err(|cause| Error::Configure { slots, cause })?;
        let clock = Arc::new(Clock::start(wasmtime.weak()).map_err(Error::Clock)?);
        Ok(Self { wasmtime, slots, _clock: clock })
    }

    /// How many guests fit at once.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Component instances that exist now, and the memories, tables and stacks that they hold.
    #[must_use]
    pub fn in_use(&self) -> InUse {
        self.wasmtime.pooling_allocator_metrics().map_or_else(InUse::default, |metrics| InUse {
            components: metrics.component_instances(),
            instances: metrics.core_instances(),
            memories: metrics.memories(),
            tables: metrics.tables(),
            stacks: metrics.stacks(),
        })
    }

    /// For linking, loading and stores.
    pub(crate) const fn wasmtime(&self) -> &wasmtime::Engine {
        &self.wasmtime
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// What running guests hold of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Components.
    pub components: u64,
    /// Core instances.
    pub instances: u64,
    /// Linear memories.
    pub memories: usize,
    /// Tables.
    pub tables: usize,
    /// Stacks.
    pub stacks: usize,
}

/// An engine that compiles as [`Engine`] does and reserves nothing; it cannot interrupt what it would run.
pub(crate) fn compiler() -> wasmtime::Result<wasmtime::Engine> {
    wasmtime::Engine::new(&config())
}

/// Everything that decides what code is made of a component. Proposals are named one by one: what a guest may use does
/// not change with wasmtime's defaults.
fn config() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .epoch_interruption(true)
        .concurrency_support(false)
        .memory_init_cow(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(STACK_BYTES)
        .shared_memory(false)
        .wasm_component_model(true)
        .wasm_features(WasmFeatures::REFERENCE_TYPES, true)
        .wasm_bulk_memory(true)
        .wasm_multi_value(true)
        .wasm_simd(true)
        .wasm_extended_const(true)
        .wasm_tail_call(true)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .wasm_features(
            WasmFeatures::THREADS
                | WasmFeatures::SHARED_EVERYTHING_THREADS
                | WasmFeatures::GC
                | WasmFeatures::GC_TYPES
                | WasmFeatures::FUNCTION_REFERENCES
                | WasmFeatures::EXCEPTIONS
                | WasmFeatures::LEGACY_EXCEPTIONS
                | WasmFeatures::STACK_SWITCHING
                | WasmFeatures::CM_ASYNC
                | WasmFeatures::CM_THREADING
                | WasmFeatures::CM_GC
                | WasmFeatures::CM64,
            false,
        );
    config
}

fn pool(slots: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(MAX_CORE_INSTANCES))
        .total_memories(slots.saturating_mul(MAX_MEMORIES))
        .total_tables(slots.saturating_mul(MAX_TABLES))
        .total_stacks(slots)
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_memories_per_module(1)
        .max_tables_per_module(4)
        .max_memory_size(MAX_MEMORY_BYTES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_unused_warm_slots(WARM_SLOTS)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(MAX_TABLE_ELEMENTS.saturating_mul(size_of::<usize>()))
        .pagemap_scan(Enabled::No);
    pool
}

/// A thread that counts [`TICK`]s into the engine's epoch. It ends when this is dropped.
struct Clock {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    fn start(engine: wasmtime::EngineWeak) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("guest-clock".to_owned()).spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => break,
                }
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The only way it fails is that the thread panicked; it is gone either way.
            let _ = thread.join();
        }
    }
}
