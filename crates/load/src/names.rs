//! The names and types to query, from a file in dnsperf's format or from a ranked list. Each
//! becomes a query ready to send except for the id. Not for: choosing the next query on a
//! connection; see the engine.

use resolab_dns::edns::QueryEdns;
use resolab_dns::message::{EncodeError, build_query};
use resolab_dns::question::QuestionError;
use resolab_dns::{EdnsOptions, Question};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The length of an OPT record without options (RFC 6891 section 6.1.2).
const BARE_OPT_BYTES: usize = 11;
const HEADER_BYTES: usize = 12;
const TYPE_AND_CLASS_BYTES: usize = 4;
/// The offset of ARCOUNT's low byte (RFC 1035 section 4.1.1).
const ADDITIONAL_COUNT_AT: usize = 11;
const DEFAULT_TYPE: &str = "A";
/// The byte order mark, put in front of a text by some editors.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// An error while reading names.
#[derive(Debug, Error)]
pub enum NamesError {
    /// The file cannot be read.
    #[error("read names from {path}: {source}")]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A line is no question.
    #[error("read names, line {line}: {source}; a line is NAME, NAME TYPE or RANK,NAME")]
    Question {
        /// The line number, from 1.
        line: usize,
        /// The error in the question.
        source: QuestionError,
    },
    /// A line has more words than a question.
    #[error(
        "read names, line {line}: {text:?} after the type; a line is NAME, NAME TYPE or RANK,NAME"
    )]
    Surplus {
        /// The line number, from 1.
        line: usize,
        /// The third word of the line.
        text: String,
    },
    /// A query cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The file has no name to query.
    #[error(
        "read names: there are none; a line is NAME, NAME TYPE or RANK,NAME, `#` and `;` begin comments"
    )]
    Empty,
}

/// A query message with id 0.
#[derive(Debug, Clone, Copy)]
pub struct Template<'names> {
    /// The message; bytes 0 and 1 hold the id.
    pub message: &'names [u8],
    /// The offset of the question's end.
    pub question_end: usize,
}

impl<'names> Template<'names> {
    /// Wraps a prepared query message.
    ///
    /// # Panics
    /// When the message is shorter than a question.
    pub fn new(message: &'names [u8], question_end: usize) -> Self {
        assert!(question_end <= message.len() && question_end > HEADER_BYTES);
        Self {
            message,
            question_end,
        }
    }

    /// Returns the range of the question's name.
    pub fn name_range(&self) -> std::ops::Range<usize> {
        HEADER_BYTES..self.question_end - TYPE_AND_CLASS_BYTES
    }
}

/// The queries ready to send, in the order of the file.
#[derive(Debug)]
pub struct QueryTemplates {
    messages: Vec<u8>,
    spans: Vec<MessageSpan>,
}

#[derive(Debug, Clone, Copy)]
struct MessageSpan {
    start: u32,
    length: u16,
    question_end: u16,
}

impl QueryTemplates {
    /// Reads a file, or standard input for `-`. Without `edns`, queries have no EDNS, like
    /// dnsperf's queries; padding is for encrypted transports.
    pub fn read(
        path: &Path,
        edns: Option<EdnsOptions>,
        is_encrypted: bool,
    ) -> Result<Self, NamesError> {
        let read = if path == Path::new("-") {
            io::read_to_string(io::stdin())
        } else {
            std::fs::read_to_string(path)
        };
        let text = read.map_err(|source| NamesError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, edns, is_encrypted)
    }

    /// Reads names from text.
    pub fn parse(
        text: &str,
        edns: Option<EdnsOptions>,
        is_encrypted: bool,
    ) -> Result<Self, NamesError> {
        let mut names = Self {
            messages: Vec::new(),
            spans: Vec::new(),
        };
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let content = line.split(['#', ';']).next().unwrap_or_default();
            let mut words = content.split_ascii_whitespace();
            let Some(name) = words.next() else {
                continue;
            };
            let record_type = words.next().unwrap_or(DEFAULT_TYPE);
            if let Some(text) = words.next() {
                return Err(NamesError::Surplus {
                    line: line_number,
                    text: text.to_owned(),
                });
            }
            let question = Question::parse(strip_rank(name), record_type).map_err(|source| {
                NamesError::Question {
                    line: line_number,
                    source,
                }
            })?;
            names.push(&encode(&question, edns, is_encrypted)?);
        }
        if names.spans.is_empty() {
            return Err(NamesError::Empty);
        }
        Ok(names)
    }

    fn push(&mut self, message: &[u8]) {
        self.spans.push(MessageSpan {
            start: self.messages.len() as u32,
            length: message.len() as u16,
            question_end: question_end(message) as u16,
        });
        self.messages.extend_from_slice(message);
    }

    /// Returns the number of queries.
    pub fn count(&self) -> usize {
        self.spans.len()
    }

    /// Returns the length of the longest message.
    pub fn longest_bytes(&self) -> usize {
        let lengths = self.spans.iter().map(|span| usize::from(span.length));
        lengths.max().unwrap_or_default()
    }

    /// Returns the query at `index`.
    ///
    /// # Panics
    /// When there is no query at `index`.
    pub fn get(&self, index: u32) -> Template<'_> {
        let span = self.spans[index as usize];
        let start = span.start as usize;
        Template {
            message: &self.messages[start..start + usize::from(span.length)],
            question_end: usize::from(span.question_end),
        }
    }

    /// Returns the order of queries of worker `index` of `workers`. Workers take queries in turn;
    /// together they keep the order of the file.
    pub fn order(&self, index: u32, workers: u32) -> QueryOrder {
        let count = self.spans.len() as u32;
        QueryOrder {
            next: index % count,
            step: workers % count,
            count,
        }
    }
}

/// The endless sequence of a worker's query numbers.
#[derive(Debug, Clone)]
pub struct QueryOrder {
    next: u32,
    step: u32,
    count: u32,
}

impl QueryOrder {
    /// Returns the next query number.
    pub fn take(&mut self) -> u32 {
        let taken = self.next;
        self.next += self.step;
        if self.next >= self.count {
            self.next -= self.count;
        }
        taken
    }
}

/// Returns the name of a line `RANK,NAME`, the format of lists of popular names (Tranco's lists,
/// and `sites.list` of plans).
fn strip_rank(word: &str) -> &str {
    let is_rank = |rank: &str| !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    let ranked = word.split_once(',').filter(|(rank, _)| is_rank(rank));
    ranked.map_or(word, |(_, name)| name)
}

fn encode(
    question: &Question,
    edns: Option<EdnsOptions>,
    is_encrypted: bool,
) -> Result<Vec<u8>, EncodeError> {
    if let Some(options) = edns {
        return build_query(
            question,
            0,
            &QueryEdns::new_without_cookie(options, is_encrypted),
        );
    }
    let mut message = build_query(question, 0, &QueryEdns::default())?;
    message.truncate(message.len() - BARE_OPT_BYTES);
    message[ADDITIONAL_COUNT_AT] = 0;
    Ok(message)
}

/// Returns the offset of the question's end. The name in a query is never compressed.
fn question_end(message: &[u8]) -> usize {
    let mut at = HEADER_BYTES;
    while message[at] != 0 {
        at += 1 + usize::from(message[at]);
    }
    at + 1 + TYPE_AND_CLASS_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLE: &str = "; comment\n\nexample.test AAAA\n  B.test\t#rest\nc.test TYPE65 ; x\n";

    #[test]
    fn reads_what_dnsperf_reads() {
        let names = QueryTemplates::parse(EXAMPLE, None, false).unwrap();
        assert_eq!(names.count(), 3);
        let first = names.get(0);
        assert_eq!(
            first.message,
            b"\0\0\x01\0\0\x01\0\0\0\0\0\0\x07example\x04test\0\0\x1c\0\x01"
        );
        assert_eq!(first.question_end, first.message.len());
        assert_eq!(&names.get(1).message[12..], b"\x01B\x04test\0\0\x01\0\x01");
        assert_eq!(&names.get(2).message[12..], b"\x01c\x04test\0\0\x41\0\x01");
        assert_eq!(names.longest_bytes(), 30);
    }

    #[test]
    fn reads_lists_of_popular_names() {
        let names =
            QueryTemplates::parse("\u{feff}1,a.test\r\n2,b.test AAAA\r\n", None, false).unwrap();
        assert_eq!(&names.get(0).message[12..], b"\x01a\x04test\0\0\x01\0\x01");
        assert_eq!(&names.get(1).message[12..], b"\x01b\x04test\0\0\x1c\0\x01");
    }

    #[test]
    fn edns_is_there_when_asked_for_and_padded_when_encrypted() {
        let edns = Some(EdnsOptions::default());
        let plain = QueryTemplates::parse("a.test", edns, false).unwrap();
        let template = plain.get(0);
        assert_eq!(
            template.message.len(),
            template.question_end + BARE_OPT_BYTES
        );
        assert_eq!(template.message[ADDITIONAL_COUNT_AT], 1);
        let padded = QueryTemplates::parse("a.test", edns, true).unwrap();
        assert_eq!(padded.get(0).message.len(), 128);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, says) in [
            ("a.test\nb.test FOO", "line 2: read \"FOO\""),
            ("a.test A IN", "line 1: \"IN\""),
            ("# only\n", "there are none"),
            ("a.test\nb.test,c.test", "line 2: read \"b.test,c.test\""),
        ] {
            let error = QueryTemplates::parse(text, None, false)
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = QueryTemplates::read(Path::new("/nonexistent/names"), None, false).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/names"));
    }

    proptest! {
        #[test]
        fn workers_together_ask_in_the_order_of_the_file(count in 1..40_u32, workers in 1..9_u32) {
            let lines: Vec<_> = (0..count).map(|index| format!("n{index}.test")).collect();
            let text = lines.join("\n");
            let names = QueryTemplates::parse(&text, None, false).unwrap();
            let mut orders: Vec<_> = (0..workers).map(|index| names.order(index, workers)).collect();
            for position in 0..200 {
                let asked = orders[(position % workers) as usize].take();
                prop_assert_eq!(asked, position % count);
            }
        }
    }
}
