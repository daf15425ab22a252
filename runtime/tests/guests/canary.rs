//! What one guest wrote, no other guest reads, though both had the same place.

use thetis_core::outcome::Outcome;
use thetis_runtime::guest::Places;
use thetis_runtime::limits::Bounds;

use crate::fixture::{Host, tool};

/// Asked to `write`, fills its memory and table with a pattern; asked to `read`, says whether any of that is there before
/// it wrote anything. `salt` makes components that do the same and are not the same.
fn canary(salt: u32) -> Vec<u8> {
    let items = format!(
        r#"
        (global $salt i32 (i32.const {salt}))
        (table $table 64 10000 funcref)
        (elem declare func $answer)
        (data (i32.const 300) "clean")
        (data (i32.const 310) "dirty")
        (data (i32.const 320) "wrote")
        (func $grow (drop (memory.grow (i32.const 62))) (drop (table.grow $table (ref.null func) (i32.const 9936))))
        (func $write
            (memory.fill (i32.const 8192) (i32.const 0xab) (i32.const 4186112))
            (table.fill $table (i32.const 0) (ref.func $answer) (i32.const 10000)))
        (func $dirty (result i32)
            (local $at i32)
            (local.set $at (i32.const 8192))
            (loop $next
                (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (return (i32.const 1))))
                (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 4194304))))
            (local.set $at (i32.const 0))
            (loop $next
                (if (i32.eqz (ref.is_null (table.get $table (local.get $at)))) (then (return (i32.const 1))))
                (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 10000))))
            (i32.const 0))"#
    );
    let body = r"
        (call $grow)
        (if (i32.eq (i32.load8_u (local.get $arguments)) (i32.const 119))
            (then (call $write) (return (call $answer (i32.const 320) (i32.const 5)))))
        (if (call $dirty) (then (return (call $answer (i32.const 310) (i32.const 5)))))
        (call $answer (i32.const 300) (i32.const 5))";
    tool(&items, body)
}

#[tokio::test]
async fn nothing_is_left_in_a_place() {
    // One place, so that every call has the last one's.
    let host = Host::with(Places { agents: 0, tools: 1, loaded: 4 });
    let guests = [host.know(canary(1)), host.know(canary(2))];
    let bounds = Bounds::default();
    for round in 0..200 {
        let (writer, reader) = (guests[round % 2], guests[round / 2 % 2]);
        assert_eq!(host.call(writer, "write", &bounds).await, Outcome::Answered("wrote".to_owned()));
        assert_eq!(host.call(reader, "read", &bounds).await, Outcome::Answered("clean".to_owned()), "round {round}");
    }
}
