//! What texts are worth, and what is said of those that are worth nothing.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    evaluate(text).map_or_else(|error| format!("error: {error}"), |value| value.to_string())
}

#[test]
fn values() {
    for (text, value) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("2 ^ 3 ^ 2", "512"),
        ("-3 ^ 2", "-9"),
        ("2 ^ -2", "0.25"),
        ("2 * -3 + --1", "-5"),
        ("-2 ^ 2 * 3", "-12"),
        ("0.1 + 0.2", "0.3"),
        (".5 * 4.", "2"),
        ("7 % 3", "1"),
        ("-7 % 3", "-1"),
        ("7.5 % 2", "1.5"),
        ("123456789 * 987654321", "121932631112635269"),
        ("2 ^ 126", "85070591730234615865843651857942052864"),
        ("\t1\n+\u{a0}1", "2"),
    ] {
        assert_eq!(shown(text), value, "{text}");
    }
}

#[test]
fn errors_say_where_and_what() {
    for (text, error) in [
        ("", "the expression ends where a number, a sign or an opening parenthesis has to stand"),
        ("1 +", "the expression ends where a number, a sign or an opening parenthesis has to stand"),
        ("(1", "the expression ends where an operator or a closing parenthesis has to stand"),
        ("1 2", "an operator has to stand at character 3, not '2'"),
        ("1.2.3", "an operator has to stand at character 4, not '.'"),
        (".", "a number has to stand at character 1, not '.'"),
        ("sqrt(4)", "a number, a sign or an opening parenthesis has to stand at character 1, not 's'"),
        ("é + ", "a number, a sign or an opening parenthesis has to stand at character 1, not 'é'"),
        ("1 / (2 - 2)", "division by zero (the / at character 3)"),
        ("10 ^ 39", "the exact value, or one on the way to it, needs more than 38 digits (the ^ at character 4)"),
        ("2 ^ 0.5", "the exponent of ^ has to be a whole number (the ^ at character 3)"),
        (&"9".repeat(40), "the number at character 1 has more than 38 digits"),
        (&format!("0.{}1", "0".repeat(40)), "the number at character 1 has more than 38 digits"),
        (&"(".repeat(100_000), "more than 100 parentheses or signs within one another"),
        (&"-".repeat(100_000), "more than 100 parentheses or signs within one another"),
        (&"2^".repeat(100_000), "more than 100 parentheses or signs within one another"),
    ] {
        assert_eq!(shown(text), format!("error: {error}"));
    }
}

#[test]
fn a_long_sum_is_not_deep() {
    assert_eq!(shown(&("1+".repeat(100_000) + "1")), "100001");
}

proptest! {
    #[test]
    fn any_text_ends(text in "[-+*/%^(). 0-9a\u{e9}]{0,60}") {
        shown(&text);
    }
}
