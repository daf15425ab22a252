//! Calls into guests: a fresh store each, every limit set, one typed ending. What a guest may reach is linked elsewhere;
//! what the answer means is the caller's business.

mod ctx;
mod ending;
mod loaded;
mod manifest;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use thetis_core::id::Digest;
use thetis_core::outcome::{Limit, Outcome};
use thetis_core::settings::{AspectKind, Grants};
use thetis_core::tool::Manifest;
use tokio::sync::Semaphore;
use wasmtime::Store;
use wasmtime::component::{Component, Instance};

pub use self::ctx::Ctx;
pub(crate) use self::ending::chain;
use self::loaded::{Guest, Loaded};
use crate::artifact::{self, Artifacts, check};
pub use crate::bindings::exports::thetis::grip::agent::{Ending, Turn};
use crate::bindings::exports::thetis::grip::tool;
pub use crate::bindings::thetis::grip::tools::Description;
use crate::engine::Engine;
use crate::host::http::allow::{self, Allow};
use crate::host::http::{Client, Egress};
use crate::host::notes::Notes;
use crate::limits::{Bounds, Slice};
use crate::turn::Session;

/// Where the bytes of a component come from when no compiled code is at hand.
pub type Source = Arc<dyn Fn(Digest) -> BoxFuture<'static, Result<Option<Bytes>, Box<dyn std::error::Error + Send + Sync>>> + Send + Sync>;

/// Which guest a call goes to.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Its component.
    pub component: Digest,
    /// The world that it is made for.
    pub kind: AspectKind,
    /// What it may reach.
    pub grants: &'a Grants,
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Whatever the model wrote, meant as JSON.
    pub arguments: String,
    /// The same for every run of this call.
    pub idempotency_key: String,
    /// Of the conversation that the call belongs to; a tool without the grant does not reach them.
    pub notes: Option<Notes>,
}

/// How many guests there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Agents that run turns at once; more wait.
    pub agents: u32,
    /// Other calls at once; more wait. Apart from the agents', because an agent holds its place while its tools run.
    pub tools: u32,
    /// Components that stay linked.
    pub loaded: usize,
}

impl Default for Places {
    fn default() -> Self {
        Self { agents: 1024, tools: 256, loaded: 256 }
    }
}

impl Places {
    /// The slots that an engine needs for them.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.agents.saturating_add(self.tools)
    }
}

/// A component is not fit to be the aspect that it is meant to be.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It could not be made ready to run.
    #[error("make the component ready to run")]
    Artifact(#[source] artifact::Error),
    /// It is made for something else, or asks for too much.
    #[error("the component does not fit its aspect")]
    World(#[source] check::Error),
    /// Its grant names a host that is none.
    #[error("read the hosts that the component may reach")]
    Egress(#[source] allow::Invalid),
    /// Its interfaces have the right names and other types.
    #[error("the component's interfaces are not those of this host")]
    Types(#[source] wasmtime::Error),
}

/// Calls guests. Cheap to clone.
#[derive(Clone)]
pub struct Guests {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    artifacts: Artifacts,
    source: Source,
    client: Arc<Client>,
    loaded: Loaded,
    agents: Semaphore,
    tools: Semaphore,
}

impl Guests {
    /// Guests of `engine`, which has at least `places.slots()` slots.
    #[must_use]
    pub fn new(engine: Engine, artifacts: Artifacts, source: Source, places: &Places) -> Self {
        let permits = |count: u32| Semaphore::new(usize::try_from(count).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS));
        Self {
            shared: Arc::new(Shared {
                engine,
                artifacts,
                source,
                client: Arc::default(),
                loaded: Loaded::new(places.loaded),
                agents: permits(places.agents),
                tools: permits(places.tools),
            }),
        }
    }

    /// Whether these bytes are a component that can be an aspect of this kind with these grants. Compiles it, runs none of
    /// it.
    pub async fn admit(&self, component: Bytes, kind: AspectKind, grants: &Grants) -> Result<Digest, Unfit> {
        let digest = Digest::of(&component);
        let component = self.shared.artifacts.admit(component).await.map_err(Unfit::Artifact)?;
        self.shared.link(&component, kind, grants)?;
        Ok(digest)
    }

    /// Runs a tool. A refusal is the tool's own error.
    pub async fn call_tool(&self, target: Target<'_>, call: ToolCall, bounds: &Bounds) -> Outcome<String> {
        let asked = tool::Call { arguments: call.arguments, idempotency_key: call.idempotency_key };
        let run = async |store: &mut Store<Ctx>, instance: &Instance, guest: &Guest| {
            guest.tool(&mut *store, instance)?.call_run(store, &asked).await
        };
        let origin = Origin { notes: call.notes, turn: None };
        self.shared.run(target, origin, bounds, run).await.0.and_then(|answer| own(answer, bounds))
    }

    /// What a tool says of itself, within bounds.
    pub async fn tool_manifest(&self, target: Target<'_>, bounds: &Bounds) -> Outcome<Manifest> {
        let run = async |store: &mut Store<Ctx>, instance: &Instance, guest: &Guest| {
            guest.tool(&mut *store, instance)?.call_describe(store).await
        };
        self.shared.run(target, Origin::default(), bounds, run).await.0.and_then(manifest::parse)
    }

    /// Runs a turn. The session comes back however the call ends, unless the caller drops it.
    pub async fn run_turn(
        &self,
        target: Target<'_>,
        session: Box<Session>,
        notes: Option<Notes>,
        turn: Turn,
        bounds: &Bounds,
    ) -> (Outcome<Ending>, Option<Box<Session>>) {
        let run = async |store: &mut Store<Ctx>, instance: &Instance, guest: &Guest| {
            guest.agent(&mut *store, instance)?.call_run_turn(store, turn).await
        };
        let origin = Origin { notes, turn: Some(session) };
        let (outcome, session) = self.shared.run(target, origin, bounds, run).await;
        (outcome.and_then(|answer| own(answer, bounds)), session)
    }

    /// Whether an agent thinks that it can work. Asked outside any turn.
    pub async fn agent_health(&self, target: Target<'_>, bounds: &Bounds) -> Outcome<()> {
        let run =
            async |store: &mut Store<Ctx>, instance: &Instance, guest: &Guest| guest.agent(&mut *store, instance)?.call_health(store).await;
        self.shared.run(target, Origin::default(), bounds, run).await.0.and_then(|answer| own(answer, bounds))
    }

    /// What an agent would offer the model now.
    pub async fn agent_tools(
        &self,
        target: Target<'_>,
        session: Box<Session>,
        bounds: &Bounds,
    ) -> (Outcome<Vec<Description>>, Option<Box<Session>>) {
        let run = async |store: &mut Store<Ctx>, instance: &Instance, guest: &Guest| {
            guest.agent(&mut *store, instance)?.call_describe_tools(store).await
        };
        self.shared.run(target, Origin { notes: None, turn: Some(session) }, bounds, run).await
    }
}

/// What a call belongs to; nothing for one that only asks what the guest is.
#[derive(Default)]
struct Origin {
    notes: Option<Notes>,
    turn: Option<Box<Session>>,
}

/// What the host measures of an answer.
trait Answer {
    /// Bytes of text in it.
    fn bytes(&self) -> usize;
}

impl Answer for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Answer for () {
    fn bytes(&self) -> usize {
        0
    }
}

impl Answer for Ending {
    fn bytes(&self) -> usize {
        0
    }
}

/// The guest's own result, or its own error, within the output limit.
fn own<T: Answer>(answer: Result<T, String>, bounds: &Bounds) -> Outcome<T> {
    let bytes = answer.as_ref().map_or_else(String::len, Answer::bytes);
    if bytes > bounds.output {
        return Outcome::OverLimit(Limit::Output);
    }
    match answer {
        Ok(answer) => Outcome::Answered(answer),
        Err(text) => Outcome::Refused(text),
    }
}

impl Shared {
    /// One call: a place, a fresh store, every limit, and the ending. Dropping the future drops the store with it.
    async fn run<T>(
        &self,
        target: Target<'_>,
        origin: Origin,
        bounds: &Bounds,
        call: impl AsyncFnOnce(&mut Store<Ctx>, &Instance, &Guest) -> wasmtime::Result<T>,
    ) -> (Outcome<T>, Option<Box<Session>>) {
        let place = self.loaded.place(&target);
        let guest = match place.get_or_try_init(|| self.load(target)).await {
            Ok(guest) => guest,
            Err(unfit) => return (Outcome::HostFault(ending::chain(&unfit)), origin.turn),
        };
        let places = if origin.turn.is_some() { &self.agents } else { &self.tools };
        // Never closed, so never an error; were it one, the pool still refuses what does not fit.
        let _place = places.acquire().await.ok();
        let mut store = self.store(Ctx::new(bounds, Arc::clone(&guest.egress), origin), bounds);
        let called = tokio::time::timeout(bounds.budget, async {
            let instance = guest.instance.instantiate_async(&mut store).await?;
            call(&mut store, &instance, guest).await
        });
        let outcome = match called.await {
            Ok(Ok(answer)) => Outcome::Answered(answer),
            Ok(Err(error)) => ending::outcome(&error, store.data_mut()),
            Err(_) => ending::out_of_budget(),
        };
        (outcome, store.into_data().into_turn())
    }

    async fn load(&self, target: Target<'_>) -> Result<Guest, Unfit> {
        let fetch = (self.source)(target.component);
        let component = self.artifacts.load(target.component, fetch).await.map_err(Unfit::Artifact)?;
        self.link(&component, target.kind, target.grants)
    }

    fn link(&self, component: &Component, kind: AspectKind, grants: &Grants) -> Result<Guest, Unfit> {
        check::check(&self.engine, component, kind, grants).map_err(Unfit::World)?;
        let allow = Allow::parse(&grants.egress).map_err(Unfit::Egress)?;
        let egress = Egress::new(Arc::clone(&self.client), allow);
        Guest::link(&self.engine, component, kind, grants, egress).map_err(Unfit::Types)
    }

    fn store(&self, ctx: Ctx, bounds: &Bounds) -> Store<Ctx> {
        let mut store = Store::new(self.engine.wasmtime(), ctx);
        store.limiter(|ctx| ctx.held());
        store.set_hostcall_fuel(bounds.host_call);
        store.set_max_component_handles(bounds.handles);
        store.epoch_deadline_callback(Slice::tick);
        store.set_epoch_deadline(1);
        store
    }
}
