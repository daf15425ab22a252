//! `config` and `skills`: what the conversation runs with, as it was resolved when the turn began.

use super::turn;
use crate::bindings::thetis::grip::{config, skills};
use crate::guest::Ctx;

impl config::Host for Ctx {
    async fn current(&mut self) -> wasmtime::Result<config::Settings> {
        let turn = turn(self)?;
        let (mode, model) = (&turn.settings.mode, &turn.settings.model);
        Ok(config::Settings {
            mode: config::Mode {
                name: mode.name.clone(),
                title: mode.value.title.clone(),
                read_only: mode.value.read_only,
                instructions: mode.value.instructions.clone(),
            },
            model: config::Model { name: model.name.clone(), context_tokens: model.value.context_tokens },
            max_steps: turn.limits.steps,
        })
    }
}

impl skills::Host for Ctx {
    async fn attached(&mut self) -> wasmtime::Result<Vec<skills::Skill>> {
        let skills = turn(self)?.settings.skills.iter();
        Ok(skills
            .map(|skill| skills::Skill {
                name: skill.name.clone(),
                title: skill.value.title.clone(),
                description: skill.value.description.clone(),
                instructions: skill.value.instructions.clone(),
            })
            .collect())
    }
}
