//! Server-sent events, decoded as bytes arrive. Pure; knows nothing of what an event says.
//!
//! Keeps only the `data` of events: names, ids and retry times mean nothing to chat completions, and comments
//! (`: OPENROUTER PROCESSING`) only keep the connection alive. An event that the stream's end cuts off is dropped, as the
//! standard asks.

/// The most bytes of one event, and of one line.
pub const EVENT_BYTES: usize = 4 << 20;

/// An event or a line is longer than [`EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Decodes one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Data lines of the event so far, joined by line feeds.
    data: Vec<u8>,
    /// Whether a data line came since the last event.
    pending: bool,
    /// The last byte was a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    /// A line was read: a byte order mark may only come before that.
    begun: bool,
}

impl Decoder {
    /// Takes the next bytes and hands the data of every event that they complete to `event`, in order. Stops at the first
    /// error that `event` returns; the decoder is of no use after any error.
    pub fn push<E: From<TooLong>>(&mut self, mut bytes: &[u8], mut event: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if std::mem::take(&mut self.after_return) {
            if bytes.is_empty() {
                self.after_return = true;
                return Ok(());
            }
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end);
            let (ending, rest) = rest.split_at(1);
            bytes = rest;
            if ending == b"\r" {
                self.after_return = rest.is_empty();
                bytes = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            if self.line.is_empty() {
                self.line(line, &mut event)?;
            } else {
                self.keep(line)?;
                let line = std::mem::take(&mut self.line);
                self.line(&line, &mut event)?;
                self.line = line;
                self.line.clear();
            }
        }
        self.keep(bytes)?;
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len().saturating_add(bytes.len()) > EVENT_BYTES {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line<E: From<TooLong>>(&mut self, line: &[u8], event: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = if std::mem::replace(&mut self.begun, true) { line } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) };
        if line.is_empty() {
            if std::mem::take(&mut self.pending) {
                let outcome = event(&self.data);
                self.data.clear();
                return outcome;
            }
            return Ok(());
        }
        let Some(value) = data(line) else { return Ok(()) };
        if self.data.len().saturating_add(value.len()) >= EVENT_BYTES {
            return Err(TooLong.into());
        }
        if std::mem::replace(&mut self.pending, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }
}

/// The value of a `data` line; none for comments and other fields.
fn data(line: &[u8]) -> Option<&[u8]> {
    let value = line.strip_prefix(b"data")?;
    if value.is_empty() {
        return Some(value);
    }
    let value = value.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
