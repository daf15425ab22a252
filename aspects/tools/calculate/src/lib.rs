//! The tool `calculate`: exact arithmetic, because models guess at it.

#![warn(clippy::arithmetic_side_effects)]

mod expression;
mod number;

use thetis_sdk::tool::{Call, Facts, Tool};

thetis_sdk::arguments! {
    /// What to work out.
    struct Arguments {
        /// For example `(1.5 + 2) * -3 ^ 2 / 7`.
        expression: String,
    }
}

struct Calculate;

thetis_sdk::export_tool!(Calculate);

impl Tool for Calculate {
    type Arguments = Arguments;
    const FACTS: Facts = Facts::pure(
        "calculate",
        "Works out an arithmetic expression exactly: decimal numbers, + - * / % ^ and parentheses. ^ is a power with a whole \
         exponent, % the remainder, which has the sign of its left side.",
    );

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        expression::evaluate(&arguments.expression).map(|value| value.to_string()).map_err(|error| error.to_string())
    }
}
