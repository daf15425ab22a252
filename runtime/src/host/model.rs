//! `model`: one step, asked for by the agent, made by the host.

use thetis_core::event::Finish;
use thetis_core::id::{Seq, SeqRange};
use thetis_core::projection::{Item, Request};

use super::turn;
use crate::bindings::thetis::grip::model;
use crate::guest::Ctx;
use crate::turn::{NoStep, Step};

impl model::Host for Ctx {
    async fn step(&mut self, request: model::Request) -> wasmtime::Result<Result<model::Reply, model::StepError>> {
        let history = request.history.into_iter().map(item).collect();
        let request = Request { system: request.system, tools: request.tools, history };
        let turn = turn(self)?;
        match turn.step(request).await {
            Ok(step) => Ok(Ok(reply(&step))),
            Err(NoStep::Parked) => Ok(Err(model::StepError::Parked)),
            Err(NoStep::Cancelled) => Ok(Err(model::StepError::Cancelled)),
            Err(NoStep::Invalid(text)) => Ok(Err(model::StepError::Invalid(text))),
            Err(NoStep::OverLimit(text)) => Ok(Err(model::StepError::OverLimit(text))),
            Err(NoStep::Failed(text)) => Ok(Err(model::StepError::Failed(text))),
            Err(NoStep::Stop(stop)) => Err(turn.stop(stop)),
        }
    }
}

fn item(item: model::Item) -> Item {
    match item {
        model::Item::Events(range) => Item::Events(SeqRange { first: Seq(range.first), last: Seq(range.last) }),
        model::Item::Compaction(seq) => Item::Compaction(Seq(seq)),
    }
}

fn reply(step: &Step) -> model::Reply {
    let finish = match step.finish {
        Finish::Calls => model::Finish::Calls,
        Finish::Length => model::Finish::Length,
        Finish::Filtered => model::Finish::Filtered,
        // A cut message ends its step as cancelled; no agent sees it here.
        Finish::Stop | Finish::Cut => model::Finish::Stop,
    };
    model::Reply { message: step.message.0, finish, calls: u32::try_from(step.calls).unwrap_or(u32::MAX) }
}
