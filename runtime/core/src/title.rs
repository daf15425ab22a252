//! A conversation's title, from its first message. Pure; whether a title may still be replaced is the store's to know.

use crate::event::UserMessage;

#[cfg(test)]
mod tests;

/// The longest title, in characters, the sign for what was cut included.
pub const CHARACTERS: usize = 60;

/// The first line of `message` that says something, cut at the end of a word; else the name of its first attachment. One
/// line without control characters, so any column and any terminal takes it. None where there is neither.
#[must_use]
pub fn title(message: &UserMessage) -> Option<String> {
    let names = message.attachments.iter().map(|attachment| attachment.name.as_str());
    message.text.lines().chain(names).map(one_line).find(|line| !line.is_empty()).map(|line| cut(&line))
}

/// Words with one space between them.
fn one_line(text: &str) -> String {
    let printable = text.replace(|character: char| character.is_control(), " ");
    printable.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(line: &str) -> String {
    if line.chars().count() <= CHARACTERS {
        return line.to_owned();
    }
    let room: String = line.chars().take(CHARACTERS - 1).collect();
    let next_is_space = line.chars().nth(CHARACTERS - 1) == Some(' ');
    let kept = match room.rsplit_once(' ') {
        Some((words, _)) if !next_is_space => words,
        _ => room.trim_end(),
    };
    format!("{kept}…")
}
