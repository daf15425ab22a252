//! (being written)

pub mod documents;
