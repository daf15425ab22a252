//! `wasi:http` for guests that are granted it: requests go out to the hosts of their grant and nowhere else. Every request
//! is checked, also the one that a guest makes because an answer redirected it. Does network IO, in `send`.

mod address;
pub mod allow;
mod send;

use std::sync::{Arc, OnceLock};

use http::Request;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use wasmtime::component::Linker;
use wasmtime_wasi_http::p2::bindings::LinkOptions;
use wasmtime_wasi_http::p2::bindings::http::{outgoing_handler, types};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks};

use self::allow::Allow;
use crate::guest::Ctx;

/// The interfaces that [`link`] adds, without their versions.
pub const INTERFACES: [&str; 2] = ["wasi:http/outgoing-handler", "wasi:http/types"];

/// Bytes of a header section that a guest builds, with what it costs to hold them.
const MAX_FIELDS_BYTES: usize = 64 << 10;

/// Requests that one call may have under way.
const MAX_CONCURRENT: usize = 16;

/// What all guests' requests share.
#[derive(Default)]
pub struct Client {
    encryption: OnceLock<TlsConnector>,
}

impl Client {
    /// TLS that trusts what this machine trusts. Set up at first use: most hosts never need it.
    fn encryption(&self) -> Result<&TlsConnector, rustls::Error> {
        if let Some(connector) = self.encryption.get() {
            return Ok(connector);
        }
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        Ok(self.encryption.get_or_init(|| TlsConnector::from(Arc::new(config))))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// What a guest's grant lets out, and through what.
#[derive(Debug)]
pub(crate) struct Egress {
    client: Arc<Client>,
    allow: Allow,
}

impl Egress {
    pub(crate) const fn new(client: Arc<Client>, allow: Allow) -> Self {
        Self { client, allow }
    }
}

/// What one call needs of `wasi:http`.
pub(crate) struct State {
    fields: WasiHttpCtx,
    requests: Requests,
}

impl State {
    pub(crate) fn new(egress: Arc<Egress>) -> Self {
        let mut fields = WasiHttpCtx::new();
        fields.set_field_size_limit(MAX_FIELDS_BYTES);
        Self { fields, requests: Requests { egress, under_way: None } }
    }
}

/// Adds `wasi:http`'s outgoing half.
pub(crate) fn link(linker: &mut Linker<Ctx>) -> wasmtime::Result<()> {
    outgoing_handler::add_to_linker::<_, WasiHttp>(linker, Ctx::http)?;
    types::add_to_linker::<_, WasiHttp>(linker, &LinkOptions::default().into(), Ctx::http)
}

impl Ctx {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (http, table) = self.called().http_and_table();
        WasiHttpCtxView { hooks: &mut http.requests, table, ctx: &mut http.fields }
    }
}

struct Requests {
    egress: Arc<Egress>,
    /// Made with the first request.
    under_way: Option<Arc<Semaphore>>,
}

type Sent = Result<(http::Response<WasiBody>, send::Connection), Error>;

impl WasiHttpHooks for Requests {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let under_way = self.under_way.get_or_insert_with(|| Arc::new(Semaphore::new(MAX_CONCURRENT)));
        let permit = Arc::clone(under_way).try_acquire_owned();
        let egress = Arc::clone(&self.egress);
        Box::new(async move {
            let permit = permit.map_err(|_| Error::ConnectionLimitReached)?;
            let (answer, connection) = send::send(egress, request, options).await?;
            let connection: send::Connection = Box::new(async move {
                let _permit = permit;
                Box::into_pin(connection).await
            });
            Ok((answer, connection))
        })
    }
}
