//! The names' real addresses, from the resolver's latest answers. A task opening a connection waits
//! for the pending look-up. Not for: asking the resolver.

use crate::names::canonical;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The result of a look-up.
type LocationResult = Result<Arc<[IpAddr]>, MeasuredFailure>;

/// The addresses of every name asked for. Answers stay until the next answer, because a browser may
/// keep its own answers over several loads.
#[derive(Debug, Default)]
pub(crate) struct NameLocations(Mutex<HashMap<String, NameLocation>>);

#[derive(Debug)]
struct NameLocation {
    found: watch::Sender<Option<LocationResult>>,
    /// True when the addresses were found in the present load.
    is_of_load: bool,
}

impl NameLocations {
    /// Begins a look-up. Tasks needing the name wait for the look-up, unless the load already has
    /// the addresses.
    pub fn begin(&self, name: &str) {
        self.change(name, |location| {
            if !location.is_known() {
                location.found.send_replace(None);
            }
        });
    }

    /// Ends a look-up. A failure does not remove addresses found by another look-up of the load,
    /// because browsers repeat late queries.
    pub fn end(&self, name: &str, found: Result<Vec<IpAddr>, MeasuredFailure>) {
        self.change(name, |location| {
            if found.is_ok() || !location.is_known() {
                location.is_of_load = found.is_ok();
                location.found.send_replace(Some(found.map(Arc::from)));
            }
        });
    }

    /// Marks all addresses as found in an earlier load.
    pub fn new_load(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for location in all.values_mut() {
            location.is_of_load = false;
        }
    }

    /// Waits at most `at_most` for the addresses of a name.
    pub async fn wait(&self, name: &str, at_most: Duration) -> LocationResult {
        let failed = |detail| Err(MeasuredFailure::new(Failure::BootstrapFailed, detail));
        let known = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let location = all.get(&canonical(name));
            location.map(|location| location.found.subscribe())
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

    fn change(&self, name: &str, change: impl FnOnce(&mut NameLocation)) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(
            all.entry(canonical(name))
                .or_insert_with(NameLocation::unknown),
        );
    }
}

impl NameLocation {
    fn unknown() -> Self {
        Self {
            found: watch::channel(None).0,
            is_of_load: false,
        }
    }

    /// Returns true when the load has found the addresses.
    fn is_known(&self) -> bool {
        self.is_of_load && matches!(&*self.found.borrow(), Some(Ok(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn who_needs_a_name_waits_for_its_look_up() {
        let locations = Arc::new(NameLocations::default());
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
        locations.new_load();
        assert!(locations.wait("a.test", LONG).await.is_ok());
        let gone = MeasuredFailure::new(Failure::DnsRcode, "NXDOMAIN");
        locations.end("a.test", Err(gone.clone()));
        assert_eq!(locations.wait("a.test", LONG).await.unwrap_err(), gone);
        locations.begin("a.test");
        let late = locations.wait("a.test", Duration::from_millis(1)).await;
        assert!(late.unwrap_err().detail.contains("too long"));
    }

    #[tokio::test]
    async fn what_a_load_has_found_is_not_taken_back_by_asking_again() {
        let locations = NameLocations::default();
        let [first, second]: [IpAddr; 2] =
            ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().unwrap());
        locations.begin("a.test");
        locations.end("a.test", Ok(vec![first]));
        locations.begin("a.test");
        assert_eq!(locations.wait("a.test", LONG).await.unwrap()[..], [first]);
        let late = MeasuredFailure::new(Failure::QueryTimeout, "late");
        locations.end("a.test", Err(late.clone()));
        assert_eq!(locations.wait("a.test", LONG).await.unwrap()[..], [first]);
        locations.end("a.test", Ok(vec![second]));
        assert_eq!(locations.wait("a.test", LONG).await.unwrap()[..], [second]);
        // In the next load it is asked for anew.
        locations.new_load();
        locations.begin("a.test");
        locations.end("a.test", Err(late.clone()));
        assert_eq!(locations.wait("a.test", LONG).await.unwrap_err(), late);
    }
}
