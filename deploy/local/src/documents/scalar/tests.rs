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
        yes: write "yes" in quotes if text is meant; kubectl reads it as true
        No: write "No" in quotes if text is meant; kubectl reads it as false
        on: write "on" in quotes if text is meant; kubectl reads it as true
        OFF: write "OFF" in quotes if text is meant; kubectl reads it as false
        y: write "y" in quotes if text is meant; kubectl reads it as true
        0755: write "0755" in quotes if text is meant; kubectl reads it as a number
        0x1f: write "0x1f" in quotes if text is meant; kubectl reads it as a number
        0b1: write "0b1" in quotes if text is meant; kubectl reads it as a number
        1_000: write "1_000" in quotes if text is meant; kubectl reads it as a number
        .inf: write ".inf" in quotes if text is meant; kubectl reads it as a number
        -.INF: write "-.INF" in quotes if text is meant; kubectl reads it as a number
        .NaN: write ".NaN" in quotes if text is meant; kubectl reads it as a number
        00.5: write "00.5" in quotes if text is meant; kubectl reads it as a number
    "#]],
    );
}

#[test]
fn numbers_that_nothing_holds_are_refused() {
    check(
        &["9223372036854775808", "1e999"],
        &expect![[r#"
        9223372036854775808: 9223372036854775808 is not a number that can be read
        1e999: 1e999 is not a number that can be read
    "#]],
    );
}
