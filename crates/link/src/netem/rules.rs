//! From a complete profile to the equivalent `tc` command lines, one discipline per element and
//! direction. Pure. Not for: devices (see `wires`), running anything.
//!
//! * Loss: netem. The rate there, faster than any link, makes the kernel release the sending
//!   socket's memory, as a real link does. Without the rate TCP and UDP would hold packets back at
//!   the sender instead of filling the queue.
//! * Queue: tbf, with the limited queue as child. netem's own `limit` also counts packets under
//!   way, and must never act as the bottleneck. The limit is therefore far above any need.
//! * Link: netem's `rate`, serving each packet from the end of the previous packet, in virtual
//!   time. The rate is therefore exact despite late timers, and a packet on an idle link takes
//!   time, too (tbf passes the packet at once). tbf hands over packets of some milliseconds ahead:
//!   the link never waits for a late timer. Packets handed over are subtracted from the queue's
//!   limit.
//! * Delay: netem, without a rate. Jitter may therefore reorder.
//!
//! The disciplines count Ethernet's 14 bytes; `stab overhead -14` subtracts these bytes again,
//! exactly.

use super::NetemError;
use super::run::ToolCommand;
use super::wires::{ELEMENTS, Element, exit_device};
use crate::elements::codel::{DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS};
use crate::elements::delay::to_ns;
use crate::elements::random::RandomStream;
use crate::hosts::Host;
use crate::profile::DEFAULT_MTU_BYTES;
use resolab_record::{
    DirectionProfile, GilbertElliott, Jitter, JitterDistribution, LinkProfile, QueueDiscipline,
};

/// Bytes counted by a discipline beyond the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// A rate of about a nanosecond for each full packet: the kernel never sets a timer for the wait.
const OUT_OF_THE_SOCKET: &str = "8tbit";
/// Minimum room in every netem, in packets.
const MIN_LIMIT_PACKETS: u64 = 100_000;
/// Maximum room in every netem, in packets; more exceeds any machine's memory.
const MAX_LIMIT_PACKETS: u64 = 1_000_000_000;
/// Assumed rate of arriving packets when the profile has no rate.
const UNLIMITED_BPS: f64 = 10e9;
/// The smallest packet: IP and UDP headers with little payload.
const SMALLEST_PACKET_BYTES: f64 = 40.0;
/// Tolerated lateness of tbf's timer, in s, before the link runs dry. Both queues together keep the
/// profile's length for every value; the limit is half of the queue's room.
const AHEAD_S: f64 = 0.01;
/// The same for CoDel, in s. CoDel does not see the wait of packets handed over ahead.
const CODEL_AHEAD_S: f64 = 0.001;
/// A queue without a limit: the largest a profile can have.
const UNLIMITED_QUEUE_BYTES: u64 = 268_435_456;

/// An element of one direction, as devices and commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementSetup {
    /// Host sending the packets through this stage.
    pub sender: Host,
    /// The element of the model.
    pub element: Element,
    /// Name of the stage's device.
    pub device: &'static str,
    /// Kind of the disciplines; a change of kind makes the disciplines anew.
    pub disciplines: &'static str,
    /// The commands putting the stage in force, replacing nothing or the same disciplines; possibly
    /// empty.
    pub commands: Vec<ToolCommand>,
}

/// Returns all elements of both directions. `seed` decides the draws; `None` when netem accepts no
/// seed.
pub fn rules(profile: &LinkProfile, seed: Option<u64>) -> Result<Vec<ElementSetup>, NetemError> {
    check(profile)?;
    let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    let directions = [(Host::Client, &profile.up), (Host::Server, &profile.down)];
    Ok(directions
        .into_iter()
        .flat_map(|(sender, direction)| {
            ELEMENTS.map(|element| {
                let device = exit_device(sender, element);
                let seed = seed.map(|seed| RandomStream::derive(seed, device).next_bits());
                ElementSetup {
                    sender,
                    element,
                    device,
                    disciplines: disciplines(element, direction),
                    commands: match element {
                        Element::Loss => vec![loss(device, direction, seed)],
                        Element::Queue => queue(device, direction, mtu_bytes),
                        Element::Link => vec![link(device, direction)],
                        Element::Delay => vec![delay(device, direction, seed)],
                    },
                }
            })
        })
        .collect())
}

/// Refuses any key done differently by the kernel's disciplines, or not at all.
fn check(profile: &LinkProfile) -> Result<(), NetemError> {
    let unsupported = |key: String, problem| {
        Err(NetemError::Unsupported {
            profile: profile.name.clone(),
            key,
            problem,
        })
    };
    if profile.far.as_ref().is_some_and(|far| !far.is_empty()) {
        return unsupported("far".to_owned(), "cannot be made of its disciplines");
    }
    if profile
        .schedule
        .as_ref()
        .is_some_and(|changes| !changes.is_empty())
    {
        return unsupported("schedule".to_owned(), "cannot be kept to the packet");
    }
    let mtu_bytes = u64::from(profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES));
    for (name, direction) in [("up", &profile.up), ("down", &profile.down)] {
        if let Some((key, problem)) = problem(direction, mtu_bytes) {
            return unsupported(format!("{name}.{key}"), problem);
        }
    }
    Ok(())
}

fn problem(direction: &DirectionProfile, mtu_bytes: u64) -> Option<(&'static str, &'static str)> {
    // Every key by name: one that this back end does not make must be refused, never passed over.
    let DirectionProfile {
        one_way_delay_ms: _, // made by `delay`
        jitter,
        rate_bps,
        trace_file,
        loss_ratio: _,      // made by `loss`,
        gilbert_elliott: _, // and so is this
        policer,
        packet_overhead_bytes: _, // counted by `link` and `queue`
        queue_bytes,
        queue_packets,
        queue_discipline,
        codel_target_ms: _,   // made by `queue`,
        codel_interval_ms: _, // and so is this
        cross_traffic,
    } = direction;
    let is_codel = *queue_discipline == Some(QueueDiscipline::Codel);
    let has_rate = rate_bps.is_some();
    let limits = (*queue_bytes, *queue_packets);
    if trace_file.is_some() {
        Some(("trace_file", "cannot be made of its disciplines"))
    } else if policer.is_some() {
        Some(("policer", "cannot be made of its disciplines"))
    } else if cross_traffic.is_some() {
        Some(("cross_traffic", "cannot be made of its disciplines"))
    } else if let Some(key) = jitter.as_ref().and_then(jitter_problem) {
        Some(key)
    } else if has_rate && !is_codel && matches!(limits, (Some(_), Some(_))) {
        Some(("queue_packets", "cannot be given beside queue_bytes"))
    } else if has_rate && limits.0.is_some_and(|bytes| bytes < mtu_bytes) {
        Some(("queue_bytes", "must hold one full packet"))
    } else if has_rate && limits.1 == Some(0) {
        Some(("queue_packets", "must hold one packet"))
    } else {
        None
    }
}

fn jitter_problem(jitter: &Jitter) -> Option<(&'static str, &'static str)> {
    if jitter.quantiles_ms.is_some() {
        Some(("jitter.quantiles_ms", "is no distribution it has"))
    } else if jitter.distribution == Some(JitterDistribution::Lognormal) {
        Some(("jitter.distribution", "can only be normal"))
    } else if !jitter.per_packet_reordering {
        Some((
            "jitter",
            "can only be per packet (per_packet_reordering = true)",
        ))
    } else {
        None
    }
}

fn loss(device: &str, direction: &DirectionProfile, seed: Option<u64>) -> ToolCommand {
    let what = match &direction.gilbert_elliott {
        None => format!(" loss random {}", percent(direction.loss_ratio)),
        Some(chain) => format!(
            " loss gemodel {}",
            chain_percents(chain, direction.loss_ratio)
        ),
    };
    netem(
        device,
        MIN_LIMIT_PACKETS,
        &format!("{what} rate {OUT_OF_THE_SOCKET}{}", seed_words(seed)),
    )
}

/// Returns `p r 1-h 1-k`: the ratios of leaving the good state, leaving the bad state, loss in the
/// bad state, loss in the good state. netem has a single kind of loss at a time. Independent loss
/// besides is exactly the same chain with more loss in each state.
fn chain_percents(chain: &GilbertElliott, loss_ratio: f64) -> String {
    let also_lost = |ratio: f64| 1.0 - (1.0 - ratio) * (1.0 - loss_ratio);
    [
        chain.good_to_bad_ratio,
        chain.bad_to_good_ratio,
        also_lost(chain.bad_loss_ratio.unwrap_or(1.0)),
        also_lost(chain.good_loss_ratio.unwrap_or(0.0)),
    ]
    .map(percent)
    .join(" ")
}

/// Formats a percentage with more digits than netem's 32 bits hold.
fn percent(ratio: f64) -> String {
    format!("{}%", (ratio * 1e12).round() / 1e10)
}

fn queue(device: &str, direction: &DirectionProfile, mtu_bytes: u32) -> Vec<ToolCommand> {
    let Some(rate_bps) = direction.rate_bps else {
        return Vec::new();
    };
    let packet_bytes = u64::from(mtu_bytes);
    let room_packets = match (direction.queue_packets, direction.queue_bytes) {
        (Some(packets), Some(bytes)) => packets.min(bytes / packet_bytes),
        (Some(packets), None) => packets,
        (None, bytes) => bytes.unwrap_or(UNLIMITED_QUEUE_BYTES) / packet_bytes,
    };
    let is_codel = direction.queue_discipline == Some(QueueDiscipline::Codel);
    let ahead_s = if is_codel { CODEL_AHEAD_S } else { AHEAD_S };
    let ahead = ahead_packets(rate_bps, packet_bytes, ahead_s).min(room_packets / 2);
    let overhead_bytes = u64::from(direction.packet_overhead_bytes.unwrap_or(0));
    let burst_bytes = (ahead + 1) * (packet_bytes + overhead_bytes);
    let limit_bytes = direction
        .queue_bytes
        .unwrap_or(UNLIMITED_QUEUE_BYTES)
        .saturating_sub(ahead * packet_bytes)
        .max(packet_bytes);
    let overhead = match overhead_bytes {
        0 => String::new(),
        bytes => format!(" overhead {bytes}"),
    };
    let shaper = format!(
        "qdisc replace dev {device} root handle 1: stab overhead -{ETHERNET_BYTES} tbf rate {} \
         burst {burst_bytes} limit {limit_bytes}{overhead}",
        rate_words(rate_bps)
    );
    let child = format_child_queue(direction, room_packets - ahead, limit_bytes);
    let child = format!("qdisc replace dev {device} parent 1:1 handle {child}");
    vec![
        ToolCommand::new("tc", &shaper),
        ToolCommand::new("tc", &child),
    ]
}

fn disciplines(element: Element, direction: &DirectionProfile) -> &'static str {
    if element != Element::Queue {
        return "netem";
    }
    match (direction.rate_bps, direction.queue_discipline) {
        (None, _) => "none",
        (Some(_), Some(QueueDiscipline::Codel)) => "tbf and codel",
        (Some(_), _) if direction.queue_packets.is_some() => "tbf and pfifo",
        (Some(_), _) => "tbf and bfifo",
    }
}

/// Returns the number of full packets in a time, at least 1.
fn ahead_packets(rate_bps: f64, packet_bytes: u64, ahead_s: f64) -> u64 {
    let packets = rate_bps * ahead_s / (8.0 * packet_bytes as f64);
    (packets.ceil() as u64).max(1)
}

/// Returns the words for the queue itself.
fn format_child_queue(
    direction: &DirectionProfile,
    limit_packets: u64,
    limit_bytes: u64,
) -> String {
    if direction.queue_discipline == Some(QueueDiscipline::Codel) {
        let ns = |value: Option<f64>, default| to_ns(value.unwrap_or(default)) / 1_000;
        return format!(
            "10: codel limit {} target {}us interval {}us noecn",
            limit_packets.max(1),
            ns(direction.codel_target_ms, DEFAULT_TARGET_MS),
            ns(direction.codel_interval_ms, DEFAULT_INTERVAL_MS),
        );
    }
    match direction.queue_packets {
        Some(_) => format!("10: pfifo limit {}", limit_packets.max(1)),
        None => format!("10: bfifo limit {limit_bytes}"),
    }
}

fn link(device: &str, direction: &DirectionProfile) -> ToolCommand {
    let rate = direction.rate_bps.map_or_else(String::new, |rate_bps| {
        let overhead_bytes = direction.packet_overhead_bytes.unwrap_or(0);
        format!(" rate {} {overhead_bytes}", rate_words(rate_bps))
    });
    netem(device, MIN_LIMIT_PACKETS, &rate)
}

/// Formats a rate. The disciplines' unit is whole bytes per second; the text is in bits for human
/// readers.
fn rate_words(rate_bps: f64) -> String {
    format!("{}bit", (rate_bps / 8.0).round().max(1.0) as u64 * 8)
}

fn delay(device: &str, direction: &DirectionProfile, seed: Option<u64>) -> ToolCommand {
    let deviation_ms = direction
        .jitter
        .as_ref()
        .and_then(|jitter| jitter.standard_deviation_ms)
        .unwrap_or(0.0);
    let delay_ns = to_ns(direction.one_way_delay_ms);
    let words = if deviation_ms > 0.0 {
        let deviation_ns = to_ns(deviation_ms);
        format!(
            " delay {} {} distribution normal{}",
            time_words(delay_ns),
            time_words(deviation_ns),
            seed_words(seed)
        )
    } else {
        format!(" delay {}", time_words(delay_ns))
    };
    let longest_ms = direction.one_way_delay_ms + 8.0 * deviation_ms;
    netem(
        device,
        limit_packets(direction.rate_bps, longest_ms),
        &words,
    )
}

/// Returns twice the maximum number of smallest packets under way.
fn limit_packets(rate_bps: Option<f64>, delay_ms: f64) -> u64 {
    let rate_bps = rate_bps.unwrap_or(UNLIMITED_BPS);
    let packets = rate_bps * delay_ms / 1_000.0 / (8.0 * SMALLEST_PACKET_BYTES);
    (2.0 * packets)
        .ceil()
        .clamp(MIN_LIMIT_PACKETS as f64, MAX_LIMIT_PACKETS as f64) as u64
}

fn netem(device: &str, limit_packets: u64, words: &str) -> ToolCommand {
    ToolCommand::new(
        "tc",
        &format!(
            "qdisc replace dev {device} root stab overhead -{ETHERNET_BYTES} netem \
             limit {limit_packets}{words}"
        ),
    )
}

/// Formats a time in us, because tc 6.1 refuses the unit ns; tc 6.1 also cuts to whole
/// microseconds.
fn time_words(time_ns: u64) -> String {
    format!("{}.{:03}us", time_ns / 1_000, time_ns % 1_000)
}

fn seed_words(seed: Option<u64>) -> String {
    seed.map_or_else(String::new, |seed| format!(" seed {seed}"))
}

#[cfg(test)]
mod tests;
