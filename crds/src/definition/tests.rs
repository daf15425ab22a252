//! The chart is what these kinds say, and what they say is something that the API server accepts.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use super::{CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, all, schema};

/// Rules are understood from here on; before, the API server refuses the field.
const RULES_SINCE: &str = r#"{{- if semverCompare ">=1.25-0" .Capabilities.KubeVersion.Version }}"#;

/// YAML whose every text is quoted as JSON: nothing in it can be taken for something else, by YAML or by Helm.
fn yaml(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let rules = key == "x-kubernetes-validations";
                if rules {
                    writeln!(out, "{RULES_SINCE}").unwrap();
                }
                write!(out, "{pad}{key}:").unwrap();
                nested(value, indent + 2, out);
                if rules {
                    out.push_str("{{- end }}\n");
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let mut entry = String::new();
                yaml(item, indent + 2, &mut entry);
                writeln!(out, "{pad}- {}", entry.trim()).unwrap();
            }
        }
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
            writeln!(out, "{pad}{:.0}", number.as_f64().unwrap()).unwrap();
        }
        scalar => writeln!(out, "{pad}{scalar}").unwrap(),
    }
}

fn nested(value: &Value, indent: usize, out: &mut String) {
    let mut below = String::new();
    yaml(value, indent, &mut below);
    let inline = !matches!(value, Value::Object(_) | Value::Array(_)) || below.trim() == "{}" || below.trim() == "[]";
    if inline {
        writeln!(out, " {}", below.trim()).unwrap();
    } else {
        write!(out, "\n{below}").unwrap();
    }
}

fn template(mut definition: CustomResourceDefinition) -> String {
    let annotations = definition.metadata.annotations.get_or_insert_default();
    annotations.insert("helm.sh/resource-policy".to_owned(), "keep".to_owned());
    let labels = definition.metadata.labels.get_or_insert_default();
    labels.insert("app.kubernetes.io/part-of".to_owned(), "thetis".to_owned());
    let mut text = "# Generated from the crate thetis-crds by `make crds`.\n".to_owned();
    yaml(&serde_json::to_value(definition).unwrap(), 0, &mut text);
    text
}

#[test]
fn the_chart_is_what_the_kinds_say() {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../charts/thetis-crds");
    let mut expected = Vec::new();
    for definition in all() {
        let file = format!("{}.yaml", definition.spec.names.plural);
        expect_file![chart.join("templates").join(&file)].assert_eq(&template(definition));
        expected.push(file);
    }
    let about = format!(
        "# Generated from the crate thetis-crds by `make crds`.\n\
         apiVersion: v2\n\
         name: thetis-crds\n\
         description: The object kinds of Thetis. They stay when the chart is uninstalled, and the objects with them.\n\
         type: application\n\
         version: {version}\n\
         appVersion: \"{version}\"\n\
         kubeVersion: \">=1.20.0-0\"\n",
        version = env!("CARGO_PKG_VERSION")
    );
    expect_file![chart.join("Chart.yaml")].assert_eq(&about);

    let mut there: Vec<String> =
        std::fs::read_dir(chart.join("templates")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    expected.sort();
    assert_eq!(there, expected, "templates of kinds that there are not");
}

/// Adds what the API server would refuse, or what nothing bounds, to `wrong`.
fn walk(path: &str, props: &JSONSchemaProps, wrong: &mut Vec<String>) {
    let mut complain = |what: &str| wrong.push(format!("{path}: {what}"));
    let json = serde_json::to_value(props).unwrap();
    for key in
        ["$ref", "oneOf", "anyOf", "allOf", "not", "uniqueItems", "patternProperties", "definitions", "nullable", "additionalProperties"]
    {
        // `x-kubernetes-int-or-string` is the one place where `anyOf` is part of a structural schema.
        if json.get(key).is_some() && !(key == "anyOf" && props.x_kubernetes_int_or_string == Some(true)) {
            complain(&format!("has {key}"));
        }
    }
    if props.x_kubernetes_preserve_unknown_fields.is_some() {
        complain("keeps unknown fields");
    }
    if !path.is_empty() && props.description.as_ref().is_none_or(|text| text.trim().is_empty()) && !path.ends_with("[]") {
        complain("has no description");
    }
    match props.type_.as_deref() {
        Some("object") => {
            if props.properties.is_none() {
                complain("is an object without properties");
            }
        }
        Some("array") => {
            if props.max_items.is_none() {
                complain("is a list without maxItems");
            }
        }
        Some("string") => {
            let closed = props.enum_.is_some() || props.format.as_deref() == Some("date-time");
            if !closed && props.max_length.is_none() {
                complain("is text without maxLength");
            }
        }
        Some("integer") => {
            if !matches!(props.format.as_deref(), Some("int32" | "int64")) || props.minimum.is_none() {
                complain("is a number without a format or minimum");
            }
        }
        Some("boolean") => {}
        None if props.x_kubernetes_int_or_string == Some(true) => {}
        _ => complain("has no type"),
    }
    for rule in props.x_kubernetes_validations.iter().flatten() {
        if rule.message.is_none() {
            complain("has a rule without a message");
        }
    }
    for (key, inner) in props.properties.iter().flatten() {
        walk(&format!("{path}.{key}"), inner, wrong);
    }
    match &props.items {
        Some(JSONSchemaPropsOrArray::Schema(item)) => {
            for key in props.x_kubernetes_list_map_keys.iter().flatten() {
                // A key of a map list has to be required or to have a default.
                if !item.required.iter().flatten().any(|required| required == key) {
                    wrong.push(format!("{path}: {key} is a key and not required"));
                }
            }
            walk(&format!("{path}[]"), item, wrong);
        }
        Some(JSONSchemaPropsOrArray::Schemas(_)) => wrong.push(format!("{path}: has a list of schemas")),
        None => {}
    }
}

#[test]
fn every_schema_is_structural_and_everything_in_it_is_bounded() {
    for definition in all() {
        let mut wrong = Vec::new();
        walk("", schema(&definition).unwrap(), &mut wrong);
        assert_eq!(wrong, [""; 0], "{}", definition.spec.names.kind);
    }
}

#[test]
fn every_kind_is_named_and_shown_alike() {
    for definition in all() {
        let kind = &definition.spec.names.kind;
        let version = &definition.spec.versions[0];
        assert_eq!((definition.spec.group.as_str(), version.name.as_str()), (crate::names::GROUP, crate::names::VERSION));
        assert_eq!(definition.spec.scope, "Namespaced", "{kind}");
        assert_eq!(definition.spec.names.categories.as_deref(), Some(&["thetis".to_owned()][..]), "{kind}");
        let columns: Vec<&str> = version.additional_printer_columns.iter().flatten().map(|column| column.name.as_str()).collect();
        assert_eq!(columns.last(), Some(&"Age"), "{kind}");
        let properties = schema(&definition).unwrap().properties.as_ref().unwrap();
        let has_status = version.subresources.as_ref().is_some_and(|subresources| subresources.status.is_some());
        assert_eq!(has_status, properties.contains_key("status"), "{kind}");
        if has_status {
            let conditions = &properties["status"].properties.as_ref().unwrap()["conditions"];
            assert_eq!(conditions.x_kubernetes_list_type.as_deref(), Some("map"), "{kind}");
            assert_eq!(conditions.x_kubernetes_list_map_keys.as_deref(), Some(&["type".to_owned()][..]), "{kind}");
        }
    }
}

#[test]
fn every_column_and_scale_path_shows_a_field_that_there_is() {
    for definition in all() {
        let version = &definition.spec.versions[0];
        let columns = version.additional_printer_columns.iter().flatten().map(|column| column.json_path.clone());
        let scale = version.subresources.iter().filter_map(|subresources| subresources.scale.clone());
        let scale = scale.flat_map(|scale| [Some(scale.spec_replicas_path), Some(scale.status_replicas_path), scale.label_selector_path]);
        for path in columns.chain(scale.flatten()).filter(|path| !path.starts_with(".metadata.")) {
            let mut at = schema(&definition).unwrap();
            let plain = path.replace(r#"[?(@.type=="Ready")]"#, "");
            for part in plain.trim_start_matches('.').split('.') {
                if let Some(JSONSchemaPropsOrArray::Schema(item)) = &at.items {
                    at = item;
                }
                let properties = at.properties.as_ref();
                at = properties.and_then(|properties| properties.get(part)).unwrap_or_else(|| panic!("no {part} of {path}"));
            }
        }
    }
}
