//! The stub's door for the fuzz targets.

use super::reply::{Carrier, failed, forwarded};
use hickory_proto::op::{Message, ResponseCode};

/// What the stub sends over UDP, over TCP and on failure.
pub fn stub_replies(query: &Message, response: &Message) -> [Vec<u8>; 3] {
    [
        forwarded(query, response.clone(), Carrier::Udp),
        forwarded(query, response.clone(), Carrier::Tcp),
        failed(query, ResponseCode::ServFail),
    ]
}
