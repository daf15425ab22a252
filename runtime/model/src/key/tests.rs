use super::*;

#[test]
fn a_blank_key_cannot_be_made() {
    for text in ["", " ", "\n", "\t \r\n"] {
        assert_eq!(Key::new(text).unwrap_err(), NotAKey::Blank, "{text:?}");
    }
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
    for text in ["sk-or\nv1", "sk or", "sk\u{0}", "ключ"] {
        let refusal = Key::new(text).unwrap_err();
        assert_eq!(refusal, NotAKey::Unprintable, "{text:?}");
        assert!(!refusal.to_string().contains(text));
    }
}

#[test]
fn the_line_break_of_a_file_is_not_part_of_the_key() {
    assert_eq!(Key::new("sk-1\n").unwrap().bearer(), "Bearer sk-1");
}

#[test]
fn debug_never_shows_it() {
    let key = Key::new("sk-or-v1-hidden").unwrap();
    assert_eq!(format!("{key:?}"), "Secret(***)");
    assert_eq!(format!("{:?}", key.bearer()), "Sensitive");
}
