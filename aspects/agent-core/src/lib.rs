//! The default agent: reads what happened from the log, asks the pure [`next`] what that calls for, does it, and looks again.
//! It holds nothing that the log does not say, so a turn that was interrupted goes on by running again.

mod digest;
mod next;
mod prompt;
mod room;

use thetis_core::compaction::Plan;
use thetis_core::event::{Compaction, Event};
use thetis_core::id::{Seq, SeqRange};
use thetis_core::projection;
use thetis_sdk::agent::{self, Agent, Ending, Stop, Turn, config, log, model, skills, tools};

use digest::Digest;
use next::{Action, View};

struct Core;

thetis_sdk::export_agent!(Core);

impl Agent for Core {
    fn run(turn: Turn) -> Result<Ending, Stop> {
        let settings = config::current();
        let system = prompt::parts(&settings, &skills::attached());
        let mut view = View::new(Seq(turn.start), settings.max_steps);
        loop {
            catch_up(&mut view)?;
            match view.next() {
                Action::Step => step(&view, &settings, &system)?,
                Action::Dispatch(message) => drop(tools::dispatch(message.0)?),
                Action::Warn => drop(log::append(&log::Addition::Context(prompt::LAST_STEP.to_owned()))?),
                Action::End(ending) => return Ok(ending),
            }
        }
    }
}

/// Folds into the view what the log holds beyond it.
fn catch_up(view: &mut View) -> Result<(), Stop> {
    let new = SeqRange { first: view.tail().next(), last: Seq(log::tail()) };
    if new.first <= new.last {
        agent::outline(new)?.into_iter().for_each(|heading| view.fold(heading));
    }
    Ok(())
}

/// Asks the model; where the history has outgrown the model's context, makes room first and leaves the asking to the next look.
fn step(view: &View, settings: &config::Settings, system: &[String]) -> Result<(), Stop> {
    // Asked for each time: a tool that was made in this turn is offered by the next request.
    let listed = tools::listed();
    let room = room::bytes(settings.model.context_tokens, system, &listed);
    if let Some(plan) = room::plan(view.outline(), room) {
        return compact(plan, room::summary(room));
    }
    model::step(&model::Request {
        system: system.to_vec(),
        tools: listed.into_iter().map(|tool| tool.name).collect(),
        history: projection::history(view.outline()).into_iter().map(Into::into).collect(),
    })?;
    Ok(())
}

/// Puts a digest of about `most` bytes in place of what the plan names.
fn compact(plan: Plan, most: usize) -> Result<(), Stop> {
    let mut digest = Digest::default();
    for seq in plan.replaces {
        read(SeqRange { first: seq, last: seq }, &mut |event| digest.add(event))?;
    }
    for span in &plan.fresh {
        read(*span, &mut |event| digest.add(event))?;
    }
    agent::compact(Compaction { spans: plan.spans, summary: digest.text(most) })?;
    Ok(())
}

/// Reads the range in as few pieces as the host hands over, skipping an event that is too long for one.
fn read(range: SeqRange, each: &mut impl FnMut(&Event)) -> Result<(), Stop> {
    match agent::events(range) {
        Ok(events) => events.iter().for_each(each),
        Err(log::Error::OverLimit(_)) if range.first < range.last => {
            let middle = Seq(range.first.0.midpoint(range.last.0));
            read(SeqRange { first: range.first, last: middle }, each)?;
            read(SeqRange { first: middle.next(), last: range.last }, each)?;
        }
        Err(log::Error::OverLimit(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
