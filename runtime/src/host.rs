//! Capabilities: one file each. `link` names, once per set of grants, what a guest may call; what a call needs of it is
//! part of the guest's [`Ctx`].

pub mod http;
pub mod wasi;

use thetis_core::settings::{AspectKind, Grants};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::thetis::grip;
use crate::guest::Ctx;

/// The interfaces, without their versions, that a guest of this kind with these grants may import beyond the baseline.
pub(crate) fn granted(kind: AspectKind, grants: &Grants) -> Vec<&'static str> {
    let mut granted = vec!["thetis:grip/types"];
    if kind == AspectKind::Agent {
        granted.extend(["thetis:grip/log", "thetis:grip/model", "thetis:grip/tools", "thetis:grip/skills", "thetis:grip/config"]);
    }
    if !grants.egress.is_empty() {
        granted.extend(http::INTERFACES);
    }
    granted
}

/// Adds the interfaces that a guest of this kind with these grants may import.
pub(crate) fn link(linker: &mut Linker<Ctx>, _kind: AspectKind, grants: &Grants) -> wasmtime::Result<()> {
    wasi::link(linker)?;
    if !grants.egress.is_empty() {
        http::link(linker)?;
    }
    grip::types::add_to_linker::<_, HasSelf<Ctx>>(linker, Ctx::called)
}

impl grip::types::Host for Ctx {}
