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
    check_text(&message.text, &row.choice.limits)?;
    let body = Body::UserMessage(UserMessage { text: message.text, attachments: Vec::new(), source: Source::Api });
    put(state, row.id, body, Hint::Runnable(row.id)).await
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

/// Whether a message's text is one: some, and not more than the conversation's limit.
pub(super) fn check_text(text: &str, limits: &Limits) -> Result<(), Problem> {
    if text.trim().is_empty() {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "empty", "the message is empty"));
    }
    let most = usize::try_from(limits.message_bytes).unwrap_or(usize::MAX);
    if text.len() > most {
        let detail = format!("the message has {} bytes; this conversation takes at most {most}", text.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
    }
    Ok(())
}
