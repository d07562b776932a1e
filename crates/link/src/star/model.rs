//! What becomes of packets between hosts that meet at one exchange: pure, in virtual time. Not for:
//! carrying them (that is `exchange`), nor counting them (`counts`).

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

/// Why a packet does not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// Lost between a host and the exchange.
    Lost,
    /// A full queue refused it.
    QueueFull,
    /// Its sender or receiver is down.
    Down,
    /// Its destination is no host's.
    Unowned,
    /// Its source is not its sender's.
    ForeignSource,
}

/// A change of a host; `None` leaves what is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostChange {
    /// To and from the exchange.
    pub one_way_ms: Option<f64>,
    /// In each direction.
    pub loss_ratio: Option<f64>,
    /// Whether nothing goes in or out.
    pub down: Option<bool>,
}

/// Whose an address is.
#[derive(Debug, Clone, Copy)]
struct Place {
    host: usize,
    /// The network's place among all hosts'.
    network: usize,
    extra_ns: u64,
}

/// The way of a packet through the exchange.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Place of the sending host.
    pub from: usize,
    /// Place of the receiving host.
    pub to: usize,
    networks: (usize, usize),
    extra_ns: u64,
}

/// One direction between a host and the exchange, but for its delay.
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

/// All hosts.
#[derive(Debug)]
pub struct StarModel {
    hosts: Vec<HostModel>,
    places: PrefixTable<Place>,
    /// When the last packet between two networks arrives: a way that becomes shorter keeps order.
    last_arrivals_ns: FxHashMap<(usize, usize), u64>,
}

impl StarModel {
    /// By a complete configuration.
    pub fn new(config: &InternetConfig) -> Self {
        let seed = config.seed.unwrap_or_default();
        let networks = config.hosts.iter().enumerate().flat_map(|(host, one)| {
            let networks = one.networks.iter();
            networks.map(move |network| (host, network))
        });
        let places = networks
            .enumerate()
            .filter_map(|(network, (host, wanted))| {
                let place = Place {
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

    /// Whose an address is; `None`: nobody's.
    pub fn owner(&self, address: Ipv4Addr) -> Option<usize> {
        self.places.find(address).map(|place| place.host)
    }

    /// The way of a packet that host `from` sent.
    pub fn route(
        &self,
        from: usize,
        source: Ipv4Addr,
        destination: Ipv4Addr,
    ) -> Result<Route, Gone> {
        let there = self.places.find(destination).ok_or(Gone::Unowned)?;
        let here = self.places.find(source).filter(|place| place.host == from);
        let here = here.ok_or(Gone::ForeignSource)?;
        Ok(Route {
            from,
            to: there.host,
            networks: (here.network, there.network),
            extra_ns: here.extra_ns + there.extra_ns,
        })
    }

    /// A packet of `bytes` leaves its host at `now_ns`: when it comes to the receiving host's side of
    /// the exchange, or why not. Departures of a host must come in time order.
    pub fn depart(&mut self, route: Route, now_ns: u64, bytes: u32) -> Result<u64, Gone> {
        let host = &mut self.hosts[route.from];
        if host.is_down {
            return Err(Gone::Down);
        }
        let left_ns = host.up.pass(now_ns, bytes)?;
        let way_ns = host.one_way_ns + route.extra_ns + self.hosts[route.to].one_way_ns;
        let last_ns = self.last_arrivals_ns.entry(route.networks).or_default();
        *last_ns = (*last_ns).max(left_ns + way_ns);
        Ok(*last_ns)
    }

    /// It comes there at `at_ns`: when it is to be handed to the host, or why not. Arrivals at a host
    /// must come in time order.
    pub fn arrive(&mut self, host: usize, at_ns: u64, bytes: u32) -> Result<u64, Gone> {
        let host = &mut self.hosts[host];
        if host.is_down {
            return Err(Gone::Down);
        }
        host.down.pass(at_ns, bytes)
    }

    /// Whether a host is down.
    pub fn is_down(&self, host: usize) -> bool {
        self.hosts[host].is_down
    }

    /// Whether what `host` sends is neither lost nor kept waiting, so that trains stay whole.
    pub fn sends_plainly(&self, host: usize) -> bool {
        self.hosts[host].up.is_plain()
    }

    /// The same of what it receives.
    pub fn receives_plainly(&self, host: usize) -> bool {
        self.hosts[host].down.is_plain()
    }

    /// Change a host from now on; what is under way keeps its time.
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

    fn pass(&mut self, now_ns: u64, bytes: u32) -> Result<u64, Gone> {
        if self.loses && self.loss.takes_next() {
            return Err(Gone::Lost);
        }
        if !self.has_rate {
            return Ok(now_ns);
        }
        let start_ns = self.rate.next_start_ns(now_ns);
        if !self.queue.admit(now_ns, start_ns, bytes) {
            return Err(Gone::QueueFull);
        }
        Ok(self.rate.serve(now_ns, bytes).finish_ns)
    }
}

#[cfg(test)]
mod tests;
