//! Checks by its bytes if a message answers a query. The check takes a few nanoseconds and decodes
//! no records. Not for: the message id, already used by the engine to find the query.

use crate::names::Template;

const HEADER_BYTES: usize = 12;
/// The QR flag, in the third byte of a message (RFC 1035 section 4.1.1).
const QR_BIT: u8 = 0x80;
/// The TC flag, in the same byte.
const TC_BIT: u8 = 0x02;
const RCODE_MASK: u8 = 0x0f;

/// The properties of an answer needed for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerProperties {
    /// The response code, without EDNS's upper bits.
    pub rcode: u8,
    /// True when the answer has the TC flag (truncated).
    pub truncated: bool,
}

/// Returns the id of a message; `None` when the message is too short.
pub fn id_of(message: &[u8]) -> Option<u16> {
    match message {
        [high, low, ..] if message.len() >= HEADER_BYTES => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

/// Reads `message` as an answer to `query`. An answer has QR set and the same question, ignoring
/// case (RFC 5452 section 9.1). An answer with an error code may leave out the question. Returns
/// `None` when `message` is no answer to `query`.
pub fn read(query: Template<'_>, message: &[u8]) -> Option<AnswerProperties> {
    let header = message.get(..HEADER_BYTES)?;
    if header[2] & QR_BIT == 0 {
        return None;
    }
    let answer = AnswerProperties {
        rcode: header[3] & RCODE_MASK,
        truncated: header[2] & TC_BIT != 0,
    };
    let has_question = match u16::from_be_bytes([header[4], header[5]]) {
        0 => answer.rcode != 0,
        1 => echoes(query, message),
        _ => false,
    };
    has_question.then_some(answer)
}

fn echoes(query: Template<'_>, message: &[u8]) -> bool {
    let question = HEADER_BYTES..query.question_end;
    let Some(echo) = message.get(question.clone()) else {
        return false;
    };
    if *echo == query.message[question.clone()] {
        return true;
    }
    // A label's length is below 64, so that ignoring case ignores nothing but case.
    let name = query.name_range();
    message[name.clone()].eq_ignore_ascii_case(&query.message[name.clone()])
        && message[name.end..question.end] == query.message[name.end..question.end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::QueryTemplates;

    fn answer_with(change: impl Fn(&mut Vec<u8>)) -> Option<AnswerProperties> {
        let names = QueryTemplates::parse("Example.test AAAA", None, false).unwrap();
        let query = names.get(0);
        let mut message = query.message.to_vec();
        message[2] |= QR_BIT;
        change(&mut message);
        read(query, &message)
    }

    #[test]
    fn an_echo_with_qr_is_an_answer() {
        let answer = answer_with(|_| ()).unwrap();
        assert_eq!((answer.rcode, answer.truncated), (0, false));
        let with_records = answer_with(|message| message.extend([0xc0, 12, 0, 1]));
        assert!(with_records.is_some());
        let lower = answer_with(|message| message[12..].make_ascii_lowercase());
        assert!(lower.is_some());
        let truncated = answer_with(|message| message[2] |= TC_BIT).unwrap();
        assert!(truncated.truncated);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert_eq!(answer_with(|message| message[2] &= !QR_BIT), None);
        assert_eq!(answer_with(|message| message[13] ^= 1), None);
        assert_eq!(
            answer_with(|message| *message.last_mut().unwrap() = 3),
            None
        );
        assert_eq!(answer_with(|message| message.truncate(20)), None);
        assert_eq!(answer_with(|message| message.truncate(3)), None);
        assert_eq!(answer_with(|message| message[5] = 2), None);
        // No question and no error.
        assert_eq!(answer_with(|message| message[5] = 0), None);
    }

    #[test]
    fn an_error_may_leave_the_question_out() {
        let answer = answer_with(|message| {
            message[3] |= 1;
            message[5] = 0;
            message.truncate(HEADER_BYTES);
        });
        assert_eq!(answer.unwrap().rcode, 1);
    }

    #[test]
    fn a_short_message_has_no_id() {
        assert_eq!(id_of(&[1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Some(0x0102));
        assert_eq!(id_of(&[1, 2, 0]), None);
    }
}
