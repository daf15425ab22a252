//! One model step: what the agent asks for is held against the log, the mode and the budget; the request is built from the
//! log; the reply streams to whoever watches and is appended.

use std::collections::BTreeSet;

use thetis_core::budget;
use thetis_core::event::{AssistantMessage, Body, Event, Finish};
use thetis_core::id::Seq;
use thetis_core::projection::{self, Entry, Projection};
use thetis_core::tool::Manifest;
use thetis_core::usage::Usage;
use thetis_model::{Delta, Request};
use thetis_store::Hint;
use tracing::info;

use super::control::Signal;
use super::session::{Session, Stop};
use crate::guest::chain;

/// A step's message.
pub(crate) struct Step {
    /// Its number.
    pub message: Seq,
    /// Why it ended.
    pub finish: Finish,
    /// How many calls it asks for.
    pub calls: usize,
}

/// Why a step gave no message that the agent can go on from.
pub(crate) enum NoStep {
    /// This process hands over: the agent is to park.
    Parked,
    /// Somebody asked the turn to stop.
    Cancelled,
    /// What the agent asks for is not a projection of the log.
    Invalid(String),
    /// A budget is used up.
    OverLimit(String),
    /// The model gave no reply.
    Failed(String),
    /// The turn can write no more.
    Stop(Stop),
}

impl Session {
    /// Makes one request and appends the reply.
    pub(crate) async fn step(&mut self, request: projection::Request) -> Result<Step, NoStep> {
        if self.cancelled() {
            self.told.get_or_insert(0);
            return Err(NoStep::Cancelled);
        }
        if self.signals.now() == Signal::HandOver {
            self.parking = true;
            self.told.get_or_insert(0);
            return Err(NoStep::Parked);
        }
        self.within_budget().map_err(NoStep::OverLimit)?;
        let listed: BTreeSet<&str> = self.listed().map(|(_, manifest)| manifest.name.as_str()).collect();
        let projection = projection::check(&self.fold, &listed, &request).map_err(|broken| NoStep::Invalid(broken.to_string()))?;
        self.load_attachments(&projection).await?;
        let message = self.ask(&request, &projection).await?;
        let (finish, calls, usage) = (message.finish, message.calls.len(), message.usage);
        if finish == Finish::Cut && message.text.is_empty() {
            self.told.get_or_insert(0);
            return Err(NoStep::Cancelled);
        }
        let message = self.append(vec![Body::AssistantMessage(message)]).await.map_err(NoStep::Stop)?;
        info!(seq = message.0, ?finish, calls, input = usage.input, cached = usage.cache_read, output = usage.output, "model step");
        if finish == Finish::Cut {
            self.told.get_or_insert(0);
            return Err(NoStep::Cancelled);
        }
        Ok(Step { message, finish, calls })
    }

    fn within_budget(&self) -> Result<(), String> {
        let turn = self.fold.current().map_or_else(Usage::default, |current| current.usage);
        budget::check(&self.limits, &turn, &self.fold.usage()).map_err(|spent| spent.to_string())
    }

    /// The model's answer; what it had said by then where somebody stopped it.
    async fn ask(&self, request: &projection::Request, projection: &Projection) -> Result<AssistantMessage, NoStep> {
        let history = self.shown(projection);
        let tools: Vec<&Manifest> =
            request.tools.iter().filter_map(|name| self.listed().map(|(_, manifest)| manifest).find(|tool| tool.name == *name)).collect();
        let wire =
            Request { model: &self.settings.model.value, system: &request.system, tools: &tools, history: &history, blobs: &self.blobs };
        let mut said = String::new();
        let show = |delta: Delta<'_>| match delta {
            Delta::Text(text) => {
                said.push_str(text);
                self.kernel.hints.publish(Hint::Delta { conversation: self.hold.conversation, text: text.to_owned() });
            }
            Delta::Restart => {
                said.clear();
                self.kernel.hints.publish(Hint::Restart(self.hold.conversation));
            }
            Delta::Reasoning(_) | Delta::Call(_) => {}
        };
        let reply = tokio::select! {
            reply = self.kernel.models.step(&wire, self.key.as_ref(), self.deadline, show) => Some(reply),
            _ = self.signals.at_least(Signal::Cancel) => None,
        };
        let (through, request) = (projection.through, projection::digest(request, &projection.entries));
        match reply {
            None => {
                let (calls, finish, usage) = (Vec::new(), Finish::Cut, Usage { steps: 1, ..Usage::default() });
                Ok(AssistantMessage { text: said, reasoning: None, calls, finish, usage, through, request })
            }
            Some(Ok(reply)) => Ok(AssistantMessage {
                text: reply.text,
                reasoning: reply.reasoning,
                calls: reply.calls,
                finish: reply.finish,
                usage: reply.usage,
                through,
                request,
            }),
            Some(Err(cause)) => Err(NoStep::Failed(chain(&cause))),
        }
    }

    /// The events that the model is shown, in the order in which it meets them.
    fn shown(&self, projection: &Projection) -> Vec<&Event> {
        let place = |seq: Seq| usize::try_from(seq.0).ok().and_then(|seq| seq.checked_sub(1));
        let shown = projection.entries.iter().filter_map(|entry| match entry {
            Entry::Event(seq) | Entry::Summary(seq) => place(*seq),
        });
        shown.filter_map(|place| self.events.get(place)).collect()
    }

    /// Fetches the bytes of attachments that this turn has not shown yet.
    async fn load_attachments(&mut self, projection: &Projection) -> Result<(), NoStep> {
        let shown = self.shown(projection);
        let missing: Vec<_> =
            Request::attachments(&shown).map(|attachment| attachment.digest).filter(|digest| !self.blobs.contains_key(digest)).collect();
        for digest in missing {
            let bytes = self.kernel.store.blob(digest).await;
            let bytes = bytes.map_err(|cause| NoStep::Failed(format!("cannot read an attachment: {}", chain(&cause))))?;
            let bytes = bytes.ok_or_else(|| NoStep::Failed(format!("the attachment {digest} is missing")))?;
            self.blobs.insert(digest, bytes.into());
        }
        Ok(())
    }
}
