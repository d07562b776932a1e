//! GOAWAY of HTTP/3 (RFC 9114 section 5.2): the first request stream without an answer from the
//! server. After GOAWAY the h3 crate refuses new requests, but lets requests already sent wait.
//! Not for: sending GOAWAY, or sending requests again.

use crate::control_stream::{ControlFrames, take_varint};
use h3::quic::StreamId;
use std::sync::Arc;
use tokio::sync::watch;

/// Frame type (RFC 9114 section 7.2.6).
const GOAWAY_FRAME: u64 = 0x07;

/// The GOAWAY of one connection's server, if any.
#[derive(Debug, Clone, Default)]
pub(crate) struct GoAway(Arc<watch::Sender<Option<u64>>>);

impl GoAway {
    /// Resolves when the server's GOAWAY excludes an answer on this stream.
    pub async fn leaves_out(&self, stream: StreamId) {
        let mut first_left_out = self.0.subscribe();
        let is_left_out = |first: &Option<u64>| first.is_some_and(|id| stream.into_inner() >= id);
        if first_left_out.wait_for(is_left_out).await.is_err() {
            // The sender is here.
            std::future::pending::<()>().await;
        }
    }
}

impl ControlFrames for GoAway {
    fn frame_type(&self) -> u64 {
        GOAWAY_FRAME
    }

    fn take(&self, payload: &[u8]) {
        let mut rest = payload;
        if let Some(stream) = take_varint(&mut rest) {
            // A later one is no higher.
            self.0
                .send_modify(|first| *first = Some(first.map_or(stream, |id| id.min(stream))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control_stream::{ControlReader, frame};
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn is_left_out(go_away: &GoAway, id: u64) -> bool {
        let left_out = pin!(go_away.leaves_out(StreamId::try_from(id).unwrap()));
        let mut context = Context::from_waker(Waker::noop());
        left_out.poll(&mut context).is_ready()
    }

    #[test]
    fn what_is_at_or_above_the_number_is_left_out() {
        let go_away = GoAway::default();
        let mut reader = ControlReader::new(Arc::new(go_away.clone()));
        let streams = [0, 4, 8, 12];
        assert_eq!(streams.map(|id| is_left_out(&go_away, id)), [false; 4]);
        let settings = frame(4, &[]);
        reader.feed(&[&[0x00][..], &settings, &frame(GOAWAY_FRAME, &[8])].concat());
        let left_out = streams.map(|id| is_left_out(&go_away, id));
        assert_eq!(left_out, [false, false, true, true]);
        reader.feed(&frame(GOAWAY_FRAME, &[4]));
        let left_out = streams.map(|id| is_left_out(&go_away, id));
        assert_eq!(left_out, [false, true, true, true]);
    }
}
