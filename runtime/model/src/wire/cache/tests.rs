use proptest::prelude::*;

use super::*;

fn slots(pattern: &str) -> Vec<Slot> {
    // A digit is a message of so many blocks that carries a mark; `a` is an assistant message of one block, `b` of two, and so on.
    pattern
        .bytes()
        .map(|byte| match byte {
            b'0'..=b'9' => Slot { blocks: usize::from(byte - b'0'), carries: true },
            _ => Slot { blocks: usize::from(byte - b'a' + 1), carries: false },
        })
        .collect()
}

#[test]
fn a_short_history_has_one_mark_at_its_end() {
    assert_eq!(places(&slots("1")), [0]);
    assert_eq!(places(&slots("1a1a1")), [4]);
    assert_eq!(places(&slots("1a")), [0], "the end is the last message that carries one");
    assert_eq!(places(&slots("ab")), [0_usize; 0]);
    assert_eq!(places(&[]), [0_usize; 0]);
}

#[test]
fn anchors_stand_at_multiples_of_the_stride() {
    assert_eq!(places(&slots(&"1".repeat(15))), [14], "the end stands where the anchor would");
    assert_eq!(places(&slots(&"1".repeat(16))), [14, 15]);
    assert_eq!(places(&slots(&"1".repeat(31))), [14, 29, 30]);
    assert_eq!(places(&slots(&"1".repeat(200))), [179, 194, 199]);
}

#[test]
fn an_anchor_moves_back_to_a_message_that_carries_it() {
    // Block 15 is the third of an assistant message's four.
    assert_eq!(places(&slots(&format!("{}d{}", "1".repeat(12), "1".repeat(4)))), [11, 16]);
    // Both anchors fall into one message of 40 blocks: the message before it carries them.
    let mut wide = slots("111");
    wide.push(Slot { blocks: 40, carries: true });
    assert_eq!(places(&wide), [2, 3]);
}

fn slot() -> impl Strategy<Value = Slot> {
    (0_usize..5, any::<bool>()).prop_map(|(blocks, carries)| Slot { blocks, carries })
}

proptest! {
    #[test]
    fn there_are_never_more_marks_than_the_system_message_leaves(slots in proptest::collection::vec(slot(), 0..120)) {
        let places = places(&slots);
        prop_assert!(places.len() < MARKS);
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(places.iter().all(|place| slots[*place].carries));
    }

    #[test]
    fn what_one_request_wrote_the_next_one_finds(
        before in proptest::collection::vec(slot(), 1..80),
        step in proptest::collection::vec(slot(), 1..6),
    ) {
        // A message of four blocks at most, six of them at most: a step that the anchors have to bridge.
        let written = places(&before);
        prop_assume!(written.last().is_some_and(|last| *last + 1 == before.len()));
        let after: Vec<Slot> = before.iter().chain(&step).copied().collect();
        let end = |place: usize| after[..=place].iter().map(|slot| slot.blocks).sum::<usize>();
        prop_assume!(end(after.len() - 1) - end(before.len() - 1) <= 15);
        let found = places(&after).into_iter().any(|mark| written.iter().any(|known| *known <= mark && end(mark) - end(*known) <= 20));
        prop_assert!(found);
    }
}
