//! The mock's own surface: what its tests and people look at besides completions.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use thetis_e2e::mock::{Options, Script, Server};

struct Door {
    server: Server,
    http: reqwest::Client,
}

impl Door {
    async fn open(script: &str, key: Option<&str>) -> Self {
        let bind = "127.0.0.1:0".parse().unwrap();
        let server = Server::start(Script::parse(script).unwrap(), Options { bind, key: key.map(str::to_owned) }).await.unwrap();
        // Another check of this process may have chosen first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { server, http: reqwest::Client::builder().tls_certs_only([]).build().unwrap() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    async fn get(&self, path: &str) -> Value {
        self.http.get(self.url(path)).send().await.unwrap().json().await.unwrap()
    }
}

#[tokio::test]
async fn a_completion_that_is_not_streamed() {
    let door = Door::open("", None).await;
    let body = json!({ "model": "mock/echo", "messages": [{ "role": "user", "content": "hello" }] });
    let reply = door.http.post(door.url("/v1/chat/completions")).json(&body).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    let reply: Value = reply.json().await.unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], "hello");
    assert!(reply["usage"]["cost"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn requests_are_shown_and_forgotten() {
    let door = Door::open("", Some("sk-test")).await;
    let body = json!({ "model": "mock/echo", "messages": [{ "role": "user", "content": "hello" }] });
    let post = |key: &str| door.http.post(door.url("/api/v1/chat/completions")).header("authorization", key).json(&body).send();
    for (key, status) in [("Bearer sk-test", 200), ("Bearer ", 401), ("Bearer other", 401), ("Basic x", 401)] {
        assert_eq!(post(key).await.unwrap().status(), status, "{key}");
    }
    let shown = door.get("/requests").await;
    assert_eq!(shown.as_array().unwrap().len(), 4);
    assert_eq!(shown[0], json!({ "path": "/api/v1/chat/completions", "authorization": true, "body": body, "status": 200, "rule": null }));
    assert!(!shown.to_string().contains("sk-test"));
    door.http.delete(door.url("/requests")).send().await.unwrap();
    assert_eq!(door.get("/requests").await, json!([]));
}

#[tokio::test]
async fn its_models_are_listed() {
    assert_eq!(Door::open("", None).await.get("/v1/models").await["data"][0]["id"], "mock/echo");
    assert_eq!(Door::open("models: [a, b]", None).await.get("/api/v1/models").await["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_request_that_is_not_json_is_refused_in_words() {
    let door = Door::open("", None).await;
    let reply = door.http.post(door.url("/v1/chat/completions")).body("{").send().await.unwrap();
    assert_eq!(reply.status(), 400);
    let reply: Value = reply.json().await.unwrap();
    assert_eq!(reply["error"]["code"], 400);
    assert!(reply["error"]["message"].as_str().unwrap().contains("not JSON"));
}

/// Runs the binary with `script` and returns what it printed once it printed a line or ended.
fn run(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.yaml");
    std::fs::write(&path, script).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mock-llm"))
        .args(["--bind", "127.0.0.1:0", "--script"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    line + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_binary_says_where_it_listens() {
    let said = run("rules: []");
    let address = said.trim_end().strip_prefix("mock-llm listens on http://127.0.0.1:").unwrap_or_else(|| panic!("{said}"));
    assert_ne!(address.parse::<u16>().unwrap(), 0);
}

#[test]
fn the_binary_names_the_key_that_is_wrong() {
    let said = run("rules: [{ respond: { txt: hello } }]");
    assert!(said.contains("script.yaml") && said.contains("rules[0].respond.txt"), "{said}");
}
