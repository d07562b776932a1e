//! Selects the DNS messages safe for early data, because an attacker can replay early data. Only
//! queries are safe, no other operation of a DNS message (RFC 9250 section 4.5).

use crate::dns::answer::ResponseFacts;
use crate::dns::wire::Rcode;

/// Returns true for a DNS message with the opcode QUERY. Messages too short for an opcode are
/// rejected later.
pub fn is_repeatable(message: &[u8]) -> bool {
    message.get(2).is_none_or(|flags| flags & 0x78 == 0)
}

/// Writes REFUSED with the extended error Too Early (RFC 8914 code 26) into `out`.
pub fn too_early(message: &[u8], out: &mut Vec<u8>) -> Option<ResponseFacts> {
    let flags = 0x80 | (*message.get(2)? & 0x79);
    out.clear();
    out.extend_from_slice(message.get(..2)?);
    out.extend_from_slice(&[flags, Rcode::Refused.number() as u8, 0, 0, 0, 0, 0, 0, 0, 1]);
    // OPT: root, type 41, 1,232 bytes, no flags, and one option of six bytes.
    out.extend_from_slice(&[0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 6, 0, 15, 0, 2, 0, 26]);
    Some(ResponseFacts {
        rcode: Rcode::Refused,
        ttl_s: None,
        cookie_at: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_may_be_repeated() {
        let query = [0, 7, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let update = [0, 7, 0x28, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        assert!(is_repeatable(&query) && !is_repeatable(&update));
        let mut answer = vec![9; 3];
        too_early(&update, &mut answer).unwrap();
        assert_eq!(answer[..4], [0, 7, 0xA8, 5]);
        assert_eq!(answer[answer.len() - 2..], [0, 26]);
    }
}
