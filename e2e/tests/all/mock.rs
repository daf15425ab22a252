//! The mock's own surface: what its tests and people look at besides completions.

use serde_json::{Value, json};
use thetis_e2e::mock::{Options, Script, Server};

async fn start(script: &str, key: Option<&str>) -> Server {
    let bind = "127.0.0.1:0".parse().unwrap();
    Server::start(Script::parse(script).unwrap(), Options { bind, key: key.map(str::to_owned) }).await.unwrap()
}

fn url(server: &Server, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

fn client() -> reqwest::Client {
    thetis_model::Client::new(thetis_model::client::Options::default()).unwrap();
    reqwest::Client::new()
}

async fn get(server: &Server, path: &str) -> Value {
    client().get(url(server, path)).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn a_completion_that_is_not_streamed() {
    let server = start("", None).await;
    let body = json!({ "model": "mock/echo", "messages": [{ "role": "user", "content": "hello" }] });
    let reply = client().post(url(&server, "/v1/chat/completions")).json(&body).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    let reply: Value = reply.json().await.unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], "hello");
    assert!(reply["usage"]["cost"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn requests_are_shown_and_forgotten() {
    let server = start("", Some("sk-test")).await;
    let body = json!({ "model": "mock/echo", "messages": [{ "role": "user", "content": "hello" }] });
    let post = |key: &str| client().post(url(&server, "/api/v1/chat/completions")).header("authorization", key).json(&body).send();
    for (key, status) in [("Bearer sk-test", 200), ("Bearer ", 401), ("Bearer other", 401), ("Basic x", 401)] {
        assert_eq!(post(key).await.unwrap().status(), status, "{key}");
    }
    let shown = get(&server, "/requests").await;
    assert_eq!(shown.as_array().unwrap().len(), 4);
    assert_eq!(shown[0], json!({ "path": "/api/v1/chat/completions", "authorization": true, "body": body, "status": 200, "rule": null }));
    assert!(!shown.to_string().contains("sk-test"));
    client().delete(url(&server, "/requests")).send().await.unwrap();
    assert_eq!(get(&server, "/requests").await, json!([]));
}

#[tokio::test]
async fn its_models_are_listed() {
    assert_eq!(get(&start("", None).await, "/v1/models").await["data"][0]["id"], "mock/echo");
    assert_eq!(get(&start("models: [a, b]", None).await, "/api/v1/models").await["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_request_that_is_not_json_is_refused_in_words() {
    let server = start("", None).await;
    let reply = client().post(url(&server, "/v1/chat/completions")).body("{").send().await.unwrap();
    assert_eq!(reply.status(), 400);
    let reply: Value = reply.json().await.unwrap();
    assert_eq!(reply["error"]["code"], 400);
    assert!(reply["error"]["message"].as_str().unwrap().contains("not JSON"));
}
