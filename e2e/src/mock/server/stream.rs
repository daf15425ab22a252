//! Carries the events of an answer at its pace, and breaks where the fault says so.

use std::io::Error;
use std::time::Duration;

use axum::body::Bytes;
use futures::stream::{self, Stream, StreamExt as _};

use crate::mock::plan::{Answer, Pace};
use crate::mock::script::Fault;
use crate::mock::speak::{self, Event};

/// One thing to do to the connection.
enum Act {
    Send(Bytes),
    Wait(u64),
    Break,
    Hang,
}

/// The body of the response.
pub(super) fn bytes(answer: &Answer, include_usage: bool, fault: Option<&Fault>) -> impl Stream<Item = Result<Bytes, Error>> + use<> {
    let acts = acts(answer, include_usage, fault);
    stream::iter(acts).filter_map(|act| async move {
        match act {
            Act::Send(bytes) => Some(Ok(bytes)),
            Act::Wait(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                None
            }
            Act::Break => {
                // What was sent before goes out while the body waits.
                tokio::time::sleep(Duration::from_millis(2)).await;
                Some(Err(Error::other("the script breaks the connection here")))
            }
            Act::Hang => std::future::pending().await,
        }
    })
}

fn acts(answer: &Answer, include_usage: bool, fault: Option<&Fault>) -> Vec<Act> {
    let mut acts = Vec::new();
    wait(&mut acts, answer.pace.first, answer.pace);
    // A comment is no event.
    let mut sent = 0;
    for event in speak::events(answer, include_usage) {
        if !matches!(event, Event::Comment) {
            if let Some(end) = fault.and_then(|fault| broken(answer, fault, sent)) {
                acts.extend(end);
                return acts;
            }
            sent += 1;
        }
        if matches!(event, Event::Delta(_)) {
            wait(&mut acts, answer.pace.delta, answer.pace);
        }
        acts.push(Act::Send(event.wire().into()));
    }
    // The fault comes after more events than there are: the connection breaks at the end.
    if fault.is_some() {
        acts.push(Act::Break);
    }
    acts
}

/// What happens instead of the event after `sent` others, if the fault is due.
fn broken(answer: &Answer, fault: &Fault, sent: usize) -> Option<Vec<Act>> {
    let done = || Act::Send(Event::Frame("[DONE]".to_owned()).wire().into());
    match fault {
        Fault::Cut { after } if sent >= *after => Some(vec![Act::Break]),
        Fault::Stall { after } if sent >= *after => Some(vec![Act::Hang]),
        Fault::Malformed { after } if sent >= *after => Some(vec![Act::Send("data: {\"choices\":[{\"delta\":\n\n".into()), done()]),
        Fault::Error { after, code, message } if sent >= *after => {
            Some(vec![Act::Send(Event::Frame(speak::error_event(answer, *code, message)).wire().into()), done()])
        }
        _ => None,
    }
}

/// A wait, with comments in between.
fn wait(acts: &mut Vec<Act>, milliseconds: u64, pace: Pace) {
    let mut left = milliseconds;
    while let Some(between) = pace.keepalive.filter(|between| *between > 0 && *between < left) {
        acts.extend([Act::Wait(between), Act::Send(Event::Comment.wire().into())]);
        left -= between;
    }
    if left > 0 {
        acts.push(Act::Wait(left));
    }
}
