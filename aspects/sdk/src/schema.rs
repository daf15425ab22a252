//! The arguments of a tool: one declaration gives the Rust type, its parser and the JSON Schema that the model is shown.

use std::fmt::Write as _;

/// A type that can stand in a tool's arguments.
pub trait Schema {
    /// Whether a field of this type may be left out.
    const OPTIONAL: bool = false;

    /// The JSON Schema; `description` may be empty.
    fn schema(description: &str) -> String;
}

/// Declares the arguments of a tool, or a type within them: a struct, or an enum of texts.
///
/// Doc comments become descriptions. An `Option` field may be left out; a field that was not declared is refused. A name in
/// quotes after `as` is what the model sees instead of the Rust name.
///
/// ```
/// thetis_sdk::arguments! {
///     /// How warm it should be.
///     pub struct Arguments {
///         /// In the room where the sensor is.
///         target as "targetCelsius": f64,
///         mode: Option<Mode>,
///     }
/// }
///
/// thetis_sdk::arguments! {
///     /// How to get there.
///     pub enum Mode { Slow = "slow", Fast = "fast" }
/// }
/// ```
#[macro_export]
macro_rules! arguments {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $doc:literal])* $field:ident $(as $wire:literal)? : $type:ty ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, $crate::serde::Deserialize)]
        #[serde(crate = "thetis_sdk::serde", deny_unknown_fields)]
        $vis struct $name {
            $( $(#[doc = $doc])* $(#[serde(rename = $wire)])? $vis $field: $type ),*
        }

        impl $crate::schema::Schema for $name {
            fn schema(description: &str) -> String {
                let description = if description.is_empty() { concat!($($about),*) } else { description };
                $crate::schema::object(description, &[
                    $( $crate::schema::Field {
                        name: $crate::arguments!(@name $field $($wire)?),
                        schema: <$type as $crate::schema::Schema>::schema(concat!($($doc),*)),
                        optional: <$type as $crate::schema::Schema>::OPTIONAL,
                    } ),*
                ])
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $wire:literal ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, $crate::serde::Deserialize)]
        #[serde(crate = "thetis_sdk::serde")]
        $vis enum $name {
            $( $(#[doc = $doc])* #[doc = concat!("`", $wire, "`")] #[serde(rename = $wire)] $variant ),*
        }

        impl $crate::schema::Schema for $name {
            fn schema(description: &str) -> String {
                let description = if description.is_empty() { concat!($($about),*) } else { description };
                $crate::schema::choice(description, &[$($wire),*])
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

/// A field of an object.
#[doc(hidden)]
pub struct Field {
    pub name: &'static str,
    pub schema: String,
    pub optional: bool,
}

#[doc(hidden)]
#[must_use]
pub fn object(description: &str, fields: &[Field]) -> String {
    let mut schema = open("object", description);
    schema.push_str(",\"properties\":{");
    for (index, field) in fields.iter().enumerate() {
        separate(&mut schema, index);
        quote(&mut schema, field.name);
        schema.push(':');
        schema.push_str(&field.schema);
    }
    schema.push_str("},\"required\":[");
    for (index, field) in fields.iter().filter(|field| !field.optional).enumerate() {
        separate(&mut schema, index);
        quote(&mut schema, field.name);
    }
    schema.push_str("],\"additionalProperties\":false}");
    schema
}

#[doc(hidden)]
#[must_use]
pub fn choice(description: &str, texts: &[&str]) -> String {
    let mut schema = open("string", description);
    schema.push_str(",\"enum\":[");
    for (index, text) in texts.iter().enumerate() {
        separate(&mut schema, index);
        quote(&mut schema, text);
    }
    schema.push_str("]}");
    schema
}

/// `{"type":…,"description":…`, still open.
fn open(kind: &str, description: &str) -> String {
    let mut schema = format!("{{\"type\":\"{kind}\"");
    if !description.is_empty() {
        schema.push_str(",\"description\":");
        quote(&mut schema, description.trim());
    }
    schema
}

fn separate(schema: &mut String, index: usize) {
    if index > 0 {
        schema.push(',');
    }
}

/// `text` as JSON.
fn quote(schema: &mut String, text: &str) {
    schema.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => schema.extend(['\\', character]),
            control if control.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(schema, "\\u{:04x}", u32::from(control));
            }
            other => schema.push(other),
        }
    }
    schema.push('"');
}

macro_rules! plain {
    ($($type:ty => $kind:literal),* $(,)?) => { $(
        impl Schema for $type {
            fn schema(description: &str) -> String {
                open($kind, description) + "}"
            }
        }
    )* };
}

plain! {
    String => "string",
    bool => "boolean",
    f64 => "number",
    i64 => "integer",
}

macro_rules! unsigned {
    ($($type:ty),*) => { $(
        impl Schema for $type {
            fn schema(description: &str) -> String {
                open("integer", description) + ",\"minimum\":0}"
            }
        }
    )* };
}

unsigned!(u32, u64);

impl<T: Schema> Schema for Option<T> {
    const OPTIONAL: bool = true;

    fn schema(description: &str) -> String {
        T::schema(description)
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn schema(description: &str) -> String {
        open("array", description) + ",\"items\":" + &T::schema("") + "}"
    }
}

/// An object whose members are named by the model, for example HTTP headers.
impl<T: Schema> Schema for std::collections::BTreeMap<String, T> {
    fn schema(description: &str) -> String {
        open("object", description) + ",\"additionalProperties\":" + &T::schema("") + "}"
    }
}
