//! Whole streams, in the shapes that the providers document, cut anywhere.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use thetis_core::settings::Prices;

use super::*;

const OPENROUTER: &str = include_str!("openrouter.sse");
const OPENAI: &str = include_str!("openai.sse");
const ANTHROPIC: &str = include_str!("anthropic.sse");

const PRICES: Prices = Prices { input: 1_000_000, cache_read: 100_000, cache_write: 0, output: 4_000_000 };

/// The reply, and the pieces that were shown.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(Option<Reply>, Vec<String>), Error> {
    let (mut decoder, mut assembler, mut shown) = (Decoder::default(), Assembler::default(), Vec::new());
    for chunk in chunks {
        decoder.push(chunk, |data| assembler.event(data, &mut |delta| shown.push(format!("{delta:?}"))))?;
    }
    assert!(assembler.has_ended() || !assembler.is_whole());
    Ok((assembler.reply("m", &PRICES), shown))
}

#[track_caller]
fn check(stream: &str, expected: &Expect) {
    let (reply, shown) = read([stream.as_bytes()]).unwrap();
    expected.assert_eq(&format!("{}\n{:#?}", shown.join(" "), reply.unwrap()));
}

#[test]
fn openrouter() {
    check(
        OPENROUTER,
        &expect![[r#"
        Reasoning("**Look") Reasoning(" it up**") Text("Wörter – ") Call("fetch")
        Reply {
            text: "Wörter – ",
            reasoning: Some(
                Object {
                    "model": String("m"),
                    "reasoning_details": Array [
                        Object {
                            "format": String("google-gemini-v1"),
                            "index": Number(0),
                            "text": String("**Look it up**"),
                            "type": String("reasoning.text"),
                        },
                        Object {
                            "data": String("Q2lRQj=="),
                            "format": String("google-gemini-v1"),
                            "id": String("tool_0_fetch"),
                            "index": Number(0),
                            "type": String("reasoning.encrypted"),
                        },
                    ],
                },
            ),
            calls: [
                ToolCall {
                    id: "tool_0_fetch",
                    name: "fetch",
                    arguments: "{\"url\":\"https://example.org/\\u00e4\"}",
                },
            ],
            finish: Calls,
            usage: Usage {
                steps: 1,
                input: 130,
                cache_read: 64,
                cache_write: 0,
                output: 22,
                cost: Cost(
                    950000000,
                ),
            },
        }"#]],
    );
}

#[test]
fn openai() {
    check(
        OPENAI,
        &expect![[r#"
        Call("fetch") Call("recall")
        Reply {
            text: "",
            reasoning: None,
            calls: [
                ToolCall {
                    id: "call_aaa",
                    name: "fetch",
                    arguments: "{\"url\":\"a\"}",
                },
                ToolCall {
                    id: "call_bbb",
                    name: "recall",
                    arguments: "{}",
                },
            ],
            finish: Calls,
            usage: Usage {
                steps: 1,
                input: 86,
                cache_read: 1920,
                cache_write: 0,
                output: 300,
                cost: Cost(
                    1478000000,
                ),
            },
        }"#]],
    );
}

#[test]
fn anthropic_behind_openrouter() {
    check(
        ANTHROPIC,
        &expect![[r#"
        Reasoning("Two pages") Reasoning(" at once.") Text("I'll read both.") Call("fetch") Call("fetch")
        Reply {
            text: "I'll read both.",
            reasoning: Some(
                Object {
                    "model": String("m"),
                    "reasoning_details": Array [
                        Object {
                            "format": String("anthropic-claude-v1"),
                            "index": Number(0),
                            "signature": String("EqQBCkYIBRgCKkB="),
                            "text": String("Two pages at once."),
                            "type": String("reasoning.text"),
                        },
                    ],
                },
            ),
            calls: [
                ToolCall {
                    id: "toolu_01",
                    name: "fetch",
                    arguments: "{\"url\": \"a\\nb\"}",
                },
                ToolCall {
                    id: "toolu_02",
                    name: "fetch",
                    arguments: "{\"url\": \"c\"}",
                },
            ],
            finish: Calls,
            usage: Usage {
                steps: 1,
                input: 20,
                cache_read: 3000,
                cache_write: 1100,
                output: 96,
                cost: Cost(
                    4340000000,
                ),
            },
        }"#]],
    );
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_reply(
        stream in prop_oneof![Just(OPENROUTER), Just(OPENAI), Just(ANTHROPIC)],
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..40),
        returns: bool,
    ) {
        let stream = if returns { stream.replace('\n', "\r\n") } else { stream.to_owned() };
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(read(chunks).unwrap(), read([bytes]).unwrap());
    }

    #[test]
    fn a_stream_that_is_cut_off_is_never_a_wrong_reply(
        stream in prop_oneof![Just(OPENROUTER), Just(OPENAI), Just(ANTHROPIC)],
        end in any::<prop::sample::Index>(),
    ) {
        let whole = read([stream.as_bytes()]).unwrap().0.unwrap();
        let (mut decoder, mut assembler) = (Decoder::default(), Assembler::default());
        decoder.push(&stream.as_bytes()[..end.index(stream.len())], |data| assembler.event(data, &mut |_| ())).unwrap();
        if let Some(reply) = assembler.reply("m", &PRICES) {
            // Only the bill may be missing.
            prop_assert_eq!(Reply { usage: whole.usage, ..reply }, whole);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), stream in prop_oneof![Just(OPENAI), Just(ANTHROPIC)], at in any::<prop::sample::Index>()) {
        let mut broken = stream.as_bytes().to_vec();
        let at = at.index(broken.len());
        broken.splice(at..at, bytes.iter().copied());
        let (mut decoder, mut assembler) = (Decoder::default(), Assembler::default());
        let _ = decoder.push(&broken, |data| assembler.event(data, &mut |_| ()));
        let _ = assembler.reply("m", &PRICES);
    }
}
