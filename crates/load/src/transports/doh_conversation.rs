//! The queries of one DoH connection: matching streams to queries, and judging answers. Not for:
//! sockets, TLS.

use crate::counting::slots::{IdOwner, Slots, WaitingQuery};
use crate::counting::{Tally, answer};
use crate::names::QueryTemplates;
use crate::plan::LoadPlan;
use crate::transports::doh_path;
use crate::transports::http2::{
    DohRequest, Http2, Http2Error, RequestBlock, RequestEnd, write_string,
};
use resolab_record::{DohMethod, Failure};
use std::collections::VecDeque;
use std::sync::Arc;

const STATUS_OK: u16 = 200;

/// All requests of a run, prepared as far as possible.
pub struct DohRequests {
    names: Arc<QueryTemplates>,
    block: RequestBlock,
    /// The paths as string literals of a header block, in sequence; empty for POST.
    paths: Vec<u8>,
    path_ends: Vec<usize>,
    /// The length of the longest request's content.
    content_bytes: usize,
}

impl DohRequests {
    /// Prepares the requests of a plan.
    pub fn new(plan: &LoadPlan) -> Self {
        let names = Arc::clone(&plan.names);
        let (authority, path) = (plan.resolver.authority(), plan.resolver.path.as_str());
        let (mut paths, mut path_ends) = (Vec::new(), Vec::new());
        if plan.doh_method == DohMethod::Get {
            for name in 0..names.count() as u32 {
                let path = doh_path::build_get_path(path, names.get(name).message);
                write_string(path.as_bytes(), &mut paths);
                path_ends.push(paths.len());
            }
        }
        let (block, content_bytes) = match plan.doh_method {
            DohMethod::Get => (RequestBlock::get(&authority), 0),
            DohMethod::Post => {
                let block = RequestBlock::post(&authority, path);
                (block, names.longest_bytes())
            }
        };
        Self {
            names,
            block,
            paths,
            path_ends,
            content_bytes,
        }
    }

    /// Returns the length of a query's DNS message.
    pub fn query_bytes(&self, name: u32) -> usize {
        self.names.get(name).message.len()
    }

    fn request(&self, name: u32) -> DohRequest<'_> {
        let index = name as usize;
        match self.path_ends.get(index) {
            Some(end) => {
                let start = index
                    .checked_sub(1)
                    .map_or(0, |before| self.path_ends[before]);
                DohRequest::Get(&self.paths[start..*end])
            }
            None => DohRequest::Post(self.names.get(name).message),
        }
    }
}

/// The queries of a connection.
pub struct DohConversation {
    requests: Arc<DohRequests>,
    http: Http2,
    slots: Slots,
    /// The frames to send, as scratch space.
    out: Vec<u8>,
}

impl DohConversation {
    /// Creates the state of a connection with up to `slot_count` queries in flight.
    pub fn new(requests: &Arc<DohRequests>, slot_count: usize) -> Self {
        Self {
            requests: Arc::clone(requests),
            http: Http2::new(requests.block.clone(), &mut Vec::new()),
            slots: Slots::new(slot_count),
            out: Vec::new(),
        }
    }

    /// Begins a new connection; returns the first bytes to send.
    pub fn begin(&mut self) -> &[u8] {
        self.out.clear();
        self.http = Http2::new(self.requests.block.clone(), &mut self.out);
        &self.out
    }

    /// Returns the number of queries possible now.
    pub fn room(&self) -> usize {
        let streams = self.http.room(self.requests.content_bytes);
        streams.min(self.slots.room())
    }

    /// Opens a query within the room; returns the bytes to send.
    pub fn open(&mut self, query: WaitingQuery) -> &[u8] {
        self.out.clear();
        if let Some(id) = self.slots.take(query) {
            let request = self.requests.request(query.name);
            self.http.open(request, u32::from(id), &mut self.out);
        }
        &self.out
    }

    /// Reads received bytes and books the answers; unprocessed queries go to `requeued`. Returns
    /// the bytes to send in reply.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        requeued: &mut VecDeque<WaitingQuery>,
        tally: &mut Tally,
    ) -> Result<&[u8], Http2Error> {
        self.out.clear();
        let mut booking = RequestEndBooker {
            slots: &mut self.slots,
            names: &self.requests.names,
            received_ns,
            requeued,
            tally,
        };
        self.http
            .receive(bytes, &mut self.out, &mut |event| booking.book(event))?;
        Ok(&self.out)
    }

    /// Gives up queries sent before `instant_ns`. Returns the number of queries and the bytes to
    /// send.
    pub fn give_up_before(&mut self, instant_ns: u64) -> (u64, &[u8]) {
        self.out.clear();
        let count = self.slots.give_up_before(instant_ns);
        if count > 0 {
            let slots = &self.slots;
            let is_given_up = |token| !matches!(slots.find(token as u16), IdOwner::Waiting(_));
            self.http.cancel_where(is_given_up, &mut self.out);
        }
        (count, &self.out)
    }

    /// Gives up all queries after the connection has ended; returns their number.
    pub fn give_up_all(&mut self) -> u64 {
        self.slots.give_up_all()
    }

    /// Returns true when the connection is no longer useful.
    pub fn is_done(&self) -> bool {
        self.http.is_ending() && self.http.open_count() == 0
    }

    /// Returns the number of waiting queries.
    pub fn waiting_count(&self) -> usize {
        self.slots.waiting_count()
    }
}

struct RequestEndBooker<'a> {
    slots: &'a mut Slots,
    names: &'a QueryTemplates,
    received_ns: u64,
    requeued: &'a mut VecDeque<WaitingQuery>,
    tally: &'a mut Tally,
}

impl RequestEndBooker<'_> {
    fn book(&mut self, event: RequestEnd<'_>) {
        let (RequestEnd::Answered { token, .. }
        | RequestEnd::Refused { token }
        | RequestEnd::Failed { token }) = event;
        let id = token as u16;
        let IdOwner::Waiting(query) = self.slots.find(id) else {
            // Cancelled streams are forgotten, so this is one that was cut off.
            self.tally.late_count += 1;
            return;
        };
        self.slots.note_answer(id);
        match event {
            RequestEnd::Answered { head, .. } if head.status != STATUS_OK => {
                self.tally.note_failure(Failure::HttpStatus);
            }
            RequestEnd::Answered { head, .. } if !head.is_dns_message => {
                self.tally.note_failure(Failure::QueryMalformed);
            }
            RequestEnd::Answered { body, .. } => self.book_message(query, body),
            RequestEnd::Refused { .. } => {
                self.tally.refused_count += 1;
                self.requeued.push_back(query);
            }
            RequestEnd::Failed { .. } => self.tally.note_failure(Failure::HttpProtocol),
        }
    }

    fn book_message(&mut self, query: WaitingQuery, message: &[u8]) {
        let template = self.names.get(query.name);
        let is_ours = answer::id_of(message) == Some(0);
        match answer::read(template, message).filter(|_| is_ours) {
            Some(answer) => {
                let times = (query.wanted_ns, query.first_sent_ns, self.received_ns);
                self.tally.note_completion(times, answer, message.len());
            }
            None => self.tally.note_failure(Failure::QueryMalformed),
        }
    }
}
