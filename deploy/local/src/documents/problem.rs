//! What is wrong in a file, for people: where, in which object, and what to do about it.

use std::fmt;

/// A place in a text, both from 1. The default is its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

/// One mistake in one file. Shown as `file:line:column: object: field: mistake`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The file, as the reader was given it.
    pub file: String,
    /// Where in the file.
    pub at: Position,
    /// Kind and name of the object, as far as they are known.
    pub subject: Option<String>,
    /// The field, as `spec.skills[1]`; empty for the document as a whole.
    pub path: String,
    /// The mistake.
    pub what: What,
}

/// A mistake whose file is not known where it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: Position,
    pub(super) path: String,
    pub(super) what: What,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// The file is larger than is read.
    #[error("the file is larger than {most} bytes")]
    FileTooLarge {
        /// The most bytes.
        most: u64,
    },
    /// The file is no text.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// The text is no YAML.
    #[error("not YAML: {0}")]
    NotYaml(String),
    /// Lists and maps within each other, too many.
    #[error("nested more than {most} deep")]
    TooDeep {
        /// The most levels.
        most: usize,
    },
    /// A file with more values than are read; aliases count as what they stand for.
    #[error("more than {most} values, counting what aliases stand for")]
    TooMany {
        /// The most values.
        most: usize,
    },
    /// The same key twice in a map.
    #[error("is there twice; first in line {line}")]
    DuplicateKey {
        /// Where it is first.
        line: usize,
    },
    /// A key that is not text.
    #[error("a key has to be text: put it in quotes")]
    KeyNotText,
    /// A merge key.
    #[error("merge keys are not read: write the keys out")]
    MergeKey,
    /// A tag.
    #[error("tags are not read: take {0} away")]
    Tag(String),
    /// A plain word that other readers of YAML take for something else. It may be a secret, so it is not repeated.
    #[error("kubectl reads this as {reads}: put it in quotes if text is meant")]
    Ambiguous {
        /// What it is taken for.
        reads: &'static str,
    },
    /// A number that no field can hold. It may be a secret, so it is not repeated.
    #[error("a number that cannot be read: put it in quotes if text is meant")]
    NotANumber,
    /// A document that is not a map.
    #[error("not an object: begin with apiVersion, kind, metadata and spec")]
    NotAnObject,
    /// A version of the API that this version does not read.
    #[error("{0:?} is not read here: write thetis.dev/v1alpha1, or v1 for a Secret or ConfigMap")]
    UnknownVersion(String),
    /// A kind that there is not.
    #[error("there is no kind {given:?} in {version}{}", suggestion(.near.as_deref()))]
    UnknownKind {
        /// What it says.
        given: String,
        /// The version that it says.
        version: String,
        /// What it may mean.
        near: Option<String>,
    },
    /// A kind that only the system writes.
    #[error("{0} objects are written by the system: take it away")]
    Written(&'static str),
    /// A namespace other than the one.
    #[error("{0:?} cannot be had on one machine: the only namespace is default")]
    Namespace(String),
    /// The same kind and name in another document.
    #[error("is there already, in {file} line {line}")]
    Redeclared {
        /// The other document's file.
        file: String,
        /// The other document's line.
        line: usize,
    },
    /// A key that the schema does not have.
    #[error("unknown key{}", suggestion(.near.as_deref()))]
    UnknownKey {
        /// What it may mean.
        near: Option<String>,
    },
    /// A key that has to be there and is not.
    #[error("is missing")]
    Required,
    /// A key without a value.
    #[error("has no value: give one, or take the line away")]
    Null,
    /// A value of another type.
    #[error("has to be {wanted}, not {given}{}", quoting(.wanted, .given))]
    Type {
        /// The type that it has to have.
        wanted: &'static str,
        /// The type that it has.
        given: &'static str,
    },
    /// A value that is none of those that there are.
    #[error("is {given:?}; has to be {}{}", .choices.join(" or "), suggestion(.near.as_deref()))]
    Choice {
        /// The value.
        given: String,
        /// Those that there are.
        choices: Vec<String>,
        /// What it may mean.
        near: Option<String>,
    },
    /// A text that does not look as it has to.
    #[error("{given:?} {}", thetis_crds::names::in_words(.pattern).map_or_else(|| format!("does not match {pattern}"), |words| format!("is not {words}")))]
    Pattern {
        /// The text, its beginning.
        given: String,
        /// What it has to match.
        pattern: String,
    },
    /// A text or list that is too short or too long.
    #[error("has {given} {unit}; has to have between {least} and {most}")]
    Length {
        /// How many it has.
        given: usize,
        /// Of what.
        unit: &'static str,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A number out of bounds.
    #[error("is {given}; has to be between {least} and {most}")]
    Range {
        /// The number.
        given: i64,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// An entry of a list that is there before.
    #[error("is in the list twice")]
    Repeated,
    /// Bytes in base64 that are not.
    #[error("not base64; write the text itself under stringData instead")]
    NotBase64,
    /// What the schema allows and the reader does not understand.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// What the object says does not work.
    #[error("{0}")]
    Object(thetis_operator_core::What),
}

impl Default for Position {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl Found {
    pub(super) fn of(self, file: &str, subject: Option<String>) -> Problem {
        Problem { file: file.to_owned(), at: self.at, subject, path: self.path, what: self.what }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, at: Position { line, column }, subject, path, what } = self;
        write!(f, "{file}:{line}:{column}: ")?;
        for part in [subject.as_deref().unwrap_or_default(), path] {
            if !part.is_empty() {
                write!(f, "{part}: ")?;
            }
        }
        what.fmt(f)
    }
}

/// What somebody may have meant by `given`, where one of `known` is near enough.
pub(super) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let given: String = given.chars().take(64).collect();
    let given = given.to_lowercase();
    let candidates = known.map(|known| {
        let lower = known.to_lowercase();
        let swapped = letters(&given) == letters(&lower);
        ((strsim::damerau_levenshtein(&given, &lower), !swapped), strsim::jaro_winkler(&given, &lower), known)
    });
    // The fewest edits; among equals the one of the same letters, then the one that begins alike.
    let ((edits, _), _, near) = candidates.min_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)))?;
    (edits <= 1 + near.chars().count() / 4).then(|| near.to_owned())
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

fn suggestion(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

fn quoting(wanted: &str, given: &str) -> &'static str {
    if wanted == TEXT && (given == NUMBER || given == BOOLEAN) { ": put it in quotes" } else { "" }
}

/// Names of types, as problems call them.
pub(super) const TEXT: &str = "text";
/// A number.
pub(super) const NUMBER: &str = "a number";
/// True or false.
pub(super) const BOOLEAN: &str = "true or false";
