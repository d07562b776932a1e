//! From a complete profile to the `tc` command lines that make it so, one discipline per element
//! and direction. Pure. Not for: devices (that is `wires`), running anything.
//!
//! * Loss: netem. Its rate, faster than anything, makes the kernel let go of the sending socket's
//!   memory, as a real link does; without it TCP and UDP would hold packets back at the sender
//!   instead of filling the queue.
//! * Queue: tbf, whose child is the queue with its limit. netem's own `limit` counts packets under
//!   way too and must never play the bottleneck's part, so it is set far above anything.
//! * Link: netem's `rate`, which takes a packet's time after the last one's end, in virtual time:
//!   the rate is exact however late timers are, and a packet on an idle link takes its time, too
//!   (tbf lets it pass at once). tbf hands over some milliseconds' packets ahead, so that the link
//!   never waits for a late timer; they are taken off the queue's limit.
//! * Delay: netem, without a rate, so that jitter may reorder.
//!
//! The disciplines count Ethernet's 14 bytes; `stab overhead -14` takes them off again, exactly.

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

/// What a discipline counts beyond the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// Takes a nanosecond for a full packet: no timer is ever set for it.
const OUT_OF_THE_SOCKET: &str = "8tbit";
/// Room in every netem, in packets, at least.
const MIN_LIMIT_PACKETS: u64 = 100_000;
/// And at most; nobody has the memory for more.
const MAX_LIMIT_PACKETS: u64 = 1_000_000_000;
/// How fast packets can come where the profile has no rate.
const UNLIMITED_BPS: f64 = 10e9;
/// IP and UDP headers and little else.
const SMALLEST_PACKET_BYTES: f64 = 40.0;
/// How late tbf's timer may be without the link running dry. Both queues together are as long as
/// the profile's whatever this is, so only what the queue holds limits it (to half of that).
const AHEAD_S: f64 = 0.01;
/// CoDel does not see the wait of packets ahead.
const CODEL_AHEAD_S: f64 = 0.001;
/// A queue without a limit: the largest a profile can have.
const UNLIMITED_QUEUE_BYTES: u64 = 268_435_456;

/// One element of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Who sends what passes here.
    pub sender: Host,
    /// What it is.
    pub element: Element,
    /// Where it sits.
    pub device: &'static str,
    /// What it is made of; where this changes, it is made anew.
    pub disciplines: &'static str,
    /// They put it in force, in place of nothing or of the same disciplines; may be none.
    pub commands: Vec<ToolCommand>,
}

/// All elements of both directions. `seed` decides the draws; `None` where netem takes no seed.
pub fn rules(profile: &LinkProfile, seed: Option<u64>) -> Result<Vec<Stage>, NetemError> {
    check(profile)?;
    let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    let directions = [(Host::Client, &profile.up), (Host::Server, &profile.down)];
    Ok(directions
        .into_iter()
        .flat_map(|(sender, direction)| {
            ELEMENTS.map(|element| {
                let device = exit_device(sender, element);
                let seed = seed.map(|seed| RandomStream::derive(seed, device).next_bits());
                Stage {
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

/// Refuse what the kernel's disciplines do otherwise than the model, or not at all.
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

/// `p r 1-h 1-k`: out of the good state, out of the bad one, lost in the bad, lost in the good. netem
/// has one kind of loss at a time; independent loss besides is the same chain with more loss in
/// each state, exactly.
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

/// To more digits than netem's 32 bits hold.
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
    let child = waiting_room(direction, room_packets - ahead, limit_bytes);
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

/// Full packets of a time, at least one.
fn ahead_packets(rate_bps: f64, packet_bytes: u64, ahead_s: f64) -> u64 {
    let packets = rate_bps * ahead_s / (8.0 * packet_bytes as f64);
    (packets.ceil() as u64).max(1)
}

/// The queue itself.
fn waiting_room(direction: &DirectionProfile, limit_packets: u64, limit_bytes: u64) -> String {
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

/// The disciplines' unit is whole bytes per second; said in bits, which is what people read.
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

/// Twice as many of the smallest packets as can be under way.
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

/// Not in ns, a unit that tc 6.1 refuses; it also cuts the time to whole microseconds.
fn time_words(time_ns: u64) -> String {
    format!("{}.{:03}us", time_ns / 1_000, time_ns % 1_000)
}

fn seed_words(seed: Option<u64>) -> String {
    seed.map_or_else(String::new, |seed| format!(" seed {seed}"))
}

#[cfg(test)]
mod tests;
