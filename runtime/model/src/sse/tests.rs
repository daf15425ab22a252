use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn decode(chunks: &[&[u8]]) -> Result<Vec<String>, TooLong> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, |data| {
            events.push(String::from_utf8_lossy(data).into_owned());
            Ok::<_, TooLong>(())
        })?;
    }
    Ok(events)
}

#[track_caller]
fn check(stream: &str, expected: &Expect) {
    expected.assert_eq(&format!("{:?}", decode(&[stream.as_bytes()]).unwrap()));
}

#[test]
fn events_end_at_a_blank_line() {
    check("data: {\"a\":1}\n\ndata: [DONE]\n\n", &expect![[r#"["{\"a\":1}", "[DONE]"]"#]]);
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", &expect![[r#"["a", "b", "c"]"#]]);
    check("data: cut off", &expect!["[]"]);
    check("data: cut off\n", &expect!["[]"]);
}

#[test]
fn everything_but_data_is_ignored() {
    check(": OPENROUTER PROCESSING\n\n: x\n\ndata: a\n\n", &expect![[r#"["a"]"#]]);
    check("event: message\nid: 7\nretry: 10\ndata: a\n\nevent: ping\n\n", &expect![[r#"["a"]"#]]);
    check("database: no\ndatum\n\n", &expect!["[]"]);
    check("\u{feff}data: a\n\n\u{feff}data: not at the start\n\n", &expect![[r#"["a"]"#]]);
}

#[test]
fn data_lines_are_joined_and_lose_one_space() {
    check("data:a\ndata:  b\ndata\n\n", &expect![[r#"["a\n b\n"]"#]]);
    check("data\n\n", &expect![[r#"[""]"#]]);
}

#[test]
fn a_line_or_an_event_without_end_is_bounded() {
    let long = vec![b'x'; EVENT_BYTES / 2 + 1];
    assert_eq!(decode(&[b"data: ", &long, &long]), Err(TooLong));
    assert_eq!(decode(&[b"data: ", &long, b"\ndata: ", &long, b"\n"]), Err(TooLong));
    assert_eq!(decode(&[b": ", &long, b"\n: ", &long, b"\n"]), Ok(vec![]));
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        lines in proptest::collection::vec(prop_oneof!["data: [ab]{0,3}", ": [ab]{0,3}", "", "id: 1", "data"], 0..12),
        endings in proptest::collection::vec(prop_oneof!["\n", "\r\n", "\r"], 12),
        cuts in proptest::collection::vec(0_usize..80, 0..8),
    ) {
        let stream: String = lines.iter().zip(&endings).flat_map(|(line, ending)| [line.as_str(), ending.as_str()]).collect();
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(&chunks), decode(&[bytes]));
    }
}
