//! The path of a DoH request by GET (RFC 8484 section 4.1.1). Not for: the rest of the request.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Returns the resolver's path with a query in the `dns` parameter.
pub fn build_get_path(path: &str, message: &[u8]) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}dns={}", URL_SAFE_NO_PAD.encode(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_in_the_query_without_padding() {
        let path = build_get_path("/dns-query", b"\x00\x01\xfb\xff");
        assert_eq!(path, "/dns-query?dns=AAH7_w");
        assert_eq!(build_get_path("/q?t=1", b"\x00\x01"), "/q?t=1&dns=AAE");
    }
}
