//! The PRIORITY_UPDATE frame of HTTP/3 (RFC 9218 section 7.2): a client changes the priority of a
//! request, sent already or still to be sent.
//!
//! For: writing the frame, and keeping the latest frame of each request for a forwarding gateway.
//! Not for: the meaning of a priority (none of our programs schedules by priority); pushed streams,
//! which do not exist here; HTTP/2, because the library blocks this frame.

use crate::control_stream::{ControlFrames, frame, put_varint, take_varint};
use bytes::{Bytes, BytesMut};
use h3::quic::StreamId;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Frame type for requests (RFC 9218 section 7.2).
const PRIORITY_UPDATE_FRAME: u64 = 0x000f_0700;
/// Maximum number of requests with a kept update, and the longest Priority Field Value, in bytes.
/// The limits keep a client from using up memory.
const STREAMS_MAX_COUNT: usize = 1_024;
const VALUE_MAX_BYTES: usize = 1_024;

/// Encodes the frame for a request's stream, with a Priority Field Value such as `u=1, i`.
pub(crate) fn priority_update_frame(stream: u64, value: &[u8]) -> Bytes {
    let mut payload = BytesMut::new();
    put_varint(&mut payload, stream);
    payload.extend_from_slice(value);
    frame(PRIORITY_UPDATE_FRAME, &payload)
}

/// The last update of a request's priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorityUpdate {
    /// The Priority Field Value, verbatim.
    pub value: Bytes,
    /// Number of updates of this request, including this update.
    pub number: u32,
}

/// The priority updates sent by a connection's client.
#[derive(Debug, Clone, Default)]
pub struct PriorityUpdates(Arc<watch::Sender<BTreeMap<u64, PriorityUpdate>>>);

impl PriorityUpdates {
    /// Returns the updates of one request, earlier and later ones. The updates are forgotten at the
    /// drop.
    pub fn subscribe(&self, stream: StreamId) -> RequestPriority {
        RequestPriority {
            updates: self.clone(),
            stream: stream.into_inner(),
        }
    }
}

/// The priority updates of one request.
#[derive(Debug)]
pub struct RequestPriority {
    updates: PriorityUpdates,
    stream: u64,
}

impl RequestPriority {
    /// Waits for an update with a number above `number`; returns the latest.
    pub async fn wait_for_newer(&self, number: u32) -> PriorityUpdate {
        let mut watching = self.updates.0.subscribe();
        let newer = |all: &BTreeMap<_, PriorityUpdate>| {
            let latest = all.get(&self.stream)?;
            (latest.number > number).then(|| latest.clone())
        };
        loop {
            let update = newer(&watching.borrow_and_update());
            if let Some(update) = update {
                return update;
            }
            if watching.changed().await.is_err() {
                // Not while there is a sender, which this has.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for RequestPriority {
    fn drop(&mut self) {
        self.updates.0.send_if_modified(|all| {
            all.remove(&self.stream);
            false // nobody waits for it to go
        });
    }
}

impl ControlFrames for PriorityUpdates {
    fn frame_type(&self) -> u64 {
        PRIORITY_UPDATE_FRAME
    }

    fn take(&self, payload: &[u8]) {
        let mut value = payload;
        let Some(stream) = take_varint(&mut value).filter(|_| value.len() <= VALUE_MAX_BYTES)
        else {
            return;
        };
        self.0.send_modify(|all| {
            let number = all.get(&stream).map_or(0, |before| before.number);
            let value = Bytes::copy_from_slice(value);
            let number = number + 1;
            all.insert(stream, PriorityUpdate { value, number });
            if all.len() > STREAMS_MAX_COUNT {
                // The oldest, which has most likely ended.
                all.pop_first();
            }
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::control_stream::ControlReader;
    use std::time::Duration;
    use tokio::time::timeout;

    fn stream(number: u64) -> StreamId {
        StreamId::try_from(number).unwrap()
    }

    fn feed(updates: &PriorityUpdates, frames: &[Bytes]) {
        let mut reader = ControlReader::new(Arc::new(updates.clone()));
        reader.feed(&[0x00, 0x04, 0x00]);
        for frame in frames {
            reader.feed(frame);
        }
    }

    #[test]
    fn the_frame_is_as_the_standard_says() {
        let frame = priority_update_frame(8, b"u=1");
        assert_eq!(frame[..], [0x80, 0x0f, 0x07, 0x00, 4, 8, b'u', b'=', b'1']);
        let large = priority_update_frame(1 << 40, b"");
        assert_eq!(large[4..6], [8, 0xc0]);
    }

    #[tokio::test]
    async fn the_latest_of_each_request_is_told_once() {
        let updates = PriorityUpdates::default();
        let of = |stream, value| priority_update_frame(stream, value);
        feed(&updates, &[of(4, b"u=5"), of(8, b"u=1"), of(4, b"u=2, i")]);
        let [first, second, third] = [0, 4, 8].map(|number| updates.subscribe(stream(number)));
        let latest = second.wait_for_newer(0).await;
        assert_eq!((&latest.value[..], latest.number), (&b"u=2, i"[..], 2));
        assert_eq!(third.wait_for_newer(0).await.number, 1);
        let more = second.wait_for_newer(2);
        let short = Duration::from_millis(50);
        assert!(timeout(short, first.wait_for_newer(0)).await.is_err());
        let (more, ()) = tokio::join!(more, async { feed(&updates, &[of(4, b"")]) });
        assert_eq!((more.value.len(), more.number), (0, 3));
        drop(second);
        let again = updates.subscribe(stream(4));
        assert!(timeout(short, again.wait_for_newer(0)).await.is_err());
    }

    #[tokio::test]
    async fn what_a_client_says_takes_bounded_memory() {
        let updates = PriorityUpdates::default();
        let long = vec![b'x'; VALUE_MAX_BYTES + 1];
        feed(&updates, &[priority_update_frame(0, &long)]);
        assert_eq!(updates.0.borrow().len(), 0);
        let many: Vec<_> = (0..5_000)
            .map(|number| priority_update_frame(number * 4, b"u=0"))
            .collect();
        feed(&updates, &many);
        assert_eq!(updates.0.borrow().len(), STREAMS_MAX_COUNT);
        assert_eq!(
            updates
                .subscribe(stream(4_999 * 4))
                .wait_for_newer(0)
                .await
                .number,
            1
        );
    }
}
