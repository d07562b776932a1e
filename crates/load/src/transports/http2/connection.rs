//! The state of an HTTP/2 connection: opening and giving up requests, and finding whole frames in
//! received octets. Octets in, octets and events out. Not for: the effect of a frame; see
//! `receive`.

mod receive;

use super::frame::{self, FrameHeader};
use super::request_block::RequestBlock;
use super::response_head::{ResponseHead, ResponseHeads};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// The initial window of a stream: room for any DNS message.
const STREAM_WINDOW_BYTES: u32 = 1 << 17;
/// The receive window of the connection, and the initial size (RFC 9113 section 6.9.2).
const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
const DEFAULT_WINDOW_BYTES: u32 = 65_535;
/// The limit of streams before the server announces a limit. RFC 9113 section 6.5.2 allows any
/// number; most servers refuse more than 100.
const STREAMS_UNTIL_TOLD_COUNT: u32 = 100;
/// The highest stream number of a client: streams have the odd numbers of 31 bits.
const STREAM_MAX: u32 = 0x7fff_ffff;

/// The reason for the end of a connection; all waiting requests are lost.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Http2Error {
    /// The peer broke RFC 9113.
    #[error("the server broke HTTP/2: {0}")]
    Protocol(&'static str),
    /// The header block is unreadable.
    #[error("read a header block: {0}")]
    Compression(String),
}

/// The end of a request, named by the token of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd<'a> {
    /// The response is complete.
    Answered {
        /// The token of the request.
        token: u32,
        /// The header of the response.
        head: ResponseHead,
        /// The content of the response.
        body: &'a [u8],
    },
    /// The server did not process the request: REFUSED_STREAM, or left out by a GOAWAY. The request
    /// may be sent again.
    Refused {
        /// The token of the request.
        token: u32,
    },
    /// The server gave up the stream, or sent no response.
    Failed {
        /// The token of the request.
        token: u32,
    },
}

/// The request to open.
#[derive(Debug, Clone, Copy)]
pub enum DohRequest<'a> {
    /// The path with the query, as a string literal of a header block.
    Get(&'a [u8]),
    /// The DNS message, as the content.
    Post(&'a [u8]),
}

/// A request in flight.
struct RequestInFlight {
    token: u32,
    head: Option<ResponseHead>,
    body: Vec<u8>,
}

/// A header block with more frames to follow.
struct PartialHeaderBlock {
    stream: u32,
    is_end: bool,
    block: Vec<u8>,
}

/// The client state of an HTTP/2 connection.
pub struct Http2 {
    requests: RequestBlock,
    heads: ResponseHeads,
    streams: FxHashMap<u32, RequestInFlight>,
    next_stream: u32,
    /// The octets of an incomplete frame.
    partial: Vec<u8>,
    continuing: Option<PartialHeaderBlock>,
    /// The limits announced by the server.
    streams_max_count: u32,
    stream_window_bytes: u32,
    send_window_bytes: i64,
    frame_max_bytes: usize,
    /// The content received and not yet returned to the server's window.
    unreturned_bytes: u32,
    is_going_away: bool,
}

impl Http2 {
    /// Writes preface, SETTINGS and a wide window; requests may follow at once.
    pub fn new(requests: RequestBlock, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(frame::PREFACE);
        let settings = [
            (frame::SETTINGS_ENABLE_PUSH, 0),
            (frame::SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
        ];
        frame::write_settings(out, &settings);
        let more = CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;
        frame::write_window_update(out, 0, more);
        Self {
            requests,
            heads: ResponseHeads::default(),
            streams: FxHashMap::default(),
            next_stream: 1,
            partial: Vec::new(),
            continuing: None,
            streams_max_count: STREAMS_UNTIL_TOLD_COUNT,
            stream_window_bytes: DEFAULT_WINDOW_BYTES,
            send_window_bytes: i64::from(DEFAULT_WINDOW_BYTES),
            frame_max_bytes: frame::MAX_FRAME_BYTES,
            unreturned_bytes: 0,
            is_going_away: false,
        }
    }

    /// Returns true when no further request can ever be opened. Either the server announced the
    /// end, or all stream numbers are used.
    pub fn is_ending(&self) -> bool {
        self.is_going_away || self.next_stream > STREAM_MAX
    }

    /// Returns the number of requests possible now, with contents of at most `content_bytes`.
    pub fn room(&self, content_bytes: usize) -> usize {
        let fits = content_bytes <= self.frame_max_bytes
            && content_bytes <= self.stream_window_bytes as usize;
        if self.is_ending() || !fits {
            return 0;
        }
        let streams = (self.streams_max_count as usize).saturating_sub(self.streams.len());
        let window = self.send_window_bytes.max(0) as usize;
        // Requests without content are not held up by a window.
        let contents = window.checked_div(content_bytes);
        streams.min(contents.unwrap_or(usize::MAX))
    }

    /// Returns the number of requests in flight.
    pub fn open_count(&self) -> usize {
        self.streams.len()
    }

    /// Writes a request within the [`room`](Self::room); returns the stream number.
    pub fn open(&mut self, request: DohRequest<'_>, token: u32, out: &mut Vec<u8>) -> u32 {
        let stream = self.next_stream;
        self.next_stream += 2;
        let start = out.len();
        let header = FrameHeader {
            length: 0,
            kind: frame::HEADERS,
            flags: frame::END_HEADERS,
            stream,
        };
        header.write(out);
        match request {
            DohRequest::Get(path) => self.requests.write_get(path, out),
            DohRequest::Post(message) => self.requests.write_post(message.len(), out),
        }
        let length = out.len() - start - frame::HEADER_BYTES;
        out[start..start + 3].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
        match request {
            DohRequest::Get(_) => out[start + 4] |= frame::END_STREAM,
            // Right behind the header: some servers refuse another request in between.
            DohRequest::Post(message) => self.write_data(stream, message, out),
        }
        let body = Vec::new();
        let waiting = RequestInFlight {
            token,
            head: None,
            body,
        };
        self.streams.insert(stream, waiting);
        stream
    }

    fn write_data(&mut self, stream: u32, message: &[u8], out: &mut Vec<u8>) {
        self.send_window_bytes -= message.len() as i64;
        let header = FrameHeader {
            length: message.len(),
            kind: frame::DATA,
            flags: frame::END_STREAM,
            stream,
        };
        header.write(out);
        out.extend_from_slice(message);
    }

    /// Gives up requests; later frames of their streams are ignored.
    pub fn cancel_where(&mut self, is_given_up: impl Fn(u32) -> bool, out: &mut Vec<u8>) {
        self.streams.retain(|number, stream| {
            let cancelled = is_given_up(stream.token);
            if cancelled {
                frame::write_reset(out, *number, frame::CANCEL);
            }
            !cancelled
        });
    }

    /// Reads received octets. Replies required by the protocol are written to `out`.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        if self.partial.is_empty() {
            let used = self.receive_frames(bytes, out, on)?;
            self.partial.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.partial);
            all.extend_from_slice(bytes);
            let used = self.receive_frames(&all, out, on)?;
            all.drain(..used);
            self.partial = all;
        }
        self.return_window(out);
        Ok(())
    }

    /// Handles all whole frames; returns the number of octets used.
    fn receive_frames(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<usize, Http2Error> {
        let mut at = 0;
        while let Some(header) = FrameHeader::read(&bytes[at..]) {
            if header.length > frame::MAX_FRAME_BYTES {
                return Err(Http2Error::Protocol("a frame longer than allowed"));
            }
            let start = at + frame::HEADER_BYTES;
            let Some(payload) = bytes.get(start..start + header.length) else {
                break;
            };
            self.receive_frame(header, payload, out, on)?;
            at = start + header.length;
        }
        Ok(at)
    }

    fn return_window(&mut self, out: &mut Vec<u8>) {
        if self.unreturned_bytes > CONNECTION_WINDOW_BYTES / 2 {
            frame::write_window_update(out, 0, self.unreturned_bytes);
            self.unreturned_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests;
