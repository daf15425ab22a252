use expect_test::{Expect, expect};
use thetis_core::settings::AspectKind;

use super::conversation;
use crate::objects::Known;
use crate::resolve::tests::{object, shown};

fn check(json: &str, expected: &Expect) {
    let known = Known {
        modes: vec!["agent".into(), "plan".into()],
        models: vec!["default".into()],
        skills: vec!["sums".into()],
        aspects: vec![("agent".into(), AspectKind::Agent), ("fetch".into(), AspectKind::Tool)],
    };
    expected.assert_eq(&shown(conversation(&object(json), &known)));
}

#[test]
fn what_is_not_said_is_filled_in() {
    check(
        r#"{"metadata": {"name": "hello", "uid": "5b7e5b0e-3f0e-4a53-8b58-6a4b1b7a2c11"}, "spec": {"prompt": "Hi"}}"#,
        &expect![[r#"
            DeclaredConversation {
                name: "hello",
                uid: Some(
                    5b7e5b0e-3f0e-4a53-8b58-6a4b1b7a2c11,
                ),
                prompt: Some(
                    UserMessage {
                        text: "Hi",
                        attachments: [],
                        source: Object,
                    },
                ),
                choice: Choice {
                    mode: "agent",
                    model: "default",
                    skills: [],
                    agent: "agent",
                    limits: Limits {
                        steps: 25,
                        turn_seconds: 3600,
                        tool_seconds: 300,
                        spend: None,
                        output_bytes: 65536,
                        message_bytes: 262144,
                    },
                },
                runtime: None,
                suspended: false,
                delete_log: false,
            }"#]],
    );
}

#[test]
fn the_defaults_are_those_of_the_runtime() {
    let known = Known {
        modes: vec!["agent".into()],
        models: vec!["default".into()],
        skills: vec![],
        aspects: vec![("agent".into(), AspectKind::Agent)],
    };
    let bare = conversation(&object(r#"{"metadata": {"name": "bare"}, "spec": {}}"#), &known);
    assert_eq!(bare.map(|declared| declared.choice.limits), Ok(thetis_core::settings::Limits::default()));
}

#[test]
fn a_name_that_nothing_has_is_told_with_those_that_there_are() {
    check(
        r#"{"metadata": {"name": "hello"}, "spec": {"mode": "plam", "model": "gpt", "skills": ["sums", "poems", "sums"], "agent": "fetch"}}"#,
        &expect![[r"
            Conversation hello: spec.mode: no Mode is called plam; there are: agent, plan
            Conversation hello: spec.model: no Model is called gpt; there are: default
            Conversation hello: spec.skills[1]: no Skill is called poems; there are: sums
            Conversation hello: spec.skills[2]: sums is there twice
            Conversation hello: spec.agent: Aspect fetch is no Agent; there are: agent"]],
    );
}

#[test]
fn bounds_hold() {
    check(
        r#"{"metadata": {"name": "hello"}, "spec": {"prompt": " \n", "limits": {"steps": 0, "turnSeconds": 60, "toolSeconds": 61, "spendUSD": "1.5e3"}}}"#,
        &expect![[r#"
            Conversation hello: spec.limits.steps: is 0; has to be between 1 and 1000
            Conversation hello: spec.limits.spendUSD: "1.5e3" is not an amount of US dollars such as "3" or "0.15", exact to a millionth
            Conversation hello: spec.prompt: is blank"#]],
    );
    let long =
        format!(r#"{{"metadata": {{"name": "long"}}, "spec": {{"prompt": "{}", "limits": {{"messageBytes": 1024}}}}}}"#, "x".repeat(1025));
    check(&long, &expect!["Conversation long: spec.prompt: has 1025 bytes; at most 1024 are allowed"]);
}
