//! The queries of one DoH connection: which stream answers which, and what an answer is worth. Not
//! for: sockets, TLS.

use crate::counting::slots::{Found, Slots, Waiting};
use crate::counting::{Tally, answer};
use crate::names::Names;
use crate::plan::LoadPlan;
use crate::transports::doh_path;
use crate::transports::http2::{Event, Http2, Http2Error, Request, RequestBlock, write_string};
use resolab_record::{DohMethod, Failure};
use std::collections::VecDeque;
use std::sync::Arc;

const STATUS_OK: u16 = 200;

/// All requests of a run, as ready as they can be.
pub struct Requests {
    names: Arc<Names>,
    block: RequestBlock,
    /// Paths as string literals of a header block, one after the other; empty for POST.
    paths: Vec<u8>,
    path_ends: Vec<usize>,
    /// Of the longest request's content.
    content_bytes: usize,
}

impl Requests {
    /// The requests of a plan.
    pub fn new(plan: &LoadPlan) -> Self {
        let names = Arc::clone(&plan.names);
        let (authority, path) = (plan.resolver.authority(), plan.resolver.path.as_str());
        let (mut paths, mut path_ends) = (Vec::new(), Vec::new());
        if plan.doh_method == DohMethod::Get {
            for name in 0..names.count() as u32 {
                let path = doh_path::of_get(path, names.get(name).message);
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

    /// Length of a query's DNS message.
    pub fn query_bytes(&self, name: u32) -> usize {
        self.names.get(name).message.len()
    }

    fn request(&self, name: u32) -> Request<'_> {
        let index = name as usize;
        match self.path_ends.get(index) {
            Some(end) => {
                let start = index
                    .checked_sub(1)
                    .map_or(0, |before| self.path_ends[before]);
                Request::Get(&self.paths[start..*end])
            }
            None => Request::Post(self.names.get(name).message),
        }
    }
}

/// One connection's queries.
pub struct Conversation {
    requests: Arc<Requests>,
    http: Http2,
    slots: Slots,
    /// Frames to be sent, in passing use.
    out: Vec<u8>,
}

impl Conversation {
    /// A connection that may have `slot_count` queries under way.
    pub fn new(requests: &Arc<Requests>, slot_count: usize) -> Self {
        Self {
            requests: Arc::clone(requests),
            http: Http2::new(requests.block.clone(), &mut Vec::new()),
            slots: Slots::new(slot_count),
            out: Vec::new(),
        }
    }

    /// A new connection: what is to be sent first.
    pub fn begin(&mut self) -> &[u8] {
        self.out.clear();
        self.http = Http2::new(self.requests.block.clone(), &mut self.out);
        &self.out
    }

    /// Queries that can be opened now.
    pub fn room(&self) -> usize {
        let streams = self.http.room(self.requests.content_bytes);
        streams.min(self.slots.room())
    }

    /// Open a query there is room for: what is to be sent.
    pub fn open(&mut self, query: Waiting) -> &[u8] {
        self.out.clear();
        if let Some(id) = self.slots.take(query) {
            let request = self.requests.request(query.name);
            self.http.open(request, u32::from(id), &mut self.out);
        }
        &self.out
    }

    /// Read what came and book it; queries the server has not processed go to `requeued`. What is to
    /// be sent in reply.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        requeued: &mut VecDeque<Waiting>,
        tally: &mut Tally,
    ) -> Result<&[u8], Http2Error> {
        self.out.clear();
        let mut booking = Booking {
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

    /// Give up queries sent before: how many, and what is to be sent.
    pub fn give_up_before(&mut self, instant_ns: u64) -> (u64, &[u8]) {
        self.out.clear();
        let count = self.slots.give_up_before(instant_ns);
        if count > 0 {
            let slots = &self.slots;
            let is_given_up = |token| !matches!(slots.find(token as u16), Found::Waiting(_));
            self.http.cancel_where(is_given_up, &mut self.out);
        }
        (count, &self.out)
    }

    /// Give up all, the connection having ended; how many.
    pub fn give_up_all(&mut self) -> u64 {
        self.slots.give_up_all()
    }

    /// Whether the connection is of no more use.
    pub fn is_done(&self) -> bool {
        self.http.is_ending() && self.http.open_count() == 0
    }

    /// Queries that wait.
    pub fn waiting_count(&self) -> usize {
        self.slots.waiting_count()
    }
}

struct Booking<'a> {
    slots: &'a mut Slots,
    names: &'a Names,
    received_ns: u64,
    requeued: &'a mut VecDeque<Waiting>,
    tally: &'a mut Tally,
}

impl Booking<'_> {
    fn book(&mut self, event: Event<'_>) {
        let (Event::Answered { token, .. } | Event::Refused { token } | Event::Failed { token }) =
            event;
        let id = token as u16;
        let Found::Waiting(query) = self.slots.find(id) else {
            // Cancelled streams are forgotten, so this is one that was cut off.
            self.tally.late_count += 1;
            return;
        };
        self.slots.answered(id);
        match event {
            Event::Answered { head, .. } if head.status != STATUS_OK => {
                self.tally.failed(Failure::HttpStatus);
            }
            Event::Answered { head, .. } if !head.is_dns_message => {
                self.tally.failed(Failure::QueryMalformed);
            }
            Event::Answered { body, .. } => self.book_message(query, body),
            Event::Refused { .. } => {
                self.tally.refused_count += 1;
                self.requeued.push_back(query);
            }
            Event::Failed { .. } => self.tally.failed(Failure::HttpProtocol),
        }
    }

    fn book_message(&mut self, query: Waiting, message: &[u8]) {
        let template = self.names.get(query.name);
        let is_ours = answer::id_of(message) == Some(0);
        match answer::read(template, message).filter(|_| is_ours) {
            Some(answer) => {
                let times = (query.wanted_ns, query.first_sent_ns, self.received_ns);
                self.tally.completed(times, answer, message.len());
            }
            None => self.tally.failed(Failure::QueryMalformed),
        }
    }
}
