//! Where names really are, by the resolver's latest answers: who opens a connection waits for the
//! look-up under way. Not for: asking.

use crate::names::canonical;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// What a look-up ended with.
type Found = Result<Arc<[IpAddr]>, MeasuredFailure>;

/// Of every name asked for. Answers stay until the next: a browser may keep its own over loads.
#[derive(Debug, Default)]
pub(crate) struct Locations(Mutex<HashMap<String, watch::Sender<Option<Found>>>>);

impl Locations {
    /// A look-up begins: whoever needs the name waits for it.
    pub fn begin(&self, name: &str) {
        self.set(name, None);
    }

    /// It ended.
    pub fn end(&self, name: &str, found: Result<Vec<IpAddr>, MeasuredFailure>) {
        self.set(name, Some(found.map(Arc::from)));
    }

    /// The addresses of a name, when they are known, at most `at_most` later.
    pub async fn wait(&self, name: &str, at_most: Duration) -> Found {
        let failed = |detail| Err(MeasuredFailure::new(Failure::BootstrapFailed, detail));
        let known = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&canonical(name)).map(watch::Sender::subscribe)
        };
        let Some(mut known) = known else {
            return failed("nobody asked for the name's address");
        };
        let found = timeout(at_most, known.wait_for(Option::is_some)).await;
        match found {
            Ok(Ok(found)) => found
                .clone()
                .unwrap_or_else(|| failed("the look-up was begun anew")),
            Ok(Err(_)) => failed("the gateway ends"),
            Err(_) => failed("the name's look-up took too long"),
        }
    }

    fn set(&self, name: &str, found: Option<Found>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = all
            .entry(canonical(name))
            .or_insert_with(|| watch::channel(None).0);
        slot.send_replace(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn who_needs_a_name_waits_for_its_look_up() {
        let locations = Arc::new(Locations::default());
        let unknown = locations.wait("a.test", LONG).await.unwrap_err();
        assert_eq!(unknown.failure, Failure::BootstrapFailed);
        locations.begin("A.test.");
        let waiting = {
            let locations = Arc::clone(&locations);
            tokio::spawn(async move { locations.wait("a.test", LONG).await })
        };
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        locations.end("a.test", Ok(vec![address]));
        assert_eq!(waiting.await.unwrap().unwrap()[..], [address]);
        // What was known is good until there is something newer.
        assert!(locations.wait("a.test", LONG).await.is_ok());
        let gone = MeasuredFailure::new(Failure::DnsRcode, "NXDOMAIN");
        locations.end("a.test", Err(gone.clone()));
        assert_eq!(locations.wait("a.test", LONG).await.unwrap_err(), gone);
        locations.begin("a.test");
        let late = locations.wait("a.test", Duration::from_millis(1)).await;
        assert!(late.unwrap_err().detail.contains("too long"));
    }
}
