use expect_test::{Expect, expect};

use super::Key;

fn check(text: &str, expected: &Expect) {
    let key = Key::new(text);
    expected.assert_eq(&format!("{:?} {:?}", key.as_ref().map(Key::expose), key));
}

#[test]
fn only_what_a_header_can_carry_is_a_key_and_it_is_not_printed() {
    check("sk-or-1\n", &expect![[r#"Ok("sk-or-1") Ok(Secret(***))"#]]);
    check(" \n\t", &expect!["Err(Blank) Err(Blank)"]);
    check("", &expect!["Err(Blank) Err(Blank)"]);
    check("one\ntwo", &expect!["Err(Unprintable) Err(Unprintable)"]);
    check("schlüssel", &expect!["Err(Unprintable) Err(Unprintable)"]);
}
