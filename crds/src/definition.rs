//! Every kind's definition, as the chart installs it and as the one-machine loader checks documents against it.

/// What definitions consist of, and bytes as Secrets hold them.
pub use k8s_openapi::ByteString;
pub use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

/// The definitions of all kinds, by name of the kind.
#[must_use]
pub fn all() -> Vec<CustomResourceDefinition> {
    let mut definitions = vec![
        crate::Aspect::crd(),
        crate::Conversation::crd(),
        crate::Mode::crd(),
        crate::Model::crd(),
        crate::Revision::crd(),
        crate::Runtime::crd(),
        crate::Skill::crd(),
        crate::Snapshot::crd(),
    ];
    for definition in &mut definitions {
        for version in &mut definition.spec.versions {
            if let Some(root) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
                tidy(root);
            }
        }
    }
    definitions
}

/// The schema of a definition's one version.
#[must_use]
pub fn schema(definition: &CustomResourceDefinition) -> Option<&JSONSchemaProps> {
    definition.spec.versions.first()?.schema.as_ref()?.open_api_v3_schema.as_ref()
}

/// An absent field has one spelling, so null goes: rules need not ask whether a field that is there is null. A description
/// is one paragraph: whoever prints it breaks its lines.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if let Some(description) = &mut schema.description {
        *description = description.replace('\n', " ");
    }
    schema.properties.iter_mut().flat_map(|properties| properties.values_mut()).for_each(tidy);
    if let Some(JSONSchemaPropsOrArray::Schema(item)) = &mut schema.items {
        tidy(item);
    }
}

#[cfg(test)]
mod tests;
