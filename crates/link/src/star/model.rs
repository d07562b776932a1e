//! The fates of packets between hosts joined by a single hub: pure, in virtual time. Not for:
//! carrying packets (see `hub`), nor counting packets (`counts`).

use crate::elements::delay::to_ns;
use crate::elements::droptail::Droptail;
use crate::elements::loss::IndependentLoss;
use crate::elements::queue_limit::QueueLimit;
use crate::elements::random::RandomStream;
use crate::elements::rate::ConstantRate;
use crate::star::prefix::{Prefix, PrefixTable};
use resolab_record::{InternetConfig, InternetHost};
use rustc_hash::FxHashMap;
use std::net::Ipv4Addr;

/// The cause of a packet's drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Lost between a host and the hub.
    Lost,
    /// A full queue refused the packet.
    QueueFull,
    /// The sender or receiver is down.
    Down,
    /// The destination belongs to no host.
    Unowned,
    /// The source address does not belong to the sender.
    ForeignSource,
}

/// A change of a host; `None` keeps the present value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostChange {
    /// One-way delay to and from the hub, in ms.
    pub one_way_ms: Option<f64>,
    /// Loss ratio in each direction.
    pub loss_ratio: Option<f64>,
    /// True when no packet goes in or out.
    pub down: Option<bool>,
}

/// The owner of an address.
#[derive(Debug, Clone, Copy)]
struct AddressOwner {
    host: usize,
    /// Number of the network among all hosts' networks.
    network: usize,
    extra_ns: u64,
}

/// The route of a packet through the hub.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Number of the sending host.
    pub from: usize,
    /// Number of the receiving host.
    pub to: usize,
    networks: (usize, usize),
    extra_ns: u64,
}

/// One direction between a host and the hub, without the delay.
#[derive(Debug)]
struct Access {
    loss: IndependentLoss,
    queue: Droptail,
    rate: ConstantRate,
    has_rate: bool,
    loses: bool,
}

#[derive(Debug)]
struct HostModel {
    one_way_ns: u64,
    is_down: bool,
    up: Access,
    down: Access,
}

/// All hosts with their networks.
#[derive(Debug)]
pub struct StarModel {
    hosts: Vec<HostModel>,
    places: PrefixTable<AddressOwner>,
    /// Arrival of the last packet between two networks, in ns. A route with a shorter delay
    /// therefore keeps the order.
    last_arrivals_ns: FxHashMap<(usize, usize), u64>,
}

impl StarModel {
    /// Makes the model of a complete configuration.
    pub fn new(config: &InternetConfig) -> Self {
        let seed = config.seed.unwrap_or_default();
        let networks = config.hosts.iter().enumerate().flat_map(|(host, config)| {
            let networks = config.networks.iter();
            networks.map(move |network| (host, network))
        });
        let places = networks
            .enumerate()
            .filter_map(|(network, (host, wanted))| {
                let place = AddressOwner {
                    host,
                    network,
                    extra_ns: to_ns(wanted.extra_one_way_ms),
                };
                Some((Prefix::parse(&wanted.prefix)?, place))
            });
        Self {
            places: PrefixTable::new(places),
            hosts: config
                .hosts
                .iter()
                .map(|host| HostModel::new(host, seed))
                .collect(),
            last_arrivals_ns: FxHashMap::default(),
        }
    }

    /// Returns the host of an address; `None` for an address without a host.
    pub fn owner(&self, address: Ipv4Addr) -> Option<usize> {
        self.places.find(address).map(|place| place.host)
    }

    /// Returns the route of a packet sent by host `from`.
    pub fn route(
        &self,
        from: usize,
        source: Ipv4Addr,
        destination: Ipv4Addr,
    ) -> Result<Route, DropReason> {
        let there = self.places.find(destination).ok_or(DropReason::Unowned)?;
        let here = self.places.find(source).filter(|place| place.host == from);
        let here = here.ok_or(DropReason::ForeignSource)?;
        Ok(Route {
            from,
            to: there.host,
            networks: (here.network, there.network),
            extra_ns: here.extra_ns + there.extra_ns,
        })
    }

    /// Takes a packet of `bytes` leaving a host at `now_ns`. Returns the arrival time at the
    /// receiving host's side of the hub, or the cause of a drop. Departures of a host must
    /// come in time order.
    pub fn depart(&mut self, route: Route, now_ns: u64, bytes: u32) -> Result<u64, DropReason> {
        let host = &mut self.hosts[route.from];
        if host.is_down {
            return Err(DropReason::Down);
        }
        let left_ns = host.up.pass(now_ns, bytes)?;
        let way_ns = host.one_way_ns + route.extra_ns + self.hosts[route.to].one_way_ns;
        let last_ns = self.last_arrivals_ns.entry(route.networks).or_default();
        *last_ns = (*last_ns).max(left_ns + way_ns);
        Ok(*last_ns)
    }

    /// Takes a packet arriving at `at_ns`. Returns the time for handing the packet to the host, or
    /// the cause of a drop. Arrivals at a host must come in time order.
    pub fn arrive(&mut self, host: usize, at_ns: u64, bytes: u32) -> Result<u64, DropReason> {
        let host = &mut self.hosts[host];
        if host.is_down {
            return Err(DropReason::Down);
        }
        host.down.pass(at_ns, bytes)
    }

    /// Returns true when a host is down.
    pub fn is_down(&self, host: usize) -> bool {
        self.hosts[host].is_down
    }

    /// Returns true when packets sent by `host` are neither lost nor kept waiting. Trains then stay
    /// whole.
    pub fn sends_plainly(&self, host: usize) -> bool {
        self.hosts[host].up.is_plain()
    }

    /// Returns true when packets received by `host` are neither lost nor kept waiting.
    pub fn receives_plainly(&self, host: usize) -> bool {
        self.hosts[host].down.is_plain()
    }

    /// Changes a host from now on; packets under way keep their times.
    pub fn change(&mut self, host: usize, change: HostChange) {
        let host = &mut self.hosts[host];
        if let Some(one_way_ms) = change.one_way_ms {
            host.one_way_ns = to_ns(one_way_ms);
        }
        if let Some(loss_ratio) = change.loss_ratio {
            host.up.change_loss(loss_ratio);
            host.down.change_loss(loss_ratio);
        }
        host.is_down = change.down.unwrap_or(host.is_down);
    }
}

impl HostModel {
    fn new(host: &InternetHost, seed: u64) -> Self {
        let access = |direction, rate_mbps| Access::new(host, direction, rate_mbps, seed);
        Self {
            one_way_ns: to_ns(host.one_way_ms),
            is_down: host.down,
            up: access("up", host.rate_up_mbps),
            down: access("down", host.rate_down_mbps),
        }
    }
}

impl Access {
    fn new(host: &InternetHost, direction: &str, rate_mbps: Option<f64>, seed: u64) -> Self {
        // By the host's name, so that other hosts may come and go.
        let label = format!("internet/{}/{direction}/loss", host.name);
        Self {
            loss: IndependentLoss::new(host.loss_ratio, RandomStream::derive(seed, &label)),
            queue: Droptail::new(QueueLimit {
                bytes: None,
                packets_count: host.queue_packets,
            }),
            rate: ConstantRate::new(rate_mbps.map(|mbps| mbps * 1e6)),
            has_rate: rate_mbps.is_some(),
            loses: host.loss_ratio > 0.0,
        }
    }

    fn change_loss(&mut self, loss_ratio: f64) {
        self.loss.change(loss_ratio, None);
        self.loses = loss_ratio > 0.0;
    }

    fn is_plain(&self) -> bool {
        !self.has_rate && !self.loses
    }

    fn pass(&mut self, now_ns: u64, bytes: u32) -> Result<u64, DropReason> {
        if self.loses && self.loss.takes_next() {
            return Err(DropReason::Lost);
        }
        if !self.has_rate {
            return Ok(now_ns);
        }
        let start_ns = self.rate.next_start_ns(now_ns);
        if !self.queue.admit(now_ns, start_ns, bytes) {
            return Err(DropReason::QueueFull);
        }
        Ok(self.rate.serve(now_ns, bytes).finish_ns)
    }
}

#[cfg(test)]
mod tests;
