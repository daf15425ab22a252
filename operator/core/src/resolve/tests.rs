use std::fmt::Debug;

use expect_test::expect;

use super::resolve;
use crate::objects::Objects;
use crate::problem::Problem;

/// An object as the API would return it.
pub(crate) fn object<T: for<'de> serde::Deserialize<'de>>(json: &str) -> T {
    let mut value: serde_json::Value = serde_json::from_str(json).unwrap();
    value["apiVersion"] = "thetis.dev/v1alpha1".into();
    value["kind"] = "any".into();
    serde_json::from_value(value).unwrap()
}

/// A value or its problems, for `expect!`.
pub(crate) fn shown<T: Debug>(result: Result<T, Vec<Problem>>) -> String {
    match result {
        Ok(value) => format!("{value:#?}"),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn a_namespace_is_all_valid_or_tells_every_problem() {
    let mut objects = Objects {
        conversations: vec![object(r#"{"metadata": {"name": "hello"}, "spec": {"skills": ["sums"]}}"#)],
        modes: vec![object(r#"{"metadata": {"name": "agent"}, "spec": {}}"#)],
        skills: vec![object(
            r#"{"metadata": {"name": "sums"}, "spec": {"description": "d", "instructionsFrom": {"configMapKeyRef": {"name": "texts", "key": "sums.md"}}}}"#,
        )],
        models: vec![object(r#"{"metadata": {"name": "default"}, "spec": {"id": "x", "baseURL": "http://localhost/v1"}}"#)],
        aspects: vec![object(
            r#"{"metadata": {"name": "agent"}, "spec": {"kind": "Agent", "source": {"builtin": {"name": "agent-core"}}}}"#,
        )],
        ..Objects::default()
    };
    expect![[r"
        Skill sums: spec.instructionsFrom.configMapKeyRef: no ConfigMap is called texts; there is none"]]
    .assert_eq(&shown(resolve(&objects)));

    let texts = [("sums.md".to_owned(), "Use calculate.".to_owned())].into();
    objects.data.config_maps.insert("texts".into(), texts);
    let resolved = resolve(&objects).unwrap();
    assert_eq!(resolved.settings.skills["sums"].instructions, "Use calculate.");
    assert_eq!(resolved.settings.modes["agent"].title, "agent");
    assert_eq!(resolved.conversations[0].choice.skills, ["sums"]);
    assert_eq!(resolved.aspects[0].name, "agent");
}
