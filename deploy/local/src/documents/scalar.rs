//! What a plain word of YAML stands for. Words that kubectl and YAML 1.2 read differently are refused, so that a folder means
//! the same here and in a cluster.

use super::problem::What;
use super::tree::Value;

/// What a word without quotes stands for.
pub(super) fn plain(word: &str) -> Result<Value, What> {
    let ambiguous = |reads| Err(What::Ambiguous { reads });
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Ok(Value::Null),
        "true" | "True" | "TRUE" => Ok(Value::Boolean(true)),
        "false" | "False" | "FALSE" => Ok(Value::Boolean(false)),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => ambiguous("true"),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => ambiguous("false"),
        _ if is_number(word) => number(word),
        _ if is_number_elsewhere(word) => ambiguous("a number"),
        _ => Ok(Value::Text(word.to_owned())),
    }
}

fn number(word: &str) -> Result<Value, What> {
    if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b'+') {
        return word.parse().map(Value::Integer).map_err(|_| What::NotANumber);
    }
    word.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float).ok_or(What::NotANumber)
}

/// A decimal number, which every reader takes for the same: no sign but `-` and `+`, no zero before other digits.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, ""), |(whole, fraction)| (whole, fraction));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && (whole.len() < 2 || !whole.starts_with('0'))
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && all_digits(exponent)
        })
}

/// Octal, hexadecimal, binary, with underscores, infinite or not a number: some readers take these for numbers.
fn is_number_elsewhere(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let named = [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&digits);
    let based = ["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|prefix| {
        digits
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_'))
    });
    let padded = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_' || byte == b'.');
    named || based || (padded && digits.bytes().filter(|byte| *byte == b'.').count() <= 1)
}

#[cfg(test)]
mod tests;
