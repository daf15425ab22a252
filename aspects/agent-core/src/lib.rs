//! The default agent: reads what happened from the log, asks the pure [`next`] what that calls for, does it, and looks again.
//! It holds nothing that the log does not say, so a turn that was interrupted goes on by running again.

mod next;
mod prompt;

use thetis_sdk::agent::{Agent, Ending, Stop, Turn, config, log, model, skills, tools};

use next::{Action, View};

struct Core;

thetis_sdk::export_agent!(Core);

impl Agent for Core {
    fn run(turn: Turn) -> Result<Ending, Stop> {
        let system = prompt::parts(&config::current(), &skills::attached());
        let mut view = View::new(turn.start);
        loop {
            catch_up(&mut view)?;
            match next::next(&view) {
                Action::Step => step(&view, &system)?,
                Action::Dispatch(message) => drop(tools::dispatch(message)?),
                Action::End(ending) => return Ok(ending),
            }
        }
    }
}

/// Folds into the view what the log holds beyond it.
fn catch_up(view: &mut View) -> Result<(), Stop> {
    let tail = log::tail();
    if tail <= view.tail() {
        return Ok(());
    }
    let new = log::SeqRange { first: view.tail().saturating_add(1), last: tail };
    log::outline(new)?.iter().for_each(|heading| view.fold(heading));
    Ok(())
}

/// One request, holding the whole log.
fn step(view: &View, system: &[String]) -> Result<(), Stop> {
    model::step(&model::Request {
        system: system.to_vec(),
        // Asked for each time: a tool that was made in this turn is offered by the next request.
        tools: tools::listed().into_iter().map(|tool| tool.name).collect(),
        history: vec![model::Item::Events(log::SeqRange { first: 1, last: view.tail() })],
    })?;
    Ok(())
}
