//! Record data as text: one table of the parts of each type. Data of other types, and data not
//! matching its type's parts, is written `\# LENGTH HEX` (RFC 3597 section 5). Every zone file
//! reader accepts this form for any type. Not for: service parameters (`service`) and forms used by
//! few types (`special`).

use super::characters::{quote, word};
use super::names::labels_text;
use super::numbers::{type_number_text, type_text};
use super::{service, special};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hickory_proto::rr::{RData, Record};
use hickory_proto::serialize::binary::{BinEncodable, BinEncoder, NameEncoding};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A part of record data, with its wire form and its text form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordField {
    V4,
    V6,
    Name,
    U8,
    U16,
    U32,
    /// A character string, in quotes.
    Text,
    /// One or more character strings, in quotes.
    Texts,
    /// A character string written as a word.
    Word,
    /// All remaining bytes, in quotes.
    RestText,
    RestHex,
    RestBase64,
    /// The type covered by a signature or named in a notification.
    Type,
    /// An instant as `YYYYMMDDHHmmSS` (RFC 4034 section 3.2).
    Instant,
    /// Types as windows of bits (RFC 4034 section 4.1.2).
    Types,
    /// Bytes behind their length, in hexadecimal; `-` when empty (RFC 5155 section 3.3).
    Salt,
    /// Bytes behind their length, in base32hex (RFC 5155 section 3.3).
    Hash,
    /// Parameters of SVCB and HTTPS.
    Service,
    /// Six or eight bytes between hyphens (RFC 7043).
    Octets(usize),
    /// Eight bytes in four groups (RFC 6742).
    Locator,
    /// A geographic location (RFC 1876).
    Location,
    /// A list of address prefixes (RFC 3123).
    Prefixes,
}

/// Returns the parts of a type, from the documents defining the types. Algorithms and similar codes
/// are numbers, as allowed by all these documents.
fn parts_of(record_type: u16) -> Option<&'static [RecordField]> {
    use RecordField::{
        Hash, Instant, Location, Locator, Name, Octets, Prefixes, RestBase64, RestHex, RestText,
        Salt, Service, Text, Texts, Type, Types, U8, U16, U32, V4, V6, Word,
    };
    Some(match record_type {
        1 => &[V4],
        28 => &[V6],
        2..=5 | 7..=9 | 12 | 39 => &[Name],
        6 => &[Name, Name, U32, U32, U32, U32, U32],
        13 => &[Text, Text],
        14 | 17 | 58 => &[Name, Name],
        15 | 18 | 21 | 36 | 107 => &[U16, Name],
        16 | 20 | 56 | 99 | 258 | 261..=263 => &[Texts],
        19 => &[Text],
        24 | 46 => &[Type, U8, U8, U32, Instant, Instant, U16, Name, RestBase64],
        25 | 48 | 57 | 60 => &[U16, U8, U8, RestBase64],
        26 => &[U16, Name, Name],
        29 => &[Location],
        33 => &[U16, U16, U16, Name],
        35 => &[U16, U16, Text, Text, Text, Name],
        37 => &[U16, U16, U8, RestBase64],
        42 => &[Prefixes],
        43 | 59 | 32_768 | 32_769 => &[U16, U8, U8, RestHex],
        44 => &[U8, U8, RestHex],
        47 => &[Name, Types],
        49 | 61 => &[RestBase64],
        50 => &[U8, U8, U16, Salt, Hash, Types],
        51 => &[U8, U8, U16, Salt],
        52 | 53 => &[U8, U8, U8, RestHex],
        62 => &[U32, U16, Types],
        63 => &[U32, U8, U8, RestHex],
        64 | 65 => &[U16, Name, Service],
        66 => &[Type, U8, U16, Name],
        104 | 106 => &[U16, Locator],
        105 => &[U16, V4],
        108 => &[Octets(6)],
        109 => &[Octets(8)],
        256 => &[U16, U16, RestText],
        257 => &[U8, Word, RestText],
        _ => return None,
    })
}

/// Returns a record's type and data, as `TYPE DATA`.
pub fn record_data_text(record: &Record) -> String {
    let text = data_text(record.record_type().into(), &wire_of(&record.data));
    format!("{} {text}", type_text(record.record_type()))
}

/// Returns the data of a record of this type as text. In `data`, names are compressed at most by
/// reference to each other.
pub fn data_text(record_type: u16, data: &[u8]) -> String {
    parts_of(record_type)
        .and_then(|parts| write_fields(parts, data))
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| generic(data))
}

/// Returns an uncompressed name in wire form as text. `None` when the bytes are no name, or more
/// than a name.
pub fn wire_name_text(wire: &[u8]) -> Option<String> {
    let mut rest = UnreadRecordData(wire);
    let text = rest.name()?;
    rest.0.is_empty().then_some(text)
}

/// Encodes record data; empty when hickory cannot write data it has read.
fn wire_of(data: &RData) -> Vec<u8> {
    let mut wire = Vec::new();
    let mut encoder = BinEncoder::new(&mut wire);
    encoder.set_name_encoding(NameEncoding::Uncompressed);
    if data.emit(&mut encoder).is_err() {
        wire.clear();
    }
    wire
}

fn generic(data: &[u8]) -> String {
    if data.is_empty() {
        return "\\# 0".to_owned();
    }
    format!("\\# {} {}", data.len(), special::hex(data))
}

fn write_fields(parts: &[RecordField], data: &[u8]) -> Option<String> {
    let mut rest = UnreadRecordData(data);
    let mut words = Vec::new();
    for part in parts {
        rest.write(*part, &mut words)?;
    }
    rest.0.is_empty().then(|| words.join(" "))
}

/// The remaining bytes of record data not yet written as text.
struct UnreadRecordData<'a>(&'a [u8]);

impl<'a> UnreadRecordData<'a> {
    fn write(&mut self, part: RecordField, words: &mut Vec<String>) -> Option<()> {
        let text = match part {
            RecordField::V4 => Ipv4Addr::from(self.take::<4>()?).to_string(),
            RecordField::V6 => Ipv6Addr::from(self.take::<16>()?).to_string(),
            RecordField::Name => self.name()?,
            RecordField::U8 => self.take::<1>()?[0].to_string(),
            RecordField::U16 => u16::from_be_bytes(self.take()?).to_string(),
            RecordField::U32 => u32::from_be_bytes(self.take()?).to_string(),
            RecordField::Type => type_number_text(u16::from_be_bytes(self.take()?)),
            RecordField::Text => quote(self.string()?),
            RecordField::Word => word(self.string().filter(|bytes| !bytes.is_empty())?),
            RecordField::Texts => return self.write_texts(words),
            RecordField::RestText => quote(self.rest()),
            RecordField::RestHex => some(special::hex(self.rest()))?,
            RecordField::RestBase64 => some(STANDARD.encode(self.rest()))?,
            RecordField::Instant => special::instant(u32::from_be_bytes(self.take()?)),
            RecordField::Types => return self.write_types(words),
            RecordField::Salt => {
                some(special::hex(self.string()?)).unwrap_or_else(|| "-".to_owned())
            }
            RecordField::Hash => some(special::base32hex(self.string()?))?,
            RecordField::Service => return service::write_parameters(self.rest(), words),
            RecordField::Octets(count) => special::octets(self.bytes(count)?),
            RecordField::Locator => special::locator(self.take()?),
            RecordField::Location => special::location(&self.take()?)?,
            RecordField::Prefixes => return special::write_prefixes(self.rest(), words),
        };
        words.push(text);
        Some(())
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Takes bytes behind their length.
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.take::<1>()?[0];
        self.bytes(length.into())
    }

    fn name(&mut self) -> Option<String> {
        let mut labels = Vec::new();
        let before = self.0.len();
        loop {
            let length = self.take::<1>()?[0];
            match length {
                0 if before - self.0.len() <= 255 => return Some(labels_text(labels.into_iter())),
                1..=63 => labels.push(self.bytes(length.into())?),
                _ => return None,
            }
        }
    }

    fn write_texts(&mut self, words: &mut Vec<String>) -> Option<()> {
        words.push(quote(self.string()?));
        while !self.0.is_empty() {
            words.push(quote(self.string()?));
        }
        Some(())
    }

    fn write_types(&mut self, words: &mut Vec<String>) -> Option<()> {
        let mut last_window = None;
        while !self.0.is_empty() {
            let window = self.take::<1>()?[0];
            let bits = self.string().filter(|bits| matches!(bits.len(), 1..=32))?;
            // What is written must be read back as the same bytes.
            if last_window >= Some(window) || bits.last() == Some(&0) {
                return None;
            }
            last_window = Some(window);
            for (index, byte) in bits.iter().enumerate() {
                let set = (0..8).filter(|bit| byte & (0x80 >> bit) != 0);
                let number = |bit: u16| u16::from(window) << 8 | (index as u16) << 3 | bit;
                words.extend(set.map(|bit| type_number_text(number(bit))));
            }
        }
        Some(())
    }
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
