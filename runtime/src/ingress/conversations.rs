//! Lists, shows and makes conversations.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use thetis_core::id::ConversationId;
use thetis_core::settings::{AspectKind, Choice, Limits};
use thetis_store::conversation::{Conversation, New};
use thetis_store::hint::Hint;

use super::problem::Problem;
use super::{State, body, detached, input, name, wire};

/// Of one list.
const ITEMS: u32 = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    namespace: Option<String>,
}

pub(super) async fn list(state: State, Query(filter): Query<Filter>) -> Result<Json<wire::Conversations>, Problem> {
    if let Some(namespace) = &filter.namespace {
        name::checked("namespace", namespace)?;
    }
    let rows = state.store.conversations(filter.namespace.as_deref(), ITEMS).await?;
    Ok(Json(wire::Conversations { items: rows.into_iter().map(document).collect() }))
}

pub(super) async fn show(state: State, Path((namespace, name)): Path<(String, String)>) -> Result<Json<wire::Conversation>, Problem> {
    find(&state, &namespace, &name).await.map(document).map(Json)
}

pub(super) async fn create(state: State, body::Json(new): body::Json<wire::NewConversation>) -> Result<Response, Problem> {
    name::checked("namespace", &new.namespace)?;
    name::checked("name", &new.name)?;
    let choice = Choice { mode: new.mode, model: new.model, skills: new.skills, agent: new.agent, limits: Limits::default() };
    let prompt = new.prompt.map(|text| input::said(text, &choice.limits)).transpose()?;
    // Whether every name in it exists: a turn that cannot start would be the first to say so otherwise.
    state.store.settings(&new.namespace, &choice).await?;
    if state.store.active(&new.namespace, AspectKind::Agent, &choice.agent).await?.is_none() {
        return Err(Problem::missing(&format!("namespace {} has no agent {}", new.namespace, choice.agent)));
    }
    let row = New { id: ConversationId(uuid::Uuid::new_v4()), namespace: new.namespace, name: new.name, title: new.title, choice, prompt };
    let location = format!("/api/v1/conversations/{}/{}", row.namespace, row.name);
    let shared = Arc::clone(&state);
    let made = detached(async move {
        shared.store.create(&row).await?;
        shared.hints.publish(Hint::Runnable(row.id));
        find(&shared, &row.namespace, &row.name).await
    });
    let made = made.await??;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(document(made))).into_response())
}

/// The row of that name.
pub(super) async fn find(shared: &super::Shared, namespace: &str, name: &str) -> Result<Conversation, Problem> {
    let row = if name::is_name(namespace) && name::is_name(name) { shared.store.conversation(namespace, name).await? } else { None };
    row.ok_or_else(|| Problem::no_conversation(namespace, name))
}

fn document(row: Conversation) -> wire::Conversation {
    wire::Conversation {
        id: row.id,
        namespace: row.namespace,
        name: row.name,
        title: row.title,
        state: row.state.as_str().to_owned(),
        pending: row.pending,
        mode: row.choice.mode,
        model: row.choice.model,
        skills: row.choice.skills,
        agent: row.choice.agent,
        tail: row.tail,
        usage: row.usage,
    }
}
