//! How keys are listed.

use super::list;

#[test]
fn keys_are_quoted_so_that_odd_ones_can_be_told_apart() {
    assert_eq!(list(&[]), "There are no notes.");
    assert_eq!(list(&["a".to_owned(), "b, c\n".to_owned()]), r#"There are notes under: "a", "b, c\n"."#);
}
