//! The record's fields for DoUDP only, the kernel's stamps, and the look-up of the resolver's name.
//! Not for: other fields of the record.

use super::super::attempt::QueryOutcome;
use super::super::pending::PendingQuery;
use crate::transports::retry::UdpRetryPolicy;
use resolab_record::{DnsTransport, QueryRecord};

impl PendingQuery<'_> {
    /// Writes the retry policy of a DoUDP query.
    pub(super) fn write_doudp(&self, record: &mut QueryRecord) {
        if record.dns_transport != DnsTransport::Doudp {
            return;
        }
        let policy = self.client.udp_retry_policy();
        record.retry_policy = policy.map(UdpRetryPolicy::recorded);
    }

    /// Writes the kernel's stamps on the record's clock.
    pub(super) fn write_kernel_stamps(&self, record: &mut QueryRecord) {
        let stamped = self.exchange.kernel_stamps.read(self.time_origin_ns);
        let since = |at: u64| at - self.time_origin_ns;
        record.kernel_transmit_ns = stamped.transmit_ns.map(since);
        record.kernel_receive_ns = stamped.receive_ns.map(since);
    }

    /// Writes the resolver's address, and the times of its look-up when this query caused the
    /// look-up.
    pub(super) fn write_look_up(&self, record: &mut QueryRecord, outcome: &QueryOutcome) {
        record.resolver_address = record.resolver_address.or(outcome.setup.peer_address());
        if outcome.is_opener {
            (record.bootstrap_start_ns, record.bootstrap_end_ns) =
                self.times(&outcome.setup.bootstrap);
        }
    }
}
