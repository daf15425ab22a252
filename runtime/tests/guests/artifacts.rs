//! From bytes to code: what is refused, what is believed, what is made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use thetis_core::id::Digest;
use thetis_core::settings::{AspectKind, Grants};
use thetis_runtime::artifact::{Artifacts, Compiler, Error, Key, check};
use thetis_runtime::engine::Engine;
use thetis_runtime::guest::Unfit;

use crate::fixture::{Host, compiler, echo, tool};

type Nothing = Result<Option<Bytes>, std::convert::Infallible>;

fn nothing() -> std::future::Ready<Nothing> {
    std::future::ready(Ok(None))
}

fn open(folder: &Path, key: u8) -> Artifacts {
    Artifacts::open(Engine::new(1).unwrap(), folder, Key::new([key; 32]), compiler()).unwrap()
}

/// A folder that holds the code of [`echo`], and the file that it is in.
async fn filled() -> (tempfile::TempDir, Digest, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), 1).admit(echo().into()).await.unwrap();
    let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    (folder, Digest::of(&echo()), file)
}

#[tokio::test]
async fn code_is_made_once_and_found_again() {
    let (folder, digest, _) = filled().await;
    open(folder.path(), 1).load(digest, nothing()).await.unwrap();
}

#[tokio::test]
async fn guests_that_start_anew_find_their_code() {
    let host = Host::new();
    host.is_healthy().await;
    host.fresh().is_healthy().await;
}

#[tokio::test]
async fn code_under_another_key_is_not_believed() {
    let (folder, digest, _) = filled().await;
    assert!(matches!(open(folder.path(), 2).load(digest, nothing()).await, Err(Error::Missing { .. })));
}

#[tokio::test]
async fn code_that_was_altered_is_made_again() {
    let (folder, digest, file) = filled().await;
    let sound = fs::read(&file).unwrap();
    let artifacts = open(folder.path(), 1);
    for at in [0, 31, 32, 33, 1000, sound.len() / 2, sound.len() - 1] {
        let mut altered = sound.clone();
        altered[at] ^= 1;
        fs::write(&file, &altered).unwrap();
        assert!(matches!(artifacts.load(digest, nothing()).await, Err(Error::Missing { .. })), "bit {at}");
    }
    for length in [0, 1, 31, 32, 33, sound.len() - 1] {
        fs::write(&file, &sound[..length]).unwrap();
        assert!(matches!(artifacts.load(digest, nothing()).await, Err(Error::Missing { .. })), "length {length}");
    }
    artifacts.load(digest, async { Nothing::Ok(Some(echo().into())) }).await.unwrap();
    artifacts.load(digest, nothing()).await.unwrap();
}

#[tokio::test]
async fn code_of_one_component_does_not_stand_in_for_another() {
    let (folder, digest, file) = filled().await;
    let other = tool("", "unreachable");
    let artifacts = open(folder.path(), 1);
    artifacts.admit(other.into()).await.unwrap();
    let files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let other = files.iter().find(|path| **path != file).unwrap();
    fs::copy(other, &file).unwrap();
    assert!(matches!(artifacts.load(digest, nothing()).await, Err(Error::Missing { .. })));
}

#[tokio::test]
async fn bytes_have_to_have_the_digest_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let other = async { Nothing::Ok(Some(Bytes::from(tool("", "unreachable")))) };
    assert!(matches!(open(folder.path(), 1).load(Digest::of(&echo()), other).await, Err(Error::WrongDigest { .. })));
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts = open(folder.path(), 1);
    for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0", b"#!/bin/sh\n", &[0xff; 64]] {
        assert!(matches!(artifacts.admit(Bytes::copy_from_slice(bytes)).await, Err(Error::NotAComponent)), "{bytes:?}");
    }
}

#[tokio::test]
async fn a_component_that_was_altered_or_cut_is_refused_or_still_one() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts = open(folder.path(), 1);
    let sound = echo();
    let altered = (8..sound.len()).step_by(sound.len() / 24).map(|at| {
        let mut altered = sound.clone();
        altered[at] ^= 0x10;
        altered
    });
    let cut = (8..sound.len()).step_by(sound.len() / 12).map(|length| sound[..length].to_vec());
    for bytes in altered.chain(cut) {
        if let Err(error) = artifacts.admit(bytes.into()).await {
            assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
            assert!(error.is_final());
        }
    }
}

#[tokio::test]
async fn features_that_are_not_enabled_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts = open(folder.path(), 1);
    for module in [
        "(memory 1 1 shared)",
        "(memory i64 1)",
        "(memory 1) (memory 1)",
        "(tag (param i32))",
        "(type (struct (field i32)))",
        "(func (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))",
    ] {
        let component = wat::parse_str(format!("(component (core module {module}))")).unwrap();
        let refused = artifacts.admit(component.into()).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{module}: {refused:?}");
    }
}

#[tokio::test]
async fn a_compiling_process_that_hangs_or_breaks_is_given_up() {
    let patience = Duration::from_millis(200);
    for (program, argument) in [("/bin/sleep", "60"), ("/bin/cat", "/dev/zero"), ("/bin/sh", "-ckill -9 $$"), ("/bin/false", "")] {
        let folder = tempfile::tempdir().unwrap();
        let compiler = Compiler::new(program.into(), vec![argument.into()]).with_patience(patience);
        let artifacts = Artifacts::open(Engine::new(1).unwrap(), folder.path(), Key::new([1; 32]), compiler).unwrap();
        let refused = artifacts.admit(echo().into()).await;
        assert!(matches!(refused, Err(Error::NotCompiled { .. })), "{program}: {refused:?}");
    }
}

#[tokio::test]
async fn a_compiling_process_of_another_version_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = Compiler::new("/bin/echo".into(), vec!["code, and a name of an engine that is not the right one".into()]);
    let artifacts = Artifacts::open(Engine::new(1).unwrap(), folder.path(), Key::new([1; 32]), compiler).unwrap();
    assert!(matches!(artifacts.admit(echo().into()).await, Err(Error::OtherVersion)));
}

async fn fit(component: Vec<u8>, kind: AspectKind, grants: &Grants) -> Result<(), Unfit> {
    Host::new().guests.admit(component.into(), kind, grants).await.map(|_| ())
}

#[tokio::test]
async fn a_tool_is_a_tool_and_not_an_agent() {
    fit(echo(), AspectKind::Tool, &Grants::default()).await.unwrap();
    match fit(echo(), AspectKind::Agent, &Grants::default()).await {
        Err(Unfit::World(error)) => {
            assert_eq!(error, check::Error::WrongWorld { wanted: AspectKind::Agent, found: AspectKind::Tool });
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_component_of_no_world_is_named_by_its_exports() {
    let component =
        wat::parse_str(r#"(component (component $empty) (instance $empty (instantiate $empty)) (export "a:b/c@1.0.0" (instance $empty)))"#);
    match fit(component.unwrap(), AspectKind::Tool, &Grants::default()).await {
        Err(Unfit::World(error)) => assert_eq!(error, check::Error::NoWorld { exports: vec!["a:b/c@1.0.0".to_owned()] }),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_not_granted_is_named() {
    let imports = r#"
        (import "wasi:sockets/tcp@0.2.0" (instance))
        (import "wasi:http/types@0.2.0" (instance))
        (import "thetis:grip/log@0.1.0" (instance))
        (import "wasi:clocks/wall-clock@0.2.0" (instance))"#;
    let module = crate::fixture::module("(memory (export \"memory\") 1)", crate::fixture::REALLOC, "", "unreachable");
    let component = crate::fixture::assemble(imports, &format!("{module} (core instance $instance (instantiate $module))"));
    match fit(component, AspectKind::Tool, &Grants::default()).await {
        Err(Unfit::World(check::Error::NotGranted { imports })) => {
            assert_eq!(imports, ["wasi:sockets/tcp@0.2.0", "wasi:http/types@0.2.0", "thetis:grip/log@0.1.0"]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_interface_of_the_right_name_and_wrong_type_is_refused() {
    let component = wat::parse_str(
        r#"(component (component $empty) (instance $empty (instantiate $empty)) (export "thetis:grip/tool@0.1.0" (instance $empty)))"#,
    );
    let refused = fit(component.unwrap(), AspectKind::Tool, &Grants::default()).await;
    assert!(matches!(refused, Err(Unfit::Types(_))), "{refused:?}");
}
