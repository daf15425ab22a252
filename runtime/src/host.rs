//! Capabilities: one file each. `link` names, once per set of grants, what a guest may call; what a call needs of it is
//! part of the guest's [`Ctx`].

mod config;
pub mod http;
mod log;
mod model;
pub mod notes;
mod tools;
pub mod wasi;

use thetis_core::settings::{AspectKind, Grants};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::thetis::grip;
use crate::guest::Ctx;
use crate::turn::Session;

/// The interfaces, without their versions, that a guest of this kind with these grants may import beyond the baseline.
pub(crate) fn granted(kind: AspectKind, grants: &Grants) -> Vec<&'static str> {
    let mut granted = vec!["thetis:grip/types"];
    if kind == AspectKind::Agent {
        granted.extend(["thetis:grip/log", "thetis:grip/model", "thetis:grip/tools", "thetis:grip/skills", "thetis:grip/config"]);
    }
    if grants.notes {
        granted.push(notes::INTERFACE);
    }
    if !grants.egress.is_empty() {
        granted.extend(http::INTERFACES);
    }
    granted
}

/// Adds the interfaces that a guest of this kind with these grants may import.
pub(crate) fn link(linker: &mut Linker<Ctx>, kind: AspectKind, grants: &Grants) -> wasmtime::Result<()> {
    type Own = HasSelf<Ctx>;
    wasi::link(linker)?;
    if grants.notes {
        notes::link(linker)?;
    }
    if !grants.egress.is_empty() {
        http::link(linker)?;
    }
    grip::types::add_to_linker::<_, Own>(linker, Ctx::called)?;
    if kind == AspectKind::Agent {
        grip::log::add_to_linker::<_, Own>(linker, Ctx::called)?;
        grip::model::add_to_linker::<_, Own>(linker, Ctx::called)?;
        grip::tools::add_to_linker::<_, Own>(linker, Ctx::called)?;
        grip::skills::add_to_linker::<_, Own>(linker, Ctx::called)?;
        grip::config::add_to_linker::<_, Own>(linker, Ctx::called)?;
    }
    Ok(())
}

/// A host function that belongs to a turn was called outside one.
#[derive(Debug, thiserror::Error)]
#[error("the guest asked for its turn outside any turn")]
struct OutsideTurn;

/// The turn that the guest's call belongs to.
fn turn(ctx: &mut Ctx) -> wasmtime::Result<&mut Session> {
    let turn = ctx.turn().ok_or(OutsideTurn)?;
    turn.called()?;
    Ok(turn)
}

impl grip::types::Host for Ctx {}
