//! What is wrong with an object, for people: which object, which field, and what to do about it.

use std::fmt;

use thetis_core::key::NotAKey;

/// The kinds of object that are validated or referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `thetis.dev` Aspect.
    Aspect,
    /// `v1` ConfigMap.
    ConfigMap,
    /// `thetis.dev` Conversation.
    Conversation,
    /// `thetis.dev` Mode.
    Mode,
    /// `thetis.dev` Model.
    Model,
    /// `v1` Secret.
    Secret,
    /// `thetis.dev` Skill.
    Skill,
}

/// One mistake in one object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name}: {path}: {what}")]
pub struct Problem {
    /// The kind of the object that has to be edited.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The field, as `spec.skills[1]`.
    pub path: String,
    /// The mistake.
    pub what: What,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// It names an object that is not there.
    #[error("no {kind} is called {name}; {}", listed(.present))]
    Missing {
        /// The kind it should have.
        kind: Kind,
        /// The name it gives.
        name: String,
        /// The names that there are.
        present: Vec<String>,
    },
    /// It names a key that the object does not have.
    #[error("{kind} {name} has no key {key}; {}", listed(.present))]
    MissingKey {
        /// Secret or ConfigMap.
        kind: Kind,
        /// The object's name.
        name: String,
        /// The key it gives.
        key: String,
        /// The keys that there are.
        present: Vec<String>,
    },
    /// It names a Secret's value that no request could carry.
    #[error("key {key} of Secret {secret} is no API key: {why}")]
    NotAKey {
        /// The Secret's name.
        secret: String,
        /// The key within it.
        key: String,
        /// Why not; never the value.
        why: NotAKey,
    },
    /// The endpoint wants a key and nothing gives one.
    #[error(
        "{host} wants a key: name one in spec.key.secretKeyRef, or set the environment variable OPENROUTER_API_KEY where \
         Thetis runs on one machine"
    )]
    NoKey {
        /// The endpoint's host.
        host: String,
    },
    /// It names an aspect that does something else.
    #[error("Aspect {name} is no Agent; {}", listed(.present))]
    NotAnAgent {
        /// The name it gives.
        name: String,
        /// The agents that there are.
        present: Vec<String>,
    },
    /// Of several fields not exactly one is given.
    #[error("give exactly one of {}", .0.join(", "))]
    NotOne(&'static [&'static str]),
    /// It says the same twice.
    #[error("{0} is there twice")]
    Twice(String),
    /// It is empty, or white space only.
    #[error("is blank")]
    Blank,
    /// Its text is too long.
    #[error("has {bytes} bytes; at most {most} are allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// Its number is not between the bounds.
    #[error("is {given}; has to be between {least} and {most}")]
    OutOfRange {
        /// The number.
        given: i64,
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// It is as large as a field that bounds it, or larger.
    #[error("has to be less than {0}")]
    NotLessThan(&'static str),
    /// It is not an amount of dollars.
    #[error("{0:?} is not an amount of US dollars such as \"3\" or \"0.15\", exact to a millionth")]
    NotDollars(String),
    /// It is not a host that requests may go to.
    #[error("{0:?} is not a host such as example.org, *.example.org or example.org:8443")]
    NotAHost(String),
}

impl Kind {
    /// Its name, as `kind` says it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aspect => "Aspect",
            Self::ConfigMap => "ConfigMap",
            Self::Conversation => "Conversation",
            Self::Mode => "Mode",
            Self::Model => "Model",
            Self::Secret => "Secret",
            Self::Skill => "Skill",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The problems of one object, while it is being read.
pub(crate) struct Problems<'a> {
    kind: Kind,
    name: &'a str,
    found: Vec<Problem>,
}

impl<'a> Problems<'a> {
    pub(crate) const fn new(kind: Kind, name: &'a str) -> Self {
        Self { kind, name, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, path: impl Into<String>, what: What) {
        self.found.push(Problem { kind: self.kind, name: self.name.to_owned(), path: path.into(), what });
    }

    /// The object's name has to fit what is made of it.
    pub(crate) fn name_at_most(&mut self, most: usize) {
        if self.name.len() > most {
            self.add("metadata.name", What::TooLong { bytes: self.name.len(), most });
        }
    }

    /// The value, or the default in its place once the problem is noted; the default is never seen, because
    /// [`Problems::finish`] fails.
    pub(crate) fn take<T: Default>(&mut self, path: impl Into<String>, value: Result<T, What>) -> T {
        value.unwrap_or_else(|what| {
            self.add(path, what);
            T::default()
        })
    }

    pub(crate) fn into_found(self) -> Vec<Problem> {
        self.found
    }

    pub(crate) fn finish<T>(self, value: T) -> Result<T, Vec<Problem>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}

/// A number within its bounds.
pub(crate) fn ranged(given: i32, least: i32, most: i32) -> Result<u32, What> {
    let out = || What::OutOfRange { given: given.into(), least: least.into(), most: most.into() };
    if given > most || given < least {
        return Err(out());
    }
    u32::try_from(given).map_err(|_| out())
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    match names.len() {
        0 => "there is none".to_owned(),
        count if count > SHOWN => {
            let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
            format!("there are: {} and {} more", shown.join(", "), count - SHOWN)
        }
        _ => format!("there are: {}", names.join(", ")),
    }
}
