//! One fetch under its clock: the connection, the query, the page on the same connection or on
//! another. Not for: writing the record (`record`).

use super::client::{FetchClient, Server};
use crate::exchange::ExchangeLog;
use crate::iana::{self, doq_error};
use crate::message::{Response, build_query, check_echo, read_response};
use crate::transports::doh3::Doh3Session;
use crate::transports::doq::DoqSession;
use http::StatusCode;
use resolab_http::private_alpn::DNS_PREFIX;
use resolab_http::{H3_NO_ERROR, H3Client, ResponseTimes};
use resolab_record::{
    CoalescingMode, CoverageSource, DnsTransport, Failure, SharedBecause, Speculation,
};
use resolab_transport::client::{MeasuredFailure, QuicConnection, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// The maximum length of a page, in bytes.
const PAGE_MAX_BYTES: usize = 64 << 20;
/// The time given to the runtime to send a close.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_millis(2);

/// A connection of a fetch, with the facts for its record.
pub(super) struct Opened {
    pub address: SocketAddr,
    pub server_name: String,
    pub address_token_used: bool,
    pub log: Arc<SetupLog>,
    pub quic: Option<Arc<QuicConnection>>,
}

/// The known facts of a fetch, filled in during the fetch and kept after a deadline.
#[derive(Default)]
pub(super) struct Course {
    pub time_origin_ns: u64,
    pub opened: Mutex<Vec<Opened>>,
    pub query: ExchangeLog,
    pub response: OnceLock<Response>,
    /// The times of the request whose response is the page.
    pub page: Mutex<Arc<ResponseTimes>>,
    pub coverage: OnceLock<CoverageSource>,
    pub shared_because: OnceLock<SharedBecause>,
    pub speculation: OnceLock<Speculation>,
    pub status: OnceLock<StatusCode>,
    pub page_bytes: OnceLock<u64>,
}

/// The page as received, with any status.
struct Page {
    status: StatusCode,
    bytes: u64,
}

/// The connection to the resolver.
struct Resolver {
    /// HTTP/3 on the connection; `None` when the connection is DoQ only.
    http: Option<Arc<H3Client>>,
    carrier: Carrier,
}

enum Carrier {
    Doh3(Doh3Session),
    Doq(DoqSession),
}

impl Course {
    fn begin() -> Self {
        Self {
            time_origin_ns: monotonic_ns(),
            ..Self::default()
        }
    }

    fn set_page(&self, times: Arc<ResponseTimes>) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = times;
    }

    /// Closes the open connections in an orderly way.
    pub async fn close(&self) {
        let opened =
            std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        for quic in opened.into_iter().filter_map(|one| one.quic) {
            let handshake = quic.log.handshake();
            let is_doq = handshake.is_some_and(|it| it.alpn.as_deref() == Some(iana::ALPN_DOQ));
            quic.close(if is_doq {
                doq_error::NO_ERROR
            } else {
                H3_NO_ERROR
            });
            quic.drained(CLOSE_LEAVES_WITHIN).await;
        }
    }
}

impl FetchClient {
    /// Fetches name and page. Open connections stay open until the course is closed.
    pub(super) async fn run(
        &self,
        is_speculative: bool,
        deadline: Duration,
    ) -> (Course, Result<(), MeasuredFailure>) {
        let course = Course::begin();
        let fetched = tokio::time::timeout(deadline, self.fetch(&course, is_speculative)).await;
        let result = fetched.unwrap_or_else(|_| Err(course.cut_off(deadline)));
        (course, result)
    }

    async fn fetch(&self, course: &Course, is_speculative: bool) -> Result<(), MeasuredFailure> {
        let resolver = self.open_resolver(course).await?;
        let shared = resolver
            .http
            .as_ref()
            .filter(|_| self.options.mode != CoalescingMode::Separate);
        let Some(http) = shared else {
            let response = self.ask(course, &resolver.carrier).await?;
            return self.fetch_elsewhere(course, &response).await;
        };
        let page = match self
            .fetch_shared(course, &resolver, http, is_speculative)
            .await?
        {
            Shared::Page(page) => page,
            Shared::Elsewhere(response) => {
                return self.fetch_elsewhere(course, &response).await;
            }
        };
        course.finish(&page)
    }

    /// Fetches name and page on one connection.
    async fn fetch_shared(
        &self,
        course: &Course,
        resolver: &Resolver,
        http: &Arc<H3Client>,
        is_speculative: bool,
    ) -> Result<Shared, MeasuredFailure> {
        let coverage = is_speculative.then(|| self.coverage(http)).flatten();
        let times = Arc::new(ResponseTimes::default());
        let mut request = pin!(self.get(http, &times));
        let mut early = None;
        let response = match coverage {
            None => self.ask(course, &resolver.carrier).await?,
            Some(source) => {
                let _ = course.coverage.set(source);
                let mut asking = pin!(self.ask(course, &resolver.carrier));
                // The query first; both are written before anything is waited for, so that they
                // share a flight.
                poll_fn(|cx| {
                    let asked = asking.as_mut().poll(cx);
                    if early.is_none()
                        && let Poll::Ready(page) = request.as_mut().poll(cx)
                    {
                        early = Some(page);
                    }
                    asked
                })
                .await?
            }
        };
        http.read_control().await;
        self.learn(http);
        let because = self.shared_because(http, &response.addresses);
        let is_sent = coverage.is_some();
        let Some(because) = because else {
            course.judge(is_speculative, is_sent, false);
            return Ok(Shared::Elsewhere(response));
        };
        course.set_page(Arc::clone(&times));
        let page = match early {
            Some(page) => page?,
            None => request.await?,
        };
        self.learn(http);
        if page.status == StatusCode::MISDIRECTED_REQUEST {
            self.unlearn(http);
            course.judge(is_speculative, is_sent, false);
            return Ok(Shared::Elsewhere(response));
        }
        let _ = course.shared_because.set(because);
        course.judge(is_speculative, is_sent, true);
        Ok(Shared::Page(page))
    }

    /// Fetches the page from the address of its name.
    async fn fetch_elsewhere(
        &self,
        course: &Course,
        response: &Response,
    ) -> Result<(), MeasuredFailure> {
        let Some(address) = response.addresses.first() else {
            let detail = "the name has no address";
            return Err(MeasuredFailure::new(Failure::Other, detail));
        };
        self.web_was_used
            .store(true, std::sync::atomic::Ordering::Relaxed);
        let times = Arc::new(ResponseTimes::default());
        course.set_page(Arc::clone(&times));
        let address = SocketAddr::new(*address, self.page.port);
        let quic = course.open(&self.web, address).await?;
        let http = H3Client::open(quic).await?;
        let page = self.get(&http, &times).await?;
        course.finish(&page)
    }

    async fn open_resolver(&self, course: &Course) -> Result<Resolver, MeasuredFailure> {
        let quic = course.open(&self.dns, self.resolver_at).await?;
        let speaks_http = self.options.mode != CoalescingMode::Separate
            || self.resolver.transport == DnsTransport::Doh3;
        if !speaks_http {
            let carrier = Carrier::Doq(DoqSession::on(quic, b""));
            return Ok(Resolver {
                http: None,
                carrier,
            });
        }
        let http = Arc::new(H3Client::open(Arc::clone(&quic)).await?);
        http.read_control().await;
        let carrier = if self.options.mode == CoalescingMode::PrivateAlpn {
            Carrier::Doq(DoqSession::on(quic, &DNS_PREFIX))
        } else {
            Carrier::Doh3(Doh3Session {
                client: Arc::clone(&http),
                template: self.template.clone(),
            })
        };
        Ok(Resolver {
            http: Some(http),
            carrier,
        })
    }

    async fn ask(&self, course: &Course, carrier: &Carrier) -> Result<Response, MeasuredFailure> {
        let edns = self.edns.of_query(&self.question, None);
        let query = build_query(&self.question, 0, &edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let (answer, age_s) = match carrier {
            Carrier::Doh3(session) => {
                let answer = session.exchange(&query, &course.query).await?;
                answer.into_parts()
            }
            Carrier::Doq(session) => (session.exchange(&query, &course.query).await?, 0),
        };
        let malformed = |error| MeasuredFailure::new(Failure::QueryMalformed, error);
        check_echo(&query, &answer).map_err(malformed)?;
        let response = read_response(&answer).map_err(malformed)?.aged(age_s);
        if let Carrier::Doq(session) = carrier {
            session.check(&response.message)?;
        }
        let _ = course.response.set(response.clone());
        if !response.is_answer || response.addresses.is_empty() {
            let detail = format!("{} without an address", response.rcode);
            return Err(MeasuredFailure::new(Failure::DnsRcode, detail));
        }
        Ok(response)
    }

    async fn get(&self, http: &H3Client, times: &ResponseTimes) -> Result<Page, MeasuredFailure> {
        let request = self.page.request();
        let request = request.map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let exchange = http.exchange_timed(request, PAGE_MAX_BYTES, times).await?;
        Ok(Page {
            status: exchange.response.status(),
            bytes: exchange.response.body().len() as u64,
        })
    }
}

enum Shared {
    Page(Page),
    /// The connection is unusable for the page; the name is known.
    Elsewhere(Response),
}

impl Course {
    async fn open(
        &self,
        server: &Server,
        address: SocketAddr,
    ) -> Result<Arc<QuicConnection>, MeasuredFailure> {
        let log = Arc::<SetupLog>::default();
        log.set_peer_address(address);
        let number = {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push(Opened {
                address,
                server_name: server.name.clone(),
                address_token_used: false,
                log: Arc::clone(&log),
                quic: None,
            });
            opened.len() - 1
        };
        let quic = Arc::new(server.quic.connect(address, log).await?);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened[number].quic = Some(Arc::clone(&quic));
        opened[number].address_token_used = server.tokens.was_used();
        Ok(quic)
    }

    fn judge(&self, is_wanted: bool, is_sent: bool, is_used: bool) {
        if is_wanted {
            let _ = self.speculation.set(match (is_sent, is_used) {
                (false, _) => Speculation::NotSent,
                (true, true) => Speculation::Used,
                (true, false) => Speculation::Discarded,
            });
        }
    }

    fn finish(&self, page: &Page) -> Result<(), MeasuredFailure> {
        let _ = self.status.set(page.status);
        let _ = self.page_bytes.set(page.bytes);
        if page.status == StatusCode::OK {
            Ok(())
        } else {
            let detail = format!("status {}", page.status);
            Err(MeasuredFailure::new(Failure::HttpStatus, detail))
        }
    }

    fn cut_off(&self, deadline: Duration) -> MeasuredFailure {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = opened
            .last()
            .map_or(Failure::Other, |last| last.log.failure_at_deadline());
        let detail = format!("the deadline of {} ms passed", deadline.as_millis());
        MeasuredFailure::new(failure, detail)
    }
}
