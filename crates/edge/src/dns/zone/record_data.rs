//! Converts record data between text (RFC 1035 section 5.1, RFC 3597) and wire form.
//!
//! For: a single table of the parts of each type, for reading text and for checking bytes.
//! Not for: owners, classes and TTLs.

use super::entries::{Word, name, parse_unsigned, unescape, words};
use super::service;
use crate::dns::wire::{TYPE_HTTPS, TYPE_TXT, type_number, type_text};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A part of a record's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ZoneField {
    V4,
    V6,
    Name,
    U8,
    U16,
    U32,
    /// A number of seconds, in text also with units.
    Time,
    /// A string with its length in front.
    Text,
    /// At least one string with its length in front.
    Texts,
    /// All bytes up to the end.
    Rest,
    /// The parameters of SVCB and HTTPS.
    Service,
}

/// Returns the parts of a type with a text form here. All other types are written in the form of
/// RFC 3597.
fn parts_of(record_type: u16) -> Option<&'static [ZoneField]> {
    use ZoneField::{Name, Rest, Service, Text, Texts, Time, U8, U16, U32, V4, V6};
    Some(match record_type {
        1 => &[V4],
        28 => &[V6],
        2 | 5 | 12 => &[Name],
        6 => &[Name, Name, U32, Time, Time, Time, Time],
        13 => &[Text, Text],
        15 => &[U16, Name],
        16 => &[Texts],
        33 => &[U16, U16, U16, Name],
        64 | 65 => &[U16, Name, Service],
        257 => &[U8, Text, Rest],
        _ => return None,
    })
}

/// Returns true when records of a type can be in a zone (RFC 6895 section 3.1).
pub fn is_data(record_type: u16) -> bool {
    !matches!(record_type, 0 | 41 | 128..=255)
}

/// Returns the record data in wire form.
pub fn contents(
    record_type: u16,
    words: &[Word],
    origin: Option<&[u8]>,
) -> Result<Vec<u8>, String> {
    if let [first, rest @ ..] = words
        && first.text == "\\#"
        && !first.is_quoted
    {
        return unknown(record_type, rest);
    }
    let Some(parts) = parts_of(record_type) else {
        let type_name = type_text(record_type);
        return Err(format!(
            "{type_name} is written `\\# LENGTH HEX` (RFC 3597)"
        ));
    };
    let mut content = Vec::new();
    let mut words = words.iter();
    for part in parts {
        match part {
            ZoneField::Texts => texts(&mut content, &mut words)?,
            ZoneField::Service => service::push_parameters(&mut content, &mut words)?,
            ZoneField::V4
            | ZoneField::V6
            | ZoneField::Name
            | ZoneField::U8
            | ZoneField::U16
            | ZoneField::U32
            | ZoneField::Time
            | ZoneField::Text
            | ZoneField::Rest => {
                let word = words.next().ok_or("there are too few values")?;
                push(&mut content, *part, word, origin)?;
            }
        }
    }
    if let Some(word) = words.next() {
        return Err(format!("`{}` is one value too many", word.text));
    }
    match content.len() {
        0..=65_535 => Ok(content),
        _ => Err("the contents are longer than 65535 bytes".to_owned()),
    }
}

fn push(
    content: &mut Vec<u8>,
    part: ZoneField,
    word: &Word,
    origin: Option<&[u8]>,
) -> Result<(), String> {
    let text = word.text.as_str();
    match part {
        ZoneField::V4 => content.extend(parsed::<Ipv4Addr>(text, "IPv4 address")?.octets()),
        ZoneField::V6 => content.extend(parsed::<Ipv6Addr>(text, "IPv6 address")?.octets()),
        ZoneField::Name => content.extend(name(text, origin)?),
        ZoneField::U8 => content.push(number(text, "number up to 255")?),
        ZoneField::U16 => content.extend(number::<u16>(text, "number up to 65535")?.to_be_bytes()),
        ZoneField::U32 => content.extend(number::<u32>(text, "number")?.to_be_bytes()),
        // 32 bits each (RFC 1035 section 3.3.13); only a TTL ends at 31.
        ZoneField::Time => content.extend(seconds(text, u32::MAX)?.to_be_bytes()),
        ZoneField::Rest => content.extend(unescape(text)?),
        ZoneField::Text | ZoneField::Texts | ZoneField::Service => push_text(content, text)?,
    }
    Ok(())
}

fn parsed<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no {what}"))
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    parse_unsigned(text).ok_or_else(|| format!("`{text}` is no {what}"))
}

fn push_text(content: &mut Vec<u8>, text: &str) -> Result<(), String> {
    let bytes = unescape(text)?;
    let length = u8::try_from(bytes.len())
        .map_err(|_| format!("a string of {} bytes; 255 is the most", bytes.len()))?;
    content.push(length);
    content.extend(bytes);
    Ok(())
}

fn texts<'a>(
    content: &mut Vec<u8>,
    words: &mut impl Iterator<Item = &'a Word>,
) -> Result<(), String> {
    for word in words {
        push_text(content, &word.text)?;
    }
    if content.is_empty() {
        return Err("there is no string".to_owned());
    }
    Ok(())
}

/// Reads the form `\# LENGTH HEX...` (RFC 3597 section 5).
fn unknown(record_type: u16, words: &[Word]) -> Result<Vec<u8>, String> {
    let [length, digits @ ..] = words else {
        return Err("there is no length behind `\\#`".to_owned());
    };
    let length: usize = number(&length.text, "length")?;
    let digits: String = digits.iter().map(|word| word.text.as_str()).collect();
    let wrong = || format!("`{digits}` is no even number of hexadecimal digits");
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    if !digits.bytes().all(is_digit) || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| wrong());
    let content: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(byte)
        .collect::<Result<_, _>>()?;
    if content.len() != length || length > 65_535 {
        return Err(format!(
            "{} bytes, and the length says {length}",
            content.len()
        ));
    }
    if !is_well_formed(record_type, &content) {
        return Err(format!("the bytes are no {}", type_text(record_type)));
    }
    Ok(content)
}

/// Returns true when bytes match the parts of their type; true for unknown types.
pub fn is_well_formed(record_type: u16, content: &[u8]) -> bool {
    let Some(parts) = parts_of(record_type) else {
        return true;
    };
    let left = parts
        .iter()
        .try_fold(content, |rest, part| skip(*part, rest));
    left.is_some_and(<[u8]>::is_empty)
}

fn skip(part: ZoneField, rest: &[u8]) -> Option<&[u8]> {
    let text = |rest: &'_ [u8]| Some(1 + usize::from(*rest.first()?));
    let length = match part {
        ZoneField::U8 => 1,
        ZoneField::U16 => 2,
        ZoneField::V4 | ZoneField::U32 | ZoneField::Time => 4,
        ZoneField::V6 => 16,
        ZoneField::Name => name_bytes(rest)?,
        ZoneField::Text => text(rest)?,
        ZoneField::Rest => rest.len(),
        ZoneField::Service => return service::are_well_formed(rest).then_some(&[]),
        ZoneField::Texts => {
            let mut rest = rest.get(text(rest)?..)?;
            while !rest.is_empty() {
                rest = rest.get(text(rest)?..)?;
            }
            return Some(rest);
        }
    };
    rest.get(length..)
}

/// Returns the length of a name without compression.
fn name_bytes(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *rest.get(at)? {
            0 => return (at < 255).then_some(at + 1),
            length @ 1..=63 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
}

/// The maximum TTL, in s (RFC 2181 section 8).
const TIME_MAX_S: u32 = 0x7FFF_FFFF;

/// Reads a TTL in seconds, also in a form like `1h30m`.
pub fn time_s(text: &str) -> Result<u32, String> {
    seconds(text, TIME_MAX_S)
}

/// Reads a number of seconds up to `most_s`, also in a form like `1h30m`.
fn seconds(text: &str, most_s: u32) -> Result<u32, String> {
    let wrong = || format!("`{text}` is no time");
    let (mut total, mut number) = (0_u64, None::<u64>);
    for character in text.chars() {
        let unit_s = match character.to_ascii_lowercase() {
            '0'..='9' => {
                let digit = u64::from(character as u32 - u32::from(b'0'));
                let grown = number.unwrap_or(0).saturating_mul(10).saturating_add(digit);
                number = Some(grown);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(wrong()),
        };
        let count = number.take().ok_or_else(wrong)?;
        total = total.saturating_add(count.saturating_mul(unit_s));
    }
    if text.is_empty() {
        return Err(wrong());
    }
    let total = total.saturating_add(number.unwrap_or(0));
    u32::try_from(total)
        .ok()
        .filter(|&seconds| seconds <= most_s)
        .ok_or_else(|| format!("`{text}` is longer than {most_s} s"))
}

/// Reads the data of a record of the configuration, as in a zone file with absolute names. Two
/// shorter forms exist: a TXT without quotes is a single text of any length, and an HTTPS without a
/// priority is a list of ALPN identifiers. Errors with the fault of the text.
pub fn parse_content(record_type: &str, value: &str) -> Result<(u16, Vec<u8>), String> {
    let number = type_number(record_type)
        .filter(|&number| is_data(number))
        .ok_or_else(|| format!("`{record_type}` is no type of records"))?;
    let begins_with = |starts: &[char]| value.trim_start().starts_with(starts);
    let content = match number {
        TYPE_TXT if !begins_with(&['"', '\\']) => text_content(value),
        TYPE_HTTPS if !begins_with(&['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '\\']) => {
            let words = words(&format!("1 . alpn={value}"))?;
            contents(number, &words, None)?
        }
        _ => contents(number, &words(value)?, Some(&[0]))?,
    };
    Ok((number, content))
}

fn text_content(value: &str) -> Vec<u8> {
    let mut content = Vec::new();
    for chunk in value.as_bytes().chunks(255) {
        content.push(chunk.len() as u8);
        content.extend_from_slice(chunk);
    }
    if content.is_empty() {
        content.push(0);
    }
    content
}

#[cfg(test)]
mod tests;
