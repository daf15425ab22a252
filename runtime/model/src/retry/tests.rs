use super::*;

const LONG: Duration = Duration::from_hours(1);

fn limited(after: Option<u64>) -> Error {
    Error::RateLimited { after: after.map(Duration::from_secs), message: String::new() }
}

fn refused() -> Error {
    Error::Refused { status: 400, message: String::new() }
}

#[test]
fn waits_double_and_stop_growing() {
    let policy = Policy { attempts: 20, ..Policy::default() };
    let waits: Vec<u128> = (1..9).map(|made| policy.wait(made, &Error::Cut(None), LONG, 1.0).unwrap().as_millis()).collect();
    assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
    assert_eq!(policy.wait(19, &Error::Cut(None), LONG, 0.0).unwrap().as_millis(), 10000, "chance spreads the upper half");
}

#[test]
fn attempts_are_counted() {
    let policy = Policy { attempts: 2, ..Policy::default() };
    assert!(policy.wait(1, &Error::Cut(None), LONG, 0.5).is_some());
    assert_eq!(policy.wait(2, &Error::Cut(None), LONG, 0.5), None);
    assert_eq!(Policy { attempts: 0, ..policy }.wait(1, &Error::Cut(None), LONG, 0.5), None);
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let policy = Policy::default();
    assert_eq!(policy.wait(1, &refused(), LONG, 0.5), None);
    assert_eq!(policy.wait(1, &Error::Deadline, LONG, 0.5), None);
    assert!(policy.wait(1, &Error::Stalled(LONG), LONG, 0.5).is_some());
    assert!(policy.wait(1, &Error::Malformed { what: String::new() }, LONG, 0.5).is_some());
}

#[test]
fn the_provider_says_how_long() {
    let policy = Policy::default();
    assert_eq!(policy.wait(1, &limited(Some(7)), LONG, 0.5), Some(Duration::from_secs(7)));
    assert_eq!(policy.wait(1, &limited(Some(0)), LONG, 1.0), Some(policy.first_wait), "never less than our own wait");
    assert_eq!(policy.wait(1, &limited(Some(61)), LONG, 0.5), None, "too long to keep somebody waiting");
}

#[test]
fn no_wait_ends_after_the_deadline() {
    let policy = Policy::default();
    assert_eq!(policy.wait(1, &limited(Some(7)), Duration::from_secs(7), 0.5), None);
    assert_eq!(policy.wait(1, &Error::Cut(None), Duration::ZERO, 0.0), None);
}

#[test]
fn nonsense_for_chance_is_harmless() {
    let policy = Policy { attempts: u32::MAX, ..Policy::default() };
    for chance in [-1.0, 2.0, f64::INFINITY] {
        assert!(policy.wait(u32::MAX - 1, &Error::Cut(None), LONG, chance).unwrap() <= policy.longest_wait);
    }
}
