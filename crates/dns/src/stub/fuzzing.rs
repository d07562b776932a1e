//! Gives the fuzz targets access to the stub's replies.

use super::reply::{ClientTransport, build_failure, build_reply};
use hickory_proto::op::{Message, ResponseCode};

/// Returns the stub's replies over UDP, over TCP, and on failure.
pub fn stub_replies(query: &Message, response: &Message) -> [Vec<u8>; 3] {
    [
        build_reply(query, response.clone(), ClientTransport::Udp),
        build_reply(query, response.clone(), ClientTransport::Tcp),
        build_failure(query, ResponseCode::ServFail),
    ]
}
