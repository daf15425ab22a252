//! The HTTP API under `/api/v1`: what the command line, the web UI and `curl` stand on. Reads rows, appends input, and
//! follows logs; it runs no turn and calls no guest.
//!
//! It trusts nobody, not even on loopback: every request names the host it means, every change names its content type and,
//! from a browser, an origin that is ours. Everything it holds is bounded, and what it writes is written by a task of its
//! own, so a client that goes away changes nothing about it.

mod body;
mod connection;
mod conversations;
mod events;
mod guard;
mod input;
mod name;
mod problem;
mod stream;
pub mod wire;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};
use thetis_store::Store;
use thetis_store::hint::Hints;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ingress::problem::Problem;

/// Connections that are open at once; more wait in the kernel's queue.
const CONNECTIONS: usize = 4096;

/// Logs that are followed at once; more are refused with 503.
const FOLLOWERS: usize = 1024;

/// What the API stands on.
pub struct Options {
    /// The rows.
    pub store: Store,
    /// Where to say that there is work, and hear that there is news.
    pub hints: Hints,
    /// Every `Host` that a request may name, port included, for example `127.0.0.1:7777`. Anything else is refused, which
    /// is what keeps a web page from reaching this API under a name of its own.
    pub hosts: Vec<String>,
}

/// What every handler sees.
struct Shared {
    store: Store,
    hints: Hints,
    hosts: Vec<String>,
    followers: Arc<Semaphore>,
    shutdown: CancellationToken,
}

type State = axum::extract::State<Arc<Shared>>;

/// Serves the API on `listener` until `shutdown`, then lets requests in flight end (5 s at most) and returns.
pub async fn serve(listener: TcpListener, options: Options, shutdown: CancellationToken) {
    let shared = Arc::new(Shared {
        store: options.store,
        hints: options.hints,
        hosts: options.hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect(),
        followers: Arc::new(Semaphore::new(FOLLOWERS)),
        shutdown: shutdown.clone(),
    });
    connection::serve(listener, router(shared), CONNECTIONS, shutdown).await;
}

fn router(shared: Arc<Shared>) -> Router {
    let one = "/api/v1/conversations/{namespace}/{name}";
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/api/v1/conversations", get(conversations::list).post(conversations::create))
        .route(one, get(conversations::show))
        .route(&format!("{one}/messages"), post(input::message))
        .route(&format!("{one}/cancel"), post(input::cancel))
        .route(&format!("{one}/events"), get(events::events))
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "no-such-path", "this API has no such path"))
        .method_not_allowed_fallback(async || Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", "this path has no such method"))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::guard))
        .with_state(shared)
}

/// Whether requests can be answered: the database is there.
async fn ready(state: State) -> Result<&'static str, Problem> {
    state.store.conversations(None, 1).await?;
    Ok("ready\n")
}

/// Runs `work` to its end whatever becomes of the request that asked for it.
async fn detached<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Problem> {
    tokio::spawn(work).await.map_err(|cause| {
        tracing::error!(error = &cause as &dyn std::error::Error, "a request's work ended without an answer");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this server failed to answer; its log says more")
    })
}

#[cfg(test)]
mod tests;
