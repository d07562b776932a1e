//! Writes the record of a document and its names, after its clock. Not for: deciding anything.

use super::client::FetchNamesClient;
use super::run::FetchNamesProgress;
use resolab_record::{AnnouncedName, FetchNamesRecord};
use resolab_transport::client::MeasuredFailure;

impl FetchNamesClient {
    pub(super) fn record(
        &self,
        progress: &FetchNamesProgress,
        result: &Result<(), MeasuredFailure>,
        sequence: u64,
    ) -> FetchNamesRecord {
        let look_ups = progress.look_ups.get();
        let (names, refused_push_count) = look_ups
            .map(|look_ups| look_ups.names())
            .unwrap_or_default();
        let path = progress.resolver_log.path_facts();
        let document_complete_ns = progress.document_complete_ns.get().copied();
        let waits = waits_of(&names);
        let unneeded = names.iter().filter(|name| name.found_ns.is_none());
        let last = names.iter().filter(|name| name.found_ns.is_some());
        let last = last.filter_map(|name| name.answered_ns).max();
        let failure = result.as_ref().err();
        FetchNamesRecord {
            announcement: self.options.announcement,
            coalescing_mode: self.options.mode,
            url: self.page.url.clone(),
            resolver: self.resolver.url.clone(),
            sequence,
            time_origin_ns: look_ups.map(|look_ups| look_ups.time_origin_ns),
            connection_min_rtt_ns: path.and_then(|path| path.min_rtt_ns),
            name_complete_ns: progress.name_complete_ns.get().copied(),
            document_request_ns: progress.document_request_ns.get().copied(),
            document_first_byte_ns: progress.document_first_byte_ns.get().copied(),
            document_complete_ns,
            status: progress.status.get().map(http::StatusCode::as_u16),
            document_bytes: progress.document_bytes.get().copied(),
            names_complete_ns: waits
                .as_ref()
                .and(document_complete_ns)
                .map(|complete| last.map_or(complete, |last| last.max(complete))),
            name_wait_ns: waits.map(|waits| waits.into_iter().max().unwrap_or(0)),
            unneeded_count: unneeded.count() as u32,
            refused_push_count,
            names,
            failure: failure.map(|failure| failure.failure),
            failure_detail: failure.map(|failure| failure.detail.clone()),
        }
    }
}

/// Returns the waiting time for each name of the document, in ns. `None` when a name has no answer.
fn waits_of(names: &[AnnouncedName]) -> Option<Vec<u64>> {
    let found = names.iter().filter_map(|name| Some((name.found_ns?, name)));
    found
        .map(|(found_ns, name)| Some(name.answered_ns?.saturating_sub(found_ns)))
        .collect()
}
