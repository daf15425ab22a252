//! The rules of the tree that a compiler does not check, as text: what depends on what, where the few dangerous things are,
//! how files look. Reads the tree; builds and runs nothing of it.
#![expect(
    clippy::unwrap_used,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a check of our own files, whose names we chose"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lines of a file that is not a test.
const LINES: usize = 500;

/// What was built or is Git's: nobody wrote it. In a work tree of its own `.git` is a file.
const NOT_OURS: [&str; 4] = ["target", ".git", ".thetis", "node_modules"];

struct File {
    /// From the tree's root, with `/`.
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every text file of the tree.
fn files() -> Vec<File> {
    let (root, mut folders, mut files) = (root(), vec![root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if NOT_OURS.contains(&entry.file_name().to_str().unwrap()) {
                continue;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                files.push(File { path: entry.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text });
            }
        }
    }
    assert!(files.len() > 50, "the tree is not where this test looks for it");
    files
}

impl File {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_test(&self) -> bool {
        ["/tests/", "/tests.rs", "/benches/", "/fixtures/"].iter().any(|part| self.path.contains(part))
    }

    /// Its lines with the comments taken off, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
    }
}

/// The same complaint about every line that has it.
fn lines_with(files: &[File], complaint: &str, has: impl Fn(&File, &str) -> bool) -> String {
    let mut found = String::new();
    for file in files {
        for (at, line) in file.code().filter(|(_, line)| has(file, line)) {
            writeln!(found, "{}:{at}: {complaint}: {}", file.path, line.trim()).unwrap();
        }
    }
    found
}

#[test]
fn crates_depend_on_what_they_may() {
    let forbidden: [(&str, &[&str]); 6] = [
        ("runtime/core", &["tokio", "sqlx", "kube", "wasmtime", "reqwest", "axum"]),
        ("runtime/model", &["sqlx", "kube", "wasmtime"]),
        ("runtime/store", &["kube", "wasmtime", "axum"]),
        ("runtime", &["sqlx", "kube"]),
        ("operator/core", &["tokio", "sqlx", "wasmtime", "reqwest"]),
        ("crds", &["tokio", "sqlx", "wasmtime", "thetis-"]),
    ];
    let mut found = String::new();
    for (folder, crates) in forbidden {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        for line in dependencies.lines() {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if crates.iter().any(|forbidden| name == *forbidden || forbidden.ends_with('-') && name.starts_with(forbidden)) {
                writeln!(found, "{folder}/Cargo.toml: may not depend on {name}").unwrap();
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn dangerous_things_are_where_they_belong() {
    let rust: Vec<File> = files().into_iter().filter(|file| file.is_rust() && file.path != "e2e/tests/tidy.rs").collect();
    let found = [
        lines_with(&rust, "SQL belongs in runtime/store", |file, line| {
            !file.path.starts_with("runtime/store/") && !file.is_test() && line.contains("sqlx::")
        }),
        lines_with(&rust, "bindings belong in runtime/src/bindings.rs", |file, line| {
            file.path != "runtime/src/bindings.rs" && line.contains("bindgen!")
        }),
        lines_with(&rust, "the one wasmtime Config belongs in runtime/src/engine.rs", |file, line| {
            file.path.starts_with("runtime/") && file.path != "runtime/src/engine.rs" && !file.is_test() && line.contains(" Config::new(")
        }),
        lines_with(&rust, "unsafe belongs in runtime/src/artifact.rs", |file, line| {
            file.path != "runtime/src/artifact.rs"
                && ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| line.contains(word))
        }),
        lines_with(&rust, "lints are answered by #[expect(…, reason = …)]", |_, line| line.trim_start().starts_with("#[allow(")),
    ]
    .concat();
    assert!(found.is_empty(), "\n{found}");
    let once = |path: &str, what: &str| {
        let file = rust.iter().find(|file| file.path == path).unwrap();
        assert_eq!(file.code().filter(|(_, line)| line.contains(what)).count(), 1, "{path}: {what} has to be there once");
    };
    once("runtime/src/bindings.rs", "bindgen!");
    once("runtime/src/engine.rs", " Config::new(");
    once("runtime/src/artifact.rs", "unsafe {");
}

#[test]
fn files_look_alike() {
    let mut found = String::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        let mut complain = |what: &str| writeln!(found, "{}: {what}", file.path).unwrap();
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if ["mod.rs", "util.rs", "utils.rs", "common.rs", "manager.rs", "helper.rs", "helpers.rs", "misc.rs"].contains(&name) {
            complain("no file is called that");
        }
        if file.is_test() {
            continue;
        }
        if !file.text.starts_with("//! ") {
            complain("opens with `//!`: what it owns, whether it does IO, what it must not know");
        }
        if file.text.lines().count() > LINES {
            complain("has more than 500 lines");
        }
        if file.path.split("/src/").nth(1).is_some_and(|below| below.matches('/').count() > 2) {
            complain("lies more than two levels below src");
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn nothing_names_a_machine() {
    // Put together, so that this file does not name them.
    let machines = ["root", "work", "home"].map(|top| format!("/{top}/"));
    let mut found = String::new();
    for file in files() {
        for (at, line) in file.text.lines().enumerate() {
            if machines.iter().any(|path| line.contains(path.as_str()) && !is_part_of_an_address(line, path)) {
                writeln!(found, "{}:{}: names a path of one machine: {}", file.path, at + 1, line.trim()).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

/// `https://example.org/home/` and `a/work/b` name no machine's root.
fn is_part_of_an_address(line: &str, path: &str) -> bool {
    let before = line.find(path).and_then(|at| line.get(..at)).and_then(|before| before.chars().next_back());
    before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '.' | '-' | '_' | '}' | ')' | '*'))
}
