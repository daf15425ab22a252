//! One request of a guest: checked against its grant, resolved, connected, sent, its answer bounded. Does network IO.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Scheme, Uri};
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, timeout};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::Egress;
use super::allow::Reach;

/// Header fields of a request or an answer; far below what makes the HTTP library misbehave.
const MAX_HEADERS: usize = 128;

/// Header bytes of an answer that are buffered.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Bytes of a request's body, and of an answer's.
const MAX_BODY_BYTES: u64 = 64 << 20;

/// Addresses of a host that are tried.
const MAX_ADDRESSES: usize = 4;

/// The longest that a guest may ask to wait for each of these; also what it waits when it asks for nothing.
const MAX_RESOLVE: Duration = Duration::from_secs(10);
const MAX_CONNECT: Duration = Duration::from_secs(10);
const MAX_FIRST_BYTE: Duration = Duration::from_mins(5);
const MAX_BETWEEN_BYTES: Duration = Duration::from_mins(1);

/// Drives a connection after its answer's head has come.
pub(super) type Connection = Box<dyn Future<Output = Result<(), Error>> + Send>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What of a request decides where it goes.
struct Destination {
    host: String,
    port: u16,
    encrypted: bool,
    reach: Reach,
}

/// Sends the request; the answer comes with the future that its connection needs.
pub(super) async fn send(
    egress: Arc<Egress>,
    request: Request<WasiBody>,
    options: Option<RequestOptions>,
) -> Result<(Response<WasiBody>, Connection), Error> {
    let options = options.unwrap_or_default();
    let bounded = |asked: Option<Duration>, most: Duration| asked.map_or(most, |asked| asked.min(most));
    let destination = destination(&egress, &request)?;
    let request = for_the_wire(request, &destination)?;
    let connect = connect(&egress, &destination);
    let stream = timeout(bounded(options.connect_timeout, MAX_CONNECT), connect).await.map_err(|_| Error::ConnectionTimeout)??;
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake::<_, WasiBody>(TokioIo::new(stream))
        .await
        .map_err(Error::Hyper)?;
    let mut connection = Box::pin(connection);
    let answer = async {
        let mut answer = pin!(sender.send_request(request));
        tokio::select! {
            biased;
            answer = &mut answer => answer.map(|answer| (answer, true)),
            ended = &mut connection => match ended {
                Ok(()) => answer.await.map(|answer| (answer, false)),
                Err(error) => Err(error),
            },
        }
    };
    let answer = timeout(bounded(options.first_byte_timeout, MAX_FIRST_BYTE), answer).await;
    let (answer, connected) = answer.map_err(|_| Error::ConnectionReadTimeout)?.map_err(from_hyper)?;
    let patience = bounded(options.between_bytes_timeout, MAX_BETWEEN_BYTES);
    let answer = answer.map(|body| {
        let body = Patient { body, patience, late: Box::pin(tokio::time::sleep(patience)) };
        Counted { body, room: MAX_BODY_BYTES, full: || Error::HttpResponseBodySize(None) }.boxed_unsync()
    });
    let rest: Connection = Box::new(async move { if connected { connection.await.map_err(Error::Hyper) } else { Ok(()) } });
    Ok((answer, rest))
}

fn destination(egress: &Egress, request: &Request<WasiBody>) -> Result<Destination, Error> {
    let authority = request.uri().authority().ok_or(Error::HttpRequestUriInvalid)?;
    if authority.as_str().contains('@') || request.method() == http::Method::CONNECT {
        return Err(Error::HttpRequestDenied);
    }
    let encrypted = request.uri().scheme() == Some(&Scheme::HTTPS);
    let default_port = if encrypted { 443 } else { 80 };
    let port = match authority.port() {
        Some(port) => port.as_str().parse().map_err(|_| Error::HttpRequestUriInvalid)?,
        None => default_port,
    };
    let host = authority.host();
    match egress.allow.permits(host, port, default_port) {
        Some(reach) => Ok(Destination { host: host.to_owned(), port, encrypted, reach }),
        None => Err(Error::HttpRequestDenied),
    }
}

/// In the form that goes to a server rather than a proxy, and within bounds. The head that a guest built was bounded when
/// it was built; only the number of its fields was not.
fn for_the_wire(request: Request<WasiBody>, destination: &Destination) -> Result<Request<WasiBody>, Error> {
    let (mut head, body) = request.into_parts();
    if head.headers.len() > MAX_HEADERS {
        return Err(Error::HttpRequestHeaderSectionSize(None));
    }
    let default_port = if destination.encrypted { 443 } else { 80 };
    let host =
        if destination.port == default_port { destination.host.clone() } else { format!("{}:{}", destination.host, destination.port) };
    head.headers.insert(http::header::HOST, HeaderValue::from_str(&host).map_err(|_| Error::HttpRequestUriInvalid)?);
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = Uri::builder().path_and_query(path).build().map_err(|_| Error::HttpRequestUriInvalid)?;
    head.version = http::Version::HTTP_11;
    let body = Counted { body, room: MAX_BODY_BYTES, full: || Error::HttpRequestBodySize(None) };
    Ok(Request::from_parts(head, body.boxed_unsync()))
}

async fn connect(egress: &Egress, destination: &Destination) -> Result<Box<dyn Stream>, Error> {
    let mut last = Error::DestinationIpProhibited;
    for address in resolve(destination).await?.into_iter().take(MAX_ADDRESSES) {
        match TcpStream::connect(address).await {
            Ok(stream) => return secure(egress, destination, stream).await,
            Err(error) => last = Error::Connect(error),
        }
    }
    Err(last)
}

/// The addresses of the host that its grant lets a connection go to. They are resolved once, and these very addresses are
/// connected to, so that a second answer of the name server changes nothing.
async fn resolve(destination: &Destination) -> Result<Vec<SocketAddr>, Error> {
    if let Reach::Exactly(address) = destination.reach {
        return Ok(vec![SocketAddr::new(address, destination.port)]);
    }
    let lookup = tokio::net::lookup_host((destination.host.as_str(), destination.port));
    let found = timeout(MAX_RESOLVE, lookup).await.map_err(|_| Error::DnsTimeout)?;
    let found = found.map_err(|_| Error::DnsError { rcode: None, info_code: None })?;
    Ok(found.filter(|found| destination.reach.admits(found.ip())).collect())
}

async fn secure(egress: &Egress, destination: &Destination, stream: TcpStream) -> Result<Box<dyn Stream>, Error> {
    if !destination.encrypted {
        return Ok(Box::new(stream));
    }
    let name = match destination.reach {
        Reach::Exactly(address) => ServerName::from(address),
        _ => ServerName::try_from(destination.host.clone()).map_err(|_| Error::HttpRequestUriInvalid)?,
    };
    let connector = egress.client.encryption().map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "guests cannot use https");
        Error::ConfigurationError
    })?;
    Ok(Box::new(connector.connect(name, stream).await.map_err(Error::Tls)?))
}

/// A body that broke our own bound reaches us wrapped in the HTTP library's error.
fn from_hyper(error: hyper::Error) -> Error {
    match std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Error>()) {
        Some(Error::HttpRequestBodySize(size)) => Error::HttpRequestBodySize(*size),
        _ => Error::Hyper(error),
    }
}

/// A body that ends with an error when it is longer than it may be.
struct Counted<B> {
    body: B,
    room: u64,
    full: fn() -> Error,
}

impl<B: Body<Data = Bytes, Error = Error> + Unpin> Body for Counted<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            match self.room.checked_sub(data.len() as u64) {
                Some(room) => self.room = room,
                None => return Poll::Ready(Some(Err((self.full)()))),
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body that ends with an error when nothing comes for too long.
struct Patient {
    body: hyper::body::Incoming,
    patience: Duration,
    late: Pin<Box<Sleep>>,
}

impl Body for Patient {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let next = Instant::now() + self.patience;
            self.late.as_mut().reset(next);
            return Poll::Ready(frame.map(|frame| frame.map_err(Error::Hyper)));
        }
        ready!(self.late.as_mut().poll(context));
        Poll::Ready(Some(Err(Error::ConnectionReadTimeout)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
