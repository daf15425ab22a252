//! Amounts of US dollars as people write them, read exactly: no floating point between YAML and a bill.

use crate::problem::What;

const MILLION: u64 = 1_000_000;

/// Millionths of a dollar in a decimal such as `3` or `0.15`.
pub fn micro(text: &str) -> Result<u64, What> {
    let bad = || What::NotDollars(text.chars().take(40).collect());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return Err(bad());
    }
    let whole = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(MILLION)).ok_or_else(bad)?;
    let fraction = format!("{fraction:0<6}").parse::<u64>().map_err(|_| bad())?;
    whole.checked_add(fraction).ok_or_else(bad)
}

/// Picodollars (millionths of a millionth) in such a decimal.
pub fn pico(text: &str) -> Result<u64, What> {
    micro(text)?.checked_mul(MILLION).ok_or_else(|| What::NotDollars(text.chars().take(40).collect()))
}

#[cfg(test)]
mod tests;
