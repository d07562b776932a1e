//! Checks a body's length against the message head (RFC 9114 section 4.1.2, RFC 9110 section 8.6).
//! The HTTP/2 library does the check by itself, the HTTP/3 library does not.
//!
//! Pure. Not for: the maximum length of a body.

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Response, StatusCode};

/// The declared length of a body, with a count of the bytes received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentLength {
    declared: DeclaredLength,
    received_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum DeclaredLength {
    #[default]
    Nothing,
    Bytes(u64),
    /// The value is no number, or several values differ.
    Malformed,
}

/// The error of a malformed message: the body's length differs from the head's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthDiffers;

impl ContentLength {
    /// Makes a counter for a request's body.
    pub fn from_request(fields: &HeaderMap) -> Self {
        let mut values = fields.get_all(CONTENT_LENGTH).iter().map(|value| {
            let text = value.to_str().ok()?;
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| is_number)
        });
        let first = values.next();
        let declared = match first {
            None => DeclaredLength::Nothing,
            Some(Some(bytes)) if values.all(|other| other == Some(bytes)) => {
                DeclaredLength::Bytes(bytes)
            }
            Some(_) => DeclaredLength::Malformed,
        };
        Self {
            declared,
            received_bytes: 0,
        }
    }

    /// Makes a counter for a response's body. A response to HEAD, or a 304, gives the length of
    /// another response's body.
    pub fn from_response(head: &Response<()>, is_to_head: bool) -> Self {
        if is_to_head || head.status() == StatusCode::NOT_MODIFIED {
            Self::default()
        } else {
            Self::from_request(head.headers())
        }
    }

    /// Counts further bytes; an error when the body is too long.
    pub fn take(&mut self, bytes: usize) -> Result<(), LengthDiffers> {
        self.received_bytes = self.received_bytes.saturating_add(bytes as u64);
        match self.declared {
            DeclaredLength::Bytes(declared) if self.received_bytes > declared => Err(LengthDiffers),
            DeclaredLength::Malformed => Err(LengthDiffers),
            DeclaredLength::Bytes(_) | DeclaredLength::Nothing => Ok(()),
        }
    }

    /// Ends the body; an error when the body is too short.
    pub fn end(&self) -> Result<(), LengthDiffers> {
        match self.declared {
            DeclaredLength::Nothing => Ok(()),
            DeclaredLength::Bytes(declared) if self.received_bytes == declared => Ok(()),
            DeclaredLength::Bytes(_) | DeclaredLength::Malformed => Err(LengthDiffers),
        }
    }
}

impl std::fmt::Display for LengthDiffers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the body is not as long as its content-length says")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_length(values: &[&'static str]) -> ContentLength {
        let mut fields = HeaderMap::new();
        for value in values {
            fields.append(CONTENT_LENGTH, value.parse().unwrap());
        }
        ContentLength::from_request(&fields)
    }

    fn is_right(mut length: ContentLength, pieces: &[usize]) -> bool {
        pieces.iter().all(|piece| length.take(*piece).is_ok()) && length.end().is_ok()
    }

    #[test]
    fn a_body_is_as_long_as_its_head_says() {
        assert!(is_right(parse_length(&[]), &[3, 4]));
        assert!(is_right(parse_length(&["7"]), &[3, 4]));
        assert!(is_right(parse_length(&["7", "7"]), &[7]));
        assert!(is_right(parse_length(&["0"]), &[]));
        for wrong in [&["6"][..], &["8"], &["7", "8"], &["+7"], &["x"], &[""]] {
            assert!(!is_right(parse_length(wrong), &[3, 4]), "{wrong:?}");
        }
        assert_eq!(parse_length(&["6"]).take(7), Err(LengthDiffers));
    }

    #[test]
    fn a_response_without_a_body_may_say_how_long_another_would_be() {
        let head = |status| {
            let head = Response::builder().status(status);
            head.header(CONTENT_LENGTH, "5").body(()).unwrap()
        };
        assert!(is_right(
            ContentLength::from_response(&head(200), true),
            &[]
        ));
        assert!(is_right(
            ContentLength::from_response(&head(304), false),
            &[]
        ));
        assert!(!is_right(
            ContentLength::from_response(&head(200), false),
            &[]
        ));
    }
}
