//! From text to its value, by precedence climbing. Pure; any text at all ends in a value or an error.

use std::fmt;

use crate::number::{self, Number};

#[cfg(test)]
mod tests;

/// Parentheses and signs within one another.
const DEPTH: u32 = 100;

/// Why there is no value. Positions count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Something else has to stand here.
    Unexpected { found: Option<char>, at: usize, wanted: &'static str },
    /// A number that does not fit.
    LongNumber { at: usize },
    /// More than [`DEPTH`] within one another.
    TooDeep,
    /// The operation there has no value.
    NoValue { operation: char, at: usize, why: number::Error },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found: Some(found), at, wanted } => write!(f, "{wanted} has to stand at character {at}, not {found:?}"),
            Self::Unexpected { found: None, wanted, .. } => write!(f, "the expression ends where {wanted} has to stand"),
            Self::LongNumber { at } => write!(f, "the number at character {at} has more than 38 digits"),
            Self::TooDeep => write!(f, "more than {DEPTH} parentheses or signs within one another"),
            Self::NoValue { operation, at, why } => write!(f, "{why} (the {operation} at character {at})"),
        }
    }
}

/// The value of `text`.
pub fn evaluate(text: &str) -> Result<Number, Error> {
    let mut parser = Parser { rest: text.chars(), at: 1 };
    let value = parser.expression(0, 0)?;
    match parser.peek() {
        None => Ok(value),
        found => Err(Error::Unexpected { found, at: parser.at, wanted: "an operator" }),
    }
}

struct Parser<'a> {
    rest: std::str::Chars<'a>,
    at: usize,
}

/// How strongly an operator holds what stands left of it and right of it.
const fn binding(operator: char) -> Option<(u8, u8)> {
    match operator {
        '+' | '-' => Some((1, 2)),
        '*' | '/' | '%' => Some((3, 4)),
        '^' => Some((8, 7)),
        _ => None,
    }
}

/// A sign holds weaker than a power and stronger than a product: `-3 ^ 2` is -9.
const SIGN: u8 = 5;

impl Parser<'_> {
    /// The next character that is not white space, left in place.
    fn peek(&mut self) -> Option<char> {
        loop {
            let next = self.rest.clone().next()?;
            if !next.is_whitespace() {
                return Some(next);
            }
            self.take();
        }
    }

    fn take(&mut self) {
        self.rest.next();
        self.at = self.at.saturating_add(1);
    }

    /// A value and the operators after it that hold at least as strongly as `floor`.
    fn expression(&mut self, floor: u8, depth: u32) -> Result<Number, Error> {
        if depth > DEPTH {
            return Err(Error::TooDeep);
        }
        let mut left = self.value(depth)?;
        while let Some(operation) = self.peek() {
            let Some((_, right_binding)) = binding(operation).filter(|(left, _)| *left >= floor) else {
                break;
            };
            let at = self.at;
            self.take();
            let right = self.expression(right_binding, depth.saturating_add(1))?;
            left = match operation {
                '+' => left.plus(right),
                '-' => left.minus(right),
                '*' => left.times(right),
                '/' => left.over(right),
                '%' => left.remainder(right),
                _ => left.power(right),
            }
            .map_err(|why| Error::NoValue { operation, at, why })?;
        }
        Ok(left)
    }

    /// A number, a sign and what it stands before, or parentheses.
    fn value(&mut self, depth: u32) -> Result<Number, Error> {
        let found = self.peek();
        let at = self.at;
        let unexpected = |found, at, wanted| Err(Error::Unexpected { found, at, wanted });
        match found {
            Some('0'..='9' | '.') => self.number(),
            Some(sign @ ('-' | '+')) => {
                self.take();
                let value = self.expression(SIGN, depth.saturating_add(1))?;
                if sign == '+' { Ok(value) } else { value.negate().map_err(|why| Error::NoValue { operation: sign, at, why }) }
            }
            Some('(') => {
                self.take();
                let value = self.expression(0, depth.saturating_add(1))?;
                match self.peek() {
                    Some(')') => self.take(),
                    found => return unexpected(found, self.at, "an operator or a closing parenthesis"),
                }
                Ok(value)
            }
            found => unexpected(found, at, "a number, a sign or an opening parenthesis"),
        }
    }

    fn number(&mut self) -> Result<Number, Error> {
        let at = self.at;
        let mut digits = Vec::new();
        let mut decimals = None::<u32>;
        while let Some(next) = self.rest.clone().next() {
            match (next.to_digit(10).and_then(|digit| u8::try_from(digit).ok()), &mut decimals) {
                (Some(digit), decimals) => {
                    digits.push(digit);
                    if let Some(decimals) = decimals {
                        *decimals = decimals.saturating_add(1);
                    }
                }
                (None, None) if next == '.' => decimals = Some(0),
                (None, _) => break,
            }
            self.take();
        }
        if digits.is_empty() {
            return Err(Error::Unexpected { found: Some('.'), at, wanted: "a number" });
        }
        Number::parse(digits.into_iter(), decimals.unwrap_or(0)).map_err(|_| Error::LongNumber { at })
    }
}
