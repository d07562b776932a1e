//! The effect of each frame from the server: responses, settings, flow control, resets and the end.
//! Not for: finding frames in received octets.

use super::{Http2, Http2Error, PartialHeaderBlock, RequestEnd, RequestInFlight};
use crate::transports::http2::frame::{self, FrameHeader};
use crate::transports::http2::response_head::ResponseHead;

/// The longest possible DNS message.
const BODY_MAX_BYTES: usize = 65_535;
/// The limit of a header block, read as a whole. A longer block is no answer to a DNS query.
const HEADER_BLOCK_MAX_BYTES: usize = 65_536;
/// The largest flow-control window (RFC 9113 section 6.9.1).
const WINDOW_MAX_BYTES: i64 = 0x7fff_ffff;

impl Http2 {
    /// Handles a complete frame.
    pub(super) fn receive_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        if self.continuing.is_some() && header.kind != frame::CONTINUATION {
            return Err(Http2Error::Protocol("another frame inside a header block"));
        }
        match header.kind {
            frame::DATA => self.receive_data(header, payload, on),
            frame::HEADERS => self.receive_headers(header, payload, on),
            frame::CONTINUATION => self.receive_continuation(header, payload, on),
            frame::RST_STREAM => self.receive_reset(header, payload, on),
            frame::SETTINGS => self.receive_settings(header, payload, out),
            frame::PING => receive_ping(header, payload, out),
            frame::GOAWAY => self.receive_goaway(header, payload, on),
            frame::WINDOW_UPDATE => self.receive_window_update(header, payload),
            frame::PUSH_PROMISE => Err(Http2Error::Protocol("a push, which is not enabled")),
            // PRIORITY says nothing to a client; unknown types are ignored (section 4.1).
            _ => Ok(()),
        }
    }

    fn receive_data(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        self.check_opened(header.stream)?;
        // Padding counts too (section 6.9.1).
        self.unreturned_bytes += header.length as u32;
        let content = frame::strip_padding(header, payload)
            .ok_or(Http2Error::Protocol("more padding than payload"))?;
        let Some(stream) = self.streams.get_mut(&header.stream) else {
            return Ok(());
        };
        let Some(head) = stream.head else {
            return Err(Http2Error::Protocol("content before its header"));
        };
        if stream.body.len() + content.len() > BODY_MAX_BYTES {
            return Err(Http2Error::Protocol("more content than a DNS message has"));
        }
        let token = stream.token;
        if !header.has(frame::END_STREAM) {
            stream.body.extend_from_slice(content);
        } else if stream.body.is_empty() {
            self.streams.remove(&header.stream);
            on(build_answered(token, head, content));
        } else {
            stream.body.extend_from_slice(content);
            self.answer(header.stream, on);
        }
        Ok(())
    }

    fn receive_headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        self.check_opened(header.stream)?;
        let mut block = frame::strip_padding(header, payload)
            .ok_or(Http2Error::Protocol("more padding than payload"))?;
        if header.has(frame::PRIORITY) {
            block = block
                .get(5..)
                .ok_or(Http2Error::Protocol("a header block without its priority"))?;
        }
        let is_end = header.has(frame::END_STREAM);
        if header.has(frame::END_HEADERS) {
            return self.receive_header_block(header.stream, block, is_end, on);
        }
        self.continuing = Some(PartialHeaderBlock {
            stream: header.stream,
            is_end,
            block: block.to_vec(),
        });
        Ok(())
    }

    fn receive_continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        let unasked = Http2Error::Protocol("a continuation of nothing");
        let mut continuing = self.continuing.take().ok_or(unasked.clone())?;
        if continuing.stream != header.stream {
            return Err(unasked);
        }
        if continuing.block.len() + payload.len() > HEADER_BLOCK_MAX_BYTES {
            return Err(Http2Error::Protocol("an endless header block"));
        }
        continuing.block.extend_from_slice(payload);
        if header.has(frame::END_HEADERS) {
            let PartialHeaderBlock {
                stream,
                is_end,
                block,
            } = continuing;
            return self.receive_header_block(stream, &block, is_end, on);
        }
        self.continuing = Some(continuing);
        Ok(())
    }

    /// Handles a header block: the response's header, an interim response (1xx), or a trailer.
    /// Every block is decoded, because the table belongs to the connection.
    fn receive_header_block(
        &mut self,
        number: u32,
        block: &[u8],
        is_end: bool,
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        let head = self.heads.read(block).map_err(Http2Error::Compression)?;
        if let Some(stream) = self.streams.get_mut(&number) {
            let is_interim = (100..200).contains(&head.status);
            if stream.head.is_none() && !is_interim {
                stream.head = Some(head);
            }
            if is_end {
                self.answer(number, on);
            }
        }
        Ok(())
    }

    fn receive_reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        self.check_opened(header.stream)?;
        let code = number(payload)?;
        if let Some(RequestInFlight { token, .. }) = self.streams.remove(&header.stream) {
            on(if code == frame::REFUSED_STREAM {
                RequestEnd::Refused { token }
            } else {
                RequestEnd::Failed { token }
            });
        }
        Ok(())
    }

    fn receive_settings(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Http2Error> {
        if header.stream != 0 || !payload.len().is_multiple_of(6) {
            return Err(Http2Error::Protocol("settings that are none"));
        }
        if header.has(frame::ACK) {
            return Ok(());
        }
        for setting in payload.chunks_exact(6) {
            let value = number(&setting[2..])?;
            match u16::from_be_bytes([setting[0], setting[1]]) {
                frame::SETTINGS_HEADER_TABLE_SIZE => self.requests.set_table_bytes(value),
                frame::SETTINGS_MAX_CONCURRENT_STREAMS => self.streams_max_count = value,
                frame::SETTINGS_INITIAL_WINDOW_SIZE => self.stream_window_bytes = value,
                frame::SETTINGS_MAX_FRAME_SIZE => self.frame_max_bytes = value as usize,
                _ => {}
            }
        }
        frame::write_settings_ack(out);
        Ok(())
    }

    fn receive_goaway(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        on: &mut impl FnMut(RequestEnd<'_>),
    ) -> Result<(), Http2Error> {
        let last = payload.get(..4).map(number).transpose()?;
        let (0, Some(last)) = (header.stream, last) else {
            return Err(Http2Error::Protocol("a GOAWAY that is none"));
        };
        self.is_going_away = true;
        let unprocessed: Vec<u32> = self.streams.keys().copied().filter(|n| *n > last).collect();
        for number in unprocessed {
            if let Some(RequestInFlight { token, .. }) = self.streams.remove(&number) {
                on(RequestEnd::Refused { token });
            }
        }
        Ok(())
    }

    /// Enlarges the connection's window. Windows of streams do not matter: a request's content is
    /// sent at once and whole.
    fn receive_window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Http2Error> {
        let increment = i64::from(number(payload)? & 0x7fff_ffff);
        if header.stream != 0 {
            return Ok(());
        }
        self.send_window_bytes += increment;
        if increment == 0 || self.send_window_bytes > WINDOW_MAX_BYTES {
            return Err(Http2Error::Protocol("a window of impossible size"));
        }
        Ok(())
    }

    /// Ends a stream, with the response if the header was received.
    fn answer(&mut self, number: u32, on: &mut impl FnMut(RequestEnd<'_>)) {
        if let Some(stream) = self.streams.remove(&number) {
            let token = stream.token;
            on(match stream.head {
                Some(head) => build_answered(token, head, &stream.body),
                None => RequestEnd::Failed { token },
            });
        }
    }

    /// Checks the stream number: a server may only use opened streams (section 5.1.1).
    fn check_opened(&self, stream: u32) -> Result<(), Http2Error> {
        if stream % 2 == 1 && stream < self.next_stream {
            Ok(())
        } else {
            Err(Http2Error::Protocol("a stream that was never opened"))
        }
    }
}

fn build_answered(token: u32, head: ResponseHead, body: &[u8]) -> RequestEnd<'_> {
    RequestEnd::Answered { token, head, body }
}

fn number(payload: &[u8]) -> Result<u32, Http2Error> {
    let octets = payload.try_into();
    octets
        .map(u32::from_be_bytes)
        .map_err(|_| Http2Error::Protocol("a frame of the wrong length"))
}

fn receive_ping(header: FrameHeader, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Http2Error> {
    if header.stream != 0 || payload.len() != 8 {
        return Err(Http2Error::Protocol("a ping that is none"));
    }
    if !header.has(frame::ACK) {
        frame::write_ping_ack(out, payload);
    }
    Ok(())
}
