use super::*;

fn blocks(texts: &[&str]) -> Vec<Block> {
    // A star marks the block before it.
    texts.iter().map(|text| Block { text: text.trim_end_matches('*').to_owned(), marked: text.ends_with('*') }).collect()
}

/// Forty bytes are ten tokens.
fn ten(name: char) -> String {
    name.to_string().repeat(40)
}

fn read_and_written(cache: &mut Cache, blocks: &[Block]) -> (u64, u64) {
    let Cached { read, written, .. } = cache.request(blocks);
    (read, written)
}

#[test]
fn without_marks_every_prefix_is_cached_for_nothing() {
    let mut cache = Cache::default();
    let (a, b, c) = (ten('a'), ten('b'), ten('c'));
    assert_eq!(cache.request(&blocks(&[&a, &b])), Cached { prompt: 20, read: 0, written: 0 });
    assert_eq!(cache.request(&blocks(&[&a, &b])), Cached { prompt: 20, read: 20, written: 0 });
    assert_eq!(cache.request(&blocks(&[&a, &b, &c])), Cached { prompt: 30, read: 20, written: 0 });
    assert_eq!(cache.request(&blocks(&[&a, &c])), Cached { prompt: 20, read: 10, written: 0 });
    assert_eq!(cache.request(&blocks(&[&b, &a])), Cached { prompt: 20, read: 0, written: 0 }, "a prefix, not a set");
}

#[test]
fn with_marks_only_marked_prefixes_are_written_and_billed() {
    let mut cache = Cache::default();
    let (a, b, c) = (ten('a'), ten('b'), ten('c'));
    let marked = |text: &str| format!("{text}*");
    assert_eq!(read_and_written(&mut cache, &blocks(&[&a, &marked(&b), &c])), (0, 20));
    assert_eq!(read_and_written(&mut cache, &blocks(&[&a, &marked(&c)])), (0, 20), "the unmarked prefix was not written");
    assert_eq!(read_and_written(&mut cache, &blocks(&[&a, &b, &marked(&c)])), (20, 10), "a moved mark finds what was written before it");
    assert_eq!(read_and_written(&mut cache, &blocks(&[&a, &b, &marked(&c)])), (30, 0));
}

#[test]
fn a_mark_looks_back_twenty_blocks() {
    let long = |marks: &[usize], length: usize| -> Vec<Block> {
        (0..length).map(|index| Block { text: ten('a'), marked: marks.contains(&index) }).collect()
    };
    let mut cache = Cache::default();
    cache.request(&long(&[9], 10));
    assert_eq!(read_and_written(&mut cache, &long(&[30], 31)), (0, 310), "21 blocks are too far");
    let mut cache = Cache::default();
    cache.request(&long(&[9], 10));
    assert_eq!(read_and_written(&mut cache, &long(&[20, 30], 31)), (100, 210), "an anchor in between finds it");
}

#[test]
fn every_kind_of_token_has_its_price() {
    let bill = Bill { prompt: 100, cached: 20, written: 30, completion: 10, reasoning: 0, cost: 0.0 };
    let picodollars = bill.price() * 1e12;
    assert!((picodollars - (50.0 * 3e6 + 20.0 * 0.3e6 + 30.0 * 3.75e6 + 10.0 * 15e6)).abs() < 1.0, "{picodollars}");
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("abcde"), 2);
}
