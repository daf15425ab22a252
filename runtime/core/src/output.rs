//! What the model is shown of a long output: its beginning and its end. Pure; keeping the whole is the caller's.

#[cfg(test)]
mod tests;

/// The first and the last of `text` with a line between them that says how much is missing, together at most `limit` bytes.
/// None where the text fits as it is.
///
/// Cuts fall between characters. Under a limit that has no room for that line, only the beginning is left.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    // The number of bytes left out is smaller than the whole, so its line is no longer.
    let room = limit.saturating_sub(marker(text.len()).len());
    if room == 0 {
        return Some(text.get(..text.floor_char_boundary(limit)).unwrap_or_default().to_owned());
    }
    let head = text.get(..text.floor_char_boundary(room.div_ceil(2))).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - room / 2)..).unwrap_or_default();
    let left_out = text.len() - head.len() - tail.len();
    Some(format!("{head}{}{tail}", marker(left_out)))
}

fn marker(bytes: usize) -> String {
    format!("\n[… {bytes} bytes left out …]\n")
}
