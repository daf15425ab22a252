//! How a request is refused: a problem document (RFC 9457) with a code for programs and a sentence for people. No IO.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use thetis_store::log::{input, read};
use thetis_store::{conversation, registry, settings};

use super::wire;

/// A refusal.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
}

impl Problem {
    /// `detail` is for people: what is wrong and what to do about it; never an inner error's text.
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into() }
    }

    pub(super) fn no_conversation(namespace: &str, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-conversation", format!("there is no conversation {name:?} in namespace {namespace:?}"))
    }

    /// The request names something that is not there.
    pub(super) fn missing(detail: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "missing", detail)
    }

    /// The database did not answer, or answered what it should not. Its own words stay in our log.
    fn of_database(retryable: bool, cause: &(dyn std::error::Error + 'static)) -> Self {
        if retryable {
            tracing::warn!(error = cause, "the database did not answer a request");
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database does not answer; try again in a moment");
        }
        tracing::error!(error = cause, "a request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this server failed to answer; its log says more")
    }

    /// Whether asking again will not help.
    pub(super) fn is_lasting(&self) -> bool {
        self.status != StatusCode::SERVICE_UNAVAILABLE
    }

    /// The same as a document.
    pub(super) fn document(&self) -> wire::Problem {
        wire::Problem {
            title: self.status.canonical_reason().unwrap_or("Refused").to_owned(),
            status: self.status.as_u16(),
            code: self.code.to_owned(),
            detail: self.detail.clone(),
        }
    }
}

impl From<conversation::Error> for Problem {
    fn from(error: conversation::Error) -> Self {
        match error {
            conversation::Error::NameTaken { .. } => Self::new(StatusCode::CONFLICT, "name-taken", error.to_string()),
            conversation::Error::Unknown(_) => Self::new(StatusCode::NOT_FOUND, "no-conversation", error.to_string()),
            conversation::Error::Write { .. } | conversation::Error::Read(_) => Self::of_database(error.is_retryable(), &error),
        }
    }
}

impl From<settings::Error> for Problem {
    fn from(error: settings::Error) -> Self {
        match error {
            settings::Error::Missing { .. } => Self::missing(&error.to_string()),
            _ => Self::of_database(error.is_retryable(), &error),
        }
    }
}

impl From<registry::Error> for Problem {
    fn from(error: registry::Error) -> Self {
        Self::of_database(error.is_retryable(), &error)
    }
}

impl From<thetis_core::input::Error> for Problem {
    fn from(error: thetis_core::input::Error) -> Self {
        let (status, code) = match error {
            thetis_core::input::Error::Empty => (StatusCode::UNPROCESSABLE_ENTITY, "empty"),
            thetis_core::input::Error::TooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            thetis_core::input::Error::Nul { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "not-text"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<input::Error> for Problem {
    fn from(error: input::Error) -> Self {
        match error {
            input::Error::Unknown(_) => Self::new(StatusCode::NOT_FOUND, "no-conversation", error.to_string()),
            input::Error::Done(_) => Self::new(StatusCode::CONFLICT, "done", "the conversation is over; it takes no input"),
            input::Error::Idle(_) => Self::new(StatusCode::CONFLICT, "idle", "no turn runs or waits: there is nothing to stop"),
            input::Error::NotInput { .. } | input::Error::Write { .. } => Self::of_database(error.is_retryable(), &error),
        }
    }
}

impl From<read::Error> for Problem {
    fn from(error: read::Error) -> Self {
        match &error {
            read::Error::Unreadable { cause, .. } => Self::new(StatusCode::NOT_IMPLEMENTED, "unreadable", format!("{error}: {cause}")),
            read::Error::Read { .. } => Self::of_database(error.is_retryable(), &error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.document())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
