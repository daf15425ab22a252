//! Exact rational numbers of bounded size. Pure; an operation that leaves the bounds says so instead of rounding.

use std::fmt::{self, Write as _};

#[cfg(test)]
mod tests;

/// A fraction in lowest terms whose denominator is positive; both fit in 128 bits, sign included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    numerator: i128,
    denominator: i128,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The value, or one on the way to it, does not fit.
    TooLarge,
    /// The right side of `/` or `%` is zero, or zero has a negative exponent.
    DivisionByZero,
    /// The exponent is not a whole number.
    BrokenExponent,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the exact value, or one on the way to it, needs more than 38 digits",
            Self::DivisionByZero => "division by zero",
            Self::BrokenExponent => "the exponent of ^ has to be a whole number",
        })
    }
}

type Result = std::result::Result<Number, Error>;

impl Number {
    /// The number that `digits` spell, the last `decimals` of them behind the point.
    pub fn parse(digits: impl Iterator<Item = u8>, decimals: u32) -> Result {
        let mut numerator = 0_i128;
        for digit in digits {
            numerator = numerator.checked_mul(10).and_then(|n| n.checked_add(i128::from(digit))).ok_or(Error::TooLarge)?;
        }
        Self::of(Some(numerator), 10_i128.checked_pow(decimals))
    }

    /// The fraction in lowest terms; `None` is a value that did not fit.
    fn of(numerator: Option<i128>, denominator: Option<i128>) -> Result {
        let (numerator, denominator) = numerator.zip(denominator).ok_or(Error::TooLarge)?;
        if denominator == 0 {
            return Err(Error::DivisionByZero);
        }
        let divisor = i128::try_from(gcd(numerator.unsigned_abs(), denominator.unsigned_abs())).map_err(|_| Error::TooLarge)?;
        let divisor = if denominator < 0 { divisor.checked_neg() } else { Some(divisor) };
        let reduced = |n: i128| divisor.and_then(|divisor| n.checked_div(divisor)).ok_or(Error::TooLarge);
        Ok(Self { numerator: reduced(numerator)?, denominator: reduced(denominator)? })
    }

    pub fn negate(self) -> Result {
        Self::of(self.numerator.checked_neg(), Some(self.denominator))
    }

    pub fn plus(self, other: Self) -> Result {
        // Over the least common denominator, so that sums of decimals stay within bounds as long as they can.
        let shared = i128::try_from(gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())).ok();
        let [left, right] = [other, self].map(|n| shared.and_then(|shared| n.denominator.checked_div(shared)));
        let scaled = |n: Self, by: Option<i128>| by.and_then(|by| n.numerator.checked_mul(by));
        let sum = scaled(self, left).zip(scaled(other, right)).and_then(|(a, b)| a.checked_add(b));
        Self::of(sum, left.and_then(|left| self.denominator.checked_mul(left)))
    }

    pub fn minus(self, other: Self) -> Result {
        self.plus(other.negate()?)
    }

    pub fn times(self, other: Self) -> Result {
        // Reduced crosswise first, so that only what the result needs is multiplied.
        let left = Self::of(Some(self.numerator), Some(other.denominator))?;
        let right = Self::of(Some(other.numerator), Some(self.denominator))?;
        Self::of(left.numerator.checked_mul(right.numerator), left.denominator.checked_mul(right.denominator))
    }

    pub fn over(self, other: Self) -> Result {
        self.times(Self::of(Some(other.denominator), Some(other.numerator))?)
    }

    pub fn remainder(self, other: Self) -> Result {
        let quotient = self.over(other)?;
        let whole = quotient.numerator.checked_div(quotient.denominator);
        self.minus(other.times(Self::of(whole, Some(1))?)?)
    }

    pub fn power(self, exponent: Self) -> Result {
        if exponent.denominator != 1 {
            return Err(Error::BrokenExponent);
        }
        let one = Self { numerator: 1, denominator: 1 };
        let base = if exponent.numerator < 0 { one.over(self)? } else { self };
        let mut left = exponent.numerator.unsigned_abs();
        let (mut result, mut square) = (one, base);
        loop {
            if left & 1 == 1 {
                result = result.times(square)?;
            }
            left >>= 1;
            if left == 0 {
                return Ok(result);
            }
            square = square.times(square)?;
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a
}

/// Digits behind the point that are shown of a fraction that has no end.
const DECIMALS: usize = 30;

impl fmt::Display for Number {
    /// Decimal where that has an end within bounds; else cut, and the fraction beside it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, numerator) = (if self.numerator < 0 { "-" } else { "" }, self.numerator.unsigned_abs());
        let denominator = self.denominator.unsigned_abs();
        let whole = numerator.checked_div(denominator).unwrap_or(0);
        let mut rest = numerator.checked_rem(denominator).unwrap_or(0);
        let mut decimals = String::new();
        while rest != 0 && decimals.len() < DECIMALS {
            // Long division, one digit at a time; ten times the rest may not fit where the denominator is huge.
            let Some(next) = rest.checked_mul(10) else { break };
            write!(decimals, "{}", next.checked_div(denominator).unwrap_or(0))?;
            rest = next.checked_rem(denominator).unwrap_or(0);
        }
        match (decimals.as_str(), rest) {
            ("", 0) => write!(f, "{sign}{whole}"),
            ("", _) => write!(f, "{sign}{numerator}/{denominator}"),
            (_, 0) => write!(f, "{sign}{whole}.{decimals}"),
            (_, _) => write!(f, "{sign}{whole}.{decimals}… (cut; exactly {sign}{numerator}/{denominator})"),
        }
    }
}
