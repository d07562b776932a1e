//! Domain names between text and labels. A label may contain any octets (RFC 2181 section 11),
//! written `\DDD` when not visible characters (RFC 4343 section 2.1). Labels beyond ASCII become
//! A-labels (UTS #46). Not for: names in messages, where names may be compressed.

use super::characters::{Character, EscapeError, next_character, push_byte, push_number};
use hickory_proto::rr::Name;
use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use thiserror::Error;

const LABEL_MAX_BYTES: usize = 63;
/// The maximum length of a name, including the length bytes of its labels and of the root (RFC 1035
/// section 2.3.4).
const NAME_MAX_BYTES: usize = 255;
/// Characters with another meaning in zone files, escaped by BIND, and characters that are typing
/// errors when unescaped.
const SPECIAL: &[u8] = b"\"().;@$:,";

/// The error for a text without a domain name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// An empty text, for example from an unset shell variable.
    #[error("it is empty; the root is `.`")]
    Empty,
    /// Two dots in a row, or a dot in front.
    #[error("a label is empty")]
    EmptyLabel,
    /// A label longer than its length field allows.
    #[error("a label has {0} bytes, {LABEL_MAX_BYTES} is the most")]
    LongLabel(usize),
    /// A name longer than 255 bytes in a message.
    #[error("it has {0} bytes in a message, {NAME_MAX_BYTES} is the most")]
    LongName(usize),
    /// A backslash without a meaning.
    #[error(transparent)]
    Escape(#[from] EscapeError),
    /// A label beyond ASCII without an A-label.
    #[error("{0:?} has no form in ASCII (UTS #46)")]
    NoAsciiForm(String),
    /// Byte escapes and Unicode in one label: the encoding of the escaped bytes is ambiguous.
    #[error("a label beyond ASCII has a backslash")]
    EscapeBeyondAscii,
    /// An unescaped character, probably a typing error.
    #[error("{0:?} stands in it, which is a slip as a rule: write {escapes} where it is meant", escapes = escapes_of(*.0))]
    Slip(char),
}

/// Reads an absolute name, with or without its final dot. Keeps the case of ASCII letters.
pub fn read_name(text: &str) -> Result<Name, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    check_edges(text)?;
    let mut rest = text.chars().peekable();
    let mut labels: Vec<Vec<u8>> = Vec::new();
    let mut label = Label::default();
    let is_root = text.chars().count() == 1 && text.chars().all(is_separator);
    let mut is_open = !is_root;
    while let Some(character) = next_character(&mut rest)?.filter(|_| !is_root) {
        if let Character::Plain(plain) = character {
            if is_separator(plain) {
                labels.push(std::mem::take(&mut label).bytes()?);
                is_open = rest.peek().is_some();
                continue;
            } else if is_slip(plain) {
                return Err(NameError::Slip(plain));
            }
        }
        label.push(character);
    }
    if is_open {
        labels.push(label.bytes()?);
    }
    name_from_labels(&labels)
}

/// Returns true for every dot of UTS #46 section 2.3.
fn is_separator(character: char) -> bool {
    matches!(character, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}')
}

/// Returns true for characters of host:port pairs, URLs, lists and lines. Querying them as a name
/// is never intended.
fn is_slip(character: char) -> bool {
    matches!(character, ':' | ',') || character.is_control()
}

/// Returns a character as escapes, in words: an escape is an octet of UTF-8, not a character.
fn escapes_of(character: char) -> String {
    let mut escapes = String::new();
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        push_number(&mut escapes, byte);
    }
    if character.is_ascii() {
        format!("`{escapes}`")
    } else {
        format!("`{escapes}`, the octets of its UTF-8,")
    }
}

/// Errors on a blank in front or at the end, left there by a shell or a file.
fn check_edges(text: &str) -> Result<(), NameError> {
    let edges = [text.chars().next(), text.chars().next_back()];
    let is_escaped = text.ends_with("\\ ");
    let blank = edges
        .into_iter()
        .flatten()
        .find(|edge| edge.is_whitespace());
    match blank.filter(|_| !is_escaped) {
        Some(blank) => Err(NameError::Slip(blank)),
        None => Ok(()),
    }
}

/// A label during reading.
#[derive(Default)]
struct Label {
    bytes: Vec<u8>,
    /// The label as text, used when the label is beyond ASCII.
    text: String,
    is_escaped: bool,
}

impl Label {
    fn push(&mut self, character: Character) {
        match character {
            Character::Plain(plain) => self.push_char(plain),
            Character::Quoted(quoted) => {
                self.is_escaped = true;
                self.push_char(quoted);
            }
            Character::Byte(byte) => {
                self.is_escaped = true;
                self.bytes.push(byte);
            }
        }
    }

    fn push_char(&mut self, character: char) {
        let mut buffer = [0; 4];
        let encoded = character.encode_utf8(&mut buffer);
        self.bytes.extend_from_slice(encoded.as_bytes());
        self.text.push(character);
    }

    fn bytes(self) -> Result<Vec<u8>, NameError> {
        let bytes = match (self.text.is_ascii(), self.is_escaped) {
            (true, _) => self.bytes,
            (false, true) => return Err(NameError::EscapeBeyondAscii),
            (false, false) => a_label(&self.text)?,
        };
        match bytes.len() {
            0 => Err(NameError::EmptyLabel),
            1..=LABEL_MAX_BYTES => Ok(bytes),
            length => Err(NameError::LongLabel(length)),
        }
    }
}

/// Converts a label to its A-label. Denies no ASCII character, because names may have letters
/// forbidden in host names, for example `_` (RFC 2181 section 11).
fn a_label(text: &str) -> Result<Vec<u8>, NameError> {
    Uts46::new()
        .to_ascii(
            text.as_bytes(),
            AsciiDenyList::EMPTY,
            Hyphens::Allow,
            DnsLength::Ignore,
        )
        .ok()
        .filter(|ascii| !ascii.contains('.'))
        .map(|ascii| ascii.as_bytes().to_vec())
        .ok_or_else(|| NameError::NoAsciiForm(text.to_owned()))
}

fn name_from_labels(labels: &[Vec<u8>]) -> Result<Name, NameError> {
    let length = labels.iter().map(|label| 1 + label.len()).sum::<usize>() + 1;
    if length > NAME_MAX_BYTES {
        return Err(NameError::LongName(length));
    }
    let labels = labels.iter().map(Vec::as_slice);
    // Its only reasons are lengths, which are as they must be.
    let mut name = Name::from_labels(labels).map_err(|_| NameError::LongName(length))?;
    name.set_fqdn(true);
    Ok(name)
}

/// Returns a name as text, with its final dot.
pub fn name_text(name: &Name) -> String {
    labels_text(name.iter())
}

/// Returns the name of these labels as text, with its final dot.
pub(super) fn labels_text<'a>(labels: impl Iterator<Item = &'a [u8]>) -> String {
    let mut text = String::new();
    for label in labels {
        for byte in label {
            push_byte(&mut text, *byte, SPECIAL);
        }
        text.push('.');
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests;
