//! Tools written by hand in the text format, each as bad as its test needs it to be, and what it takes to call them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use thetis_core::id::Digest;
use thetis_core::outcome::Outcome;
use thetis_core::settings::{AspectKind, Grants};
use thetis_runtime::artifact::{Artifacts, Compiler, Key};
use thetis_runtime::engine::Engine;
use thetis_runtime::guest::{Guests, Places, Source, Target, ToolCall};
use thetis_runtime::limits::Bounds;

/// A tool whose core module holds `items` and whose `run` is `body`, a function body that leaves a pointer to the result.
/// In scope: the parameters `$arguments $arguments_length $key $key_length`, and the function `$answer`, which makes a
/// result of a pointer and a length.
pub fn tool(items: &str, body: &str) -> Vec<u8> {
    component(&module("(memory (export \"memory\") 2)", REALLOC, items, body))
}

pub const REALLOC: &str = r#"
    (global $free (mut i32) (i32.const 4096))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
        (global.set $free (i32.add (local.get $at) (local.get 3)))
        (block $fits
            (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
            (drop (memory.grow (i32.const 16))))
        (local.get $at))"#;

pub fn module(memory: &str, realloc: &str, items: &str, body: &str) -> String {
    format!(
        r#"(core module $module
            {memory}
            (data (i32.const 64) "odd")
            (data (i32.const 80) "does nothing good")
            (data (i32.const 112) "{{\"type\":\"object\"}}")
            {realloc}
            (func $answer (param i32 i32) (result i32)
                (i32.store8 (i32.const 16) (i32.const 0))
                (i32.store (i32.const 20) (local.get 0))
                (i32.store (i32.const 24) (local.get 1))
                (i32.const 16))
            (func (export "describe") (result i32)
                (i32.store (i32.const 32) (i32.const 64)) (i32.store (i32.const 36) (i32.const 3))
                (i32.store (i32.const 40) (i32.const 80)) (i32.store (i32.const 44) (i32.const 17))
                (i32.store (i32.const 48) (i32.const 112)) (i32.store (i32.const 52) (i32.const 17))
                (i32.store8 (i32.const 58) (i32.const 2))
                (i32.const 32))
            {items}
            (func (export "run") (param $arguments i32) (param $arguments_length i32) (param $key i32) (param $key_length i32)
                (result i32)
                {body}))"#
    )
}

/// A component around one core module, which may import nothing.
pub fn component(module: &str) -> Vec<u8> {
    assemble("", &format!("{module} (core instance $instance (instantiate $module))"))
}

/// `imports` and `inner` make a core instance `$instance` that has the exports of [`module`].
pub fn assemble(imports: &str, inner: &str) -> Vec<u8> {
    let records = r#"
        (record (field "name" string) (field "description" string) (field "input-schema" string)
            (field "mutating" bool) (field "parallel" bool) (field "replay" $replay))"#;
    let named = records.replace("$replay", "$replay-out");
    let text = format!(
        r#"(component
            {imports}
            {inner}
            (type $replay (enum "safe" "keyed" "unsafe"))
            (type $manifest {records})
            (type $call (record (field "arguments" string) (field "idempotency-key" string)))
            (func $describe (result $manifest)
                (canon lift (core func $instance "describe") (memory (core memory $instance "memory"))
                    (realloc (core func $instance "cabi_realloc"))))
            (func $run (param "call" $call) (result (result string (error string)))
                (canon lift (core func $instance "run") (memory (core memory $instance "memory"))
                    (realloc (core func $instance "cabi_realloc"))))
            (component $named
                (type $replay-type (enum "safe" "keyed" "unsafe"))
                (import "replay" (type $replay (eq $replay-type)))
                (type $manifest-type {records})
                (import "manifest" (type $manifest (eq $manifest-type)))
                (type $call-type (record (field "arguments" string) (field "idempotency-key" string)))
                (import "call" (type $call (eq $call-type)))
                (import "describe" (func $describe (result $manifest)))
                (import "run" (func $run (param "call" $call) (result (result string (error string)))))
                (export $replay-out "replay" (type $replay))
                (type $manifest-again {named})
                (export $manifest-out "manifest" (type $manifest-again))
                (export $call-out "call" (type $call))
                (export "describe" (func $describe) (func (result $manifest-out)))
                (export "run" (func $run)
                    (func (param "call" $call-out) (result (result string (error string))))))
            (instance $tool (instantiate $named
                (with "replay" (type $replay)) (with "manifest" (type $manifest)) (with "call" (type $call))
                (with "describe" (func $describe)) (with "run" (func $run))))
            (export "thetis:grip/tool@0.1.0" (instance $tool)))"#
    );
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A guest of `aspects/`.
pub fn aspect(name: &str) -> Vec<u8> {
    let folder = std::env::var_os("THETIS_ASPECTS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../aspects/target/components")), PathBuf::from);
    let file = folder.join(format!("{name}.wasm"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}; run `make aspects`", file.display()))
}

/// Answers with its arguments.
pub fn echo() -> Vec<u8> {
    tool("", "(call $answer (local.get $arguments) (local.get $arguments_length))")
}

/// An engine, its guests, and the components that they know.
pub struct Host {
    pub engine: Engine,
    pub guests: Guests,
    known: Arc<Mutex<Vec<Bytes>>>,
}

pub const PLACES: Places = Places { agents: 4, tools: 96, loaded: 16 };

pub fn compiler() -> Compiler {
    Compiler::new(env!("CARGO_BIN_EXE_thetis-precompile").into(), Vec::new())
}

impl Host {
    pub fn new() -> Self {
        Self::with(PLACES)
    }

    pub fn with(places: Places) -> Self {
        Self::made(Engine::new(places.slots()).unwrap(), &places, Arc::default())
    }

    /// The same engine and components, with guests that have loaded nothing.
    pub fn fresh(&self) -> Self {
        Self::made(self.engine.clone(), &PLACES, Arc::clone(&self.known))
    }

    fn made(engine: Engine, places: &Places, known: Arc<Mutex<Vec<Bytes>>>) -> Self {
        // Compiled once for all tests of all runs; what guards that is tested beside it.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code");
        let artifacts = Artifacts::open(engine.clone(), &folder, Key::new([7; 32]), compiler()).unwrap();
        let source: Source = {
            let known = Arc::clone(&known);
            Arc::new(move |digest| {
                let found = known.lock().unwrap().iter().find(|bytes| Digest::of(bytes) == digest).cloned();
                async move { Ok(found) }.boxed()
            })
        };
        let guests = Guests::new(engine.clone(), artifacts, source, places);
        Self { engine, guests, known }
    }

    pub fn know(&self, component: Vec<u8>) -> Digest {
        let digest = Digest::of(&component);
        self.known.lock().unwrap().push(component.into());
        digest
    }

    pub async fn call(&self, component: Digest, arguments: &str, bounds: &Bounds) -> Outcome<String> {
        self.call_granted(component, &Grants::default(), arguments, bounds).await
    }

    pub async fn call_granted(&self, component: Digest, grants: &Grants, arguments: &str, bounds: &Bounds) -> Outcome<String> {
        let call = ToolCall { arguments: arguments.to_owned(), idempotency_key: "key".to_owned(), notes: None };
        self.guests.call_tool(Target { component, kind: AspectKind::Tool, grants }, call, bounds).await
    }

    /// Calls `hostile`, then a healthy tool, then asks that nothing is left of either.
    pub async fn survives(&self, hostile: Vec<u8>, bounds: &Bounds) -> Outcome<String> {
        let hostile = self.know(hostile);
        let outcome = self.call(hostile, "{}", bounds).await;
        self.is_healthy().await;
        outcome
    }

    pub async fn is_healthy(&self) {
        let echo = self.know(echo());
        let outcome = self.call(echo, "still here", &Bounds::default()).await;
        assert_eq!(outcome, Outcome::Answered("still here".to_owned()));
        assert_eq!(self.engine.in_use(), thetis_runtime::engine::InUse::default());
    }
}

/// Bounds under which a hostile guest ends soon.
pub fn tight() -> Bounds {
    Bounds { budget: Duration::from_secs(20), slice: Duration::from_millis(50), ..Bounds::default() }
}
