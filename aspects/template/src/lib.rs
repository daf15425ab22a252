//! The tool `template`: says hello. Start here: rename it, declare its arguments, and do the work in `call`.

use thetis_sdk::tool::{Call, Facts, Tool};

thetis_sdk::arguments! {
    /// Whom to greet.
    struct Arguments {
        /// A person's name.
        name: String,
        /// Left out, it is `Hello`.
        greeting: Option<String>,
    }
}

struct Template;

thetis_sdk::export_tool!(Template);

impl Tool for Template {
    type Arguments = Arguments;
    // `pure` is for tools that change nothing outside the conversation, `mutating` for those that do.
    const FACTS: Facts = Facts::pure("template", "Says hello to somebody.");

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        greet(arguments.greeting.as_deref().unwrap_or("Hello"), &arguments.name)
    }
}

/// What can fail returns an error whose text tells the model what would succeed.
fn greet(greeting: &str, name: &str) -> Result<String, String> {
    let name = name.trim();
    if name.is_empty() { Err("The name is blank; say whom to greet.".to_owned()) } else { Ok(format!("{greeting}, {name}!")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        assert_eq!(greet("Hello", " Ada "), Ok("Hello, Ada!".to_owned()));
        assert!(greet("Hello", " ").is_err());
    }
}
