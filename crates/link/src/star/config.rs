//! An internet's configuration: read from TOML, every value checked, and completed. Not for: the
//! effect of the values (see `model`). docs/formats/internet.md lists the keys.

use crate::hosts::anchor::anchor_name;
use crate::profile::DEFAULT_MTU_BYTES;
use crate::star::prefix::Prefix;
use resolab_record::{InternetConfig, InternetHost};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use thiserror::Error;

const DEFAULT_SEED: u64 = 1;
/// Permitted number of hosts. Each has a process and a device; kernels permit far more.
const HOSTS_COUNT: RangeInclusive<usize> = 1..=250;
const NAME_LIMIT_BYTES: usize = 63;
const MTU_BYTES: RangeInclusive<f64> = 576.0..=65_535.0;
const ONE_WAY_MS: RangeInclusive<f64> = 0.0..=10_000.0;
const RATE_MBPS: RangeInclusive<f64> = 0.001..=100_000.0;
const RATIO: RangeInclusive<f64> = 0.0..=1.0;
const QUEUE_PACKETS: RangeInclusive<f64> = 0.0..=10_000_000.0;

/// The reason for an unusable configuration; messages read after "failed to".
#[derive(Debug, Error)]
pub enum InternetConfigError {
    /// The file does not exist or cannot be read.
    #[error("read internet {file}: {error}")]
    Read {
        /// Path of the file.
        file: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file is not valid TOML, or has wrong keys.
    #[error("understand internet {file}, line {line}: {message}")]
    Malformed {
        /// Path of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// A value is outside the permitted range.
    #[error("use {key} = {value}: it must be from {min} to {max}")]
    Range {
        /// Name of the key, behind the host's name.
        key: String,
        /// The value in the file.
        value: f64,
        /// Smallest permitted value of the key.
        min: f64,
        /// Largest permitted value of the key.
        max: f64,
    },
    /// A host is impossible, alone or beside the others.
    #[error("use host {host:?}: {expected}")]
    Host {
        /// Name of the host.
        host: String,
        /// Description of the error and the remedy.
        expected: String,
    },
    /// There are too few or too many hosts.
    #[error("make {0} hosts: there must be 1 to 250")]
    Count(usize),
}

/// Reads, checks and completes a configuration.
pub fn load(file: &Path) -> Result<InternetConfig, InternetConfigError> {
    let named = || file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| InternetConfigError::Read {
        file: named(),
        error,
    })?;
    let config = toml::from_str(&text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        InternetConfigError::Malformed {
            file: named(),
            line: text.get(..offset).unwrap_or_default().matches('\n').count() + 1,
            message: error.message().replace('\n', "; "),
        }
    })?;
    complete(config)
}

/// Checks every value and writes the defaults out. Records therefore show the values in force.
pub fn complete(config: InternetConfig) -> Result<InternetConfig, InternetConfigError> {
    if !HOSTS_COUNT.contains(&config.hosts.len()) {
        return Err(InternetConfigError::Count(config.hosts.len()));
    }
    let mtu_bytes = config.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    check_range("", "mtu_bytes", f64::from(mtu_bytes), &MTU_BYTES)?;
    let hosts: Vec<_> = config
        .hosts
        .into_iter()
        .map(complete_host)
        .collect::<Result<_, _>>()?;
    check_names(&hosts)?;
    check_prefixes(&hosts)?;
    Ok(InternetConfig {
        seed: Some(config.seed.unwrap_or(DEFAULT_SEED)),
        mtu_bytes: Some(mtu_bytes),
        hosts,
    })
}

/// Checks a host's delay and loss.
pub fn check_way(host: &str, one_way_ms: f64, loss_ratio: f64) -> Result<(), InternetConfigError> {
    check_range(host, "one_way_ms", one_way_ms, &ONE_WAY_MS)?;
    check_range(host, "loss_ratio", loss_ratio, &RATIO)
}

/// Returns the prefixes of a host; leaves invalid prefixes out.
pub(crate) fn prefixes(host: &InternetHost) -> impl Iterator<Item = Prefix> + '_ {
    let texts = host.networks.iter().map(|network| &network.prefix);
    texts.filter_map(|text| Prefix::parse(text))
}

fn complete_host(host: InternetHost) -> Result<InternetHost, InternetConfigError> {
    let letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if host.name.is_empty() || host.name.len() > NAME_LIMIT_BYTES || !host.name.chars().all(letter)
    {
        return wrong(
            &host.name,
            "its name must be of a-z, 0-9 and '-', 1 to 63 of them",
        );
    }
    check_way(&host.name, host.one_way_ms, host.loss_ratio)?;
    let rates = [
        ("rate_up_mbps", host.rate_up_mbps),
        ("rate_down_mbps", host.rate_down_mbps),
    ];
    for (key, rate_mbps) in rates {
        check_range(&host.name, key, rate_mbps.unwrap_or(1.0), &RATE_MBPS)?;
    }
    let queue_packets = host.queue_packets.unwrap_or(0) as f64;
    check_range(&host.name, "queue_packets", queue_packets, &QUEUE_PACKETS)?;
    for network in &host.networks {
        check_range(
            &host.name,
            "extra_one_way_ms",
            network.extra_one_way_ms,
            &ONE_WAY_MS,
        )?;
        if !Prefix::parse(&network.prefix).is_some_and(is_usable) {
            let prefix = &network.prefix;
            return wrong(
                &host.name,
                format!(
                    "prefix {prefix:?} must be the first address of an IPv4 network and its length, such as \
                 198.18.8.0/24, of addresses a host can have"
                ),
            );
        }
    }
    let address = host.address.or_else(|| default_address(&host));
    match address {
        None => wrong(&host.name, "it must have a [[host.network]]"),
        Some(address) if !prefixes(&host).any(|prefix| prefix.holds(address)) => wrong(
            &host.name,
            format!("its address {address} must be in one of its networks"),
        ),
        Some(_) => Ok(InternetHost { address, ..host }),
    }
}

/// Returns true for a prefix outside the local network, loopback, multicast and beyond.
fn is_usable(prefix: Prefix) -> bool {
    let unusable = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3"];
    let mut unusable = unusable.iter().filter_map(|text| Prefix::parse(text));
    !unusable.any(|other| prefix.overlaps(other))
}

fn default_address(host: &InternetHost) -> Option<std::net::Ipv4Addr> {
    let single = prefixes(host).find(|prefix| prefix.length_bits() == 32);
    single.or_else(|| prefixes(host).next()).map(Prefix::second)
}

fn check_names(hosts: &[InternetHost]) -> Result<(), InternetConfigError> {
    let mut by_anchor = BTreeMap::new();
    for host in hosts {
        if let Some(other) = by_anchor.insert(anchor_name(&host.name), &host.name) {
            let expected =
                format!("its name is {other:?}'s or too like it to tell both apart; take another");
            return wrong(&host.name, expected);
        }
    }
    Ok(())
}

fn check_prefixes(hosts: &[InternetHost]) -> Result<(), InternetConfigError> {
    for (index, host) in hosts.iter().enumerate() {
        let own: Vec<_> = prefixes(host).collect();
        if let Some((_, twice)) = own
            .iter()
            .enumerate()
            .find(|(at, network)| own[..*at].contains(network))
        {
            return wrong(&host.name, format!("prefix {twice} stands twice"));
        }
        for other in &hosts[..index] {
            let clash =
                prefixes(other).find(|theirs| own.iter().any(|ours| ours.overlaps(*theirs)));
            if let Some(theirs) = clash {
                let other = &other.name;
                return wrong(
                    &host.name,
                    format!("it must have no address that {other:?} has with {theirs}"),
                );
            }
        }
    }
    Ok(())
}

fn check_range(
    host: &str,
    key: &'static str,
    value: f64,
    allowed: &RangeInclusive<f64>,
) -> Result<(), InternetConfigError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let place = if host.is_empty() { "" } else { ": " };
    Err(InternetConfigError::Range {
        key: format!("{host}{place}{key}"),
        value,
        min: *allowed.start(),
        max: *allowed.end(),
    })
}

fn wrong<T>(host: &str, expected: impl Into<String>) -> Result<T, InternetConfigError> {
    Err(InternetConfigError::Host {
        host: host.to_owned(),
        expected: expected.into(),
    })
}

#[cfg(test)]
mod tests;
