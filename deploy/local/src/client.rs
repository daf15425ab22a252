//! Speaks the HTTP API for the commands that ask a running Thetis for something.

pub mod follow;
pub mod print;

use std::fmt::Write as _;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use thetis_core::id::Seq;
use thetis_runtime::ingress::wire;

/// The answer could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing serves there.
    #[error("nothing answers at {url}; start Thetis with `thetis local -f FOLDER` (or `make up`), or name another address by --url")]
    NotRunning {
        /// Where it was looked for.
        url: String,
        /// What failed.
        #[source]
        cause: reqwest::Error,
    },
    /// The connection broke, or the answer is not one of this API.
    #[error("no answer of Thetis came from {url}")]
    NoAnswer {
        /// Who was asked.
        url: String,
        /// What failed.
        #[source]
        cause: reqwest::Error,
    },
    /// Something answers there, and it is not Thetis.
    #[error("{url} answered {status}, and not as Thetis does")]
    NotThetis {
        /// Who was asked.
        url: String,
        /// What it answered.
        status: StatusCode,
    },
    /// Thetis refused.
    #[error("{}", .0.detail)]
    Refused(wire::Problem),
    /// An event stream that does not parse.
    #[error("the event stream from {url} does not parse")]
    Stream {
        /// Who sent it.
        url: String,
        /// What failed; none where a message was longer than any event.
        #[source]
        cause: Option<serde_json::Error>,
    },
    /// The address is none.
    #[error("not an address of Thetis, such as http://127.0.0.1:7777: {url:?}")]
    NotAnAddress {
        /// As given.
        url: String,
    },
    /// The client could not be made.
    #[error("set up the HTTP client")]
    Setup(#[source] reqwest::Error),
}

impl Error {
    /// The problem's code, where Thetis refused.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        if let Self::Refused(problem) = self { Some(&problem.code) } else { None }
    }

    /// Whether the same request may be answered later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NotRunning { .. } | Self::NoAnswer { .. } => true,
            Self::Refused(problem) => problem.status == StatusCode::SERVICE_UNAVAILABLE.as_u16(),
            _ => false,
        }
    }
}

/// Which conversation is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its namespace.
    pub namespace: String,
    /// Its name there.
    pub name: String,
}

/// Asks one Thetis.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    url: String,
}

/// For a connection to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// For an answer that is not a stream.
const ANSWER: Duration = Duration::from_secs(30);

impl Client {
    /// A client of the Thetis at `url`, for example `http://127.0.0.1:7777`. Sends nothing.
    pub fn new(url: &str) -> Result<Self, Error> {
        let url = url.trim_end_matches('/').to_owned();
        if reqwest::Url::parse(&url).is_ok_and(|parsed| parsed.has_host() && matches!(parsed.scheme(), "http" | "https")) {
            // A proxy has no business between this machine and itself.
            let http = reqwest::Client::builder().connect_timeout(CONNECT).no_proxy().build().map_err(Error::Setup)?;
            return Ok(Self { http, url });
        }
        Err(Error::NotAnAddress { url })
    }

    /// All conversations, of one namespace or of all.
    pub async fn conversations(&self, namespace: Option<&str>) -> Result<Vec<wire::Conversation>, Error> {
        let filter = namespace.map(|namespace| format!("?namespace={}", encoded(namespace))).unwrap_or_default();
        let request = self.request(Method::GET, &format!("/conversations{filter}"));
        Ok(self.document::<wire::Conversations>(request.timeout(ANSWER)).await?.items)
    }

    /// One conversation.
    pub async fn conversation(&self, of: &Name) -> Result<wire::Conversation, Error> {
        self.document(self.request(Method::GET, &of.path("")).timeout(ANSWER)).await
    }

    /// Makes a conversation.
    pub async fn create(&self, new: &wire::NewConversation) -> Result<wire::Conversation, Error> {
        self.document(self.request(Method::POST, "/conversations").timeout(ANSWER).json(new)).await
    }

    /// Says something; the event that holds it.
    pub async fn say(&self, of: &Name, text: &str) -> Result<Seq, Error> {
        let request = self.request(Method::POST, &of.path("/messages")).timeout(ANSWER);
        Ok(self.document::<wire::Accepted>(request.json(&wire::Message { text: text.to_owned() })).await?.seq)
    }

    /// Asks the running turn to stop; the event that holds the wish.
    pub async fn cancel(&self, of: &Name) -> Result<Seq, Error> {
        let request = self.request(Method::POST, &of.path("/cancel")).timeout(ANSWER);
        Ok(self.document::<wire::Accepted>(request.json(&wire::Cancel {})).await?.seq)
    }

    /// A page of the log after the event `after`.
    pub async fn events(&self, of: &Name, after: Seq) -> Result<wire::Page, Error> {
        self.document(self.request(Method::GET, &of.path(&format!("/events?after={after}"))).timeout(ANSWER)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}/api/v1{path}", self.url))
    }

    async fn document<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Error> {
        self.answer(request).await?.json().await.map_err(|cause| Error::NoAnswer { url: self.url.clone(), cause })
    }

    /// The answer, where it is not a refusal.
    async fn answer(&self, request: RequestBuilder) -> Result<Response, Error> {
        let url = || self.url.clone();
        let answer = request.send().await.map_err(|cause| {
            if cause.is_connect() { Error::NotRunning { url: url(), cause } } else { Error::NoAnswer { url: url(), cause } }
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        Err(answer.json().await.map_or_else(|_| Error::NotThetis { url: url(), status }, Error::Refused))
    }
}

impl Name {
    fn path(&self, below: &str) -> String {
        format!("/conversations/{}/{}{below}", encoded(&self.namespace), encoded(&self.name))
    }
}

/// What is not a name stays one segment of a path, and is refused by the server as a name.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
