//! The WASI that every guest gets because standard libraries ask for it: clocks, randomness, an empty input, captured
//! output. No files, no environment, no arguments, no sockets. No IO but the clocks and the operating system's randomness.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use thetis_core::outcome::Limit;
use wasmtime::component::{HasData, HasSelf, Linker, Resource, ResourceTable};
use wasmtime_wasi::Rng;
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksCtx, WasiClocksCtxView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemCtx, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin, terminal_stdout,
};
use wasmtime_wasi::p2::bindings::{clocks, filesystem, random};
use wasmtime_wasi::p2::pipe::ClosedInputStream;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi_io::bindings::wasi::io;

use crate::guest::Ctx;
use crate::limits::Exceeded;

/// The interfaces that [`link`] adds, without their versions: what a guest may import whatever its grants.
pub const BASELINE: [&str; 20] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// The most random bytes that one call gives. A larger request is a host-call limit: nobody needs it, and it would hold
/// a thread.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// How much of what a guest printed is kept, in bytes.
const KEPT_BYTES: usize = 8 << 10;

/// The guest ended itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guest exited with status {0}")]
pub(crate) struct Exited(pub(crate) u8);

/// What one call needs of WASI.
pub(crate) struct State {
    clocks: WasiClocksCtx,
    filesystem: WasiFilesystemCtx,
    random: Option<Box<dyn Rng + Send>>,
    printed: Printed,
}

impl State {
    /// Fresh, with at most `limit` bytes of output.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            clocks: WasiClocksCtx::default(),
            filesystem: WasiFilesystemCtx::default(),
            random: None,
            printed: Printed { shared: Arc::new(Mutex::new(Ring { tail: VecDeque::new(), room: limit })) },
        }
    }

    /// The last part of what the guest printed, as text.
    pub(crate) fn printed(&self) -> String {
        let mut ring = self.printed.lock();
        String::from_utf8_lossy(ring.tail.make_contiguous()).into_owned()
    }

    /// Made at first use: most calls never ask.
    fn random(&mut self) -> &mut (dyn Rng + Send) {
        self.random.get_or_insert_with(wasmtime_wasi::thread_rng).as_mut()
    }

    fn random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        let length = usize::try_from(length.min(MAX_RANDOM_BYTES.saturating_add(1)))?;
        if length as u64 > MAX_RANDOM_BYTES {
            return Err(Exceeded(Limit::HostCall).into());
        }
        let mut bytes = vec![0; length];
        self.random().fill_bytes(&mut bytes);
        Ok(bytes)
    }
}

/// Adds the [`BASELINE`] interfaces.
pub(crate) fn link(linker: &mut Linker<Ctx>) -> wasmtime::Result<()> {
    struct Table;
    impl HasData for Table {
        type Data<'a> = &'a mut ResourceTable;
    }
    type Own = HasSelf<Ctx>;

    io::error::add_to_linker::<_, Table>(linker, |ctx| ctx.called().table())?;
    io::poll::add_to_linker::<_, Table>(linker, |ctx| ctx.called().table())?;
    io::streams::add_to_linker::<_, Table>(linker, |ctx| ctx.called().table())?;
    clocks::wall_clock::add_to_linker::<_, WasiClocks>(linker, Ctx::clocks)?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(linker, Ctx::clocks)?;
    filesystem::types::add_to_linker::<_, WasiFilesystem>(linker, Ctx::filesystem)?;
    filesystem::preopens::add_to_linker::<_, WasiFilesystem>(linker, Ctx::filesystem)?;
    random::random::add_to_linker::<_, Own>(linker, Ctx::called)?;
    random::insecure::add_to_linker::<_, Own>(linker, Ctx::called)?;
    random::insecure_seed::add_to_linker::<_, Own>(linker, Ctx::called)?;
    environment::add_to_linker::<_, Own>(linker, Ctx::called)?;
    exit::add_to_linker::<_, Own>(linker, Ctx::called)?;
    stdin::add_to_linker::<_, Own>(linker, Ctx::called)?;
    stdout::add_to_linker::<_, Own>(linker, Ctx::called)?;
    stderr::add_to_linker::<_, Own>(linker, Ctx::called)?;
    terminal_input::add_to_linker::<_, Own>(linker, Ctx::called)?;
    terminal_output::add_to_linker::<_, Own>(linker, Ctx::called)?;
    terminal_stdin::add_to_linker::<_, Own>(linker, Ctx::called)?;
    terminal_stdout::add_to_linker::<_, Own>(linker, Ctx::called)?;
    terminal_stderr::add_to_linker::<_, Own>(linker, Ctx::called)
}

impl Ctx {
    fn clocks(&mut self) -> WasiClocksCtxView<'_> {
        let (wasi, table) = self.called().wasi_and_table();
        WasiClocksCtxView { ctx: &mut wasi.clocks, table }
    }

    fn filesystem(&mut self) -> WasiFilesystemCtxView<'_> {
        let (wasi, table) = self.called().wasi_and_table();
        WasiFilesystemCtxView { ctx: &mut wasi.filesystem, table }
    }

    fn output(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        let (wasi, table) = self.wasi_and_table();
        let stream: DynOutputStream = Box::new(wasi.printed.clone());
        Ok(table.push(stream)?)
    }
}

impl environment::Host for Ctx {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}

impl exit::Host for Ctx {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(Exited(u8::from(status.is_err())).into())
    }

    fn exit_with_code(&mut self, status: u8) -> wasmtime::Result<()> {
        Err(Exited(status).into())
    }
}

impl stdin::Host for Ctx {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        let stream: DynInputStream = Box::new(ClosedInputStream);
        Ok(self.table().push(stream)?)
    }
}

impl stdout::Host for Ctx {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output()
    }
}

impl stderr::Host for Ctx {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output()
    }
}

impl terminal_input::Host for Ctx {}

impl terminal_input::HostTerminalInput for Ctx {
    fn drop(&mut self, terminal: Resource<terminal_input::TerminalInput>) -> wasmtime::Result<()> {
        self.table().delete(terminal)?;
        Ok(())
    }
}

impl terminal_output::Host for Ctx {}

impl terminal_output::HostTerminalOutput for Ctx {
    fn drop(&mut self, terminal: Resource<terminal_output::TerminalOutput>) -> wasmtime::Result<()> {
        self.table().delete(terminal)?;
        Ok(())
    }
}

impl terminal_stdin::Host for Ctx {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdin::TerminalInput>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for Ctx {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdout::TerminalOutput>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for Ctx {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<terminal_stderr::TerminalOutput>>> {
        Ok(None)
    }
}

impl random::random::Host for Ctx {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.wasi().random_bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.wasi().random().next_u64())
    }
}

impl random::insecure::Host for Ctx {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.wasi().random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.wasi().random().next_u64())
    }
}

impl random::insecure_seed::Host for Ctx {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        let random = self.wasi().random();
        Ok((random.next_u64(), random.next_u64()))
    }
}

/// Standard output and error: counted together, the last [`KEPT_BYTES`] kept. Shared by the streams that a guest opens.
#[derive(Clone)]
struct Printed {
    shared: Arc<Mutex<Ring>>,
}

struct Ring {
    tail: VecDeque<u8>,
    room: usize,
}

impl Printed {
    fn lock(&self) -> std::sync::MutexGuard<'_, Ring> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputStream for Printed {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut ring = self.lock();
        ring.room = ring.room.checked_sub(bytes.len()).ok_or_else(|| StreamError::Trap(Exceeded(Limit::Output).into()))?;
        ring.tail.extend(&bytes);
        let surplus = ring.tail.len().saturating_sub(KEPT_BYTES);
        ring.tail.drain(..surplus);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(KEPT_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Printed {
    async fn ready(&mut self) {}
}
