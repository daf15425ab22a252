//! Conversation objects.

use thetis_core::event::{Source, UserMessage};
use thetis_core::id::ConversationId;
use thetis_core::settings::{AspectKind, Choice, Limits};
use thetis_crds::Conversation;
use thetis_crds::conversation::{OnDelete, OperatingMode};
use thetis_crds::names;

use crate::dollars;
use crate::objects::Known;
use crate::problem::{Kind, Problem, Problems, What, ranged};

/// A conversation that an object declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredConversation {
    /// The object's name.
    pub name: String,
    /// The object's UID; none where nobody assigned one.
    pub uid: Option<ConversationId>,
    /// The first message, for the log's first event.
    pub prompt: Option<UserMessage>,
    /// What its turns run with.
    pub choice: Choice,
    /// The pool that runs its turns; none means any.
    pub runtime: Option<String>,
    /// Messages wait until this is false again.
    pub suspended: bool,
    /// The log goes when the object does.
    pub delete_log: bool,
}

/// The conversation as rows take it. Every name that it gives is in `known`.
pub fn conversation(object: &Conversation, known: &Known) -> Result<DeclaredConversation, Vec<Problem>> {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let spec = &object.spec;
    let mut problems = Problems::new(Kind::Conversation, name);
    problems.name_at_most(names::CONVERSATION_MAX);
    let limits = limits(&mut problems, &spec.limits);
    let prompt = spec.prompt.clone().map(|text| prompt(text, limits.message_bytes)).transpose();
    let prompt = problems.take("spec.prompt", prompt);
    refer(&mut problems, "spec.mode", Kind::Mode, &spec.mode, &known.modes);
    refer(&mut problems, "spec.model", Kind::Model, &spec.model, &known.models);
    for (at, skill) in spec.skills.iter().enumerate() {
        let path = format!("spec.skills[{at}]");
        if spec.skills.iter().take(at).any(|earlier| earlier == skill) {
            problems.add(path, What::Twice(skill.clone()));
        } else {
            refer(&mut problems, path, Kind::Skill, skill, &known.skills);
        }
    }
    if let Err(what) = agent(&spec.agent, known) {
        problems.add("spec.agent", what);
    }
    problems.finish(DeclaredConversation {
        name: name.to_owned(),
        uid: object.metadata.uid.as_deref().and_then(|uid| uid.parse().ok()).map(ConversationId),
        prompt,
        choice: Choice {
            mode: spec.mode.clone(),
            model: spec.model.clone(),
            skills: spec.skills.clone(),
            agent: spec.agent.clone(),
            limits,
        },
        runtime: spec.runtime.clone(),
        suspended: spec.operating_mode == OperatingMode::Suspended,
        delete_log: spec.retention.on_delete == OnDelete::Delete,
    })
}

fn limits(problems: &mut Problems<'_>, declared: &thetis_crds::conversation::Limits) -> Limits {
    let mut number = |field: &str, given, least, most| problems.take(format!("spec.limits.{field}"), ranged(given, least, most));
    Limits {
        steps: number("steps", declared.steps, 1, 1000),
        turn_seconds: number("turnSeconds", declared.turn_seconds, 1, 86400),
        tool_seconds: number("toolSeconds", declared.tool_seconds, 1, 86400),
        output_bytes: number("outputBytes", declared.output_bytes, 1024, 1 << 20),
        message_bytes: number("messageBytes", declared.message_bytes, 1024, 4 << 20),
        spend: problems.take("spec.limits.spendUSD", declared.spend_usd.as_deref().map(dollars::pico).transpose()),
    }
}

fn prompt(text: String, most: u32) -> Result<UserMessage, What> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if text.trim().is_empty() {
        return Err(What::Blank);
    }
    if text.len() > most {
        return Err(What::TooLong { bytes: text.len(), most });
    }
    Ok(UserMessage { text, attachments: Vec::new(), source: Source::Object })
}

fn refer(problems: &mut Problems<'_>, path: impl Into<String>, kind: Kind, name: &str, present: &[String]) {
    if !present.iter().any(|present| present == name) {
        problems.add(path, What::Missing { kind, name: name.to_owned(), present: present.to_vec() });
    }
}

fn agent(name: &str, known: &Known) -> Result<(), What> {
    let agents =
        || -> Vec<String> { known.aspects.iter().filter(|(_, kind)| *kind == AspectKind::Agent).map(|(name, _)| name.clone()).collect() };
    match known.aspects.iter().find(|(aspect, _)| aspect == name) {
        Some((_, AspectKind::Agent)) => Ok(()),
        Some(_) => Err(What::NotAnAgent { name: name.to_owned(), present: agents() }),
        None => Err(What::Missing { kind: Kind::Aspect, name: name.to_owned(), present: agents() }),
    }
}

#[cfg(test)]
mod tests;
