//! Documents against the schemas that the Kubernetes API enforces, so that a folder is refused for the same reasons as an
//! object is. All mistakes are found, each with its place.

use std::collections::BTreeMap;

use regex::Regex;
use thetis_crds::definition::{JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool};

use super::problem::{BOOLEAN, Found, NUMBER, TEXT, What, nearest};
use super::tree::{Entry, Node, Value, joined};

/// A schema, ready to check values.
pub(super) enum Schema {
    Map {
        keys: BTreeMap<String, Self>,
        required: Vec<String>,
        others: Option<Box<Self>>,
    },
    List {
        item: Box<Self>,
        length: (usize, usize),
        unique: Unique,
    },
    Text {
        length: (usize, usize),
        pattern: Option<Regex>,
        choices: Vec<String>,
    },
    Integer {
        range: (i64, i64),
    },
    Boolean,
    /// Text or a whole number.
    Quantity {
        pattern: Option<Regex>,
    },
}

/// What may not be in a list twice.
pub(super) enum Unique {
    Nothing,
    /// The item.
    Item,
    /// Items that are alike in these keys.
    Keys(Vec<String>),
}

impl Schema {
    /// The schema that `props` states. None where it states something that no kind's schema does.
    pub(super) fn new(props: &JSONSchemaProps) -> Option<Self> {
        let pattern = || props.pattern.as_deref().map(Regex::new).transpose().ok();
        let length = |least: Option<i64>, most: Option<i64>| {
            let bound = |bound: Option<i64>, none| bound.map_or(none, |bound| usize::try_from(bound).unwrap_or(none));
            (bound(least, 0), bound(most, usize::MAX))
        };
        if props.x_kubernetes_int_or_string == Some(true) {
            return Some(Self::Quantity { pattern: pattern()? });
        }
        Some(match props.type_.as_deref()? {
            "object" => Self::map(props)?,
            "array" => {
                let Some(JSONSchemaPropsOrArray::Schema(item)) = &props.items else { return None };
                Self::List {
                    item: Box::new(Self::new(item)?),
                    length: length(props.min_items, props.max_items),
                    unique: match props.x_kubernetes_list_type.as_deref() {
                        Some("set") => Unique::Item,
                        Some("map") => Unique::Keys(props.x_kubernetes_list_map_keys.clone()?),
                        _ => Unique::Nothing,
                    },
                }
            }
            "string" => Self::Text {
                length: length(props.min_length, props.max_length),
                pattern: pattern()?,
                choices: props.enum_.iter().flatten().filter_map(|choice| Some(choice.0.as_str()?.to_owned())).collect(),
            },
            "integer" => {
                let bound = |bound: Option<f64>, none| bound.map_or(none, whole);
                Self::Integer { range: (bound(props.minimum, i64::MIN), bound(props.maximum, i64::MAX)) }
            }
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    fn map(props: &JSONSchemaProps) -> Option<Self> {
        let keys = props.properties.iter().flatten();
        let keys = keys.map(|(key, schema)| Some((key.clone(), Self::new(schema)?))).collect::<Option<_>>()?;
        let others = match &props.additional_properties {
            Some(JSONSchemaPropsOrBool::Schema(schema)) => Some(Box::new(Self::new(schema)?)),
            _ => None,
        };
        Some(Self::Map { keys, required: props.required.clone().unwrap_or_default(), others })
    }

    /// Adds what is wrong with `node`, which is at `path`, to `found`.
    pub(super) fn check(&self, node: &Node, path: &str, found: &mut Vec<Found>) {
        let mut wrong = |what| found.push(Found { at: node.at, path: path.to_owned(), what });
        match (self, &node.value) {
            (Self::Boolean, Value::Boolean(_)) | (_, Value::Refused) => {}
            (_, Value::Null) => wrong(What::Null),
            (Self::Map { keys, required, others }, Value::Map(entries)) => {
                for key in required {
                    if node.get(key).is_none() {
                        found.push(Found { at: node.at, path: joined(path, key), what: What::Required });
                    }
                }
                for entry in entries {
                    check_entry(keys, others.as_deref(), entry, path, found);
                }
            }
            (Self::List { item, length, unique }, Value::List(items)) => {
                if let Some(what) = outside(items.len(), "entries", *length) {
                    wrong(what);
                }
                unique.check(items, path, found);
                for (at, node) in items.iter().enumerate() {
                    item.check(node, &format!("{path}[{at}]"), found);
                }
            }
            (Self::Text { length, pattern, choices }, Value::Text(text)) => {
                if !choices.is_empty() {
                    if !choices.contains(text) {
                        let near = nearest(text, choices.iter().map(String::as_str));
                        wrong(What::Choice { given: shortened(text), choices: choices.clone(), near });
                    }
                } else if let Some(what) = outside(text.chars().count(), "characters", *length) {
                    wrong(what);
                } else if let Some(what) = unlike(text, pattern.as_ref()) {
                    wrong(what);
                }
            }
            (Self::Integer { range: (least, most) }, Value::Integer(number)) => {
                if !(*least..=*most).contains(number) {
                    wrong(What::Range { given: *number, least: *least, most: *most });
                }
            }
            (Self::Quantity { pattern }, Value::Text(text)) => unlike(text, pattern.as_ref()).into_iter().for_each(wrong),
            (Self::Quantity { pattern }, Value::Integer(number)) => {
                unlike(&number.to_string(), pattern.as_ref()).into_iter().for_each(wrong);
            }
            (schema, _) => wrong(What::Type { wanted: schema.type_name(), given: node.type_name() }),
        }
    }

    const fn type_name(&self) -> &'static str {
        match self {
            Self::Map { .. } => "a map",
            Self::List { .. } => "a list",
            Self::Text { .. } => TEXT,
            Self::Integer { .. } => "a whole number",
            Self::Boolean => BOOLEAN,
            Self::Quantity { .. } => NUMBER,
        }
    }
}

fn check_entry(keys: &BTreeMap<String, Schema>, others: Option<&Schema>, entry: &Entry, path: &str, found: &mut Vec<Found>) {
    let path = joined(path, &entry.key);
    match keys.get(&entry.key).or(others) {
        // A missing value is a mistake of the key, and that is where its place is.
        Some(_) if entry.node.value == Value::Null => found.push(Found { at: entry.at, path, what: What::Null }),
        Some(schema) => schema.check(&entry.node, &path, found),
        None => {
            let near = nearest(&entry.key, keys.keys().map(String::as_str));
            found.push(Found { at: entry.at, path, what: What::UnknownKey { near } });
        }
    }
}

impl Unique {
    fn check(&self, items: &[Node], path: &str, found: &mut Vec<Found>) {
        let identity = |node: &Node| match self {
            Self::Nothing => None,
            Self::Item => Some(vec![node.json().to_string()]),
            Self::Keys(keys) => keys.iter().map(|key| Some(node.get(key)?.json().to_string())).collect(),
        };
        let mut seen = std::collections::HashSet::new();
        for (at, node) in items.iter().enumerate() {
            if identity(node).is_some_and(|identity| !seen.insert(identity)) {
                found.push(Found { at: node.at, path: format!("{path}[{at}]"), what: What::Repeated });
            }
        }
    }
}

fn outside(given: usize, unit: &'static str, (least, most): (usize, usize)) -> Option<What> {
    (!(least..=most).contains(&given)).then_some(What::Length { given, unit, least, most })
}

fn unlike(text: &str, pattern: Option<&Regex>) -> Option<What> {
    let pattern = pattern.filter(|pattern| !pattern.is_match(text))?;
    Some(What::Pattern { given: shortened(text), pattern: pattern.to_string() })
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Bounds of integers are written as floating point in schemas; those of our kinds are whole and small.
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and a bound beyond i64 bounds nothing")]
const fn whole(bound: f64) -> i64 {
    bound as i64
}
