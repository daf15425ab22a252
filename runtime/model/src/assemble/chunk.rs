//! The members of a streamed chunk, and of a whole completion, that mean something to us. Pure data; the rest is ignored.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::step::Error;

/// One event of a stream, or the body of a completion that was not streamed.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    /// Read leniently: a paid reply is not thrown away over its bill.
    #[serde(default)]
    pub(super) usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Piece<'a>>,
    /// Instead of `delta` where the completion was not streamed.
    #[serde(borrow, default)]
    pub(super) message: Option<Piece<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Said<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) reasoning_details: Option<Vec<Value>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPiece<'a>>>,
}

/// Text, or parts of which the texts count.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Said<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Parts(Vec<SaidPart>),
}

#[derive(Deserialize)]
pub(super) struct SaidPart {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
pub(super) struct CallPiece<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionPiece<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionPiece<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<Arguments<'a>>,
}

/// Text, or the object itself where a server forgets to quote it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Arguments<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Object(serde_json::Map<String, Value>),
}

impl Chunk<'_> {
    /// The error that the provider reports inside a 200 response.
    pub(super) fn failure(&self) -> Option<Error> {
        let in_choice = self.choices.iter().flatten().map(|choice| &choice.error).find(|error| !error.is_null());
        let error = if self.error.is_null() { in_choice? } else { &self.error };
        Some(Error::reported(None, error, None))
    }
}

impl<'a> Said<'a> {
    pub(super) fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => Cow::Owned(parts.into_iter().map(|part| part.text).collect()),
        }
    }
}

impl CallPiece<'_> {
    /// Bytes that it adds to the reply, at most.
    pub(super) fn size(&self) -> usize {
        let text = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| text.len());
        let function = self.function.as_ref().map_or(0, |function| {
            let arguments = match &function.arguments {
                Some(Arguments::Text(text)) => text.len(),
                Some(Arguments::Object(object)) => serde_json::to_string(object).map_or(0, |text| text.len()),
                None => 0,
            };
            text(&function.name).saturating_add(arguments)
        });
        text(&self.id).saturating_add(function)
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Object(object) => Cow::Owned(Value::Object(object).to_string()),
        }
    }
}
