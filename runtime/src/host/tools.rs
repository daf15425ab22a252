//! `tools`: what the mode lets the agent see, and the barrier behind `dispatch`.

use thetis_core::id::Seq;
use thetis_core::tool::{Manifest, Replay};

use super::turn;
use crate::bindings::thetis::grip::tools;
use crate::guest::Ctx;
use crate::turn::NoDispatch;

impl tools::Host for Ctx {
    async fn listed(&mut self) -> wasmtime::Result<Vec<tools::Description>> {
        Ok(turn(self)?.listed().map(|(aspect, manifest)| description(aspect, manifest)).collect())
    }

    async fn dispatch(&mut self, message: u64) -> wasmtime::Result<Result<Vec<u64>, tools::DispatchError>> {
        let turn = turn(self)?;
        match turn.dispatch_message(Seq(message)).await {
            Ok(results) => Ok(Ok(results.into_iter().map(|seq| seq.0).collect())),
            Err(NoDispatch::Cancelled) => Ok(Err(tools::DispatchError::Cancelled)),
            Err(NoDispatch::Invalid(text)) => Ok(Err(tools::DispatchError::Invalid(text))),
            Err(NoDispatch::Stop(stop)) => Err(turn.stop(stop)),
        }
    }
}

fn description(aspect: &str, manifest: &Manifest) -> tools::Description {
    tools::Description {
        name: manifest.name.clone(),
        description: manifest.description.clone(),
        input_schema: manifest.input_schema.to_string(),
        mutating: manifest.mutating,
        parallel: manifest.parallel,
        replay: match manifest.replay {
            Replay::Safe => tools::Replay::Safe,
            Replay::Keyed => tools::Replay::Keyed,
            Replay::Unsafe => tools::Replay::Unsafe,
        },
        aspect: format!("tool/{aspect}"),
    }
}
