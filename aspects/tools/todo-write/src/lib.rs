//! The tool `TodoWrite`: the agent's list of what is to do. Nothing is stored: the list that this tool returns stands in the log,
//! and compaction leaves the latest one there.

use thetis_sdk::tool::{Call, Facts, Replay, Tool};

#[cfg(test)]
mod tests;

thetis_sdk::arguments! {
    /// The whole list, every time.
    struct Arguments {
        /// All items in order, the finished ones too.
        todos: Vec<Todo>,
    }
}

thetis_sdk::arguments! {
    struct Todo {
        /// What is to do, for example `Run the tests`.
        content: String,
        status: Status,
        /// The same while it is being done, for example `Running the tests`.
        active_form as "activeForm": String,
    }
}

thetis_sdk::arguments! {
    /// How far it is.
    enum Status { Pending = "pending", InProgress = "in_progress", Completed = "completed" }
}

struct TodoWrite;

thetis_sdk::export_tool!(TodoWrite);

impl Tool for TodoWrite {
    type Arguments = Arguments;
    const FACTS: Facts = Facts {
        name: "TodoWrite",
        description: "Writes down what is to do in work of several steps, so that nothing is forgotten. Each call replaces the whole \
                      list. Keep one item in progress, and mark an item completed as soon as it is.",
        mutating: false,
        parallel: false,
        replay: Replay::Safe,
    };

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        Ok(show(&arguments.todos))
    }
}

fn show(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "Nothing is to do.".to_owned();
    }
    let done = todos.iter().filter(|todo| todo.status == Status::Completed).count();
    let mut text = format!("{done} of {} completed.", todos.len());
    for todo in todos {
        let (mark, line) = match todo.status {
            Status::Pending => (' ', &todo.content),
            Status::InProgress => ('>', &todo.active_form),
            Status::Completed => ('x', &todo.content),
        };
        text.push_str("\n[");
        text.push(mark);
        text.push_str("] ");
        text.push_str(line);
    }
    text
}
