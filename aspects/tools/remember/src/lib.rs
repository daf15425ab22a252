//! The tool `remember`: keeps a note of the conversation under a key.

use thetis_sdk::tool::{Call, Facts, Replay, Tool, notes};

thetis_sdk::arguments! {
    /// What to remember.
    struct Arguments {
        /// A short name to find it by, at most 128 bytes.
        key: String,
        /// What to remember, at most 64 KiB; replaces what the key held.
        content: String,
    }
}

struct Remember;

thetis_sdk::export_tool!(Remember);

impl Tool for Remember {
    type Arguments = Arguments;
    // A note belongs to the conversation as its log does, so a read-only mode allows it. Writing it twice is writing it once;
    // two notes in one message are written in their order.
    const FACTS: Facts = Facts {
        name: "remember",
        description: "Keeps a note under a key for the rest of this conversation, also beyond what its history still shows. Read it \
                      with recall.",
        mutating: false,
        parallel: false,
        replay: Replay::Safe,
    };

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        let Arguments { key, content } = arguments;
        notes::put(&key, &content).map_err(notes::explain)?;
        Ok(format!("Remembered under {key:?}."))
    }
}
