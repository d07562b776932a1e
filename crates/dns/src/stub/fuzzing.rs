//! Gives the fuzz targets access to the stub's replies.

use super::reply::{Carrier, failed, forwarded};
use hickory_proto::op::{Message, ResponseCode};

/// Returns the stub's replies over UDP, over TCP, and on failure.
pub fn stub_replies(query: &Message, response: &Message) -> [Vec<u8>; 3] {
    [
        forwarded(query, response.clone(), Carrier::Udp),
        forwarded(query, response.clone(), Carrier::Tcp),
        failed(query, ResponseCode::ServFail),
    ]
}
