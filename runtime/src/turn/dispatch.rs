//! Runs the calls of one message: what may run together does, results enter the log in call order, and every call ends
//! with one. Who may run, and beside whom, is decided in `core`; this is the effect.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::FuturesOrdered;
use futures::{Stream, StreamExt};
use thetis_core::event::{Body, CallOutcome, ToolCall, ToolResult};
use thetis_core::id::Seq;
use thetis_core::outcome::Outcome;
use thetis_core::repair::Call;
use thetis_core::settings::AspectKind;
use thetis_core::{barrier, output, policy, repair};
use thetis_store::lease::Hold;
use thetis_store::registry::Active;
use tracing::{info, warn};

use super::control::Signal;
use super::session::{Session, Stop};
use crate::guest::{self, Target};
use crate::host::notes::Notes;
use crate::kernel::Kernel;
use crate::limits::Bounds;

/// What a call comes to before anything runs.
enum Planned {
    Run { tool: Box<Active>, call: ToolCall, arguments: String, parallel: bool },
    Answer(ToolResult),
}

/// What running a call needs of its turn, apart from the turn's own state: calls run while results are appended.
#[derive(Clone)]
struct Bench {
    kernel: Arc<Kernel>,
    hold: Hold,
    message: Seq,
    bounds: Bounds,
    output_bytes: usize,
}

/// Why a message's calls did not all run.
pub(crate) enum NoDispatch {
    /// Somebody asked the turn to stop. Every call has its result.
    Cancelled,
    /// The message has no calls that wait.
    Invalid(String),
    /// The turn can write no more.
    Stop(Stop),
}

impl Session {
    /// Runs the calls of `message` for the agent.
    pub(crate) async fn dispatch_message(&mut self, message: Seq) -> Result<Vec<Seq>, NoDispatch> {
        let waiting = self.fold.open();
        if waiting.first().is_none_or(|first| first.message != message) {
            return Err(NoDispatch::Invalid(match waiting.first() {
                Some(first) => format!("event {message} has no calls that wait; message {} has", first.message),
                None => format!("event {message} has no calls that wait for a result"),
            }));
        }
        let calls = waiting.iter().map(|open| Call::Run(open.call.clone())).collect();
        let results = self.dispatch(message, calls).await.map_err(NoDispatch::Stop)?;
        if self.cancelled() {
            self.told.get_or_insert(0);
            return Err(NoDispatch::Cancelled);
        }
        Ok(results)
    }

    /// Brings the open calls of `message` to their results, in call order, and returns the numbers of the results.
    ///
    /// A cancellation lands between runs: what runs by then finishes, what does not is answered as cancelled.
    pub(super) async fn dispatch(&mut self, message: Seq, calls: Vec<Call>) -> Result<Vec<Seq>, Stop> {
        let bench = Bench {
            kernel: self.kernel.clone(),
            hold: self.hold,
            message,
            bounds: Bounds { budget: Duration::from_secs(u64::from(self.limits.tool_seconds)), ..Bounds::default() },
            output_bytes: usize::try_from(self.limits.output_bytes).unwrap_or(usize::MAX),
        };
        let planned: Vec<Planned> = calls.into_iter().map(|call| self.plan(message, call)).collect();
        let parallel: Vec<bool> = planned.iter().map(Planned::runs_beside_others).collect();
        let mut work = planned.into_iter();
        let mut appended = Vec::new();
        for run in barrier::runs(&parallel) {
            let run = work.by_ref().take(run.len());
            if self.cancelled() {
                let results: Vec<ToolResult> = run.map(|planned| planned.cancelled(message)).collect();
                self.record(futures::stream::iter(results), &mut appended).await?;
            } else {
                let results: FuturesOrdered<_> = run.map(|planned| execute(bench.clone(), planned)).collect();
                self.record(results, &mut appended).await?;
            }
        }
        Ok(appended)
    }

    /// Whether somebody asked for the turn to stop.
    pub(crate) fn cancelled(&self) -> bool {
        self.signals.now() >= Signal::Cancel || self.fold.cancel_requested()
    }

    /// Appends results as they come, whatever is ready in one go.
    async fn record(&mut self, results: impl Stream<Item = ToolResult>, appended: &mut Vec<Seq>) -> Result<(), Stop> {
        let mut ready = std::pin::pin!(results.ready_chunks(64));
        while let Some(chunk) = ready.next().await {
            let count = chunk.len();
            let first = self.append(chunk.into_iter().map(Body::ToolResult).collect()).await?;
            appended.extend((first.0..).map(Seq).take(count));
        }
        Ok(())
    }

    /// What the mode and the tools make of a call.
    fn plan(&self, message: Seq, call: Call) -> Planned {
        let call = match call {
            Call::Run(call) => call,
            Call::Answer(result) => return Planned::Answer(result),
        };
        let tools = self.tools.iter().filter_map(|tool| Some((tool, tool.manifest.as_ref()?)));
        let planned = tools.into_iter().find(|(_, manifest)| manifest.name == call.name).ok_or_else(|| policy::unknown(&call.name));
        let planned = planned.and_then(|(tool, manifest)| {
            policy::admit(&self.settings.mode.value, manifest)?;
            let arguments = policy::arguments(&call.arguments)?.into_owned();
            Ok((Box::new(tool.clone()), arguments, manifest.parallel))
        });
        match planned {
            Ok((tool, arguments, parallel)) => Planned::Run { tool, call, arguments, parallel },
            Err(refusal) => Planned::Answer(result(message, call, CallOutcome::Refused, refusal.to_string())),
        }
    }
}

impl Planned {
    fn runs_beside_others(&self) -> bool {
        match self {
            Self::Run { parallel, .. } => *parallel,
            Self::Answer(_) => true,
        }
    }

    fn cancelled(self, message: Seq) -> ToolResult {
        match self {
            Self::Run { call, .. } => result(message, call, CallOutcome::Cancelled, CANCELLED.to_owned()),
            Self::Answer(result) => result,
        }
    }
}

/// What a call is told that a cancellation kept from running.
pub(super) const CANCELLED: &str = "cancelled before execution";

async fn execute(bench: Bench, planned: Planned) -> ToolResult {
    let (tool, call, arguments) = match planned {
        Planned::Run { tool, call, arguments, .. } => (tool, call, arguments),
        Planned::Answer(result) => return result,
    };
    let target = Target { component: tool.component, kind: AspectKind::Tool, grants: &tool.grants };
    let idempotency_key = repair::idempotency_key(bench.hold.conversation, bench.message, &call.id);
    let notes = Some(Notes { store: bench.kernel.store.clone(), hold: bench.hold });
    let guest_call = guest::ToolCall { arguments, idempotency_key, notes };
    let outcome = bench.kernel.guests.call_tool(target, guest_call, &bench.bounds).await;
    let (outcome, text) = say(outcome);
    info!(tool = %call.name, aspect = %tool.name, component = %tool.component, ?outcome, bytes = text.len(), "tool call ended");
    let (text, full) = bench.shorten(text).await;
    ToolResult { full, ..result(bench.message, call, outcome, text) }
}

impl Bench {
    /// What the model is shown of `text`; the whole is kept as a blob where that is less.
    async fn shorten(&self, text: String) -> (String, Option<thetis_core::id::Digest>) {
        let Some(short) = output::shorten(&text, self.output_bytes) else {
            return (text, None);
        };
        match self.kernel.store.put_blob(text.into_bytes()).await {
            Ok(digest) => (short, Some(digest)),
            Err(cause) => {
                warn!(error = &cause as &dyn std::error::Error, "cannot keep the whole output of a tool");
                (short, None)
            }
        }
    }
}

fn result(message: Seq, call: ToolCall, outcome: CallOutcome, text: String) -> ToolResult {
    ToolResult { message, call: call.id, name: call.name, outcome, text, full: None }
}

/// What the model and people are told of how a call ended.
fn say(outcome: Outcome<String>) -> (CallOutcome, String) {
    let ended = match &outcome {
        Outcome::Answered(_) => CallOutcome::Answered,
        Outcome::Refused(_) => CallOutcome::Failed,
        Outcome::Trapped(_) => CallOutcome::Trapped,
        Outcome::OverLimit(_) => CallOutcome::OverLimit,
        Outcome::TimedOut(_) => CallOutcome::TimedOut,
        Outcome::Cancelled => CallOutcome::Cancelled,
        Outcome::HostFault(_) => CallOutcome::HostFault,
    };
    match outcome {
        Outcome::Answered(text) | Outcome::Refused(text) => (ended, text),
        other => (ended, format!("the tool {}", other.ending())),
    }
}
