use proptest::prelude::*;

use super::*;

const HERE: Place<'_> = Place { namespace: "default", kind: "model", name: "opus" };

fn key(byte: u8) -> SealingKey {
    SealingKey::new([byte; 32])
}

#[test]
fn nothing_prints_a_secret() {
    assert_eq!(format!("{:?}", Some(Secret::new("sk-1".into()))), "Some(Secret(***))");
    assert_eq!(format!("{:?}", key(1)), "SealingKey(***)");
}

#[test]
fn opens_only_with_its_key_and_at_its_place() {
    let sealed = key(1).seal(&HERE, &Secret::new("sk-1".into()));
    assert_eq!(key(1).open(&HERE, &sealed).unwrap().expose(), "sk-1");
    assert_eq!(key(2).open(&HERE, &sealed), Err(Sealed));
    for there in [Place { namespace: "other", ..HERE }, Place { kind: "host", ..HERE }, Place { name: "opu", kind: "models", ..HERE }] {
        assert_eq!(key(1).open(&there, &sealed), Err(Sealed));
    }
    assert_ne!(sealed, key(1).seal(&HERE, &Secret::new("sk-1".into())), "the nonce is new each time");
    assert_ne!(SealingKey::generate().expose(), SealingKey::generate().expose());
}

proptest! {
    #[test]
    fn every_secret_comes_back_and_no_changed_seal_opens(text: String, at: prop::sample::Index, flip in 1..=255_u8) {
        let mut sealed = key(1).seal(&HERE, &Secret::new(text.clone()));
        let opened = key(1).open(&HERE, &sealed).unwrap();
        prop_assert_eq!(opened.expose(), &text);
        let at = at.index(sealed.len());
        sealed[at] ^= flip;
        prop_assert_eq!(key(1).open(&HERE, &sealed), Err(Sealed));
        sealed.truncate(at);
        prop_assert_eq!(key(1).open(&HERE, &sealed), Err(Sealed));
    }
}
