//! A reply's body for hyper, with its record.
//!
//! Not for: other versions, because their bodies are pushed and not pulled.

use super::http_record::PendingRecord;
use crate::web::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

const PIECE_BYTES: usize = 16 * 1_024;

/// A body with the record of its exchange.
pub struct ReplyBody {
    body: Body,
    pending: PendingRecord,
}

impl ReplyBody {
    /// Makes an unread body. An empty body counts as sent with its head.
    pub fn new(body: Body, mut pending: PendingRecord) -> Self {
        if body.is_empty() {
            pending.finish();
        }
        Self { body, pending }
    }
}

impl hyper::body::Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.body.is_empty() {
            return Poll::Ready(None);
        }
        let piece = this.body.next(PIECE_BYTES);
        this.pending.first_body_byte();
        if this.body.is_empty() {
            this.pending.finish();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.len())
    }
}
