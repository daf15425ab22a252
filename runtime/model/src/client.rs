//! One step with a model over HTTP: send, stream, retry. The only IO of this crate. Keeps nothing between steps but
//! connections; dropping a step's future cancels it.

mod stream;

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::Url;
use serde_json::Value;
use thetis_core::key::Key;
use tokio::time::Instant;

use crate::reply::{Delta, Reply};
use crate::request::Request;
use crate::step::{Error, excerpt};
use crate::wire;

pub use crate::retry::Policy;

/// How a client behaves towards every endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often and how patiently a step is tried.
    pub retry: Policy,
    /// To open a connection, TLS included.
    pub connect: Duration,
    /// The longest that an endpoint may send nothing at all, not even a comment, before and during a reply.
    pub silence: Duration,
    /// A number between 0 and 1, another one each time: spreads retries.
    pub chance: fn() -> f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { retry: Policy::default(), connect: Duration::from_secs(10), silence: Duration::from_mins(2), chance }
    }
}

/// Of the body of an HTTP error, in bytes.
const ERROR_BYTES: usize = 64 << 10;

/// Speaks with any number of endpoints at once; cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    options: Options,
}

/// The HTTP client cannot be made: usually the machine has no certificates.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for models cannot be made: check that the machine has CA certificates")]
pub struct NotMade(#[source] reqwest::Error);

impl Client {
    /// A client. Proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`) apply.
    pub fn new(options: Options) -> Result<Self, NotMade> {
        // Whoever came first has chosen the process's provider already, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .user_agent(concat!("thetis/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(options.connect)
            .build()
            .map_err(NotMade)?;
        Ok(Self { http, options })
    }

    /// Asks the model and returns its whole reply; pieces go to `delta` as they come.
    ///
    /// A step that fails for a passing reason is tried again from scratch within the policy and the deadline, after a
    /// [`Delta::Restart`] where pieces were shown. Once the model has said why it ended nothing is asked again, whatever
    /// becomes of the connection: it would be billed twice.
    pub async fn step(
        &self,
        request: &Request<'_>,
        key: Option<&Key>,
        deadline: Instant,
        mut delta: impl FnMut(Delta<'_>),
    ) -> Result<Reply, Error> {
        let body = Bytes::from(wire::body(request).map_err(Error::Request)?);
        let bearer = if request.model.keyed { Some(key.ok_or(Error::NoKey)?) } else { None };
        let mut made = 0_u32;
        loop {
            let mut shown = false;
            let mut show = |piece: Delta<'_>| {
                shown = true;
                delta(piece);
            };
            let error = match self.attempt(request, body.clone(), bearer, deadline, &mut show).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            made = made.saturating_add(1);
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(wait) = self.options.retry.wait(made, &error, left, (self.options.chance)()) else { return Err(error) };
            if shown {
                delta(Delta::Restart);
            }
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(made, wait_ms, error = &error as &dyn std::error::Error, "model step is tried again");
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(
        &self,
        request: &Request<'_>,
        body: Bytes,
        key: Option<&Key>,
        deadline: Instant,
        delta: &mut impl FnMut(Delta<'_>),
    ) -> Result<Reply, Error> {
        let mut post = self.http.post(address(&request.model.base_url)?).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = key {
            post = post.header(AUTHORIZATION, bearer(key)?);
        }
        let response = match tokio::time::timeout_at(self.patience(deadline), post.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(cause)) => return Err(Error::Unreachable(cause.without_url())),
            Err(_) => return Err(self.silent(deadline)),
        };
        match response.status().as_u16() {
            200..300 => self.reply(response, request, deadline, delta).await,
            status @ 300..400 => Err(Error::Redirected { status, location: text(response.headers(), &LOCATION) }),
            status => Err(self.refusal(status, response, deadline).await),
        }
    }

    /// What an HTTP error says.
    async fn refusal(&self, status: u16, mut response: reqwest::Response, deadline: Instant) -> Error {
        let after = text(response.headers(), &RETRY_AFTER).parse().ok().map(Duration::from_secs);
        let mut body = Vec::new();
        // The status alone says enough where the body does not come.
        while let Ok(Ok(Some(chunk))) = tokio::time::timeout_at(self.patience(deadline), response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() >= ERROR_BYTES {
                break;
            }
        }
        let error = match serde_json::from_slice::<Value>(&body) {
            Ok(Value::Object(mut object)) if object.contains_key("error") => object.remove("error").unwrap_or_default(),
            Ok(value) => value,
            Err(_) => Value::String(String::from_utf8_lossy(&body).trim().to_owned()),
        };
        Error::reported(Some(status), &error, after)
    }

    /// Until when the endpoint may be silent from now on.
    fn patience(&self, deadline: Instant) -> Instant {
        deadline.min(Instant::now() + self.options.silence)
    }

    /// Which of the two it was that ran out.
    fn silent(&self, deadline: Instant) -> Error {
        if Instant::now() >= deadline { Error::Deadline } else { Error::Stalled(self.options.silence) }
    }
}

/// Where completions are asked for.
fn address(base_url: &str) -> Result<Url, Error> {
    let wrong = |reason: String| Error::Address { url: excerpt(base_url, 200), reason };
    let mut url = Url::parse(base_url).map_err(|cause| wrong(cause.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("neither http nor https".to_owned()));
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["chat", "completions"]);
    }
    Ok(url)
}

/// A header's value, as far as it is text; bounded.
fn text(headers: &HeaderMap, name: &http::HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).map(|value| excerpt(value.trim(), 200)).unwrap_or_default()
}

/// A number in 0..1 from the process's random hash keys: spreading retries needs no better.
fn chance() -> f64 {
    let bits = RandomState::new().hash_one(()) >> 32;
    f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

/// The Authorization header's value, which nothing prints. A key holds only what a header can carry.
fn bearer(key: &Key) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose())).map_err(|_| Error::NoKey)?;
    value.set_sensitive(true);
    Ok(value)
}
