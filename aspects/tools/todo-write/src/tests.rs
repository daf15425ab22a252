//! What is echoed, and what is refused.

use super::*;

fn todo(status: Status) -> Todo {
    Todo { content: "Run the tests".to_owned(), status, active_form: "Running the tests".to_owned() }
}

#[test]
fn the_list_is_echoed() {
    let todos = [Status::Completed, Status::InProgress, Status::Pending].map(todo);
    assert_eq!(show(&todos), "1 of 3 completed.\n[x] Run the tests\n[>] Running the tests\n[ ] Run the tests");
    assert_eq!(show(&[]), "Nothing is to do.");
}

/// Through the component's own export, as the host calls it.
fn run(arguments: &str) -> Result<String, String> {
    use thetis_sdk::tool::bindings::exports::thetis::grip::tool::{Call, Guest};
    let call = Call { arguments: arguments.to_owned(), idempotency_key: String::new() };
    <TodoWrite as Guest>::run(call)
}

#[test]
fn a_status_that_is_none_is_refused_by_name() {
    let error = run(r#"{"todos":[{"content":"a","status":"done","activeForm":"b"}]}"#).unwrap_err();
    assert!(error.contains("unknown variant `done`, expected one of `pending`, `in_progress`, `completed`"), "{error}");
}

#[test]
fn a_list_that_fits_is_taken() {
    let list = run(r#"{"todos":[{"content":"a","status":"in_progress","activeForm":"b"}]}"#);
    assert_eq!(list.unwrap(), "0 of 1 completed.\n[>] b");
}
