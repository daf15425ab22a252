//! Puts a reply together from the pieces of a stream. Pure; sees the data of events, never bytes of a connection.
//!
//! Unknown members are ignored. A reply is whole once a finish reason was seen; what comes after it (usage, `[DONE]`) is taken
//! where it comes and not missed where it does not, because asking again would be billed again.

mod calls;
mod chunk;
mod reasoning;
mod usage;

use thetis_core::event::Finish;
use thetis_core::settings::Prices;

use crate::reply::{Delta, Reply};
use crate::step::Error;
use crate::wire::REPLY_BYTES;
use calls::Calls;
use chunk::{Chunk, Piece};
use reasoning::Reasoning;

/// A reply in the making.
#[derive(Debug, Default)]
pub struct Assembler {
    text: String,
    reasoning: Reasoning,
    calls: Calls,
    finish: Option<Finish>,
    usage: serde_json::Value,
    /// Bytes kept so far.
    kept: usize,
    ended: bool,
}

impl Assembler {
    /// Takes the data of one event; new pieces go to `delta`.
    pub fn event(&mut self, data: &[u8], delta: &mut impl FnMut(Delta<'_>)) -> Result<(), Error> {
        if data.trim_ascii() == b"[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|error| Error::Malformed { what: malformed(&error, data) })?;
        if let Some(error) = chunk.failure() {
            return Err(error);
        }
        if !chunk.usage.is_null() {
            self.usage = chunk.usage;
        }
        let Some(choice) = chunk.choices.into_iter().flatten().find(|choice| choice.index.unwrap_or(0) == 0) else { return Ok(()) };
        if let Some(piece) = choice.delta.or(choice.message) {
            self.piece(piece, data.len(), delta)?;
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(finish(&reason)?);
        }
        Ok(())
    }

    /// Whether the model said why it ended.
    pub fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether the provider said that nothing more comes.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The reply of the model that the wire calls `model`, if it is whole.
    pub fn reply(self, model: &str, prices: &Prices) -> Option<Reply> {
        let finish = self.finish?;
        // What a filter cut off may look complete, so nothing of it is run.
        let calls = if finish == Finish::Filtered { Vec::new() } else { self.calls.finish() };
        let finish = match finish {
            // Some providers say `stop` beside calls; one cut by the output limit fails on its arguments and tells the model so.
            Finish::Stop | Finish::Calls | Finish::Length if !calls.is_empty() => Finish::Calls,
            Finish::Calls => Finish::Stop,
            other => other,
        };
        Some(Reply { text: self.text, reasoning: self.reasoning.finish(model), calls, finish, usage: usage::read(&self.usage, prices) })
    }

    fn piece(&mut self, piece: Piece<'_>, size: usize, delta: &mut impl FnMut(Delta<'_>)) -> Result<(), Error> {
        if let Some(details) = piece.reasoning_details {
            self.keep(size)?;
            let shown = piece.reasoning.is_none() && piece.reasoning_content.is_none();
            for detail in details {
                self.reasoning.detail(detail, |text| {
                    if shown {
                        delta(Delta::Reasoning(text));
                    }
                });
            }
        }
        for (member, text) in [("reasoning", piece.reasoning), ("reasoning_content", piece.reasoning_content)] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.keep(text.len())?;
                delta(Delta::Reasoning(&text));
                self.reasoning.plain(member, &text);
            }
        }
        for text in [piece.content.map(chunk::Said::text), piece.refusal].into_iter().flatten().filter(|text| !text.is_empty()) {
            self.keep(text.len())?;
            delta(Delta::Text(&text));
            self.text.push_str(&text);
        }
        for call in piece.tool_calls.into_iter().flatten() {
            self.keep(call.size())?;
            self.calls.push(call, |name| delta(Delta::Call(name)))?;
        }
        Ok(())
    }

    fn keep(&mut self, bytes: usize) -> Result<(), Error> {
        self.kept = self.kept.saturating_add(bytes);
        if self.kept > REPLY_BYTES { Err(Error::TooLarge { what: "16 MiB of text and arguments" }) } else { Ok(()) }
    }
}

fn finish(reason: &str) -> Result<Finish, Error> {
    match reason {
        "tool_calls" | "function_call" => Ok(Finish::Calls),
        "length" | "max_tokens" => Ok(Finish::Length),
        "content_filter" | "safety" => Ok(Finish::Filtered),
        "error" => Err(Error::Unavailable { status: 0, after: None, message: "the provider ended the reply with an error".to_owned() }),
        _ => Ok(Finish::Stop),
    }
}

fn malformed(error: &serde_json::Error, data: &[u8]) -> String {
    format!("{error} in {:?}", crate::step::excerpt(&String::from_utf8_lossy(data), 120))
}

#[cfg(test)]
mod tests;
