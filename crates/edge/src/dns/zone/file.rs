//! Zone files (RFC 1035 section 5, RFC 2308 section 4): directives, owners, TTLs, classes.
//!
//! For: records from text, or an error with file, line and fault. Not for: looking up names.

use super::entries::{LineError, Word, ZoneFileEntry, entries, name};
use super::names::{DEFAULT_TTL_S, Zone, is_below};
use super::record_data::{contents, is_data, time_s};
use crate::dns::wire::{TYPE_CNAME, TYPE_SOA, name_text, type_number, type_text};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The reasons to reject a zone file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ZoneFileError {
    /// The zone file cannot be read.
    #[error("read the zone file {file}: {reason}")]
    Unreadable {
        /// The path of the file, unchanged.
        file: String,
        /// The reason for the failure.
        reason: String,
    },
    /// A line of the zone file is wrong.
    #[error("read the zone file {file}, line {line}: {reason}")]
    Line {
        /// The path of the file, unchanged.
        file: String,
        /// The line number, from 1.
        line: usize,
        /// The fault in the line.
        reason: String,
    },
}

/// A record of a zone file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The owner name in wire form.
    pub name: Vec<u8>,
    /// The number of the record type.
    pub record_type: u16,
    /// The time to live, in s.
    pub ttl_s: u32,
    /// The record data in wire form.
    pub content: Vec<u8>,
}

/// The maximum nesting of files by $INCLUDE.
const INCLUDE_DEPTH_MAX: usize = 8;

/// Reads a zone file and adds its records to a zone.
pub fn load(zone: &mut Zone, path: &Path) -> Result<(), ZoneFileError> {
    let text = read(path)?;
    let shown = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let include = |file: &str| {
        let path = folder.join(file);
        read(&path).map_err(|error| error.to_string())
    };
    let records = records(&text, &shown, &include)?;
    for record in records {
        zone.add(
            &record.name,
            record.record_type,
            record.ttl_s,
            record.content,
        );
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, ZoneFileError> {
    std::fs::read_to_string(path).map_err(|error| ZoneFileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// A function returning the text of a file named by $INCLUDE.
pub type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Returns the records of the text of `file`.
pub fn records(
    text: &str,
    file: &str,
    include: Include<'_>,
) -> Result<Vec<FileRecord>, ZoneFileError> {
    let mut reader = ZoneFileReader {
        include,
        records: Vec::new(),
        apex: None,
        owner: None,
        has_alias: HashMap::new(),
        default_ttl_s: None,
        last_ttl_s: None,
    };
    reader.read(text, &PathBuf::from(file), None, 0)?;
    Ok(reader.records)
}

struct ZoneFileReader<'a> {
    include: Include<'a>,
    records: Vec<FileRecord>,
    /// The owner of the SOA: no record may be outside.
    apex: Option<Vec<u8>>,
    owner: Option<Vec<u8>>,
    /// The owners so far, in lower case; the value is true for owners of a CNAME.
    has_alias: HashMap<Vec<u8>, bool>,
    default_ttl_s: Option<u32>,
    last_ttl_s: Option<u32>,
}

impl ZoneFileReader<'_> {
    fn read(
        &mut self,
        text: &str,
        file: &Path,
        mut origin: Option<Vec<u8>>,
        depth: usize,
    ) -> Result<(), ZoneFileError> {
        let shown = file.display().to_string();
        let at = |line: usize, reason: String| ZoneFileError::Line {
            file: shown.clone(),
            line,
            reason,
        };
        // Editors of some systems write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let entries = entries(text).map_err(|LineError { line, reason }| at(line, reason))?;
        for entry in entries {
            let line = entry.line;
            let first = &entry.words[0];
            if entry.begins_blank || first.is_quoted || !first.text.starts_with('$') {
                let read = self.record(&entry, origin.as_deref());
                read.map_err(|reason| at(line, reason))?;
            } else if first.text.eq_ignore_ascii_case("$INCLUDE") {
                let (included, below, text) = self
                    .include(&entry.words[1..], origin.as_deref(), depth)
                    .map_err(|reason| at(line, reason))?;
                let owner = self.owner.clone();
                self.read(&text, &included, below, depth + 1)?;
                // RFC 1035 section 5.1: the file goes on as if nothing had been included.
                self.owner = owner;
            } else {
                let read = self.directive(&entry.words, &mut origin);
                read.map_err(|reason| at(line, reason))?;
            }
        }
        Ok(())
    }

    fn directive(&mut self, words: &[Word], origin: &mut Option<Vec<u8>>) -> Result<(), String> {
        let (directive, values) = (words[0].text.to_ascii_uppercase(), &words[1..]);
        match (directive.as_str(), values) {
            ("$ORIGIN", [value]) => *origin = Some(name(&value.text, origin.as_deref())?),
            ("$TTL", [value]) => self.default_ttl_s = Some(time_s(&value.text)?),
            ("$ORIGIN" | "$TTL", _) => return Err(format!("{directive} takes one value")),
            _ => return Err(format!("`{directive}` is no directive known here")),
        }
        Ok(())
    }

    fn include(
        &self,
        values: &[Word],
        origin: Option<&[u8]>,
        depth: usize,
    ) -> Result<(PathBuf, Option<Vec<u8>>, String), String> {
        if depth >= INCLUDE_DEPTH_MAX {
            return Err(format!(
                "more than {INCLUDE_DEPTH_MAX} files include each other"
            ));
        }
        let (file, below) = match values {
            [file] => (file, origin.map(<[u8]>::to_vec)),
            [file, below] => (file, Some(name(&below.text, origin)?)),
            _ => return Err("$INCLUDE takes a file and perhaps a name".to_owned()),
        };
        let text = (self.include)(&file.text)?;
        Ok((PathBuf::from(&file.text), below, text))
    }

    fn record(&mut self, entry: &ZoneFileEntry, origin: Option<&[u8]>) -> Result<(), String> {
        let mut words = entry.words.as_slice();
        if !entry.begins_blank {
            self.owner = Some(name(&words[0].text, origin)?);
            words = &words[1..];
        }
        let owner = self.owner.clone().ok_or("there is no owner before")?;
        let (ttl_s, record_type, words) = head(words)?;
        let content = contents(record_type, words, origin)
            .map_err(|reason| format!("{}: {reason}", type_text(record_type)))?;
        if record_type == TYPE_SOA {
            if self.apex.is_some() {
                return Err("a second SOA".to_owned());
            }
            let apex = owner.to_ascii_lowercase();
            if let Some(other) = self.has_alias.keys().find(|name| !is_below(name, &apex)) {
                return Err(outside_zone_error(other, &apex));
            }
            self.apex = Some(apex);
            // RFC 1035 section 5.1 has no default; the SOA's minimum was one before RFC 2308.
            let minimum = soa_minimum_s(&content);
            self.last_ttl_s = self.last_ttl_s.or(minimum);
        }
        let ttl_s = ttl_s.or(self.default_ttl_s).or(self.last_ttl_s);
        let record = FileRecord {
            name: owner,
            record_type,
            ttl_s: ttl_s.unwrap_or(DEFAULT_TTL_S),
            content,
        };
        self.last_ttl_s = ttl_s;
        self.check(&record)?;
        self.records.push(record);
        Ok(())
    }

    fn check(&mut self, record: &FileRecord) -> Result<(), String> {
        let name = record.name.to_ascii_lowercase();
        if let Some(apex) = &self.apex
            && !is_below(&name, apex)
        {
            return Err(outside_zone_error(&name, apex));
        }
        let is_alias = record.record_type == TYPE_CNAME;
        let text = name_text(&name);
        match self.has_alias.insert(name, is_alias) {
            Some(had_alias) if had_alias || is_alias => Err(format!(
                "{text} has a CNAME, and then nothing else (RFC 2181)"
            )),
            _ => Ok(()),
        }
    }
}

fn outside_zone_error(name: &[u8], apex: &[u8]) -> String {
    let (name, apex) = (name_text(name), name_text(apex));
    format!("{name} is outside the zone {apex}")
}

/// Returns TTL, type and the words of the record data.
fn head(mut words: &[Word]) -> Result<(Option<u32>, u16, &[Word]), String> {
    let mut ttl_s = None;
    loop {
        let [first, rest @ ..] = words else {
            return Err("there is no type".to_owned());
        };
        words = rest;
        let text = first.text.as_str();
        if let Some(number) = type_number(text) {
            return if is_data(number) {
                Ok((ttl_s, number, words))
            } else {
                Err(format!("`{text}` is a type of questions, not of records"))
            };
        }
        match text.to_ascii_uppercase().as_str() {
            "IN" | "CLASS1" => {}
            "CH" | "HS" | "CS" => return Err(format!("class {text}; only IN is served")),
            _ if text.starts_with(|first: char| first.is_ascii_digit()) && ttl_s.is_none() => {
                ttl_s = Some(time_s(text)?);
            }
            _ => return Err(format!("`{text}` is no type, class or TTL")),
        }
    }
}

/// Returns the last field of a SOA, in s.
pub fn soa_minimum_s(content: &[u8]) -> Option<u32> {
    content
        .last_chunk::<4>()
        .map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests;
