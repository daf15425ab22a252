//! What a turn keeps beside the guest that runs it.

/// The turn that an agent's call belongs to: what its host functions read and write.
#[derive(Debug)]
pub struct Session;
