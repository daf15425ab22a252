//! Accepts connections and speaks HTTP/1.1 on them: bounded in number, header size and time. Knows nothing of the routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// For a request's headers to arrive, and for an idle connection to send its next request.
const HEADERS: Duration = Duration::from_secs(30);

/// Per connection: its read buffer, which a request's headers have to fit into.
const BUFFER: usize = 16 << 10;

/// For requests in flight, once the server is to stop.
const DRAIN: Duration = Duration::from_secs(5);

/// Serves `router` on `listener`, on at most `connections` at once, until `shutdown`.
pub(super) async fn serve(listener: TcpListener, router: Router, connections: usize, shutdown: CancellationToken) {
    let free = Arc::new(Semaphore::new(connections));
    let tasks = TaskTracker::new();
    while let Some(stream) = accept(&listener, &shutdown).await {
        let Some(Ok(permit)) = shutdown.run_until_cancelled(Arc::clone(&free).acquire_owned()).await else { break };
        let (router, shutdown) = (router.clone(), shutdown.clone());
        tasks.spawn(async move {
            converse(stream, router, shutdown).await;
            drop(permit);
        });
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(DRAIN, tasks.wait()).await.is_err() {
        tracing::warn!(connections = tasks.len(), "connections were still busy when the server stopped");
    }
}

async fn accept(listener: &TcpListener, shutdown: &CancellationToken) -> Option<TcpStream> {
    loop {
        match shutdown.run_until_cancelled(listener.accept()).await? {
            Ok((stream, _)) => return Some(stream),
            // Out of descriptors, most likely: connections that end will free some.
            Err(cause) => {
                tracing::warn!(error = &cause as &dyn std::error::Error, "a connection could not be accepted");
                shutdown.run_until_cancelled(tokio::time::sleep(Duration::from_millis(100))).await?;
            }
        }
    }
}

async fn converse(stream: TcpStream, router: Router, shutdown: CancellationToken) {
    // Events are small and wanted now.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| router.clone().oneshot(request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(cause) = ended {
        tracing::debug!(error = &cause as &dyn std::error::Error, "a connection ended early");
    }
}
