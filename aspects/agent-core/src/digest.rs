//! The summary that a compaction leaves: one line for each thing done, cut from the log itself. Pure. No model writes it, so it
//! costs nothing, cannot fail in the middle of a turn, and claims nothing that did not happen.

use thetis_core::event::{AssistantMessage, Body, CallOutcome, Event};

#[cfg(test)]
mod tests;

/// What is kept of what the model said, in characters.
const SAID: usize = 400;
/// What is kept of a call's arguments, and of its result.
const CALL: usize = 160;

const HEAD: &str = "What you did earlier, cut from the log; what people said stands in full around it:";

/// Grows line by line, in log order, the summaries that it replaces first.
#[derive(Debug, Default)]
pub struct Digest {
    lines: Vec<String>,
    /// The calls of the newest message: id, and the line that its result completes.
    calls: Vec<(String, usize)>,
}

impl Digest {
    /// Adds what `event` says to the model.
    pub fn add(&mut self, event: &Event) {
        match &event.body {
            Body::Compaction(earlier) => self.lines.extend(earlier.summary.lines().filter(|line| *line != HEAD).map(str::to_owned)),
            Body::AssistantMessage(message) => self.message(message),
            Body::ToolResult(result) => {
                let outcome = match result.outcome {
                    CallOutcome::Answered => "",
                    CallOutcome::Failed => "failed: ",
                    CallOutcome::Refused => "refused: ",
                    CallOutcome::Cancelled => "cancelled: ",
                    CallOutcome::Interrupted => "interrupted: ",
                    CallOutcome::Trapped => "crashed: ",
                    CallOutcome::OverLimit => "over a limit: ",
                    CallOutcome::TimedOut => "timed out: ",
                    CallOutcome::HostFault => "not run: ",
                };
                let text = format!(" → {outcome}{}", cut(&result.text, CALL));
                let line = self.calls.iter().find(|(id, _)| *id == result.call).and_then(|(_, line)| self.lines.get_mut(*line));
                match line {
                    Some(line) => line.push_str(&text),
                    None => self.lines.push(format!("- {}{text}", cut(&result.name, CALL))),
                }
            }
            Body::Context(context) => self.lines.push(format!("- (context) {}", cut(&context.text, CALL))),
            Body::TurnInterrupted(_) => self.lines.push("- (interrupted, then went on)".to_owned()),
            Body::UserMessage(_) | Body::TurnStart(_) | Body::Note(_) | Body::CancelRequested(_) | Body::TurnEnd(_) => {}
        }
    }

    fn message(&mut self, message: &AssistantMessage) {
        if !message.text.trim().is_empty() {
            self.lines.push(format!("- You said: {}", cut(&message.text, SAID)));
        }
        self.calls.clear();
        for call in &message.calls {
            self.calls.push((call.id.clone(), self.lines.len()));
            self.lines.push(format!("- {}({})", cut(&call.name, CALL), cut(&call.arguments, CALL)));
        }
    }

    /// The summary: `most` bytes of lines, the oldest in a quarter and the newest in the rest where not all fit.
    pub fn text(&self, most: usize) -> String {
        let total = self.lines.iter().map(|line| line.len() + 1).sum::<usize>();
        let fits = |mut room: usize| {
            move |line: &&String| {
                let left = room.checked_sub(line.len() + 1);
                room = left.unwrap_or(0);
                left.is_some()
            }
        };
        let mut text = HEAD.to_owned();
        let mut push = |line: &str| {
            text.push('\n');
            text.push_str(line);
        };
        if total <= most {
            self.lines.iter().for_each(|line| push(line));
            return text;
        }
        let oldest = self.lines.iter().take_while(fits(most / 4)).count();
        let newest = self.lines.iter().rev().take_while(fits(most - most / 4)).count().min(self.lines.len() - oldest);
        self.lines.iter().take(oldest).for_each(|line| push(line));
        push("- (more was done here that no longer fits)");
        self.lines.iter().skip(self.lines.len() - newest).for_each(|line| push(line));
        text
    }
}

/// `text` on one line, at most `most` characters of it.
fn cut(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (taken, word) in text.split_whitespace().enumerate() {
        if taken > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(most) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}
