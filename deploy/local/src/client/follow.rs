//! Follows a log over a connection that may break: what was seen is not seen again, and nothing is left out.

use std::ops::ControlFlow;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::ACCEPT;
use thetis_core::event::{Body, Event, TurnStatus};
use thetis_core::id::Seq;
use thetis_model::sse;
use thetis_runtime::ingress::wire;

use super::{Client, Error, Name};

/// The server beats every 8 s; a connection that is silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(30);

/// Between attempts to come back.
const RETRY: Duration = Duration::from_millis(500);

/// Attempts in a row without an event before giving up: a minute's worth.
const ATTEMPTS: u32 = 120;

/// When to stop following.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never.
    Interrupted,
    /// No turn runs, and no input waits for one.
    Settled,
}

impl Client {
    /// Hands the events after `after` to `see`, in order, each once, until `see` returns false or `until` has come.
    /// Returns how the last turn that ended before its eyes ended.
    pub async fn follow(
        &self,
        of: &Name,
        mut after: Seq,
        until: Until,
        mut see: impl FnMut(&Event) -> bool,
    ) -> Result<Option<TurnStatus>, Error> {
        let mut last = None;
        let mut failures = 0;
        loop {
            let before = after;
            match self.once(of, &mut after, until, &mut last, &mut see).await {
                Ok(ControlFlow::Break(())) => return Ok(last),
                // Nothing was ever there: that will not pass by itself.
                Err(error @ Error::NotRunning { .. }) if failures == 0 => return Err(error),
                Err(error) if !error.may_pass() || failures >= ATTEMPTS => return Err(error),
                Ok(ControlFlow::Continue(())) | Err(_) => {}
            }
            failures = if after > before { 1 } else { failures + 1 };
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Follows over one connection, as long as it lasts.
    async fn once(
        &self,
        of: &Name,
        after: &mut Seq,
        until: Until,
        last: &mut Option<TurnStatus>,
        see: &mut impl FnMut(&Event) -> bool,
    ) -> Result<ControlFlow<()>, Error> {
        // Nothing may ever come, and then no event would say that it is over.
        if until == Until::Settled && self.is_settled_at(of, *after).await? {
            return Ok(ControlFlow::Break(()));
        }
        self.stream(of, *after, async |event| {
            *after = event.seq;
            if let Body::TurnEnd(end) = &event.body {
                *last = Some(end.status);
            }
            if !see(event) {
                return Ok(ControlFlow::Break(()));
            }
            let over = until == Until::Settled && may_be_last(&event.body) && self.is_settled_at(of, event.seq).await?;
            Ok(if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .await
    }

    /// Whether nothing more than the event `seq` will come by itself.
    async fn is_settled_at(&self, of: &Name, seq: Seq) -> Result<bool, Error> {
        let conversation = self.conversation(of).await?;
        let rests = !conversation.pending && matches!(conversation.state.as_str(), "idle" | "done");
        Ok(rests && conversation.tail == seq)
    }

    /// One connection's worth of events.
    async fn stream(
        &self,
        of: &Name,
        after: Seq,
        mut see: impl AsyncFnMut(&Event) -> Result<ControlFlow<()>, Error>,
    ) -> Result<ControlFlow<()>, Error> {
        let request = self.request(Method::GET, &of.path(&format!("/events?after={after}")));
        let mut answer = self.answer(request.header(ACCEPT, "text/event-stream")).await?;
        let mut decoder = sse::Decoder::default();
        loop {
            let Ok(chunk) = tokio::time::timeout(SILENCE, answer.chunk()).await else { return Ok(ControlFlow::Continue(())) };
            let Ok(Some(chunk)) = chunk else { return Ok(ControlFlow::Continue(())) };
            for streamed in self.decode(&mut decoder, &chunk)? {
                match streamed {
                    wire::Streamed::Log(event) => {
                        if see(&event).await?.is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    wire::Streamed::Delta(_) | wire::Streamed::Restart => {}
                    wire::Streamed::Problem(problem) => return Err(Error::Refused(problem)),
                }
            }
        }
    }

    fn decode(&self, decoder: &mut sse::Decoder, chunk: &[u8]) -> Result<Vec<wire::Streamed>, Error> {
        let mut messages = Vec::new();
        let pushed = decoder.push(chunk, |data| {
            messages.push(serde_json::from_slice(data)?);
            Ok::<(), Unparsed>(())
        });
        pushed.map_err(|Unparsed(cause)| Error::Stream { url: self.url.clone(), cause })?;
        Ok(messages)
    }
}

struct Unparsed(Option<serde_json::Error>);

impl From<sse::TooLong> for Unparsed {
    fn from(_: sse::TooLong) -> Self {
        Self(None)
    }
}

impl From<serde_json::Error> for Unparsed {
    fn from(cause: serde_json::Error) -> Self {
        Self(Some(cause))
    }
}

/// Whether an event can be one that nothing follows by itself: what a turn writes last, and a wish to stop that found none.
const fn may_be_last(body: &Body) -> bool {
    matches!(body, Body::TurnEnd(_) | Body::CancelRequested(_) | Body::Note(_))
}
