use proptest::prelude::*;

use super::*;

#[test]
fn a_digest_is_written_as_everybody_writes_it() {
    let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Digest::of(b"abc").to_string(), text);
    assert_eq!(serde_json::to_string(&Digest::of(b"abc")).unwrap(), format!("{text:?}"));
}

#[test]
fn what_is_no_digest_is_refused_and_shown_in_part() {
    let digits = "0".repeat(64);
    for text in ["", "sha256:", &digits, &format!("sha512:{digits}"), &format!("sha256:{digits}0"), &format!("sha256:0{digits}0")] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
    }
    assert!(format!("sha256:{}", "A".repeat(64)).parse::<Digest>().is_err());
    assert!(format!("sha256:{}", "é".repeat(32)).parse::<Digest>().is_err());
    let shown = "x".repeat(1 << 20).parse::<Digest>().unwrap_err().to_string();
    assert!(shown.len() < 200, "{} bytes", shown.len());
}

#[test]
fn positions_do_not_wrap() {
    assert_eq!(Seq::ZERO.next(), Seq(1));
    assert_eq!(Seq(u64::MAX).next(), Seq(u64::MAX));
}

proptest! {
    #[test]
    fn a_digest_reads_back(bytes in any::<[u8; 32]>()) {
        let digest = Digest::from_bytes(bytes);
        prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        prop_assert_eq!(digest.as_bytes(), &bytes);
    }

    #[test]
    fn no_text_makes_parsing_panic(text in any::<String>()) {
        let _ = text.parse::<Digest>();
        let _ = format!("sha256:{text}").parse::<Digest>();
    }
}
