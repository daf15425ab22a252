//! Takes what people say and their wish to stop, and puts both into the log.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use thetis_core::event::{Body, CancelRequested, Source, UserMessage};
use thetis_core::settings::Limits;
use thetis_store::hint::Hint;

use super::problem::Problem;
use super::{State, body, conversations, detached, wire};

type Accepted = (StatusCode, Json<wire::Accepted>);

pub(super) async fn message(
    state: State,
    Path((namespace, name)): Path<(String, String)>,
    body::Json(message): body::Json<wire::Message>,
) -> Result<Accepted, Problem> {
    let row = conversations::find(&state, &namespace, &name).await?;
    let message = said(message.text, &row.choice.limits)?;
    put(state, row.id, Body::UserMessage(message), Hint::Runnable(row.id)).await
}

pub(super) async fn cancel(
    state: State,
    Path((namespace, name)): Path<(String, String)>,
    body::Json(wire::Cancel {}): body::Json<wire::Cancel>,
) -> Result<Accepted, Problem> {
    let row = conversations::find(&state, &namespace, &name).await?;
    put(state, row.id, Body::CancelRequested(CancelRequested { source: Source::Api }), Hint::Cancel(row.id)).await
}

async fn put(state: State, id: thetis_core::id::ConversationId, body: Body, hint: Hint) -> Result<Accepted, Problem> {
    let shared = Arc::clone(&state);
    let seq = detached(async move {
        let seq = shared.store.input(id, body).await?;
        shared.hints.publish(Hint::Appended { conversation: id, tail: seq });
        shared.hints.publish(hint);
        Ok::<_, Problem>(seq)
    });
    Ok((StatusCode::ACCEPTED, Json(wire::Accepted { seq: seq.await?? })))
}

/// The message, if it is one that a conversation with these limits takes.
pub(super) fn said(text: String, limits: &Limits) -> Result<UserMessage, Problem> {
    let message = UserMessage { text, attachments: Vec::new(), source: Source::Api };
    thetis_core::input::check(&message, limits.message_bytes)?;
    Ok(message)
}
