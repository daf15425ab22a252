//! YAML as a tree whose every node knows its place. Nothing in a text makes it slow or large: depth and size are bounded, and
//! an alias counts as much as what it stands for.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::Value as Json;

use super::problem::{BOOLEAN, Found, NUMBER, Position, TEXT, What};
use super::scalar;

/// The most levels of lists and maps.
const DEPTH: usize = 64;

/// The most values in one file. Long text counts once for every [`LONG`] bytes; an alias counts as what it stands for, and so
/// does an anchor, because it is kept.
const VALUES: usize = 100_000;

/// Bytes of text that count as one value.
const LONG: usize = 256;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Whatever it was, its problem is told.
    Refused,
}

/// One key of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Where the key begins.
    pub(super) at: Position,
    pub(super) key: String,
    pub(super) node: Node,
}

/// The documents of a text, without empty ones, and what is wrong with them as YAML. What comes before a mistake is read.
pub(super) fn parse(text: &str) -> (Vec<Node>, Vec<Found>) {
    let mut builder = Builder { left: VALUES, ..Builder::default() };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let step = match event {
            Ok((event, span)) => builder.event(event, position(&span.start)),
            Err(error) => Err(builder.found(position(error.marker()), What::NotYaml(error.info().to_owned()))),
        };
        if let Err(fatal) = step {
            builder.problems.push(fatal);
            break;
        }
    }
    (builder.documents, builder.problems)
}

/// A list or map that is not complete.
struct Open {
    node: Node,
    anchor: usize,
    /// In a map, the keys so far and the line of each.
    keys: HashMap<String, usize>,
    /// The key whose value comes next, in a map; without text where the key was none.
    key: Option<(Position, Option<String>)>,
}

#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    problems: Vec<Found>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    left: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, at: Position) -> Result<(), Found> {
        match event {
            Event::Alias(anchor) => {
                // An alias within what it names is not complete yet.
                let node = self.anchors.get(&anchor);
                let node =
                    node.ok_or_else(|| self.found(at, What::NotYaml("an alias of nothing that is complete in this document".to_owned())))?;
                let (values, levels) = node.measure();
                if self.open.len() + levels > DEPTH {
                    return Err(self.found(at, What::TooDeep { most: DEPTH }));
                }
                self.charge(at, values)?;
                if let Some(node) = self.anchors.get(&anchor).map(|node| Node { at, ..node.clone() }) {
                    self.place(node);
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.tagged(tag.as_deref(), at);
                let value = if style == ScalarStyle::Plain { scalar::plain(&text) } else { Ok(Value::Text(text.into_owned())) };
                let value = value.unwrap_or_else(|what| {
                    self.note(at, what);
                    Value::Refused
                });
                self.finish(Node { at, value }, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.start(Value::List(Vec::new()), anchor, tag.as_deref(), at),
            Event::MappingStart(anchor, tag) => self.start(Value::Map(Vec::new()), anchor, tag.as_deref(), at),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.finish(open.node, open.anchor),
                None => Ok(()),
            },
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(&mut self, value: Value, anchor: usize, tag: Option<&Tag>, at: Position) -> Result<(), Found> {
        self.tagged(tag, at);
        if self.open.len() >= DEPTH {
            return Err(self.found(at, What::TooDeep { most: DEPTH }));
        }
        self.open.push(Open { node: Node { at, value }, anchor, keys: HashMap::new(), key: None });
        Ok(())
    }

    /// A complete value.
    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), Found> {
        if anchor == 0 {
            self.charge(node.at, node.weight())?;
        } else {
            self.charge(node.at, node.weight() + node.measure().0)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node);
        Ok(())
    }

    fn charge(&mut self, at: Position, values: usize) -> Result<(), Found> {
        match self.left.checked_sub(values) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.found(at, What::TooMany { most: VALUES })),
        }
    }

    /// A complete value goes where it belongs: a document, an entry of a list, a key, or the value of a key.
    fn place(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            if node.value != Value::Null {
                self.documents.push(node);
            }
            return;
        };
        match (&mut open.node.value, open.key.take()) {
            (Value::List(items), _) => items.push(node),
            (Value::Map(entries), Some((at, Some(key)))) => {
                if let Some(line) = open.keys.get(&key).copied() {
                    let path = joined(&self.path(), &key);
                    self.problems.push(Found { at, path, what: What::DuplicateKey { line } });
                } else {
                    open.keys.insert(key.clone(), at.line);
                    entries.push(Entry { at, key, node });
                }
            }
            (Value::Map(_), None) => {
                let at = node.at;
                let key = match node.value {
                    Value::Text(text) if text == "<<" => Err(Some(What::MergeKey)),
                    Value::Text(text) => Ok(text),
                    Value::Refused => Err(None),
                    _ => Err(Some(What::KeyNotText)),
                };
                open.key = Some((at, key.as_ref().ok().cloned()));
                if let Err(Some(what)) = key {
                    self.note(at, what);
                }
            }
            // The value of what was no key, and what stands where nothing can.
            _ => {}
        }
    }

    fn tagged(&mut self, tag: Option<&Tag>, at: Position) {
        if let Some(tag) = tag {
            self.note(at, What::Tag(tag.to_string().chars().take(80).collect()));
        }
    }

    fn note(&mut self, at: Position, what: What) {
        let found = self.found(at, what);
        self.problems.push(found);
    }

    fn found(&self, at: Position, what: What) -> Found {
        Found { at, path: self.path(), what }
    }

    /// Of the value that comes next.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match (&open.node.value, &open.key) {
                (Value::List(items), _) => path = format!("{path}[{}]", items.len()),
                (_, Some((_, Some(key)))) => path = joined(&path, key),
                _ => {}
            }
        }
        path
    }
}

impl Node {
    /// How many values it holds, itself included, and how many levels of lists and maps.
    fn measure(&self) -> (usize, usize) {
        let inner: Vec<&Self> = match &self.value {
            Value::List(items) => items.iter().collect(),
            Value::Map(entries) => entries.iter().map(|entry| &entry.node).collect(),
            _ => return (self.weight(), 0),
        };
        let (values, levels) = inner.iter().map(|node| node.measure()).fold((0, 0), |all, one| (all.0 + one.0, all.1.max(one.1)));
        (values + self.weight(), levels + 1)
    }

    /// What it counts as, without what it holds.
    fn weight(&self) -> usize {
        match &self.value {
            Value::Text(text) => 1 + text.len() / LONG,
            Value::Map(entries) => 1 + entries.iter().map(|entry| entry.key.len() / LONG).sum::<usize>(),
            _ => 1,
        }
    }

    /// The value of a key, where this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.node)
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where the field is that `path` names, or the innermost one around it that is there.
    pub(super) fn find(&self, path: &str) -> Position {
        let mut at = self.at;
        let mut node = self;
        for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
            let index = part.strip_suffix(']').and_then(|index| index.parse::<usize>().ok());
            match (&node.value, index) {
                (Value::List(items), Some(index)) => match items.get(index) {
                    Some(item) => (at, node) = (item.at, item),
                    None => break,
                },
                _ => match node.entry(part) {
                    Some(entry) => (at, node) = (entry.at, &entry.node),
                    None => break,
                },
            }
        }
        at
    }

    /// As JSON.
    pub(super) fn json(&self) -> Json {
        match &self.value {
            Value::Null | Value::Refused => Json::Null,
            Value::Boolean(value) => Json::from(*value),
            Value::Integer(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Text(value) => Json::from(value.as_str()),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(entries) => Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.node.json())).collect()),
        }
    }

    /// What it is, as problems call it.
    pub(super) const fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null | Value::Refused => "nothing",
            Value::Boolean(_) => BOOLEAN,
            Value::Integer(_) => NUMBER,
            Value::Float(_) => "a number with a fraction",
            Value::Text(_) => TEXT,
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// The path of a key below `path`.
pub(super) fn joined(path: &str, key: &str) -> String {
    let key: String = key.chars().take(80).collect();
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

#[cfg(test)]
mod tests;
