//! Bytes as characters and back: `\DDD` is the byte of this decimal number, `\X` is the character X
//! (RFC 1035 section 5.1). Not for: choosing the special characters of a context.

use std::iter::Peekable;
use std::str::Chars;
use thiserror::Error;

/// The error for a `\` without a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EscapeError {
    /// A backslash at the end of the text.
    #[error("a backslash ends it: `\\\\` is one")]
    Unfinished,
    /// Digits not naming a byte.
    #[error("a backslash before a digit needs three of them, of a number up to 255")]
    Number,
}

/// The next character of a text with escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Character {
    /// A character without a backslash.
    Plain(char),
    /// A character behind a backslash.
    Quoted(char),
    /// A byte written as its number.
    Byte(u8),
}

/// Takes the next character off a text and resolves its escape; `None` at the end.
pub fn next_character(rest: &mut Peekable<Chars<'_>>) -> Result<Option<Character>, EscapeError> {
    let Some(character) = rest.next() else {
        return Ok(None);
    };
    if character != '\\' {
        return Ok(Some(Character::Plain(character)));
    }
    match rest.peek() {
        None => Err(EscapeError::Unfinished),
        Some(digit) if digit.is_ascii_digit() => byte_of_digits(rest).map(Some),
        Some(_) => Ok(rest.next().map(Character::Quoted)),
    }
}

fn byte_of_digits(rest: &mut Peekable<Chars<'_>>) -> Result<Character, EscapeError> {
    let mut number = 0;
    for _ in 0..3 {
        let digit = rest.next().and_then(|digit| digit.to_digit(10));
        number = number * 10 + digit.ok_or(EscapeError::Number)?;
    }
    u8::try_from(number)
        .map(Character::Byte)
        .map_err(|_| EscapeError::Number)
}

/// Appends a byte to a text: plain, behind a backslash when `special` contains the byte, or as a
/// number when the byte is no visible character.
pub fn push_byte(text: &mut String, byte: u8, special: &[u8]) {
    match byte {
        b'\\' => text.push_str("\\\\"),
        _ if special.contains(&byte) => text.extend(['\\', char::from(byte)]),
        0x21..=0x7e => text.push(char::from(byte)),
        _ => push_number(text, byte),
    }
}

/// Appends a byte to a text as a number: `\DDD`.
pub fn push_number(text: &mut String, byte: u8) {
    let digit = |value: u8| char::from(b'0' + value % 10);
    text.extend(['\\', digit(byte / 100), digit(byte / 10), digit(byte)]);
}

/// Writes a character string in quotes (RFC 1035 section 3.3). Blanks stay unescaped.
pub fn quote(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for byte in bytes {
        match byte {
            b' ' => text.push(' '),
            _ => push_byte(&mut text, *byte, b"\""),
        }
    }
    text.push('"');
    text
}

/// Writes bytes as one word, with quotes only when needed.
pub fn word(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"();\\".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return bytes.iter().copied().map(char::from).collect();
    }
    quote(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Character>, EscapeError> {
        let mut rest = text.chars().peekable();
        let mut found = Vec::new();
        while let Some(character) = next_character(&mut rest)? {
            found.push(character);
        }
        Ok(found)
    }

    #[test]
    fn digits_behind_a_backslash_are_decimal() {
        use Character::{Byte, Plain, Quoted};
        assert_eq!(
            read("a\\065\\.\\\\\\\"").unwrap(),
            [Plain('a'), Byte(65), Quoted('.'), Quoted('\\'), Quoted('"')]
        );
        assert_eq!(read("\\2559").unwrap(), [Byte(255), Plain('9')]);
        for text in ["\\256", "\\12", "\\1x2", "\\9"] {
            assert_eq!(read(text), Err(EscapeError::Number), "{text}");
        }
        assert_eq!(read("a\\"), Err(EscapeError::Unfinished));
    }

    #[test]
    fn bytes_are_written_so_that_they_are_read_back() {
        // What dig writes of the same bytes.
        assert_eq!(quote(b"plain"), "\"plain\"");
        assert_eq!(quote(b"\x1b]0;x\x07"), "\"\\027]0;x\\007\"");
        assert_eq!(quote(b"quote \" and \\"), "\"quote \\\" and \\\\\"");
        assert_eq!(quote("mü".as_bytes()), "\"m\\195\\188\"");
        assert_eq!(word(b"/dns-query{?dns}"), "/dns-query{?dns}");
        assert_eq!(word(b""), "\"\"");
        assert_eq!(word(b"a b"), "\"a b\"");
    }
}
