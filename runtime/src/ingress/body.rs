//! Reads a request's JSON body: bounded in bytes and time, refused with the key and the place that are wrong.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::problem::Problem;

/// The longest message that a conversation can allow has 4 MiB; JSON needs more for some characters. Below that, a
/// message's own limit is the conversation's.
const BYTES: usize = 8 << 20;

/// Bodies that are held at once; more wait.
static PLACES: Semaphore = Semaphore::const_new(16);

/// For the whole body to arrive.
const TIME: Duration = Duration::from_secs(15);

/// A JSON body.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !media_type.is_some_and(is_json) {
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", "the Content-Type has to be application/json"));
        }
        let _place = PLACES.acquire().await;
        let bytes = match tokio::time::timeout(TIME, Limited::new(request.into_body(), BYTES).collect()).await {
            Ok(Ok(collected)) => collected.to_bytes(),
            Ok(Err(cause)) if cause.is::<LengthLimitError>() => {
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", format!("the body may have {BYTES} bytes")));
            }
            Ok(Err(_)) => return Err(Problem::new(StatusCode::BAD_REQUEST, "cut-off", "the body did not arrive whole")),
            Err(_) => return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the body did not arrive in time")),
        };
        parse(&bytes).map(Self)
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split_once(';').map_or(media_type, |(essence, _)| essence);
    essence.trim().eq_ignore_ascii_case("application/json")
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|cause| {
        let detail = match cause.path().to_string().as_str() {
            "." => format!("the body does not parse: {}", cause.inner()),
            path => format!("the body does not parse at {path}: {}", cause.inner()),
        };
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    })?;
    json.end().map_err(|_| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "the body goes on after its JSON ends"))?;
    Ok(value)
}
