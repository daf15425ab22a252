//! The mock's own surface: what its tests and people look at besides completions.

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
