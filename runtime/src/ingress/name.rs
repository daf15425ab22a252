//! Names as Kubernetes has them: what a path or a body may name before a row is looked for. Pure.

use axum::http::StatusCode;

use super::problem::Problem;

/// Whether `text` is a DNS subdomain (RFC 1123): 1 to 253 of `a-z 0-9 - .`, every part beginning and ending with a letter
/// or a digit.
pub(super) fn is_name(text: &str) -> bool {
    let end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 253
        && text.split('.').all(|part| {
            let bytes = part.as_bytes();
            bytes.len() <= 63
                && end(bytes.first())
                && end(bytes.last())
                && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        })
}

/// `name`, where it is one.
pub(super) fn checked(what: &str, name: &str) -> Result<(), Problem> {
    if is_name(name) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "invalid",
        format!("{what}: not a name (lower-case letters, digits, - and ., at most 253): {:?}", name.chars().take(80).collect::<String>()),
    ))
}
