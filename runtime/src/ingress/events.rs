//! Hands out a log: a page of it as JSON, or all of it and what comes as an event stream.

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use thetis_core::id::{Seq, SeqRange};

use super::problem::Problem;
use super::{State, conversations, stream, wire};

/// Of one page, and of one read of a stream.
pub(super) const EVENTS: u64 = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    /// The last event that the client has.
    #[serde(default)]
    after: u64,
}

pub(super) async fn events(
    state: State,
    Path((namespace, name)): Path<(String, String)>,
    Query(position): Query<Position>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let row = conversations::find(&state, &namespace, &name).await?;
    let after = match headers.get("last-event-id") {
        None => Seq(position.after),
        Some(seen) => seen
            .to_str()
            .ok()
            .and_then(|seen| seen.parse().ok())
            .map(Seq)
            .ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, "invalid", "Last-Event-ID has to be the number of an event"))?,
    };
    if after > row.tail {
        let detail = format!("the log ends at {}; it has no event {after}", row.tail);
        return Err(Problem::new(StatusCode::CONFLICT, "past-the-end", detail));
    }
    let wants_stream = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| {
        accept.split(',').any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
    });
    if wants_stream {
        return Ok(stream::follow(&state, row.id, after)?.into_response());
    }
    let events = state.store.read(row.id, page(after)).await?;
    let tail = events.last().map_or(row.tail, |event| row.tail.max(event.seq));
    Ok(Json(wire::Page { events, tail }).into_response())
}

/// What comes after `after`, one page of it.
pub(super) fn page(after: Seq) -> SeqRange {
    SeqRange { first: after.next(), last: Seq(after.0.saturating_add(EVENTS)) }
}
