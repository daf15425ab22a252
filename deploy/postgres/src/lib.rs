//! A private Postgres from the binaries on the machine: one data folder, one unix socket that only its owner can reach, no
//! TCP port, and gone when the process that started it is gone, even by SIGKILL. Blocking IO; knows nothing of what is
//! stored in it, and never looks for a server that was there before.

mod binaries;
mod scratch;
mod server;
mod user;

pub use binaries::Binaries;
pub use server::{Durability, Error, Postgres};
