//! Reads a response into a reply: an event stream, or the whole completion of a server that does not stream.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use reqwest::Response;
use tokio::time::Instant;

use super::{Client, text};
use crate::assemble::Assembler;
use crate::reply::{Delta, Reply};
use crate::request::Request;
use crate::sse::{Decoder, TooLong};
use crate::step::{Error, excerpt};
use crate::wire::REPLY_BYTES;

/// How long usage and `[DONE]` are waited for once the reply is whole.
const TRAILER: Duration = Duration::from_secs(5);

impl From<TooLong> for Error {
    fn from(TooLong: TooLong) -> Self {
        Self::TooLarge { what: "4 MiB in one event" }
    }
}

impl Client {
    pub(super) async fn reply(
        &self,
        response: Response,
        request: &Request<'_>,
        deadline: Instant,
        delta: &mut impl FnMut(Delta<'_>),
    ) -> Result<Reply, Error> {
        let kind = text(response.headers(), &CONTENT_TYPE).to_ascii_lowercase();
        let mut assembler = Assembler::default();
        if kind.starts_with("application/json") {
            self.whole(response, deadline, &mut assembler, delta).await?;
        } else if kind.starts_with("text/html") {
            return Err(Error::NotACompletion { what: "a web page".to_owned() });
        } else {
            self.streamed(response, deadline, &mut assembler, delta).await?;
        }
        // Both ways end with an error unless the reply is whole.
        assembler.reply(&request.model.wire_id, &request.model.prices).ok_or(Error::Cut(None))
    }

    /// Reads events until the stream says that it is over, or ends, or breaks.
    async fn streamed(
        &self,
        mut response: Response,
        deadline: Instant,
        assembler: &mut Assembler,
        delta: &mut impl FnMut(Delta<'_>),
    ) -> Result<(), Error> {
        let mut decoder = Decoder::default();
        let mut trailer = None;
        loop {
            let until = self.patience(deadline).min(trailer.unwrap_or(deadline));
            let broken = match tokio::time::timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(bytes))) => decoder.push(&bytes, |data| assembler.event(data, delta)).err(),
                Ok(Ok(None)) => Some(Error::Cut(None)),
                Ok(Err(cause)) => Some(Error::Cut(Some(cause.without_url()))),
                Err(_) => Some(self.silent(deadline)),
            };
            if assembler.is_whole() && (broken.is_some() || assembler.has_ended()) {
                return Ok(());
            }
            match broken {
                Some(error) => return Err(error),
                None if assembler.has_ended() => return Err(Error::Cut(None)),
                None if assembler.is_whole() => trailer = trailer.or(Some(Instant::now() + TRAILER)),
                None => {}
            }
        }
    }

    /// Reads one completion that was not streamed, or an error that came as one.
    async fn whole(
        &self,
        mut response: Response,
        deadline: Instant,
        assembler: &mut Assembler,
        delta: &mut impl FnMut(Delta<'_>),
    ) -> Result<(), Error> {
        let mut body = Vec::new();
        loop {
            match tokio::time::timeout_at(self.patience(deadline), response.chunk()).await {
                Ok(Ok(Some(bytes))) if body.len().saturating_add(bytes.len()) > REPLY_BYTES => {
                    return Err(Error::TooLarge { what: "16 MiB in one completion" });
                }
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None)) => break,
                Ok(Err(cause)) => return Err(Error::Cut(Some(cause.without_url()))),
                Err(_) => return Err(self.silent(deadline)),
            }
        }
        match assembler.event(&body, delta) {
            Ok(()) if assembler.is_whole() => Ok(()),
            Ok(()) | Err(Error::Malformed { .. }) => {
                Err(Error::NotACompletion { what: format!("{:?}", excerpt(&String::from_utf8_lossy(&body), 120)) })
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
