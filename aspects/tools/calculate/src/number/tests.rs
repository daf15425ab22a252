//! Exactness, and the edges of the range.

use proptest::prelude::*;

use super::*;

fn fraction(numerator: i128, denominator: i128) -> Number {
    Number::of(Some(numerator), Some(denominator)).unwrap()
}

#[test]
fn shown_as_decimals_where_they_end() {
    for (number, text) in [
        (fraction(0, -5), "0"),
        (fraction(-6, 4), "-1.5"),
        (fraction(1, 8), "0.125"),
        (fraction(1, 3), "0.333333333333333333333333333333… (cut; exactly 1/3)"),
        (fraction(i128::MAX, 1), "170141183460469231731687303715884105727"),
        (fraction(i128::MAX - 1, i128::MAX), &format!("{}/{}", i128::MAX - 1, i128::MAX)),
    ] {
        assert_eq!(number.to_string(), text);
    }
}

#[test]
fn the_edges_of_the_range_are_errors() {
    let (min, max, one, zero) = (fraction(i128::MIN, 1), fraction(i128::MAX, 1), fraction(1, 1), fraction(0, 1));
    assert_eq!(min.negate(), Err(Error::TooLarge));
    assert_eq!(max.plus(one), Err(Error::TooLarge));
    assert_eq!(min.minus(one), Err(Error::TooLarge));
    assert_eq!(max.times(max), Err(Error::TooLarge));
    assert_eq!(one.over(zero), Err(Error::DivisionByZero));
    assert_eq!(one.remainder(zero), Err(Error::DivisionByZero));
    assert_eq!(zero.power(fraction(-1, 1)), Err(Error::DivisionByZero));
    assert_eq!(fraction(2, 1).power(fraction(1, 2)), Err(Error::BrokenExponent));
    assert_eq!(fraction(2, 1).power(max), Err(Error::TooLarge));
    assert_eq!(one.power(max), Ok(one));
}

fn numbers() -> impl Strategy<Value = Number> {
    (-100_000_i128..100_000, 1_i128..100_000).prop_map(|(numerator, denominator)| fraction(numerator, denominator))
}

proptest! {
    #[test]
    fn arithmetic_holds_together(a in numbers(), b in numbers(), c in numbers()) {
        prop_assert_eq!(a.plus(b), b.plus(a));
        prop_assert_eq!(a.plus(b)?.minus(b)?, a);
        prop_assert_eq!(a.times(b.plus(c)?)?, a.times(b)?.plus(a.times(c)?)?);
        if b.numerator != 0 {
            prop_assert_eq!(a.over(b)?.times(b)?, a);
            let remainder = a.remainder(b)?;
            prop_assert_eq!(a.minus(remainder)?.over(b)?.denominator, 1);
            prop_assert!(remainder.numerator == 0 || (remainder.numerator < 0) == (a.numerator < 0));
        }
    }

    /// Anything that fits goes through every operation without a panic.
    #[test]
    fn nothing_panics(a in any::<(i128, i128)>(), b in any::<(i128, i128)>()) {
        let make = |(numerator, denominator)| Number::of(Some(numerator), Some(denominator));
        if let (Ok(a), Ok(b)) = (make(a), make(b)) {
            for result in [a.plus(b), a.minus(b), a.times(b), a.over(b), a.remainder(b), a.power(b), a.negate()] {
                let _ = result.map(|number| number.to_string());
            }
        }
    }
}

impl std::error::Error for Error {}
