//! The process that compiles: hostile bytes in on standard input, code out on standard output, nothing else. It gives up
//! every right to resources first, and it has no environment, so that a bug in the compiler meets an empty room.

use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use nix::sys::resource::{Resource, setrlimit};
use sha2::{Digest as _, Sha256};
use thetis_core::id::Digest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use wasmtime::component::Component;

use super::disk::MAX_CODE_BYTES;
use super::{Error, MAX_COMPONENT_BYTES};
use crate::engine;

/// Address space of the compiling process, in bytes.
const MEMORY_BYTES: u64 = 3 << 30;

/// Processor time of the compiling process, in seconds; all its threads count.
const PROCESSOR_SECONDS: u64 = 120;

/// Patience with the compiling process where its owner has no other.
const PATIENCE: Duration = Duration::from_mins(2);

/// Threads that it compiles with. Each costs address space.
const THREADS: &str = "2";

/// How it says that the component is to blame; the reason is on standard error.
const EXIT_INVALID: u8 = 65;

/// The longest reason that is believed, in bytes.
const MAX_REASON_BYTES: u64 = 4 << 10;

/// How the compiling process is started: our own binary, told to be it.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    arguments: Vec<OsString>,
    patience: Duration,
}

impl Compiler {
    /// `program` with `arguments` calls [`run`] and nothing else.
    #[must_use]
    pub const fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, patience: PATIENCE }
    }

    /// Waits for at most this long, whatever the process is doing.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The code of the component that `bytes` are, for an engine like `engine`.
    pub(super) async fn compile(&self, engine: &wasmtime::Engine, bytes: Bytes) -> Result<Vec<u8>, Error> {
        if bytes.len() > MAX_COMPONENT_BYTES {
            return Err(Error::TooLarge { bytes: bytes.len() });
        }
        if !is_component(&bytes) {
            return Err(Error::NotAComponent);
        }
        let compatibility = compatibility(engine);
        let done = tokio::time::timeout(self.patience, self.exchange(bytes)).await;
        let done = done.map_err(|_| Error::NotCompiled { ending: format!("no answer in {:?}", self.patience) })?;
        let Answer { status, mut code, reason } = done.map_err(Error::Run)?;
        match status.code() {
            Some(0) => {}
            Some(code) if code == i32::from(EXIT_INVALID) => return Err(Error::Invalid { reason }),
            _ => return Err(Error::NotCompiled { ending: status.to_string() }),
        }
        // The code comes first and the engine's name last, so that taking it off moves nothing.
        let end = code.len().checked_sub(compatibility.as_bytes().len()).ok_or(Error::OtherVersion)?;
        if code.split_off(end) == compatibility.as_bytes() { Ok(code) } else { Err(Error::OtherVersion) }
    }

    async fn exchange(&self, bytes: Bytes) -> io::Result<Answer> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .env("RAYON_NUM_THREADS", THREADS)
            .env("MALLOC_ARENA_MAX", THREADS)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("a pipe to the compiling process is missing");
        let mut input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let feed = async move {
            // It may refuse before it has read everything; what it says is what counts.
            let _ = input.write_all(&bytes).await;
        };
        let mut code = Vec::new();
        let mut reason = Vec::new();
        let (mut output, mut errors) = (output.take(MAX_CODE_BYTES), errors.take(MAX_REASON_BYTES));
        let ((), read, read_reason) = tokio::join!(feed, output.read_to_end(&mut code), errors.read_to_end(&mut reason));
        read?;
        read_reason?;
        drop((output, errors));
        let status = child.wait().await?;
        Ok(Answer { status, code, reason: String::from_utf8_lossy(&reason).trim().to_owned() })
    }
}

struct Answer {
    status: ExitStatus,
    code: Vec<u8>,
    reason: String,
}

/// The whole of the compiling process: reads a component from standard input until its end, writes its code to standard
/// output. To be called first in `main`, before anything else runs.
#[must_use]
pub fn run() -> ExitCode {
    match limit_self().map_err(|error| format!("limit the process: {error}")).and_then(|()| compile_input()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let reason: String = reason.chars().take(1000).collect();
            let _ = writeln!(io::stderr(), "{reason}");
            ExitCode::from(EXIT_INVALID)
        }
    }
}

fn limit_self() -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    setrlimit(Resource::RLIMIT_CPU, PROCESSOR_SECONDS, PROCESSOR_SECONDS)?;
    setrlimit(Resource::RLIMIT_AS, MEMORY_BYTES, MEMORY_BYTES)
}

fn compile_input() -> Result<(), String> {
    let mut bytes = Vec::new();
    let most = MAX_COMPONENT_BYTES as u64;
    io::stdin().take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| format!("read: {error}"))?;
    if bytes.len() > MAX_COMPONENT_BYTES {
        return Err("too large".to_owned());
    }
    let engine = engine::compiler().map_err(|error| format!("{error:#}"))?;
    let component = Component::from_binary(&engine, &bytes).map_err(|error| format!("{error:#}"))?;
    let code = component.serialize().map_err(|error| format!("{error:#}"))?;
    let mut output = io::stdout().lock();
    output
        .write_all(&code)
        .and_then(|()| output.write_all(compatibility(&engine).as_bytes()))
        .and_then(|()| output.flush())
        .map_err(|error| format!("write: {error}"))
}

/// Names an engine's version and every setting that compiled code depends on.
pub(super) fn compatibility(engine: &wasmtime::Engine) -> Digest {
    struct Sha(Sha256);
    impl Hasher for Sha {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        fn finish(&self) -> u64 {
            0
        }
    }
    let mut sha = Sha(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut sha);
    Digest::from_bytes(sha.0.finalize().into())
}

/// The magic number and the layer that says "component".
fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm\x0d\0\x01\0")
}
