//! The limit on packets waiting for the link: in bytes, in packets, both or neither. Not for: the
//! fate of excess packets (see the queue's discipline).

use resolab_record::DirectionProfile;

/// A limit on waiting packets; `None` is no limit. (On a link without a rate no packet waits.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// Maximum of waiting IP bytes.
    pub bytes: Option<u64>,
    /// Maximum number of waiting packets.
    pub packets_count: Option<u64>,
}

impl QueueLimit {
    /// Returns the limit of a complete profile.
    pub fn from_profile(profile: &DirectionProfile) -> Self {
        Self {
            bytes: profile.queue_bytes,
            packets_count: profile.queue_packets,
        }
    }

    /// Returns true when a packet of `bytes` may join `waiting_count` packets of `waiting_bytes`.
    pub fn has_room(&self, waiting_bytes: u64, waiting_count: usize, bytes: u32) -> bool {
        let wanted_bytes = waiting_bytes + u64::from(bytes);
        self.bytes.is_none_or(|limit| wanted_bytes <= limit)
            && self
                .packets_count
                .is_none_or(|limit| (waiting_count as u64) < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_limit_counts() {
        let limit = QueueLimit {
            bytes: Some(3_000),
            packets_count: Some(3),
        };
        assert!(limit.has_room(1_500, 1, 1_500));
        assert!(!limit.has_room(1_501, 1, 1_500));
        assert!(limit.has_room(200, 2, 100));
        assert!(!limit.has_room(300, 3, 100));
        assert!(QueueLimit::default().has_room(u64::MAX / 2, usize::MAX, 1_500));
    }
}
