//! What `thetis local` refuses to start with, and what it says.

use crate::machine::{HELLO, Machine, PATIENCE};

/// What it prints before it gives up.
async fn complaint(machine: &Machine, arguments: &[&str]) -> String {
    let output = tokio::time::timeout(PATIENCE, machine.local(arguments).output()).await.expect("it does not give up").unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn mistakes_in_objects_are_named_with_their_place() {
    let machine = Machine::new(HELLO, "{}").await;
    for (objects, parts) in [
        (HELLO.replace("description: How", "descripton: How"), ["objects.yaml:7", "descripton"].as_slice()),
        (HELLO.replace("[manners]", "[manner]"), &["Conversation hello", "manner", "manners"]),
        (HELLO.replace("{ skills: [manners] }", "{ model: gpt }"), &["Conversation hello", "gpt", "default"]),
        (HELLO.replace("{ skills: [manners] }", "{ mode: agnet }"), &["Conversation hello", "agnet", "plan"]),
        (HELLO.replace("{ skills: [manners] }", &format!("{{ prompt: {} }}", "a".repeat(300_000))), &["Conversation hello", "prompt"]),
        (format!("{HELLO}---\nkind: Cat\n"), &["objects.yaml", "Cat"]),
    ] {
        machine.put("objects.yaml", &objects);
        let said = complaint(&machine, &[]).await;
        for part in parts {
            assert!(said.contains(part), "{part:?} is not in: {said}");
        }
        assert!(!machine.data().join("postgres").exists(), "a database was made for nothing");
    }
}

#[tokio::test]
async fn a_model_without_its_key_is_refused_and_no_key_is_shown() {
    let machine = Machine::new(HELLO, "{}").await;
    let model = "apiVersion: thetis.dev/v1alpha1\nkind: Model\nmetadata: { name: default }\n";
    machine.put("model.yaml", &format!("{model}spec: {{ id: some/model }}\n"));
    let said = complaint(&machine, &[]).await;
    assert!(said.contains("Model default") && said.contains("OPENROUTER_API_KEY"), "{said}");

    machine.put("model.yaml", &format!("{model}spec: {{ id: some/model, key: {{ secretKeyRef: {{ name: keys, key: openrouter }} }} }}\n"));
    let said = complaint(&machine, &[]).await;
    assert!(said.contains("Model default") && said.contains("keys"), "{said}");

    for key in ["\"  \"", "\"sk hidden value\""] {
        machine
            .put("keys.yaml", &format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: keys }}\nstringData: {{ openrouter: {key} }}\n"));
        let said = complaint(&machine, &[]).await;
        assert!(said.contains("Model default") && said.contains("keys") && !said.contains("hidden"), "{said}");
    }
}

#[tokio::test]
async fn a_data_folder_an_address_and_a_component_have_to_be_fit() {
    let mut machine = Machine::started(HELLO, "{}").await;
    let said = complaint(&machine, &[]).await;
    assert!(said.contains("in use by another") && said.contains("process"), "{said}");
    assert!(machine.stop().await.success());

    let said = complaint(&machine, &["--bind", "0.0.0.0:0"]).await;
    assert!(said.contains("loopback"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = complaint(&machine, &["--bind", &taken.local_addr().unwrap().to_string()]).await;
    assert!(said.contains("another process may have it"), "{said}");
    let said = complaint(&machine, &["--aspects", "/nowhere"]).await;
    assert!(said.contains("make aspects"), "{said}");

    // A tool where an agent should be.
    machine.put("agent.yaml", "{apiVersion: thetis.dev/v1alpha1, kind: Aspect, metadata: {name: agent}, spec: {kind: Agent, source: {builtin: {name: tool-calculate}}}}");
    let said = complaint(&machine, &[]).await;
    assert!(said.contains("Aspect agent is not activated"), "{said}");
    std::fs::remove_file(machine.data().with_file_name("objects").join("agent.yaml")).unwrap();
    machine.start().await;
    assert!(machine.stop().await.success());
}
