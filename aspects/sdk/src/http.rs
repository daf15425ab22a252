//! An HTTP client over `wasi:http`, for guests whose Aspect names hosts in its egress list. One request, one bounded answer.

use wasip2::http::outgoing_handler;
use wasip2::http::types::{ErrorCode, Fields, HeaderError, IncomingResponse, OutgoingBody, OutgoingRequest, RequestOptions, Scheme};
use wasip2::io::streams::StreamError;

pub use wasip2::http::types::Method;

#[cfg(test)]
mod tests;

/// Nanoseconds until the connection stands.
const CONNECT: u64 = 10_000_000_000;
/// Nanoseconds until the answer begins, and between its parts.
const SILENCE: u64 = 60_000_000_000;
/// Bytes asked of the body at a time.
const PIECE: u64 = 64 << 10;
/// The most that one write to a body may hold.
const WRITE: usize = 4096;

/// A request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What to do.
    pub method: Method,
    /// `https://` or `http://`, a host, perhaps a port, path and query.
    pub url: &'a str,
    /// Names and values; what the connection itself needs (`host`, `content-length`) is not among them.
    pub headers: &'a [(&'a str, &'a str)],
    /// Empty for a request without one.
    pub body: &'a [u8],
}

/// An answer, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// For example 200.
    pub status: u16,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, Vec<u8>)>,
    /// As it came, undecoded.
    pub body: Vec<u8>,
    /// The body went on beyond what was asked for.
    pub cut: bool,
}

impl Response {
    /// The value of the first header `name` (in lower case), as far as it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(header, _)| header == name)?;
        std::str::from_utf8(value).ok()
    }
}

/// Sends the request and reads at most `most` bytes of the answer's body. An error's text is fit for the model.
pub fn send(request: &Request<'_>, most: usize) -> Result<Response, String> {
    let url = Url::parse(request.url)?;
    let failed = |code: ErrorCode| explain(&code, url.authority);
    let outgoing = outgoing(request, &url)?;
    let body = outgoing.body().map_err(|()| "the request has no body to write".to_owned())?;
    let answer = outgoing_handler::handle(outgoing, Some(options())).map_err(failed)?;
    write(body, request.body).map_err(|why| format!("the request to {} broke off: {why}", url.authority))?;
    answer.subscribe().block();
    match answer.get() {
        Some(Ok(Ok(response))) => read(&response, most).map_err(|why| format!("the answer of {} broke off: {why}", url.authority)),
        Some(Ok(Err(code))) => Err(failed(code)),
        Some(Err(())) | None => Err("the host gave no answer".to_owned()),
    }
}

fn outgoing(request: &Request<'_>, url: &Url<'_>) -> Result<OutgoingRequest, String> {
    let headers = Fields::new();
    for (name, value) in request.headers {
        headers.append(name, value.as_bytes()).map_err(|error| match error {
            HeaderError::Forbidden => format!("the header {name:?} belongs to the connection and cannot be chosen"),
            _ => format!("the header {name:?} or its value is not one that HTTP knows"),
        })?;
    }
    if !request.body.is_empty() {
        // Without it the body is sent in chunks, which not every server takes. A host may set it by itself.
        let _ = headers.set("content-length", &[request.body.len().to_string().into_bytes()]);
    }
    let outgoing = OutgoingRequest::new(headers);
    let scheme = if url.secure { Scheme::Https } else { Scheme::Http };
    outgoing
        .set_method(&request.method)
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(url.authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(&url.path)))
        .map_err(|()| format!("{:?} is not a URL that can be asked for", request.url))?;
    Ok(outgoing)
}

fn options() -> RequestOptions {
    let options = RequestOptions::new();
    // A host that knows no such limit has its own; the call's time budget holds in any case.
    let _ = options.set_connect_timeout(Some(CONNECT));
    let _ = options.set_first_byte_timeout(Some(SILENCE));
    let _ = options.set_between_bytes_timeout(Some(SILENCE));
    options
}

fn write(body: OutgoingBody, bytes: &[u8]) -> Result<(), String> {
    if !bytes.is_empty() {
        let stream = body.write().map_err(|()| "no stream".to_owned())?;
        for piece in bytes.chunks(WRITE) {
            stream.blocking_write_and_flush(piece).map_err(|error| stream_error(&error))?;
        }
    }
    OutgoingBody::finish(body, None).map_err(|code| format!("{code:?}"))
}

fn read(response: &IncomingResponse, most: usize) -> Result<Response, String> {
    let headers = response.headers().entries().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let mut answer = Response { status: response.status(), headers, body: Vec::new(), cut: false };
    let body = response.consume().map_err(|()| "no body".to_owned())?;
    let stream = body.stream().map_err(|()| "no stream".to_owned())?;
    loop {
        match stream.blocking_read(PIECE) {
            Ok(piece) => answer.body.extend_from_slice(&piece),
            Err(StreamError::Closed) => return Ok(answer),
            Err(error) => return Err(stream_error(&error)),
        }
        if answer.body.len() > most {
            answer.body.truncate(most);
            answer.cut = true;
            return Ok(answer);
        }
    }
}

fn stream_error(error: &StreamError) -> String {
    match error {
        StreamError::LastOperationFailed(why) => why.to_debug_string(),
        StreamError::Closed => "closed".to_owned(),
    }
}

fn explain(code: &ErrorCode, authority: &str) -> String {
    match code {
        ErrorCode::HttpRequestDenied => format!("this tool may not reach {authority}: it is not in the Aspect's egress list"),
        ErrorCode::DestinationIpProhibited => format!("{authority} has an address that may not be reached"),
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => format!("there is no host {authority}"),
        ErrorCode::ConnectionRefused => format!("{authority} refused the connection"),
        ErrorCode::DnsTimeout | ErrorCode::ConnectionTimeout | ErrorCode::ConnectionReadTimeout => {
            format!("{authority} did not answer in time")
        }
        other => format!("the request to {authority} failed: {other:?}"),
    }
}

/// The parts of a URL that a request names one by one.
#[derive(Debug, PartialEq, Eq)]
struct Url<'a> {
    secure: bool,
    authority: &'a str,
    path: String,
}

impl<'a> Url<'a> {
    fn parse(url: &'a str) -> Result<Self, String> {
        let refuse = |why| Err(format!("{url:?} is not a URL that can be asked for: {why}"));
        if url.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return refuse("white space has to be written as %20");
        }
        let (secure, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return refuse("it has to begin with https:// or http://"),
        };
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.is_empty() {
            return refuse("it names no host");
        }
        if authority.contains(['@', '\\']) {
            return refuse("a user name or password does not belong there");
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { secure, authority, path })
    }
}
