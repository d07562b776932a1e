//! One document and its names, from the query for the document's own name to the last answer.
//! Not for: preparing the client (`client`), or writing the record (`record`).

use super::announced_names::{DocumentNames, hinted_names, linked_names, promised_query};
use super::client::FetchNamesClient;
use super::look_ups::LookUps;
use http::header::LINK;
use http::{Request, Response, StatusCode};
use resolab_dns::edns::QueryEdns;
use resolab_http::streaming::{BodyReader, BrokenMessage, PushedResponses};
use resolab_http::{H2Client, PAGE_WINDOWS};
use resolab_record::{CoalescingMode, Failure, FetchNamesRecord, NameAnnouncement};
use resolab_transport::client::{
    MeasuredFailure, SetupLog, TcpOptions, TlsClient, connect_tcp, connect_tls, leaf_covers,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// The maximum length of a document, in bytes.
const DOCUMENT_MAX_BYTES: u64 = 64 << 20;
/// The maximum time for an orderly close.
const CLOSE_AT_MOST: Duration = Duration::from_millis(200);

/// The known facts of a fetch, filled in during the fetch and kept after a deadline. Instants are
/// since the look-ups' origin.
#[derive(Default)]
pub(super) struct FetchNamesProgress {
    pub look_ups: OnceLock<Arc<LookUps>>,
    pub resolver_log: Arc<SetupLog>,
    /// The set-up of the document's own connection, present as soon as the connection is needed.
    pub web_log: OnceLock<Arc<SetupLog>>,
    pub web: OnceLock<Arc<H2Client>>,
    pub name_complete_ns: OnceLock<u64>,
    pub document_request_ns: OnceLock<u64>,
    pub document_first_byte_ns: OnceLock<u64>,
    pub document_complete_ns: OnceLock<u64>,
    pub status: OnceLock<StatusCode>,
    pub document_bytes: OnceLock<u64>,
}

/// An open connection; `covers_page` is true when its certificate covers the document's host.
struct PageConnection {
    client: Arc<H2Client>,
    covers_page: bool,
}

impl FetchNamesClient {
    /// Fetches once, and returns the record.
    pub async fn fetch_once(&self, sequence: u64, deadline: Duration) -> FetchNamesRecord {
        let progress = FetchNamesProgress::default();
        let fetched = tokio::time::timeout(deadline, self.fetch(&progress)).await;
        let result = fetched.unwrap_or_else(|_| Err(progress.deadline_failure(deadline)));
        let record = self.record(&progress, &result, sequence);
        progress.close().await;
        record
    }

    async fn fetch(&self, progress: &FetchNamesProgress) -> Result<(), MeasuredFailure> {
        let log = Arc::clone(&progress.resolver_log);
        let resolver = self.open(&self.dns_tls, self.resolver_at, log).await?;
        let look_ups = self.begin(&resolver);
        let _ = progress.look_ups.set(Arc::clone(&look_ups));
        self.ask_https(&look_ups);
        let answer = look_ups.ask(&self.address_question).await?;
        let _ = progress.name_complete_ns.set(look_ups.elapsed_ns());
        let web = match self.options.mode {
            CoalescingMode::SharedConnection => {
                self.reuse_resolver_connection(&resolver, &answer.addresses)?
            }
            CoalescingMode::Separate | CoalescingMode::PrivateAlpn => {
                let address = answer.addresses.first().ok_or_else(|| {
                    MeasuredFailure::new(Failure::DnsRcode, "the name has no address")
                })?;
                let address = SocketAddr::new(*address, self.page.port);
                let log = Arc::clone(progress.web_log.get_or_init(Arc::default));
                let opened = self.open(&self.web_tls, address, log).await?;
                let _ = progress.web.set(Arc::clone(&opened.client));
                opened.client
            }
        };
        self.fetch_document(progress, &look_ups, &web).await?;
        look_ups.wait_until_settled().await;
        Ok(())
    }

    async fn open(
        &self,
        tls: &TlsClient,
        address: SocketAddr,
        log: Arc<SetupLog>,
    ) -> Result<PageConnection, MeasuredFailure> {
        log.set_peer_address(address);
        let tcp = connect_tcp(address, TcpOptions::default(), &log).await?;
        let stream = connect_tls(tcp, tls, Arc::clone(&log)).await?;
        let leaf = log.peer_leaf();
        let covers_page = leaf.is_some_and(|leaf| leaf_covers(leaf, &self.page.host));
        let takes_pushes = self.options.announcement == NameAnnouncement::ServerPush;
        let client = begin_http2(stream, takes_pushes, log).await?;
        Ok(PageConnection {
            client: Arc::new(client),
            covers_page,
        })
    }

    /// Starts the fetch's clock.
    fn begin(&self, resolver: &PageConnection) -> Arc<LookUps> {
        Arc::new(LookUps::new(
            Arc::clone(&resolver.client),
            self.template.clone(),
            QueryEdns::new_without_cookie(self.options.edns, true),
            self.resolver_at,
            &self.page.host,
        ))
    }

    /// Asks for the HTTPS record beside the address, in every case, because browsers always do.
    /// Only one announcement mode uses the answer.
    fn ask_https(&self, look_ups: &Arc<LookUps>) {
        let counts = self.options.announcement == NameAnnouncement::HttpsRecord;
        let (question, task_look_ups) = (self.https_question.clone(), Arc::clone(look_ups));
        look_ups.spawn(async move {
            let answer = task_look_ups.ask(&question).await;
            if let (Ok(answer), true) = (answer, counts) {
                task_look_ups.add_announced(hinted_names(&answer.message));
            }
        });
    }

    /// Returns the resolver's connection, when the document may use the connection (RFC 9113
    /// section 9.1.1).
    fn reuse_resolver_connection(
        &self,
        resolver: &PageConnection,
        addresses: &[IpAddr],
    ) -> Result<Arc<H2Client>, MeasuredFailure> {
        let host = &self.page.host;
        let is_there = addresses.contains(&self.resolver_at.ip());
        let reason = if !resolver.covers_page {
            format!("the resolver's certificate does not cover {host}")
        } else if !is_there || self.page.port != self.resolver_at.port() {
            format!("{host} is not at {}", self.resolver_at)
        } else {
            return Ok(Arc::clone(&resolver.client));
        };
        Err(MeasuredFailure::new(Failure::Other, reason))
    }

    async fn fetch_document(
        &self,
        progress: &FetchNamesProgress,
        look_ups: &Arc<LookUps>,
        web: &H2Client,
    ) -> Result<(), MeasuredFailure> {
        let request = Request::get(&self.page.url).body(());
        let request = request.map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let _ = progress.document_request_ns.set(look_ups.elapsed_ns());
        let (_body, mut reader) = web.begin(request, true).await?;
        if self.options.announcement == NameAnnouncement::ServerPush
            && let Some(pushes) = reader.pushes()
        {
            look_ups.spawn(take_pushes(Arc::clone(look_ups), pushes));
        }
        let (head, body) = loop {
            let (head, body) = reader.head().await.map_err(broken_failure)?;
            if let Some(body) = body {
                break (head, body);
            }
            if self.options.announcement == NameAnnouncement::EarlyHints {
                look_ups.add_announced(read_links(&head));
            }
        };
        progress.read(look_ups, &head, body).await
    }
}

impl FetchNamesProgress {
    async fn read(
        &self,
        look_ups: &Arc<LookUps>,
        head: &Response<()>,
        mut body: BodyReader,
    ) -> Result<(), MeasuredFailure> {
        let _ = self.status.set(head.status());
        let mut names = DocumentNames::default();
        let mut bytes = 0;
        while let Some(piece) = body.data().await.map_err(broken_failure)? {
            let _ = self.document_first_byte_ns.set(look_ups.elapsed_ns());
            bytes += piece.len() as u64;
            if bytes > DOCUMENT_MAX_BYTES {
                let detail = "the document is longer than 64 MiB";
                return Err(MeasuredFailure::new(Failure::Other, detail));
            }
            look_ups.add_found(names.take(&piece));
        }
        look_ups.add_found(names.end());
        let _ = self.document_complete_ns.set(look_ups.elapsed_ns());
        let _ = self.document_bytes.set(bytes);
        if head.status() != StatusCode::OK {
            let detail = format!("status {}", head.status());
            return Err(MeasuredFailure::new(Failure::HttpStatus, detail));
        }
        Ok(())
    }

    fn deadline_failure(&self, deadline: Duration) -> MeasuredFailure {
        let detail = format!("the deadline of {} ms passed", deadline.as_millis());
        let log = self.web_log.get().unwrap_or(&self.resolver_log);
        MeasuredFailure::new(log.failure_at_deadline(), detail)
    }

    /// Closes the open connections in an orderly way.
    async fn close(mut self) {
        let web = self.web.take();
        if let Some(look_ups) = self.look_ups.take() {
            look_ups.stop().await;
            close(Arc::into_inner(look_ups).map(|look_ups| look_ups.client)).await;
        }
        close(web).await;
    }
}

/// Opens HTTP/2 with a browser's windows, so only the path delays a document's names.
async fn begin_http2<S>(
    stream: S,
    takes_pushes: bool,
    log: Arc<SetupLog>,
) -> Result<H2Client, MeasuredFailure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if takes_pushes {
        H2Client::open_for_pushes(stream, PAGE_WINDOWS, log).await
    } else {
        H2Client::open_with(stream, PAGE_WINDOWS, log).await
    }
}

async fn close(client: Option<Arc<H2Client>>) {
    if let Some(client) = client.and_then(Arc::into_inner) {
        client.close(CLOSE_AT_MOST).await;
    }
}

async fn take_pushes(look_ups: Arc<LookUps>, mut pushes: PushedResponses) {
    while let Some(Ok((request, pushed))) = pushes.next().await {
        match promised_query(&request, look_ups.template.url()) {
            Some(query) => look_ups.add_promised(query, pushed),
            None => look_ups.count_refused(),
        }
    }
}

fn read_links(head: &Response<()>) -> Vec<String> {
    let fields = head.headers().get_all(LINK).iter();
    let texts = fields.filter_map(|field| field.to_str().ok());
    texts.flat_map(linked_names).collect()
}

fn broken_failure(broken: BrokenMessage) -> MeasuredFailure {
    MeasuredFailure::new(Failure::HttpProtocol, broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::future::poll_fn;
    use tokio::io::DuplexStream;

    /// Returns the number of bytes of a response the server may send before the client takes any.
    async fn window_bytes(far: DuplexStream) -> usize {
        let mut builder = h2::server::Builder::new();
        builder.max_send_buffer_size(32 << 20);
        let mut connection = builder.handshake::<_, Bytes>(far).await.unwrap();
        let (_, mut respond) = connection.accept().await.unwrap().unwrap();
        let mut send = respond.send_response(Response::new(()), false).unwrap();
        send.reserve_capacity(32 << 20);
        let capacity = async {
            while send.capacity() < PAGE_WINDOWS.stream_bytes as usize {
                poll_fn(|cx| send.poll_capacity(cx)).await.unwrap().unwrap();
            }
            send.capacity()
        };
        tokio::select! {
            capacity = capacity => capacity,
            _ = connection.accept() => 0,
        }
    }

    #[tokio::test]
    async fn the_server_may_send_as_much_ahead_as_to_a_browser() {
        for takes_pushes in [false, true] {
            let (near, far) = tokio::io::duplex(1 << 20);
            let server = tokio::spawn(window_bytes(far));
            let client = begin_http2(near, takes_pushes, Arc::default())
                .await
                .unwrap();
            let request = Request::get("https://page.test/").body(()).unwrap();
            let _response = client.begin(request, true).await.unwrap();
            let window = tokio::time::timeout(Duration::from_secs(20), server);
            // Chromium's 6 MiB; HTTP/2's default is 65,535 bytes (RFC 9113 section 6.9.2).
            assert_eq!(window.await.unwrap().unwrap(), 6 << 20, "{takes_pushes}");
        }
    }

    #[test]
    fn a_deadline_names_what_it_cut_off_of_either_connection() {
        let progress = FetchNamesProgress::default();
        let failure = |progress: &FetchNamesProgress| {
            progress.deadline_failure(Duration::from_secs(1)).failure
        };
        progress.resolver_log.tls_handshake.begin();
        assert_eq!(failure(&progress), Failure::TlsHandshakeTimeout);
        progress.resolver_log.tls_handshake.finish();
        let web = progress.web_log.get_or_init(Arc::default);
        web.tcp_connect.begin();
        assert_eq!(failure(&progress), Failure::TcpConnectTimeout);
        web.tcp_connect.finish();
        assert_eq!(failure(&progress), Failure::QueryTimeout);
    }
}
