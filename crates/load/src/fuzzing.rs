//! Access to private functions for the fuzz targets, only in the fuzzing build (`--cfg fuzzing`).
//! Not for: other callers.

use crate::counting::answer;
use crate::names::QueryTemplates;
use crate::transports::http2::{DohRequest, Http2, RequestBlock, RequestEnd};

/// The requests in flight on a connection, with the number of ends of each request.
pub struct FuzzedRequests {
    http: Http2,
    out: Vec<u8>,
    ended_counts: Vec<u32>,
    names: QueryTemplates,
}

impl FuzzedRequests {
    /// Opens `count` requests by GET.
    pub fn opened(count: u32) -> Self {
        let mut out = Vec::new();
        let mut http = Http2::new(RequestBlock::get("dns.example"), &mut out);
        for token in 0..count {
            http.open(DohRequest::Get(b"\x04/abc"), token, &mut out);
        }
        let names = QueryTemplates::parse("Example.test AAAA", None, false);
        Self {
            http,
            out,
            ended_counts: vec![0; count as usize],
            names: names.unwrap_or_else(|error| unreachable!("{error}")),
        }
    }

    /// Reads bytes from the server; `None` if the connection is at its end.
    pub fn receive(&mut self, bytes: &[u8]) -> Option<()> {
        let (counts, names) = (&mut self.ended_counts, &self.names);
        let mut on = |event: RequestEnd<'_>| {
            let token = match event {
                RequestEnd::Answered { token, body, .. } => {
                    answer::read(names.get(0), body);
                    token
                }
                RequestEnd::Refused { token } | RequestEnd::Failed { token } => token,
            };
            counts[token as usize] += 1;
        };
        let received = self.http.receive(bytes, &mut self.out, &mut on);
        self.out.clear();
        received.ok()
    }

    /// Returns the number of ends of each request.
    pub fn ended_counts(&self) -> &[u32] {
        &self.ended_counts
    }
}
