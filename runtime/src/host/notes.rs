//! `notes` for guests that are granted them: durable keyed texts of the conversation that the call belongs to, which the
//! guest cannot choose. Bounds and fencing are the store's. Does IO.

use thetis_store::Store;
use thetis_store::lease::Hold;
use thetis_store::note;
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::thetis::grip::notes::{self, Error, Host};
use crate::guest::Ctx;

/// The interface that [`link`] adds, without its version.
pub const INTERFACE: &str = "thetis:grip/notes";

/// The notes of one conversation, for as long as its claim is ours.
#[derive(Clone)]
pub struct Notes {
    /// Where they are.
    pub store: Store,
    /// Whose they are, and the right to write them.
    pub hold: Hold,
}

impl std::fmt::Debug for Notes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notes").field("hold", &self.hold).finish_non_exhaustive()
    }
}

/// Adds `notes`.
pub(crate) fn link(linker: &mut Linker<Ctx>) -> wasmtime::Result<()> {
    notes::add_to_linker::<_, HasSelf<Ctx>>(linker, Ctx::called)
}

impl Host for Ctx {
    async fn put(&mut self, key: String, content: String) -> wasmtime::Result<Result<(), Error>> {
        let Some(Notes { store, hold }) = self.notes() else { return Ok(Err(Error::Unavailable)) };
        Ok(store.put_note(*hold, &key, &content).await.map_err(|error| say(&error, *hold)))
    }

    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, Error>> {
        let Some(Notes { store, hold }) = self.notes() else { return Ok(Err(Error::Unavailable)) };
        Ok(store.note(hold.conversation, &key).await.map_err(|error| say(&error, *hold)))
    }

    async fn keys(&mut self) -> wasmtime::Result<Result<Vec<String>, Error>> {
        let Some(Notes { store, hold }) = self.notes() else { return Ok(Err(Error::Unavailable)) };
        Ok(store.note_keys(hold.conversation).await.map_err(|error| say(&error, *hold)))
    }
}

/// What the guest is told. What went wrong on our side is for our log.
fn say(error: &note::Error, hold: Hold) -> Error {
    if error.is_refusal() {
        return Error::Refused(error.to_string());
    }
    tracing::warn!(conversation = %hold.conversation, error = error as &dyn std::error::Error, "a guest's notes are unavailable");
    Error::Unavailable
}
