//! What a step asks of a model, in the words of the log. Pure data, borrowed from whoever holds the log.

use std::collections::BTreeMap;

use bytes::Bytes;
use thetis_core::event::{Attachment, Body, Event};
use thetis_core::id::Digest;
use thetis_core::settings::Model;
use thetis_core::tool::Manifest;

/// One request. Equal requests become equal bytes; a longer history keeps the messages of a shorter one as they were.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Which model, where, and by whose caching rules.
    pub model: &'a Model,
    /// Parts of the system prompt, in order; blank ones are left out.
    pub system: &'a [String],
    /// Tools to offer. Keep their order between steps, or the provider's cache goes cold.
    pub tools: &'a [&'a Manifest],
    /// Events in the order in which the model meets them, as `projection::check` puts them. Events that a model never sees
    /// (turn boundaries, notes, cancellations) may be among them and are left out.
    pub history: &'a [&'a Event],
    /// The bytes of every attachment that [`Request::attachments`] names.
    pub blobs: &'a BTreeMap<Digest, Bytes>,
}

impl<'a> Request<'a> {
    /// The attachments in `history` whose bytes the model is shown: images and texts within the bounds of the wire.
    /// Others are only named to it.
    pub fn attachments(history: &'a [&'a Event]) -> impl Iterator<Item = &'a Attachment> {
        history
            .iter()
            .filter_map(|event| match &event.body {
                Body::UserMessage(message) => Some(&message.attachments),
                _ => None,
            })
            .flatten()
            .filter(|attachment| crate::wire::shows(attachment))
    }
}
