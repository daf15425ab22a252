use expect_test::{Expect, expect};

use super::plain;

fn check(words: &[&str], expected: &Expect) {
    let shown = words.iter().map(|word| match plain(word) {
        Ok(value) => format!("{word}: {value:?}\n"),
        Err(what) => format!("{word}: {what}\n"),
    });
    expected.assert_eq(&shown.collect::<String>());
}

#[test]
fn what_every_reader_takes_for_the_same() {
    check(
        &["", "~", "null", "true", "False", "0", "-7", "+5", "1.5", "1e3", ".5", "5.", "a", "1.2.3", "v1", "10m", "1Gi", "-", "."],
        &expect![[r#"
        : Null
        ~: Null
        null: Null
        true: Boolean(true)
        False: Boolean(false)
        0: Integer(0)
        -7: Integer(-7)
        +5: Integer(5)
        1.5: Float(1.5)
        1e3: Float(1000.0)
        .5: Float(0.5)
        5.: Float(5.0)
        a: Text("a")
        1.2.3: Text("1.2.3")
        v1: Text("v1")
        10m: Text("10m")
        1Gi: Text("1Gi")
        -: Text("-")
        .: Text(".")
    "#]],
    );
}

#[test]
fn what_readers_take_for_different_things_is_refused() {
    check(
        &["yes", "No", "on", "OFF", "y", "0755", "0x1f", "0b1", "1_000", ".inf", "-.INF", ".NaN", "00.5"],
        &expect![[r#"
            yes: kubectl reads this as true: put it in quotes if text is meant
            No: kubectl reads this as false: put it in quotes if text is meant
            on: kubectl reads this as true: put it in quotes if text is meant
            OFF: kubectl reads this as false: put it in quotes if text is meant
            y: kubectl reads this as true: put it in quotes if text is meant
            0755: kubectl reads this as a number: put it in quotes if text is meant
            0x1f: kubectl reads this as a number: put it in quotes if text is meant
            0b1: kubectl reads this as a number: put it in quotes if text is meant
            1_000: kubectl reads this as a number: put it in quotes if text is meant
            .inf: kubectl reads this as a number: put it in quotes if text is meant
            -.INF: kubectl reads this as a number: put it in quotes if text is meant
            .NaN: kubectl reads this as a number: put it in quotes if text is meant
            00.5: kubectl reads this as a number: put it in quotes if text is meant
        "#]],
    );
}

#[test]
fn numbers_that_nothing_holds_are_refused() {
    check(
        &["9223372036854775808", "1e999"],
        &expect![[r#"
            9223372036854775808: a number that cannot be read: put it in quotes if text is meant
            1e999: a number that cannot be read: put it in quotes if text is meant
        "#]],
    );
}
