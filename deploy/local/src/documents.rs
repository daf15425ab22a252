//! A folder of YAML in place of the Kubernetes API: reads it, checks it against the same schemas, and tells every mistake of
//! every file with its line. Only this file does IO; what is below it is pure.

mod kinds;
mod problem;
mod scalar;
mod schema;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use thetis_core::key::Key;
use thetis_operator_core::{Objects, Resolved, resolve};

use kinds::Kinds;
use problem::Found;
pub use problem::{Position, Problem, What};
use tree::Node;

/// What every folder begins with: the modes and aspects that come with Thetis. A folder's object of the same kind and name
/// takes the place of one of these.
const DEFAULTS: &str = include_str!("../../defaults.yaml");

/// Making the schemas takes longer than reading a folder.
static KINDS: LazyLock<Kinds> = LazyLock::new(Kinds::new);

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 4 << 20;

/// The most files that a folder may have.
const FILES: usize = 1000;

/// Why a folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder itself.
    #[error("read the folder {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// One of its files.
    #[error("read {}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// Too many files.
    #[error("{} has more than {FILES} YAML files", folder.display())]
    TooMany {
        /// The folder.
        folder: PathBuf,
    },
    /// What is in the files.
    #[error("{}", lines(.0))]
    Problems(Vec<Problem>),
}

/// Reads the objects of `path`, a folder or one file, and what they come to. Of a folder the files directly in it are read
/// whose name ends with `.yaml` or `.yml` and does not begin with a dot.
///
/// `openrouter_key` is for models of openrouter.ai that name no key.
pub fn load(path: &Path, openrouter_key: Option<Key>) -> Result<Resolved, Error> {
    let mut files = Vec::new();
    for file in listed(path)? {
        let mut bytes = Vec::new();
        let read = File::open(&file).and_then(|open| open.take(FILE_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|cause| Error::File { file: file.clone(), cause })?;
        let shown = file.strip_prefix(path).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(&file);
        files.push((shown.display().to_string(), bytes));
    }
    interpret(&files, openrouter_key).map_err(Error::Problems)
}

fn listed(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder_error = |cause| Error::Folder { folder: path.to_owned(), cause };
    if std::fs::metadata(path).map_err(folder_error)?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(folder_error)? {
        let file = entry.map_err(folder_error)?.path();
        let hidden = file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let yaml = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        // Following links, because a ConfigMap is mounted as links. What is gone again was an editor's.
        if yaml && !hidden && std::fs::metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            files.push(file);
        }
        if files.len() > FILES {
            return Err(Error::TooMany { folder: path.to_owned() });
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// What files come to, each given with the name that problems call it by; or every problem of all of them, in order.
pub fn interpret(files: &[(String, Vec<u8>)], openrouter_key: Option<Key>) -> Result<Resolved, Vec<Problem>> {
    let mut folder = Folder::new();
    for (file, bytes) in files {
        folder.read(file, bytes);
    }
    folder.resolve(openrouter_key)
}

/// A document that is the only one of its kind and name.
struct Document {
    file: String,
    node: Node,
}

/// What has been read so far.
struct Folder {
    documents: BTreeMap<(&'static str, String), Document>,
    /// Kind and name of what is there and was refused: whoever refers to it is not to blame.
    refused: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl Folder {
    fn new() -> Self {
        Self { documents: BTreeMap::new(), refused: BTreeSet::new(), problems: Vec::new() }
    }

    fn read(&mut self, file: &str, bytes: &[u8]) {
        let (documents, found) = match text(bytes) {
            Ok(text) => tree::parse(text),
            Err(found) => (Vec::new(), vec![found]),
        };
        self.problems.extend(found.into_iter().map(|found| found.of(file, None)));
        for node in documents {
            match KINDS.check(&node) {
                Ok(id) => self.add(file, id, node),
                Err(found) => {
                    let subject = kinds::subject(&node);
                    self.refused.extend(subject.clone());
                    self.problems.extend(found.into_iter().map(|found| found.of(file, subject.clone())));
                }
            }
        }
    }

    fn add(&mut self, file: &str, id: (&'static str, String), node: Node) {
        if let Some(first) = self.documents.get(&id) {
            let what = What::Redeclared { file: first.file.clone(), line: first.node.at.line };
            let subject = Some(format!("{} {}", id.0, id.1));
            self.problems.push(Found { at: node.at, path: String::new(), what }.of(file, subject));
        } else {
            self.documents.insert(id, Document { file: file.to_owned(), node });
        }
    }

    fn resolve(mut self, openrouter_key: Option<Key>) -> Result<Resolved, Vec<Problem>> {
        let (defaults, _) = tree::parse(DEFAULTS);
        for node in defaults {
            if let Ok(id) = KINDS.check(&node) {
                self.documents.entry(id).or_insert_with(|| Document { file: "(comes with Thetis)".to_owned(), node });
            }
        }
        let mut objects = Objects::default();
        objects.data.openrouter_key = openrouter_key;
        for ((kind, name), document) in &self.documents {
            if let Err(found) = kinds::read(kind, name, &document.node, &mut objects) {
                self.refused.insert(format!("{kind} {name}"));
                self.problems.push(found.of(&document.file, Some(format!("{kind} {name}"))));
            }
        }
        match resolve(&objects) {
            Ok(resolved) if self.problems.is_empty() => return Ok(resolved),
            Ok(_) => {}
            Err(problems) => {
                let news = problems.into_iter().filter(|problem| !self.follows(problem));
                let news: Vec<_> = news.map(|problem| located(&self.documents, problem)).collect();
                self.problems.extend(news);
            }
        }
        self.problems.sort_by(|a, b| (&a.file, a.at).cmp(&(&b.file, b.at)));
        Err(self.problems)
    }

    /// Whether the problem is gone once a document is right that is refused.
    fn follows(&self, problem: &thetis_operator_core::Problem) -> bool {
        match &problem.what {
            thetis_operator_core::What::Missing { kind, name, .. } => self.refused.contains(&format!("{kind} {name}")),
            _ => false,
        }
    }
}

/// Where in which file the field is that a problem names.
fn located(documents: &BTreeMap<(&'static str, String), Document>, problem: thetis_operator_core::Problem) -> Problem {
    let document = documents.iter().find(|((kind, name), _)| *kind == problem.kind.as_str() && *name == problem.name);
    let (file, at) =
        document.map_or((String::new(), Position::default()), |(_, document)| (document.file.clone(), document.node.find(&problem.path)));
    let subject = Some(format!("{} {}", problem.kind, problem.name));
    Found { at, path: problem.path, what: What::Object(problem.what) }.of(&file, subject)
}

fn text(bytes: &[u8]) -> Result<&str, Found> {
    let whole = |what| Found { at: Position::default(), path: String::new(), what };
    if u64::try_from(bytes.len()).is_ok_and(|bytes| bytes > FILE_BYTES) {
        return Err(whole(What::FileTooLarge { most: FILE_BYTES }));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.split(|byte| *byte == b'\n').count();
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            Err(Found { at: Position { line, column }, path: String::new(), what: What::NotUtf8 })
        }
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
