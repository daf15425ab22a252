//! What every request has to show before anything reads it, and what every response carries. No IO.
//!
//! A page on the web can make a browser send requests to loopback, under a host name of its own or ours. The first is
//! refused by `Host`, the second by `Origin` and `Sec-Fetch-Site`; a form cannot send JSON. Without CORS headers no page
//! of another origin reads an answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::problem::Problem;

const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match check(request.method(), request.headers(), &shared.hosts) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `hosts` are in lower case.
pub(super) fn check(method: &Method, headers: &HeaderMap, hosts: &[String]) -> Result<(), Problem> {
    let ours = |authority: &str| hosts.iter().any(|host| host.eq_ignore_ascii_case(authority));
    if !the_only(headers, &header::HOST).is_some_and(ours) {
        return Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong-host",
            format!("the Host header has to be one of: {}", hosts.join(", ")),
        ));
    }
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let origin_is_ours = !headers.contains_key(header::ORIGIN)
        || the_only(headers, &header::ORIGIN).and_then(|origin| origin.split_once("://")).is_some_and(|(_, authority)| ours(authority));
    let site = HeaderName::from_static("sec-fetch-site");
    let site_is_ours = !headers.contains_key(&site) || matches!(the_only(headers, &site), Some("same-origin" | "none"));
    if origin_is_ours && site_is_ours {
        return Ok(());
    }
    Err(Problem::new(StatusCode::FORBIDDEN, "wrong-origin", "a page of another origin may not change anything here"))
}

/// The value of a header that is there exactly once.
fn the_only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
