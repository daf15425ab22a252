//! What has to be written so that a namespace's settings become others. Pure.

use std::collections::BTreeMap;

use super::Kind;
use crate::seal::{Sealed, Secret};

/// A setting that there should be.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// JSON.
    pub(super) value: String,
    pub(super) key: Option<Secret>,
}

/// A setting that there is, in the words of its row: another version may have written it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) key: Option<Result<Secret, Sealed>>,
}

/// The least that has to be written.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    pub(super) put: Vec<&'a Entry>,
    /// Kind and name.
    pub(super) gone: Vec<(&'a str, &'a str)>,
}

impl Changes<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.gone.is_empty()
    }
}

/// From what there is to what there should be.
pub(super) fn changes<'a>(kept: &'a [Kept], wanted: &'a [Entry]) -> Changes<'a> {
    let mut rest: BTreeMap<(&str, &str), &Kept> = kept.iter().map(|kept| ((kept.kind.as_str(), kept.name.as_str()), kept)).collect();
    let same = |kept: &Kept, entry: &Entry| {
        let key = match &kept.key {
            None => entry.key.is_none(),
            Some(Ok(key)) => entry.key.as_ref() == Some(key),
            Some(Err(Sealed)) => false,
        };
        key && kept.value == entry.value
    };
    let mut put = Vec::new();
    for entry in wanted {
        if !rest.remove(&(entry.kind.as_str(), entry.name.as_str())).is_some_and(|kept| same(kept, entry)) {
            put.push(entry);
        }
    }
    Changes { put, gone: rest.into_keys().collect() }
}
