//! Converts numbers and errors between quinn and the h3 crate.

use h3::error::Code;
use h3::quic::{ConnectionErrorIncoming, StreamErrorIncoming, StreamId};
use quinn::{ConnectionError, ReadError, VarInt, WriteError};
use std::io;
use std::sync::Arc;

pub(super) fn close(connection: &quinn::Connection, code: Code, reason: &[u8]) {
    connection.close(var_int(code.value()), reason);
}

pub(super) fn var_int(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

pub(super) fn stream_id(id: quinn::StreamId) -> StreamId {
    StreamId::try_from(u64::from(VarInt::from(id))).expect("stream ids are below 2^62")
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors are quinn's, and the h3 crate tells no more of them apart"
)]
pub(super) fn connection_error(error: ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => ConnectionErrorIncoming::ApplicationClose {
            error_code: close.error_code.into_inner(),
        },
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        other => ConnectionErrorIncoming::Undefined(Arc::new(other)),
    }
}

pub(super) fn lost(error: ConnectionError) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: connection_error(error),
    }
}

/// Makes the error of a frame above the limit, or of too many bytes outside the body.
pub(super) fn too_long() -> StreamErrorIncoming {
    let error = io::Error::other("a head, or another frame, is too large");
    StreamErrorIncoming::Unknown(Box::new(error))
}

/// Makes the error of a stream ended within a frame.
pub(super) fn cut_short() -> StreamErrorIncoming {
    let error = io::Error::other("the stream ended within a frame");
    StreamErrorIncoming::Unknown(Box::new(error))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors are quinn's, and the h3 crate tells no more of them apart"
)]
pub(super) fn read_error(error: ReadError) -> StreamErrorIncoming {
    match error {
        ReadError::Reset(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        ReadError::ConnectionLost(error) => lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors are quinn's, and the h3 crate tells no more of them apart"
)]
pub(super) fn write_error(error: WriteError) -> StreamErrorIncoming {
    match error {
        WriteError::Stopped(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        WriteError::ConnectionLost(error) => lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
    }
}
