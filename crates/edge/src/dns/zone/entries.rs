//! The entries of a zone file (RFC 1035 section 5.1): comments, quotes, parentheses and line
//! numbers.
//!
//! For: words with their escapes unchanged. Not for: the meaning of the words.

/// A fault with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// The line number, from 1.
    pub line: usize,
    /// The fault in the line.
    pub reason: String,
}

/// A word of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text without quotes, with escapes unchanged.
    pub text: String,
    /// True when a part was in quotes: a quoted word is not a keyword.
    pub is_quoted: bool,
}

/// An entry: a line, or several lines in parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneFileEntry {
    /// The number of the first line, from 1.
    pub line: usize,
    /// True when the entry begins with a blank: the owner is the previous entry's owner.
    pub begins_blank: bool,
    /// The words of the entry.
    pub words: Vec<Word>,
}

/// Returns all non-empty entries of a text.
pub fn entries(text: &str) -> Result<Vec<ZoneFileEntry>, LineError> {
    let mut reader = EntryReader::default();
    for (index, line) in text.split('\n').enumerate() {
        reader.read_line(index + 1, line.strip_suffix('\r').unwrap_or(line))?;
    }
    reader.end()
}

/// Returns the words of a text of a single entry.
pub fn words(text: &str) -> Result<Vec<Word>, String> {
    let entries = entries(text).map_err(|error| error.reason)?;
    match entries.len() {
        0 => Ok(Vec::new()),
        1 => Ok(entries
            .into_iter()
            .next()
            .map_or(Vec::new(), |entry| entry.words)),
        _ => Err("more than one line".to_owned()),
    }
}

#[derive(Default)]
struct EntryReader {
    done: Vec<ZoneFileEntry>,
    open: Option<ZoneFileEntry>,
    word: Option<Word>,
    in_quotes: bool,
    parentheses_count: usize,
}

impl EntryReader {
    fn read_line(&mut self, line: usize, text: &str) -> Result<(), LineError> {
        if self.parentheses_count == 0 {
            self.open = Some(ZoneFileEntry {
                line,
                begins_blank: text.starts_with([' ', '\t']),
                words: Vec::new(),
            });
        }
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some(next) => self.push(&[character, next]),
                    None => return Err(line_error(line, "a `\\` with nothing behind it")),
                },
                '"' => {
                    self.in_quotes = !self.in_quotes;
                    self.word.get_or_insert_default().is_quoted = true;
                }
                _ if self.in_quotes => self.push(&[character]),
                ';' => break,
                '(' => self.open_parenthesis(),
                ')' => self.close_parenthesis(line)?,
                ' ' | '\t' => self.end_word(),
                _ if character.is_control() => {
                    return Err(line_error(line, format!("the character {character:?}")));
                }
                _ => self.push(&[character]),
            }
        }
        if self.in_quotes {
            return Err(line_error(line, "a quote that is not closed"));
        }
        self.end_word();
        if self.parentheses_count == 0 {
            self.done
                .extend(self.open.take().filter(|entry| !entry.words.is_empty()));
        }
        Ok(())
    }

    fn open_parenthesis(&mut self) {
        self.end_word();
        self.parentheses_count += 1;
    }

    fn close_parenthesis(&mut self, line: usize) -> Result<(), LineError> {
        self.end_word();
        let Some(left) = self.parentheses_count.checked_sub(1) else {
            return Err(line_error(line, "a `)` without its `(`"));
        };
        self.parentheses_count = left;
        Ok(())
    }

    fn push(&mut self, characters: &[char]) {
        self.word.get_or_insert_default().text.extend(characters);
    }

    fn end_word(&mut self) {
        if let (Some(word), Some(entry)) = (self.word.take(), &mut self.open) {
            entry.words.push(word);
        }
    }

    fn end(self) -> Result<Vec<ZoneFileEntry>, LineError> {
        match self.open {
            Some(entry) => Err(line_error(entry.line, "a `(` that is not closed")),
            None => Ok(self.done),
        }
    }
}

fn line_error(line: usize, reason: impl Into<String>) -> LineError {
    LineError {
        line,
        reason: reason.into(),
    }
}

/// Returns the bytes of a word, decoding `\DDD` and `\X` (RFC 1035 section 5.1).
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let (value, _, tail) = unescape_one(byte, tail)?;
        bytes.push(value);
        rest = tail;
    }
    Ok(bytes)
}

/// Takes a byte off the front. Returns the byte, true when the byte was escaped, and the rest.
pub fn unescape_one(byte: u8, tail: &[u8]) -> Result<(u8, bool, &[u8]), String> {
    if byte != b'\\' {
        return Ok((byte, false, tail));
    }
    match tail {
        [first, second, third, rest @ ..] if first.is_ascii_digit() => {
            let digits = [*first, *second, *third];
            let value = std::str::from_utf8(&digits).ok().and_then(parse_unsigned);
            value
                .map(|value| (value, true, rest))
                .ok_or_else(|| "`\\DDD` is not three digits up to 255".to_owned())
        }
        [first, ..] if first.is_ascii_digit() => Err("`\\DDD` is not three digits".to_owned()),
        [first, rest @ ..] => Ok((*first, true, rest)),
        [] => Err("a `\\` with nothing behind it".to_owned()),
    }
}

/// Reads a number in decimal digits alone. Rust's parser accepts a leading `+`; zone files do not.
pub fn parse_unsigned<T: std::str::FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Returns the wire form of a name in a zone file, with its case. A name without a final dot is
/// below `origin`.
pub fn name(text: &str, origin: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let of_origin =
        || origin.ok_or_else(|| format!("`{text}` is relative, and there is no $ORIGIN"));
    match text {
        "@" => return of_origin().map(<[u8]>::to_vec),
        "." => return Ok(vec![0]),
        _ => {}
    }
    let is_none = |what: &str| format!("`{text}` is no name: {what}");
    let (mut wire, mut label) = (Vec::with_capacity(text.len() + 2), Vec::new());
    let mut rest = text.as_bytes();
    let mut is_absolute = false;
    while let Some((&byte, tail)) = rest.split_first() {
        let (value, is_escaped, tail) = unescape_one(byte, tail)?;
        rest = tail;
        is_absolute = value == b'.' && !is_escaped;
        if !is_absolute {
            label.push(value);
        }
        if is_absolute || rest.is_empty() {
            match label.len() {
                0 => return Err(is_none("an empty label")),
                1..=63 => wire.push(label.len() as u8),
                _ => return Err(is_none("a label longer than 63 bytes")),
            }
            wire.append(&mut label);
        }
    }
    if wire.is_empty() {
        return Err(is_none("it is empty"));
    }
    wire.extend_from_slice(if is_absolute { &[0] } else { of_origin()? });
    if wire.len() > 255 {
        return Err(is_none("longer than 255 bytes"));
    }
    Ok(wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let entries = entries(text).unwrap();
        let words = |entry: ZoneFileEntry| entry.words.into_iter().map(|word| word.text).collect();
        entries.into_iter().map(words).collect()
    }

    #[test]
    fn quotes_comments_and_parentheses_are_seen() {
        let text = "a 1 ; x ( \"\n\n b \"c ;d\" e\"f g\"h ( i ; j\r\n k ) l\n";
        assert_eq!(
            texts(text),
            [vec!["a", "1"], vec!["b", "c ;d", "ef gh", "i", "k", "l"]]
        );
        let entries = entries(text).unwrap();
        assert_eq!((entries[1].line, entries[1].begins_blank), (3, true));
        assert!(texts("").is_empty());
    }

    #[test]
    fn what_is_open_at_the_end_is_named_with_its_line() {
        for (text, line, part) in [
            ("a\nb ( c\nd\n", 2, "`(`"),
            ("a\nb )", 2, "`)`"),
            ("a\n\"b\nc\"", 2, "quote"),
            ("a \\", 1, "nothing behind"),
            ("a \u{7}", 1, "character"),
        ] {
            let error = entries(text).unwrap_err();
            assert!(
                error.line == line && error.reason.contains(part),
                "{error:?}"
            );
        }
    }

    #[test]
    fn escapes_are_undone_and_names_are_relative_or_not() {
        assert_eq!(unescape("a\\065\\\"\\;").unwrap(), b"aA\";");
        assert!(unescape("\\256").is_err() && unescape("\\1a2").is_err());
        assert!(unescape("\\12").is_err() && unescape("\\").is_err());
        let origin = b"\x04test\x00";
        assert_eq!(
            name("a\\.b.C", Some(origin)).unwrap(),
            b"\x03a.b\x01C\x04test\x00"
        );
        assert_eq!(name("a.", None).unwrap(), b"\x01a\x00");
        assert_eq!(name("a\\.", Some(origin)).unwrap(), b"\x02a.\x04test\x00");
        assert_eq!(name("@", Some(origin)).unwrap(), origin);
        for text in ["a..b", "", ".a", &"a".repeat(64)] {
            assert!(name(text, Some(origin)).is_err(), "{text}");
        }
        assert!(name("a", None).unwrap_err().contains("$ORIGIN"));
        assert!(
            name(&"abcdefg.".repeat(40), None)
                .unwrap_err()
                .contains("255")
        );
    }
}
