//! One fetch under its clock: the connection, the query, the page on the same connection or on
//! another. Not for: writing the record (`record`).

use super::client::{FetchClient, QuicServer};
use http::StatusCode;
use resolab_dns::Doh3Session;
use resolab_dns::ExchangeLog;
use resolab_dns::iana::{self, doq_error};
use resolab_dns::message::{DnsResponse, build_query, check_echo, read_response};
use resolab_dns::{DoqSession, doq_beside_h3};
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
pub(super) struct FetchedConnection {
    pub address: SocketAddr,
    pub server_name: String,
    pub address_token_used: bool,
    pub log: Arc<SetupLog>,
    pub quic: Option<Arc<QuicConnection>>,
}

/// The known facts of a fetch, filled in during the fetch and kept after a deadline.
#[derive(Default)]
pub(super) struct FetchProgress {
    pub time_origin_ns: u64,
    pub opened: Mutex<Vec<FetchedConnection>>,
    pub query: ExchangeLog,
    pub response: OnceLock<DnsResponse>,
    /// The times of the request whose response is the page.
    pub page: Mutex<Arc<ResponseTimes>>,
    pub coverage: OnceLock<CoverageSource>,
    pub shared_because: OnceLock<SharedBecause>,
    pub speculation: OnceLock<Speculation>,
    pub status: OnceLock<StatusCode>,
    pub page_bytes: OnceLock<u64>,
}

/// The page as received, with any status.
struct FetchedPage {
    status: StatusCode,
    bytes: u64,
}

/// The connection to the resolver.
struct OpenResolver {
    /// HTTP/3 on the connection; `None` when the connection is DoQ only.
    http: Option<Arc<H3Client>>,
    carrier: DnsSession,
}

enum DnsSession {
    Doh3(Doh3Session),
    Doq(DoqSession),
}

impl FetchProgress {
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
        for quic in opened.into_iter().filter_map(|connection| connection.quic) {
            let handshake = quic.log.handshake();
            let is_doq = handshake
                .is_some_and(|handshake| handshake.alpn.as_deref() == Some(iana::ALPN_DOQ));
            quic.close(if is_doq {
                doq_error::NO_ERROR
            } else {
                H3_NO_ERROR
            });
            quic.wait_until_drained(CLOSE_LEAVES_WITHIN).await;
        }
    }
}

impl FetchClient {
    /// Fetches name and page. Open connections stay open until `FetchProgress::close`.
    pub(super) async fn run(
        &self,
        is_speculative: bool,
        deadline: Duration,
    ) -> (FetchProgress, Result<(), MeasuredFailure>) {
        let progress = FetchProgress::begin();
        let fetched = tokio::time::timeout(deadline, self.fetch(&progress, is_speculative)).await;
        let result = fetched.unwrap_or_else(|_| Err(progress.deadline_failure(deadline)));
        (progress, result)
    }

    async fn fetch(
        &self,
        progress: &FetchProgress,
        is_speculative: bool,
    ) -> Result<(), MeasuredFailure> {
        let resolver = self.open_resolver(progress).await?;
        let shared = resolver
            .http
            .as_ref()
            .filter(|_| self.options.mode != CoalescingMode::Separate);
        let Some(http) = shared else {
            let response = self.ask(progress, &resolver.carrier).await?;
            return self.fetch_elsewhere(progress, &response).await;
        };
        let page = match self
            .fetch_shared(progress, &resolver, http, is_speculative)
            .await?
        {
            SharedFetchResult::Page(page) => page,
            SharedFetchResult::Elsewhere(response) => {
                return self.fetch_elsewhere(progress, &response).await;
            }
        };
        progress.finish(&page)
    }

    /// Fetches name and page on one connection.
    async fn fetch_shared(
        &self,
        progress: &FetchProgress,
        resolver: &OpenResolver,
        http: &Arc<H3Client>,
        is_speculative: bool,
    ) -> Result<SharedFetchResult, MeasuredFailure> {
        let coverage = is_speculative.then(|| self.coverage(http)).flatten();
        let times = Arc::new(ResponseTimes::default());
        let mut request = pin!(self.get(http, &times));
        let mut early = None;
        let response = match coverage {
            None => self.ask(progress, &resolver.carrier).await?,
            Some(source) => {
                let _ = progress.coverage.set(source);
                let mut query = pin!(self.ask(progress, &resolver.carrier));
                // The query first; both are written before anything is waited for, so that they
                // share a flight.
                poll_fn(|cx| {
                    let asked = query.as_mut().poll(cx);
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
            progress.judge(is_speculative, is_sent, false);
            return Ok(SharedFetchResult::Elsewhere(response));
        };
        progress.set_page(Arc::clone(&times));
        let page = match early {
            Some(page) => page?,
            None => request.await?,
        };
        self.learn(http);
        if page.status == StatusCode::MISDIRECTED_REQUEST {
            self.unlearn(http);
            progress.judge(is_speculative, is_sent, false);
            return Ok(SharedFetchResult::Elsewhere(response));
        }
        let _ = progress.shared_because.set(because);
        progress.judge(is_speculative, is_sent, true);
        Ok(SharedFetchResult::Page(page))
    }

    /// Fetches the page from the address of its name.
    async fn fetch_elsewhere(
        &self,
        progress: &FetchProgress,
        response: &DnsResponse,
    ) -> Result<(), MeasuredFailure> {
        let Some(address) = response.addresses.first() else {
            let detail = "the name has no address";
            return Err(MeasuredFailure::new(Failure::Other, detail));
        };
        self.web_was_used
            .store(true, std::sync::atomic::Ordering::Relaxed);
        let times = Arc::new(ResponseTimes::default());
        progress.set_page(Arc::clone(&times));
        let address = SocketAddr::new(*address, self.page.port);
        let quic = progress.open(&self.web, address).await?;
        let http = H3Client::open(quic).await?;
        let page = self.get(&http, &times).await?;
        progress.finish(&page)
    }

    async fn open_resolver(
        &self,
        progress: &FetchProgress,
    ) -> Result<OpenResolver, MeasuredFailure> {
        let quic = progress.open(&self.dns, self.resolver_at).await?;
        let speaks_http = self.options.mode != CoalescingMode::Separate
            || self.resolver.transport == DnsTransport::Doh3;
        if !speaks_http {
            let carrier = DnsSession::Doq(DoqSession::new(quic));
            return Ok(OpenResolver {
                http: None,
                carrier,
            });
        }
        let http = Arc::new(H3Client::open(Arc::clone(&quic)).await?);
        http.read_control().await;
        let carrier = if self.options.mode == CoalescingMode::PrivateAlpn {
            DnsSession::Doq(doq_beside_h3::session(quic))
        } else {
            DnsSession::Doh3(Doh3Session {
                client: Arc::clone(&http),
                template: self.template.clone(),
            })
        };
        Ok(OpenResolver {
            http: Some(http),
            carrier,
        })
    }

    async fn ask(
        &self,
        progress: &FetchProgress,
        carrier: &DnsSession,
    ) -> Result<DnsResponse, MeasuredFailure> {
        let edns = self.edns.query_contents(&self.question, None);
        let query = build_query(&self.question, 0, &edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let (answer, age_s) = match carrier {
            DnsSession::Doh3(session) => {
                let answer = session.exchange(&query, &progress.query).await?;
                answer.into_parts()
            }
            DnsSession::Doq(session) => (session.exchange(&query, &progress.query).await?, 0),
        };
        let malformed = |error| MeasuredFailure::new(Failure::QueryMalformed, error);
        check_echo(&query, &answer).map_err(malformed)?;
        let response = read_response(&answer).map_err(malformed)?.with_age(age_s);
        if let DnsSession::Doq(session) = carrier {
            session.check(&response.message)?;
        }
        let _ = progress.response.set(response.clone());
        if !response.is_answer || response.addresses.is_empty() {
            let detail = format!("{} without an address", response.rcode);
            return Err(MeasuredFailure::new(Failure::DnsRcode, detail));
        }
        Ok(response)
    }

    async fn get(
        &self,
        http: &H3Client,
        times: &ResponseTimes,
    ) -> Result<FetchedPage, MeasuredFailure> {
        let request = self.page.request();
        let request = request.map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let exchange = http.exchange_timed(request, PAGE_MAX_BYTES, times).await?;
        Ok(FetchedPage {
            status: exchange.response.status(),
            bytes: exchange.response.body().len() as u64,
        })
    }
}

enum SharedFetchResult {
    Page(FetchedPage),
    /// The connection is unusable for the page; the name is known.
    Elsewhere(DnsResponse),
}

impl FetchProgress {
    async fn open(
        &self,
        server: &QuicServer,
        address: SocketAddr,
    ) -> Result<Arc<QuicConnection>, MeasuredFailure> {
        let log = Arc::<SetupLog>::default();
        log.set_peer_address(address);
        let number = {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push(FetchedConnection {
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

    fn finish(&self, page: &FetchedPage) -> Result<(), MeasuredFailure> {
        let _ = self.status.set(page.status);
        let _ = self.page_bytes.set(page.bytes);
        if page.status == StatusCode::OK {
            Ok(())
        } else {
            let detail = format!("status {}", page.status);
            Err(MeasuredFailure::new(Failure::HttpStatus, detail))
        }
    }

    fn deadline_failure(&self, deadline: Duration) -> MeasuredFailure {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = opened
            .last()
            .map_or(Failure::Other, |last| last.log.failure_at_deadline());
        let detail = format!("the deadline of {} ms passed", deadline.as_millis());
        MeasuredFailure::new(failure, detail)
    }
}
