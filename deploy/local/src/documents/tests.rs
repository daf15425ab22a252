use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use thetis_core::key::Key;

use super::{Error, interpret, load};

const MODEL: &str = "
apiVersion: thetis.dev/v1alpha1
kind: Model
metadata:
  name: default
spec:
  id: mock/echo
  baseURL: http://127.0.0.1:7788/v1
";

const CONVERSATION: &str = "
apiVersion: thetis.dev/v1alpha1
kind: Conversation
metadata:
  name: hello
spec:
  prompt: What is 6 times 7?
";

fn check(files: &[(&str, &str)], expected: &Expect) {
    let files: Vec<(String, Vec<u8>)> = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    expected.assert_eq(&match interpret(&files, None) {
        Ok(resolved) => format!(
            "modes {:?}, skills {:?}, models {:?}, aspects {:?}, conversations {:?}",
            resolved.settings.modes.keys().collect::<Vec<_>>(),
            resolved.settings.skills.keys().collect::<Vec<_>>(),
            resolved.settings.models.keys().collect::<Vec<_>>(),
            resolved.aspects.iter().map(|aspect| &aspect.name).collect::<Vec<_>>(),
            resolved.conversations.iter().map(|conversation| &conversation.name).collect::<Vec<_>>(),
        ),
        Err(problems) => super::lines(&problems),
    });
}

/// A conversation that is wrong in one way, beside a model that is right.
fn check_one(text: &str, expected: &Expect) {
    check(&[("model.yaml", MODEL), ("a.yaml", text)], expected);
}

#[test]
fn a_folder_without_modes_and_aspects_has_those_that_come_with_thetis() {
    check(
        &[("model.yaml", MODEL), ("hello.yaml", CONVERSATION)],
        &expect![[
            r#"modes ["agent", "plan"], skills [], models ["default"], aspects ["agent", "calculate", "recall", "remember", "todo-write"], conversations ["hello"]"#
        ]],
    );
}

#[test]
fn an_object_of_the_folder_takes_the_place_of_one_that_comes_with_thetis() {
    let mode = "{apiVersion: thetis.dev/v1alpha1, kind: Mode, metadata: {name: plan}, spec: {title: Mine}}";
    let resolved = interpret(&[("mode.yaml".to_owned(), mode.into())], None).unwrap();
    assert_eq!(resolved.settings.modes["plan"].title, "Mine");
    assert_eq!(resolved.settings.modes["agent"].title, "Agent");
}

#[test]
fn every_mistake_of_every_file_is_told_with_its_line() {
    let hello =
        CONVERSATION.replace("prompt:", "modle: gpt\n  skills: [sums, Sums]\n  limits:\n    steps: many\n    spendUSD: 5\n  prompt:");
    let skill = "
apiVersion: thetis.dev/v1alpha1
kind: Skill
metadata:
  name: sums
  lables: {}
spec:
  title: Sums
";
    check(
        &[("hello.yaml", &hello), ("model.yaml", &MODEL.replace("id:", "Id:")), ("sums.yaml", skill)],
        &expect![[r#"
            hello.yaml:7:3: Conversation hello: spec.modle: unknown key; did you mean model?
            hello.yaml:8:18: Conversation hello: spec.skills[1]: "Sums" is not a name: lower-case letters, digits, - and . with a letter or digit at both ends
            hello.yaml:10:12: Conversation hello: spec.limits.steps: has to be a whole number, not text
            hello.yaml:11:15: Conversation hello: spec.limits.spendUSD: has to be text, not a number: put it in quotes
            model.yaml:7:3: Model default: spec.id: is missing
            model.yaml:7:3: Model default: spec.Id: unknown key; did you mean id?
            sums.yaml:6:3: Skill sums: metadata.lables: unknown key; did you mean labels?
            sums.yaml:8:3: Skill sums: spec.description: is missing"#]],
    );
}

#[test]
fn a_reference_to_nothing_is_told_with_what_there_is() {
    check_one(
        &CONVERSATION.replace("spec:", "spec:\n  mode: plam\n  skills:\n    - sums"),
        &expect![[r#"
        a.yaml:7:3: Conversation hello: spec.mode: no Mode is called plam; there are: agent, plan
        a.yaml:9:7: Conversation hello: spec.skills[0]: no Skill is called sums; there is none"#]],
    );
}

#[test]
fn a_secret_is_read_from_the_folder_and_never_shown() {
    let model = MODEL.replace("baseURL: http://127.0.0.1:7788/v1", "key: {secretKeyRef: {name: openrouter, key: api-key}}");
    let secret = "
apiVersion: v1
kind: Secret
metadata:
  name: openrouter
stringData:
  api-key: sk-or-1
data:
  coded: c2stb3ItMg==
";
    let files = |model: &str, secret: &str| [("model.yaml".to_owned(), model.into()), ("secret.yaml".to_owned(), secret.into())];
    let resolved = interpret(&files(&model, secret), None).unwrap();
    let (_, key) = &resolved.settings.models["default"];
    assert_eq!(key.as_ref().map(Key::expose), Some("sk-or-1"));
    let resolved = interpret(&files(&model.replace("api-key", "coded"), secret), None).unwrap();
    let (_, key) = &resolved.settings.models["default"];
    assert_eq!(key.as_ref().map(Key::expose), Some("sk-or-2"));
    assert!(!format!("{resolved:?}").contains("sk-or-2"));

    check(
        &[("model.yaml", &model), ("secret.yaml", &secret.replace("sk-or-1", "' '"))],
        &expect!["model.yaml:8:9: Model default: spec.key.secretKeyRef: key api-key of Secret openrouter is no API key: the key is blank"],
    );
    check(
        &[("model.yaml", &model), ("secret.yaml", &secret.replace("c2stb3ItMg==", "c2s!"))],
        &expect!["secret.yaml:9:3: Secret openrouter: data.coded: not base64; write the text itself under stringData instead"],
    );
    check(
        &[("model.yaml", &model), ("secret.yaml", &secret.replace("name: openrouter", "name: openruter"))],
        &expect!["model.yaml:8:9: Model default: spec.key.secretKeyRef: no Secret is called openrouter; there are: openruter"],
    );
    check(
        &[("model.yaml", &model), ("secret.yaml", &secret.replace("stringData", "stringdata"))],
        &expect!["secret.yaml:6:1: Secret openrouter: stringdata: unknown key; did you mean stringData?"],
    );
}

#[test]
fn no_problem_repeats_a_secret() {
    for value in [
        "0987654321",
        "30987654321098765432",
        "-0x0987654321",
        "[a0987654321]",
        "!a b0987654321",
        "'b0987654321",
        "*a0987654321",
        "b: 0987654321",
    ] {
        for field in ["data", "stringData"] {
            let secret = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: openrouter}}\n{field}:\n  api-key: {value}\n");
            let problems = interpret(&[("secret.yaml".to_owned(), secret.into())], None).unwrap_err();
            let said = format!("{} {problems:?}", super::lines(&problems));
            assert!(!said.contains("0987654321"), "{said}");
        }
    }
}

#[test]
fn openrouter_without_a_key_is_refused_and_the_environment_gives_one() {
    let model = MODEL.replace("  baseURL: http://127.0.0.1:7788/v1\n", "");
    check(
        &[("model.yaml", &model)],
        &expect![
            "model.yaml:6:1: Model default: spec: openrouter.ai wants a key: name one in spec.key.secretKeyRef, or set the environment variable OPENROUTER_API_KEY where Thetis runs on one machine"
        ],
    );
    let resolved = interpret(&[("model.yaml".to_owned(), model.into())], Key::new("sk-or-1").ok()).unwrap();
    assert!(resolved.settings.models["default"].0.keyed);
}

#[test]
fn instructions_come_from_a_config_map() {
    let skill = "
apiVersion: thetis.dev/v1alpha1
kind: Skill
metadata: {name: sums}
spec:
  description: For sums.
  instructionsFrom: {configMapKeyRef: {name: texts, key: sums.md}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: texts}
data:
  sums.md: |
    Use calculate.
";
    let resolved = interpret(&[("sums.yaml".to_owned(), skill.into())], None).unwrap();
    assert_eq!(resolved.settings.skills["sums"].instructions, "Use calculate.\n");
    check(
        &[("sums.yaml", &skill.replace("key: sums.md", "key: sum.md"))],
        &expect![
            "sums.yaml:7:22: Skill sums: spec.instructionsFrom.configMapKeyRef: ConfigMap texts has no key sum.md; there are: sums.md"
        ],
    );
}

#[test]
fn what_no_document_may_be() {
    check_one("- a\n- b", &expect!["a.yaml:1:1: not an object: begin with apiVersion, kind, metadata and spec"]);
    check_one("kind: Mode", &expect!["a.yaml:1:1: Mode: apiVersion: is missing"]);
    check_one(
        "apiVersion: thetis.dev/v1\nkind: Mode",
        &expect![[
            r#"a.yaml:1:1: Mode: apiVersion: "thetis.dev/v1" is not read here: write thetis.dev/v1alpha1, or v1 for a Secret or ConfigMap"#
        ]],
    );
    check_one(
        "apiVersion: thetis.dev/v1alpha1\nkind: Modes",
        &expect![[r#"a.yaml:2:1: Modes: kind: there is no kind "Modes" in thetis.dev/v1alpha1; did you mean Mode?"#]],
    );
    check_one(
        "apiVersion: thetis.dev/v1alpha1\nkind: Secret",
        &expect![[r#"a.yaml:2:1: Secret: kind: there is no kind "Secret" in thetis.dev/v1alpha1"#]],
    );
    check_one("apiVersion: v1\nkind: Pod", &expect![[r#"a.yaml:2:1: Pod: kind: there is no kind "Pod" in v1"#]]);
    check_one(
        "apiVersion: thetis.dev/v1alpha1\nkind: Revision",
        &expect!["a.yaml:2:1: Revision: kind: Revision objects are written by the system: take it away"],
    );
    check_one("apiVersion: thetis.dev/v1alpha1\nkind: 5", &expect!["a.yaml:2:1: kind: has to be text, not a number: put it in quotes"]);
    check_one(
        &CONVERSATION.replace("name: hello", "name: Hello_World"),
        &expect![[
            r#"a.yaml:5:9: Conversation Hello_World: metadata.name: "Hello_World" is not a name: lower-case letters, digits, - and . with a letter or digit at both ends"#
        ]],
    );
    check_one(
        &CONVERSATION.replace("name: hello", "name: hello\n  namespace: other"),
        &expect![[
            r#"a.yaml:6:14: Conversation hello: metadata.namespace: "other" cannot be had on one machine: the only namespace is default"#
        ]],
    );
    check_one(
        &CONVERSATION.replace("  name: hello\n", "  labels: {a: b}\n"),
        &expect!["a.yaml:5:3: Conversation: metadata.name: is missing"],
    );
    check_one(&format!("{CONVERSATION}status: {{turns: 5}}\n"), &expect!["a.yaml:8:1: Conversation hello: status: unknown key"]);
    check_one(&format!("{CONVERSATION}---{CONVERSATION}"), &expect!["a.yaml:9:1: Conversation hello: is there already, in a.yaml line 2"]);
    check(
        &[("model.yaml", MODEL), ("a.yaml", CONVERSATION), ("b.yaml", &format!("---\n---{CONVERSATION}"))],
        &expect!["b.yaml:3:1: Conversation hello: is there already, in a.yaml line 2"],
    );
}

#[test]
fn what_a_schema_forbids() {
    let spec = |line: &str| CONVERSATION.replace("spec:", &format!("spec:\n  {line}"));
    check_one(&spec("skills:"), &expect!["a.yaml:7:3: Conversation hello: spec.skills: has no value: give one, or take the line away"]);
    check_one(&spec("skills: sums"), &expect!["a.yaml:7:11: Conversation hello: spec.skills: has to be a list, not text"]);
    check_one(&spec("skills: [plan, plan]"), &expect!["a.yaml:7:18: Conversation hello: spec.skills[1]: is in the list twice"]);
    check_one(
        &spec("operatingMode: running"),
        &expect![[
            r#"a.yaml:7:18: Conversation hello: spec.operatingMode: is "running"; has to be Running or Suspended; did you mean Running?"#
        ]],
    );
    check_one(
        &spec("operatingMode: Paused"),
        &expect![[r#"a.yaml:7:18: Conversation hello: spec.operatingMode: is "Paused"; has to be Running or Suspended"#]],
    );
    check_one(
        &spec("limits: {steps: 0}"),
        &expect!["a.yaml:7:19: Conversation hello: spec.limits.steps: is 0; has to be between 1 and 1000"],
    );
    check_one(
        &spec("limits: {steps: 2.5}"),
        &expect!["a.yaml:7:19: Conversation hello: spec.limits.steps: has to be a whole number, not a number with a fraction"],
    );
    check_one(
        &spec("limits: {steps: '25'}"),
        &expect!["a.yaml:7:19: Conversation hello: spec.limits.steps: has to be a whole number, not text"],
    );
    check_one(&spec("mode: ''"), &expect!["a.yaml:7:9: Conversation hello: spec.mode: has 0 characters; has to have between 1 and 253"]);
    check_one(
        &spec(&format!("mode: {}", "m".repeat(254))),
        &expect!["a.yaml:7:9: Conversation hello: spec.mode: has 254 characters; has to have between 1 and 253"],
    );
    check_one(
        &spec("mode: true"),
        &expect!["a.yaml:7:9: Conversation hello: spec.mode: has to be text, not true or false: put it in quotes"],
    );
}

#[test]
fn files_that_are_no_text() {
    let refused = |bytes: &[u8]| super::lines(&interpret(&[("a.yaml".to_owned(), bytes.to_vec())], None).unwrap_err());
    expect!["a.yaml:2:4: not UTF-8 text"].assert_eq(&refused(b"a: b\nc: \xff\xfe"));
    expect!["a.yaml:1:1: the file is larger than 4194304 bytes"].assert_eq(&refused(&vec![b'#'; (4 << 20) + 1]));
}

#[test]
fn a_folder_is_read_in_order_and_without_what_is_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("model.yml", MODEL);
    write("hello.yaml", CONVERSATION);
    write(".hello.yaml.swp", "not: [yaml");
    write(".hidden.yaml", "not: [yaml");
    write("notes.txt", "not: [yaml");
    fs::create_dir(folder.path().join("below")).unwrap();
    write("below/broken.yaml", "not: [yaml");
    fs::create_dir(folder.path().join("folder.yaml")).unwrap();
    assert_eq!(load(folder.path(), None).unwrap().conversations.len(), 1);

    let one = load(&folder.path().join("model.yml"), None).unwrap();
    assert_eq!(one.settings.models.len(), 1);

    write("z.yaml", "a: b: c");
    write("b.yaml", "kind: Mode");
    expect![[r#"
        b.yaml:1:1: Mode: apiVersion: is missing
        z.yaml:1:5: not YAML: mapping values are not allowed in this context"#]]
    .assert_eq(&load(folder.path(), None).unwrap_err().to_string());

    let missing = load(&folder.path().join("nowhere"), None).unwrap_err();
    assert!(matches!(missing, Error::Folder { .. }), "{missing}");
}

#[test]
fn every_sample_is_valid() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut files = Vec::new();
    for folder in [samples.clone(), samples.join("more")] {
        files.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    }
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        match load(&file, None) {
            Ok(resolved) => assert!(!resolved.conversations.is_empty(), "{}", file.display()),
            Err(error) => panic!("{error}"),
        }
    }
    // A folder of samples is a folder like any other.
    load(&samples, None).unwrap();
}

#[test]
fn what_comes_with_thetis_is_valid_by_itself() {
    let (documents, found) = super::tree::parse(super::DEFAULTS);
    assert_eq!(found, []);
    assert!(documents.iter().all(|document| super::KINDS.check(document).is_ok()));
    let resolved = interpret(&[], None).unwrap();
    assert_eq!(documents.len(), resolved.settings.modes.len() + resolved.aspects.len());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[-a-z0-9 :{}\\[\\]&*!|>'\"#,\n\t]{0,200}") {
        let _ = interpret(&[("a.yaml".to_owned(), text.into_bytes())], None);
    }
}
