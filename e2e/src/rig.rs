//! A runtime in this process with everything real around it: a private Postgres, the guests as built, and the mock model
//! over HTTP. For tests and benchmarks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use thetis_core::event::{Body, CancelRequested, Event, Source, TurnEnd, UserMessage};
use thetis_core::fold::Session;
use thetis_core::id::{ConversationId, Seq, SeqRange};
use thetis_core::settings::{AspectKind, CacheVendor, Choice, Grants, Limits, Mode, Model, Prices};
use thetis_postgres::Postgres;
use thetis_runtime::artifact::{Compiler, Key};
use thetis_runtime::guest::Places;
use thetis_runtime::kernel::{self, Kernel};
use thetis_runtime::register::{self, Candidate};
use thetis_runtime::worker;
use thetis_store::conversation::New;
use thetis_store::hint::Hint;
use thetis_store::seal::SealingKey;
use thetis_store::settings::SettingsSet;
use thetis_store::{Hints, Store};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::mock::{self, Script};

/// Where everything that a rig makes lives.
pub const NAMESPACE: &str = "default";

/// How a rig is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the model says.
    pub script: Script,
    /// The process that compiles guests.
    pub compiler: Compiler,
    /// Where compiled code and an empty database are kept from one rig to the next.
    pub cache: PathBuf,
    /// The database: thrown away afterwards, or a server that is there already.
    pub database: Option<String>,
}

/// A runtime at work.
pub struct Rig {
    /// The database.
    pub store: Store,
    /// The hint bus.
    pub hints: Hints,
    /// What turns need.
    pub kernel: Arc<Kernel>,
    /// The model.
    pub mock: mock::Server,
    worker: Option<(CancellationToken, JoinHandle<()>)>,
    postgres: Option<Postgres>,
}

impl Rig {
    /// Starts everything but the worker, with every built agent and tool registered.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let postgres = match options.database {
            Some(_) => None,
            None => Some(tokio::task::block_in_place(|| Postgres::scratch(Some(&options.cache)))?),
        };
        let url = options.database.or_else(|| postgres.as_ref().map(Postgres::url)).context("a database")?;
        let store = Store::open(thetis_store::open::Options::new(url, SealingKey::generate())).await?;
        let hints = Hints::local();
        let mock = mock::Server::start(options.script, mock::Options { bind: ([127, 0, 0, 1], 0).into(), key: None }).await?;
        let places = Places::default();
        let (cache, key) = (options.cache.join("code"), Key::new([7; 32]));
        let kernel = Kernel::open(store.clone(), hints.clone(), kernel::Options { cache, key, compiler: options.compiler, places })?;
        let rig = Self { store, hints, kernel: Arc::new(kernel), mock, worker: None, postgres };
        rig.store.put_settings(NAMESPACE, &rig.settings()).await?;
        for (kind, name) in ASPECTS {
            rig.register(kind, name, &format!("{}-{name}", kind.as_str()), Grants { notes: *name != "core", ..Grants::default() }).await?;
        }
        Ok(rig)
    }

    fn settings(&self) -> SettingsSet {
        let prices = Prices { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };
        let model = Model {
            wire_id: "mock/echo".to_owned(),
            base_url: self.mock.base_url(),
            keyed: false,
            cache: CacheVendor::Anthropic,
            context_tokens: 200_000,
            output_tokens: 8_192,
            prices,
        };
        let mode = |read_only| Mode { title: String::new(), read_only, tools: None, instructions: String::new() };
        SettingsSet {
            modes: BTreeMap::from([("agent".to_owned(), mode(false)), ("plan".to_owned(), mode(true))]),
            skills: BTreeMap::new(),
            models: BTreeMap::from([("mock".to_owned(), (model, None))]),
        }
    }

    /// Registers the built component `file` as an aspect.
    pub async fn register(&self, kind: &AspectKind, name: &str, file: &str, grants: Grants) -> anyhow::Result<u32> {
        let path = components().join(format!("{file}.wasm"));
        let bytes = std::fs::read(&path).with_context(|| format!("read {}: run `make aspects` first", path.display()))?;
        let candidate = Candidate { namespace: NAMESPACE.to_owned(), kind: *kind, name: name.to_owned(), grants, component: bytes.into() };
        Ok(register::register(&self.kernel, candidate).await?)
    }

    /// Starts a worker; there is at most one.
    pub fn work(&mut self, options: worker::Options) {
        let stop = CancellationToken::new();
        self.worker = Some((stop.clone(), tokio::spawn(worker::run(self.kernel.clone(), options, stop))));
    }

    /// Lets the worker hand over and waits until it has.
    pub async fn rest(&mut self) {
        if let Some((stop, task)) = self.worker.take() {
            stop.cancel();
            let _ = task.await;
        }
    }

    /// The worker is gone from one moment to the next, as if its process had been killed. What it claimed stays claimed.
    pub async fn kill(&mut self) {
        if let Some((_, task)) = self.worker.take() {
            task.abort();
            let _ = task.await;
        }
    }

    /// Makes a conversation with `text` as its first message, and tells the worker.
    pub async fn ask(&self, text: &str) -> anyhow::Result<ConversationId> {
        self.create(choice("agent", Limits::default()), text).await
    }

    /// As [`Self::ask`], in a mode.
    pub async fn ask_in(&self, mode: &str, text: &str) -> anyhow::Result<ConversationId> {
        self.create(choice(mode, Limits::default()), text).await
    }

    /// As [`Self::ask`], with bounds of its own.
    pub async fn ask_with(&self, limits: Limits, text: String) -> anyhow::Result<ConversationId> {
        self.create(choice("agent", limits), &text).await
    }

    async fn create(&self, choice: Choice, text: &str) -> anyhow::Result<ConversationId> {
        let id = ConversationId(uuid::Uuid::new_v4());
        let prompt = Some(message(text));
        let new = New { id, namespace: NAMESPACE.to_owned(), name: id.to_string(), title: None, choice, prompt };
        self.store.create(&new).await?;
        self.hints.publish(Hint::Runnable(id));
        Ok(id)
    }

    /// Says something more.
    pub async fn say(&self, conversation: ConversationId, text: &str) -> anyhow::Result<Seq> {
        let seq = self.store.input(conversation, Body::UserMessage(message(text))).await?;
        self.hints.publish(Hint::Runnable(conversation));
        Ok(seq)
    }

    /// Asks the turn to stop.
    pub async fn stop(&self, conversation: ConversationId) -> anyhow::Result<Seq> {
        let seq = self.store.input(conversation, Body::CancelRequested(CancelRequested { source: Source::Api })).await?;
        self.hints.publish(Hint::Cancel(conversation));
        Ok(seq)
    }

    /// The whole log, which has to keep every rule.
    pub async fn log(&self, conversation: ConversationId) -> anyhow::Result<(Vec<Event>, Session)> {
        let events = self.store.read(conversation, SeqRange { first: Seq(1), last: Seq(u64::MAX) }).await?;
        let fold = Session::of(&events)?;
        Ok((events, fold))
    }

    /// Waits for the end of the conversation's `turn`th turn; the log has to keep every rule by then.
    pub async fn ended(&self, conversation: ConversationId, turn: usize) -> anyhow::Result<(Vec<Event>, TurnEnd)> {
        let mut hints = self.hints.watch(conversation);
        let (mut events, mut ends): (Vec<Event>, usize) = (Vec::new(), 0);
        loop {
            let first = events.last().map_or(Seq(1), |last| last.seq.next());
            for event in self.store.read(conversation, SeqRange { first, last: Seq(u64::MAX) }).await? {
                let end = if let Body::TurnEnd(end) = &event.body { Some(end.clone()) } else { None };
                events.push(event);
                ends += usize::from(end.is_some());
                if let Some(end) = end.filter(|_| ends == turn) {
                    Session::of(&events)?;
                    return Ok((events, end));
                }
            }
            let sweep = std::time::Duration::from_millis(200);
            let _ = tokio::time::timeout(sweep, hints.next()).await;
        }
    }

    /// The server, where the rig has one of its own.
    pub const fn postgres(&mut self) -> Option<&mut Postgres> {
        self.postgres.as_mut()
    }
}

/// The aspects that every rig has.
const ASPECTS: &[(AspectKind, &str)] = &[
    (AspectKind::Agent, "core"),
    (AspectKind::Tool, "calculate"),
    (AspectKind::Tool, "remember"),
    (AspectKind::Tool, "recall"),
    (AspectKind::Tool, "todo-write"),
];

fn choice(mode: &str, limits: Limits) -> Choice {
    Choice { mode: mode.to_owned(), model: "mock".to_owned(), skills: Vec::new(), agent: "core".to_owned(), limits }
}

fn message(text: &str) -> UserMessage {
    UserMessage { text: text.to_owned(), attachments: Vec::new(), source: Source::Api }
}

/// Where `make aspects` puts components, or what `THETIS_ASPECTS` names.
#[must_use]
pub fn components() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../aspects/target/components");
    std::env::var_os("THETIS_ASPECTS").map_or_else(built, PathBuf::from)
}
