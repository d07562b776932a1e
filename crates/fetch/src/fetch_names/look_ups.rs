//! The names of one fetch: when each name became known, its query, and when its answer came.
//! Not for: finding names (`announced_names`).

use super::client::address_type;
use resolab_dns::edns::QueryEdns;
use resolab_dns::message::{DnsResponse, build_query, check_echo, read_response};
use resolab_dns::presentation::{name_text, type_text};
use resolab_dns::question::Question;
use resolab_dns::{BODY_MAX_BYTES, DnsBody, RequestTemplate};
use resolab_http::H2Client;
use resolab_http::streaming::PushedResponse;
use resolab_record::{AnnouncedName, Failure};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The state shared by the look-ups of one fetch.
pub(super) struct LookUps {
    pub client: Arc<H2Client>,
    pub template: RequestTemplate,
    pub edns: QueryEdns,
    pub resolver_at: SocketAddr,
    /// The document's host: asked for first, and not counted among the document's names.
    own_host: String,
    pub time_origin_ns: u64,
    known: Mutex<KnownNames>,
    changed: Notify,
    tasks: Mutex<JoinSet<()>>,
}

/// The facts known about the names; instants since the fetch's origin.
#[derive(Default)]
struct KnownNames {
    names: Vec<AnnouncedName>,
    refused_push_count: u32,
}

/// The way a name became known.
#[derive(Clone, Copy)]
enum NameSource {
    Document,
    Announcement,
}

impl LookUps {
    pub fn new(
        client: Arc<H2Client>,
        template: RequestTemplate,
        edns: QueryEdns,
        resolver_at: SocketAddr,
        own_host: &str,
    ) -> Self {
        Self {
            client,
            template,
            edns,
            resolver_at,
            own_host: own_host.to_owned(),
            time_origin_ns: monotonic_ns(),
            known: Mutex::default(),
            changed: Notify::new(),
            tasks: Mutex::default(),
        }
    }

    /// Asks one question and returns the response.
    pub async fn ask(&self, question: &Question) -> Result<DnsResponse, MeasuredFailure> {
        let query = build_query(question, 0, &self.edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let request = self.template.request(&query)?;
        let response = self.client.exchange(request, BODY_MAX_BYTES).await?;
        read(&query, DnsBody::from_response(response)?)
    }

    /// Takes names found in the document.
    pub fn add_found(self: &Arc<Self>, names: Vec<String>) {
        self.learn(names, NameSource::Document);
    }

    /// Takes announced names, and asks for their addresses at once.
    pub fn add_announced(self: &Arc<Self>, names: Vec<String>) {
        self.learn(names, NameSource::Announcement);
    }

    /// Takes a promised answer. Asks for the name only when the promise is broken.
    pub fn add_promised(self: &Arc<Self>, query: Vec<u8>, pushed: PushedResponse) {
        let Some(name) = self.name_of(&query) else {
            // Dropped, it is refused (RFC 9113 section 8.4.2).
            self.known().refused_push_count += 1;
            return;
        };
        if !self.note(&name, NameSource::Announcement, true) {
            return;
        }
        let look_ups = Arc::clone(self);
        self.spawn(async move {
            let response = pushed.read_whole(BODY_MAX_BYTES).await;
            let answer = response
                .map_err(|broken| MeasuredFailure::new(Failure::HttpProtocol, broken))
                .and_then(DnsBody::from_response)
                .and_then(|body| read(&query, body));
            if answer.is_ok() {
                look_ups.store_answer(&name, answer);
            } else {
                look_ups.change(&name, |name| name.pushed = false);
                look_ups.ask_for(name).await;
            }
        });
    }

    /// Counts a promise that is no answer of the resolver.
    pub fn count_refused(&self) {
        self.known().refused_push_count += 1;
    }

    fn learn(self: &Arc<Self>, names: Vec<String>, source: NameSource) {
        for name in names {
            if self.note(&name, source, false) {
                let look_ups = Arc::clone(self);
                self.spawn(async move { look_ups.ask_for(name).await });
            }
        }
        self.changed.notify_waiters();
    }

    /// Notes how a name became known. Returns true for a new name.
    fn note(&self, name: &str, source: NameSource, is_promised: bool) -> bool {
        if name == self.own_host {
            return false;
        }
        let now_ns = self.elapsed_ns();
        let mut known = self.known();
        let index = known.names.iter().position(|known| known.name == name);
        let is_new = index.is_none();
        let index = index.unwrap_or_else(|| {
            known.names.push(new_name(name, is_promised));
            known.names.len() - 1
        });
        let entry = &mut known.names[index];
        let instant = match source {
            NameSource::Document => &mut entry.found_ns,
            NameSource::Announcement => &mut entry.announced_ns,
        };
        instant.get_or_insert(now_ns);
        is_new
    }

    async fn ask_for(&self, name: String) {
        let now_ns = self.elapsed_ns();
        self.change(&name, |name| name.asked_ns = Some(now_ns));
        let answer = match Question::parse(&name, address_type(self.resolver_at)) {
            Ok(question) => self.ask(&question).await,
            Err(error) => Err(MeasuredFailure::new(Failure::Other, error)),
        };
        self.store_answer(&name, answer);
    }

    fn store_answer(&self, name: &str, answer: Result<DnsResponse, MeasuredFailure>) {
        let now_ns = self.elapsed_ns();
        self.change(name, |name| match answer {
            Ok(response) => {
                name.answered_ns = Some(now_ns);
                name.rcode = Some(response.rcode);
            }
            Err(failure) => name.failure = Some(failure.failure),
        });
        self.changed.notify_waiters();
    }

    /// Waits until every name of the document has an answer or a failure.
    pub async fn wait_until_settled(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.known().names.iter().all(is_settled) {
                return;
            }
            changed.await;
        }
    }

    /// Returns the facts known by now, and the number of refused pushes.
    pub fn names(&self) -> (Vec<AnnouncedName>, u32) {
        let known = self.known();
        (known.names.clone(), known.refused_push_count)
    }

    /// Returns the name whose address is asked by our query; `None` for other queries.
    fn name_of(&self, query: &[u8]) -> Option<String> {
        let message = hickory_proto::op::Message::from_vec(query).ok()?;
        let [question] = message.queries.as_slice() else {
            return None;
        };
        let is_wanted = type_text(question.query_type()) == address_type(self.resolver_at);
        let text = name_text(question.name()).to_ascii_lowercase();
        is_wanted.then(|| text.trim_end_matches('.').to_owned())
    }

    pub fn elapsed_ns(&self) -> u64 {
        monotonic_ns() - self.time_origin_ns
    }

    /// Starts a task ending with the fetch.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(task);
    }

    /// Ends all tasks still running.
    pub async fn stop(&self) {
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.shutdown().await;
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut AnnouncedName)) {
        let mut known = self.known();
        if let Some(entry) = known.names.iter_mut().find(|known| known.name == name) {
            change(entry);
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownNames> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_name(name: &str, pushed: bool) -> AnnouncedName {
    AnnouncedName {
        name: name.to_owned(),
        found_ns: None,
        announced_ns: None,
        asked_ns: None,
        answered_ns: None,
        pushed,
        rcode: None,
        failure: None,
    }
}

fn is_settled(name: &AnnouncedName) -> bool {
    name.found_ns.is_none() || name.answered_ns.is_some() || name.failure.is_some()
}

fn read(query: &[u8], body: DnsBody) -> Result<DnsResponse, MeasuredFailure> {
    let (answer, age_s) = body.into_parts();
    let malformed = |error| MeasuredFailure::new(Failure::QueryMalformed, error);
    check_echo(query, &answer).map_err(malformed)?;
    Ok(read_response(&answer).map_err(malformed)?.with_age(age_s))
}

#[cfg(test)]
mod tests {
    use super::super::announced_names::promised_query;
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use bytes::Bytes;
    use h2::server::SendResponse;
    use http::{Request, Response as Head};
    use resolab_http::PAGE_WINDOWS;
    use resolab_record::DohMethod;
    use std::time::Duration;
    use tokio::io::DuplexStream;
    use tokio::time::timeout;

    const URL: &str = "https://dns.test/dns-query";
    const AT: &str = "192.0.2.1:443";

    fn query(name: &str) -> Vec<u8> {
        let question = Question::parse(name, "A").unwrap();
        build_query(&question, 0, &QueryEdns::default()).unwrap()
    }

    /// Returns a response with the query's question, NOERROR and no record.
    fn answer(query: &[u8]) -> Bytes {
        let mut message = query.to_vec();
        message[2] |= 0x80;
        message.into()
    }

    fn give(mut respond: SendResponse<Bytes>, body: Bytes) {
        let head = Head::builder().header("content-type", "application/dns-message");
        let mut stream = respond
            .send_response(head.body(()).unwrap(), false)
            .unwrap();
        stream.send_data(body, true).unwrap();
    }

    /// Serves a document and promises: a kept promise, a broken promise, a promise of another
    /// server's, a promise of another type's. Then answers all queries.
    async fn serve(stream: DuplexStream) {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut asked = 0;
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            if asked == 0 {
                for (name, url) in [
                    ("kept.test", URL),
                    ("broken.test", URL),
                    ("a.test", "https://b.test/dns-query"),
                ] {
                    let promised = format!("{url}?dns={}", URL_SAFE_NO_PAD.encode(query(name)));
                    let promised = Request::get(promised).body(()).unwrap();
                    let mut pushed = respond.push_request(promised).unwrap();
                    if name == "broken.test" {
                        pushed.send_reset(h2::Reason::INTERNAL_ERROR);
                    } else {
                        let head =
                            Head::builder().header("content-type", "application/dns-message");
                        let mut stream =
                            pushed.send_response(head.body(()).unwrap(), false).unwrap();
                        stream.send_data(answer(&query(name)), true).unwrap();
                    }
                }
                give(respond, Bytes::new());
            } else {
                tokio::spawn(async move {
                    let body = request.into_body().data().await.unwrap().unwrap();
                    give(respond, answer(&body));
                });
            }
            asked += 1;
        }
    }

    async fn fetched() -> Arc<LookUps> {
        let (near, far) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve(far));
        let client = H2Client::open_for_pushes(near, PAGE_WINDOWS, Arc::default())
            .await
            .unwrap();
        let template = RequestTemplate::new(&URL.parse().unwrap(), DohMethod::Post);
        let at = AT.parse().unwrap();
        let edns = QueryEdns::default();
        let look_ups = LookUps::new(Arc::new(client), template, edns, at, "page.test");
        let look_ups = Arc::new(look_ups);
        let request = Request::get("https://page.test/").body(()).unwrap();
        let (_, mut reader) = look_ups.client.begin(request, true).await.unwrap();
        let mut pushes = reader.pushes().unwrap();
        assert!(reader.pushes().is_none(), "they were taken");
        for _ in 0..3 {
            let (request, pushed) = pushes.next().await.unwrap().unwrap();
            match promised_query(&request, look_ups.template.url()) {
                Some(query) => look_ups.add_promised(query, pushed),
                None => look_ups.count_refused(),
            }
        }
        look_ups
    }

    #[tokio::test]
    async fn a_promise_is_waited_for_and_a_broken_one_asked_for() {
        let look_ups = fetched().await;
        let named = ["kept.test", "broken.test", "new.test"].map(str::to_owned);
        look_ups.add_found(named.to_vec());
        timeout(Duration::from_secs(10), look_ups.wait_until_settled())
            .await
            .unwrap();
        let (names, refused_push_count) = look_ups.names();
        let [kept, broken, new] = &names[..] else {
            panic!("{names:#?}");
        };
        assert!(
            names
                .iter()
                .all(|name| name.answered_ns.is_some() && name.failure.is_none())
        );
        assert_eq!((kept.pushed, kept.asked_ns), (true, None));
        assert!(!broken.pushed && broken.asked_ns.is_some() && broken.announced_ns.is_some());
        assert!(!new.pushed && new.asked_ns.is_some() && new.announced_ns.is_none());
        assert_eq!(refused_push_count, 1);
        look_ups.stop().await;
    }

    #[tokio::test]
    async fn the_documents_own_name_is_none_of_its_names() {
        let look_ups = fetched().await;
        look_ups.add_announced(vec!["page.test".to_owned()]);
        look_ups.add_found(vec!["page.test".to_owned(), "new.test".to_owned()]);
        timeout(Duration::from_secs(10), look_ups.wait_until_settled())
            .await
            .unwrap();
        let (names, _) = look_ups.names();
        assert!(names.iter().any(|name| name.name == "new.test"));
        assert!(
            names.iter().all(|name| name.name != "page.test"),
            "{names:#?}"
        );
    }

    #[tokio::test]
    async fn a_name_is_asked_for_once_however_often_it_is_spoken_of() {
        let look_ups = fetched().await;
        look_ups.add_announced(vec!["new.test".to_owned()]);
        look_ups.add_found(vec!["new.test".to_owned(), "new.test".to_owned()]);
        timeout(Duration::from_secs(10), look_ups.wait_until_settled())
            .await
            .unwrap();
        let (names, _) = look_ups.names();
        assert_eq!(
            names.iter().filter(|name| name.name == "new.test").count(),
            1
        );
        let new = names.iter().find(|name| name.name == "new.test").unwrap();
        assert!(new.announced_ns <= new.found_ns);
    }
}
