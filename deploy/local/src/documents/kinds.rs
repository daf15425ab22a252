//! The kinds of object that a folder may hold: how a document says which it is, its schema, and how it is read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use thetis_crds::definition::{self, ByteString, JSONSchemaProps};
use thetis_crds::names;
use thetis_operator_core::Objects;

use super::problem::{Found, TEXT, What, nearest};
use super::schema::Schema;
use super::tree::Node;

/// The `apiVersion` of `Secret` and `ConfigMap`.
const CORE: &str = "v1";

/// The one namespace of one machine.
const NAMESPACE: &str = "default";

/// The schemas of all kinds.
pub(super) struct Kinds(BTreeMap<&'static str, (&'static str, Schema)>);

/// Kind by kind: its name, its `apiVersion`.
const DECLARED: [(&str, &str); 8] = [
    ("Aspect", names::API_VERSION),
    ("ConfigMap", CORE),
    ("Conversation", names::API_VERSION),
    ("Mode", names::API_VERSION),
    ("Model", names::API_VERSION),
    ("Runtime", names::API_VERSION),
    ("Secret", CORE),
    ("Skill", names::API_VERSION),
];

/// Kinds that only the system writes.
const WRITTEN: [&str; 2] = ["Revision", "Snapshot"];

impl Kinds {
    pub(super) fn new() -> Self {
        let definitions = definition::all();
        let own =
            |kind: &str| definitions.iter().find(|definition| definition.spec.names.kind == kind).and_then(definition::schema).cloned();
        let schema = |kind: &str| match kind {
            "ConfigMap" | "Secret" => serde_json::from_value(data_schema(kind)).ok(),
            _ => own(kind),
        };
        let known = |(kind, version)| Some((kind, (version, Schema::new(&document(schema(kind)?))?)));
        Self(DECLARED.into_iter().filter_map(known).collect())
    }

    /// Kind and name of a document that its schema allows, else everything that is wrong with it.
    pub(super) fn check(&self, node: &Node) -> Result<(&'static str, String), Vec<Found>> {
        let (kind, schema) = self.schema(node).map_err(|found| vec![found])?;
        let mut found = Vec::new();
        schema.check(node, "", &mut found);
        let metadata = node.get("metadata");
        if let Some(namespace) = metadata.and_then(|metadata| metadata.get("namespace"))
            && namespace.text().is_some_and(|namespace| namespace != NAMESPACE)
        {
            let what = What::Namespace(namespace.text().unwrap_or_default().to_owned());
            found.push(Found { at: namespace.at, path: "metadata.namespace".to_owned(), what });
        }
        let name = metadata.and_then(|metadata| metadata.get("name")).and_then(Node::text);
        match name {
            Some(name) if found.is_empty() => Ok((kind, name.to_owned())),
            _ => Err(found),
        }
    }

    fn schema(&self, node: &Node) -> Result<(&'static str, &Schema), Found> {
        let at = |key: &str, what| Found { at: node.find(key), path: key.to_owned(), what };
        if !matches!(node.value, super::tree::Value::Map(_)) {
            return Err(Found { at: node.at, path: String::new(), what: What::NotAnObject });
        }
        let stated = |key| {
            let value = node.get(key).ok_or_else(|| at(key, What::Required))?;
            value.text().ok_or_else(|| at(key, What::Type { wanted: TEXT, given: value.type_name() }))
        };
        let (version, kind) = (stated("apiVersion")?, stated("kind")?);
        let short = |text: &str| -> String { text.chars().take(80).collect() };
        if version != names::API_VERSION && version != CORE {
            return Err(at("apiVersion", What::UnknownVersion(short(version))));
        }
        if let Some(written) = WRITTEN.into_iter().find(|written| *written == kind && version == names::API_VERSION) {
            return Err(at("kind", What::Written(written)));
        }
        match self.0.get_key_value(kind) {
            Some((kind, (of, schema))) if *of == version => Ok((kind, schema)),
            _ => {
                let near = nearest(kind, self.0.iter().filter(|(_, (of, _))| *of == version).map(|(kind, _)| *kind));
                Err(at("kind", What::UnknownKind { given: short(kind), version: version.to_owned(), near }))
            }
        }
    }
}

/// Kind and name, as far as the document says them.
pub(super) fn subject(node: &Node) -> Option<String> {
    let kind = node.get("kind")?.text()?;
    let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text).unwrap_or_default();
    let short = |text: &str| -> String { text.chars().take(80).collect() };
    Some(format!("{} {}", short(kind), short(name)).trim_end().to_owned())
}

/// Adds the object of a document that was checked to `objects`.
pub(super) fn read(kind: &str, name: &str, node: &Node, objects: &mut Objects) -> Result<(), Found> {
    match kind {
        "Aspect" => objects.aspects.push(typed(node)?),
        "Conversation" => objects.conversations.push(typed(node)?),
        "Mode" => objects.modes.push(typed(node)?),
        "Model" => objects.models.push(typed(node)?),
        "Skill" => objects.skills.push(typed(node)?),
        "ConfigMap" => {
            let map: ConfigMap = typed(node)?;
            objects.data.config_maps.insert(name.to_owned(), map.data);
        }
        "Secret" => {
            // What serde says of it could repeat a value.
            let unreadable = |found| Found { what: What::Unreadable("its values have to be text".to_owned()), ..found };
            let secret: Secret = typed(node).map_err(unreadable)?;
            let mut values: BTreeMap<String, Vec<u8>> = BTreeMap::new();
            for (key, value) in secret.data {
                let path = format!("data.{key}");
                let bytes = ByteString::deserialize(serde_json::Value::String(value));
                let bytes = bytes.map_err(|_| Found { at: node.find(&path), path, what: What::NotBase64 })?;
                values.insert(key, bytes.0);
            }
            values.extend(secret.string_data.into_iter().map(|(key, value)| (key, value.into_bytes())));
            objects.data.secrets.0.insert(name.to_owned(), values);
        }
        // A Runtime has no effect here: the one process is the pool.
        _ => {}
    }
    Ok(())
}

fn typed<T: DeserializeOwned>(node: &Node) -> Result<T, Found> {
    let unreadable = |error: serde_json::Error| Found { at: node.at, path: String::new(), what: What::Unreadable(error.to_string()) };
    serde_json::from_value(node.json()).map_err(unreadable)
}

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// Never `Debug`: it holds what must not be printed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secret {
    #[serde(default)]
    data: BTreeMap<String, String>,
    #[serde(default)]
    string_data: BTreeMap<String, String>,
}

/// The schema of a whole document, of which definitions leave out what Kubernetes adds, and which has no `status`.
fn document(mut schema: JSONSchemaProps) -> JSONSchemaProps {
    let properties = schema.properties.get_or_insert_default();
    properties.remove("status");
    for (key, value) in [("apiVersion", json!({ "type": "string" })), ("kind", json!({ "type": "string" })), ("metadata", metadata())] {
        if let Ok(value) = serde_json::from_value(value) {
            properties.insert(key.to_owned(), value);
        }
    }
    schema.required.get_or_insert_default().push("metadata".to_owned());
    schema
}

fn metadata() -> serde_json::Value {
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": names::OBJECT_MAX, "pattern": names::OBJECT },
            "namespace": { "type": "string" },
            "labels": texts,
            "annotations": texts,
        },
        "required": ["name"],
    })
}

fn data_schema(kind: &str) -> serde_json::Value {
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let properties = if kind == "Secret" {
        json!({ "data": texts, "stringData": texts, "type": { "type": "string" }, "immutable": { "type": "boolean" } })
    } else {
        json!({ "data": texts, "immutable": { "type": "boolean" } })
    };
    json!({ "type": "object", "properties": properties })
}
