//! Serves the endpoint: bytes in, bytes out, at the pace that the plan says. Decides nothing.

mod stream;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::ask::{Ask, Refusal};
use super::plan::{Plan, State, plan};
use super::script::{Fault, Script};
use super::speak;

/// Requests that are kept to be looked at, and the bytes of their bodies.
const LOGGED: usize = 1_000;
const LOGGED_BYTES: usize = 64 << 20;
/// Bytes of a request.
const BODY_BYTES: usize = 64 << 20;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Port 0 takes a free one.
    pub bind: SocketAddr,
    /// The key that every request must carry; none takes every request.
    pub key: Option<String>,
}

/// A running endpoint; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    endpoint: Arc<Endpoint>,
    task: JoinHandle<std::io::Result<()>>,
}

/// One request that came in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// Its path.
    pub path: String,
    /// Whether it carried an Authorization header; never which.
    pub authorization: bool,
    /// Its body; null where that is not JSON.
    pub body: Value,
    /// What it got: an HTTP status, 0 for none at all.
    pub status: u16,
    /// The rule that decided; none for the echo and for refusals.
    pub rule: Option<usize>,
}

#[derive(Debug)]
struct Endpoint {
    script: Script,
    key: Option<String>,
    state: Mutex<State>,
    log: Mutex<Log>,
}

/// The last requests, with the bytes of each one's body.
#[derive(Debug, Default)]
struct Log {
    requests: VecDeque<(Request, usize)>,
    bytes: usize,
}

impl Log {
    fn push(&mut self, request: Request, bytes: usize) {
        self.requests.push_back((request, bytes));
        self.bytes = self.bytes.saturating_add(bytes);
        while self.requests.len() > LOGGED || self.bytes > LOGGED_BYTES {
            let Some((_, bytes)) = self.requests.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    fn all(&self) -> Vec<Request> {
        self.requests.iter().map(|(request, _)| request.clone()).collect()
    }
}

impl Server {
    /// Starts serving.
    pub async fn start(script: Script, options: Options) -> std::io::Result<Self> {
        let listener = TcpListener::bind(options.bind).await?;
        let address = listener.local_addr()?;
        let endpoint = Arc::new(Endpoint { script, key: options.key, state: Mutex::default(), log: Mutex::default() });
        let task = tokio::spawn(axum::serve(listener, router(Arc::clone(&endpoint))).into_future());
        Ok(Self { address, endpoint, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a Model's base URL has to be.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The last requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.endpoint.log().all()
    }

    /// Serves until the listener fails.
    pub async fn wait(mut self) -> std::io::Result<()> {
        (&mut self.task).await.map_err(std::io::Error::other)?
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Endpoint {
    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a provider does first: look at the key.
    fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let unauthorized = |message: &str| Err(Refusal { status: 401, message: message.to_owned() });
        match (headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default()), &self.key) {
            (None, Some(_)) => unauthorized("No auth credentials found"),
            (Some(given), _) if given.strip_prefix("Bearer ").is_none_or(|key| key.trim().is_empty()) => {
                unauthorized("the Authorization header holds no key")
            }
            (Some(given), Some(key)) if given.strip_prefix("Bearer ") != Some(key) => unauthorized("Incorrect API key provided"),
            (None, None) | (Some(_), _) => Ok(()),
        }
    }

    fn decide(&self, headers: &HeaderMap, body: &serde_json::Result<Value>) -> Result<(Ask, Plan), Refusal> {
        self.admit(headers)?;
        let body = body.as_ref().map_err(|error| Refusal { status: 400, message: format!("the body is not JSON: {error}") })?;
        let ask = Ask::read(body)?;
        let plan = plan(&self.script, &mut self.state.lock().unwrap_or_else(PoisonError::into_inner), &ask)?;
        Ok((ask, plan))
    }
}

fn router(endpoint: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/api/v1/chat/completions", post(complete))
        .route("/v1/models", get(models))
        .route("/api/v1/models", get(models))
        .route("/requests", get(requests).delete(forget))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(endpoint)
}

async fn complete(Shared(endpoint): Shared<Arc<Endpoint>>, uri: axum::http::Uri, headers: HeaderMap, body: Bytes) -> Response {
    let bytes = body.len();
    let body = serde_json::from_slice(&body);
    let decided = endpoint.decide(&headers, &body);
    let (status, rule) = match &decided {
        Ok((_, Plan { fault: Some(Fault::Http { status, .. }), rule, .. })) => (*status, *rule),
        Ok((_, Plan { fault: Some(Fault::Silent), rule, .. })) => (0, *rule),
        Ok((_, plan)) => (200, plan.rule),
        Err(refusal) => (refusal.status, None),
    };
    tracing::info!(status, rule, bytes, "completion");
    let (path, authorization) = (uri.path().to_owned(), headers.contains_key(AUTHORIZATION));
    endpoint.log().push(Request { path, authorization, body: body.unwrap_or_default(), status, rule }, bytes);
    match decided {
        Ok((ask, plan)) => answer(&ask, plan).await,
        Err(refusal) => http_error(refusal.status, &refusal.message),
    }
}

async fn answer(ask: &Ask, plan: Plan) -> Response {
    match plan.fault {
        Some(Fault::Silent) => std::future::pending().await,
        Some(Fault::Http { status, message, retry_after, location }) => {
            let mut response = http_error(status, message.as_deref().unwrap_or("the script says so"));
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(RETRY_AFTER, seconds.into());
            }
            if let Some(location) = location.and_then(|location| location.try_into().ok()) {
                response.headers_mut().insert(LOCATION, location);
            }
            response
        }
        fault if ask.stream => {
            let body = Body::from_stream(stream::bytes(&plan.answer, ask.include_usage, fault.as_ref()));
            ([(CONTENT_TYPE, "text/event-stream"), (axum::http::header::CACHE_CONTROL, "no-cache")], body).into_response()
        }
        Some(Fault::Error { code, message, .. }) => axum::Json(speak::error(code, &message)).into_response(),
        Some(_) => {
            let torn = futures::stream::iter([Ok("{\"id\":"), Err(std::io::Error::other("the script says so"))]);
            ([(CONTENT_TYPE, "application/json")], Body::from_stream(torn)).into_response()
        }
        None => {
            let delay = plan.answer.pace.first;
            tokio::time::sleep(std::time::Duration::from_millis(delay)).await;
            axum::Json(speak::whole(&plan.answer)).into_response()
        }
    }
}

fn http_error(status: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (code, axum::Json(speak::error(status, message))).into_response()
}

async fn models(Shared(endpoint): Shared<Arc<Endpoint>>) -> axum::Json<Value> {
    let echo = ["mock/echo".to_owned()];
    let models = if endpoint.script.models.is_empty() { echo.as_slice() } else { endpoint.script.models.as_slice() };
    let models: Vec<Value> = models.iter().map(|id| json!({ "id": id, "object": "model", "owned_by": "mock" })).collect();
    axum::Json(json!({ "object": "list", "data": models }))
}

async fn requests(Shared(endpoint): Shared<Arc<Endpoint>>) -> axum::Json<Vec<Request>> {
    axum::Json(endpoint.log().all())
}

async fn forget(Shared(endpoint): Shared<Arc<Endpoint>>) -> StatusCode {
    *endpoint.log() = Log::default();
    StatusCode::NO_CONTENT
}
