//! An internet's configuration: read from TOML, every value checked, and completed. Not for: what the
//! values do (that is `model`). docs/formats/internet.md lists the keys.

use crate::hosts::anchor::anchor_name;
use crate::profile::DEFAULT_MTU_BYTES;
use crate::star::prefix::Prefix;
use resolab_record::{InternetConfig, InternetHost};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use thiserror::Error;

const DEFAULT_SEED: u64 = 1;
/// Each has a process and a device; far fewer than what kernels allow.
const HOSTS_COUNT: RangeInclusive<usize> = 1..=250;
const NAME_LIMIT_BYTES: usize = 63;
const MTU_BYTES: RangeInclusive<f64> = 576.0..=65_535.0;
const ONE_WAY_MS: RangeInclusive<f64> = 0.0..=10_000.0;
const RATE_MBPS: RangeInclusive<f64> = 0.001..=100_000.0;
const RATIO: RangeInclusive<f64> = 0.0..=1.0;
const QUEUE_PACKETS: RangeInclusive<f64> = 0.0..=10_000_000.0;

/// Why a configuration cannot be used; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ConfigError {
    /// No such file, or not to be read.
    #[error("read internet {file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why not.
        error: std::io::Error,
    },
    /// Not the TOML it should be.
    #[error("understand internet {file}, line {line}: {message}")]
    Malformed {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value that cannot be.
    #[error("use {key} = {value}: it must be from {min} to {max}")]
    Range {
        /// The key, behind its host's name.
        key: String,
        /// As given.
        value: f64,
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Hosts that cannot be, or not beside each other.
    #[error("use host {host:?}: {expected}")]
    Host {
        /// Whose.
        host: String,
        /// What is wrong and what must be.
        expected: String,
    },
    /// Too few or too many.
    #[error("make {0} hosts: there must be 1 to 250")]
    Count(usize),
}

/// Read, check and complete.
pub fn load(file: &Path) -> Result<InternetConfig, ConfigError> {
    let named = || file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| ConfigError::Read {
        file: named(),
        error,
    })?;
    let config = toml::from_str(&text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        ConfigError::Malformed {
            file: named(),
            line: text.get(..offset).unwrap_or_default().matches('\n').count() + 1,
            message: error.message().replace('\n', "; "),
        }
    })?;
    complete(config)
}

/// Check every value and write the defaults out, so that records say what is in force.
pub fn complete(config: InternetConfig) -> Result<InternetConfig, ConfigError> {
    if !HOSTS_COUNT.contains(&config.hosts.len()) {
        return Err(ConfigError::Count(config.hosts.len()));
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

/// Whether a host's delay and loss can be these.
pub fn check_way(host: &str, one_way_ms: f64, loss_ratio: f64) -> Result<(), ConfigError> {
    check_range(host, "one_way_ms", one_way_ms, &ONE_WAY_MS)?;
    check_range(host, "loss_ratio", loss_ratio, &RATIO)
}

/// The prefixes of a host; those that are none are left out.
pub(crate) fn prefixes(host: &InternetHost) -> impl Iterator<Item = Prefix> + '_ {
    let texts = host.networks.iter().map(|network| &network.prefix);
    texts.filter_map(|text| Prefix::parse(text))
}

fn complete_host(host: InternetHost) -> Result<InternetHost, ConfigError> {
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

/// Neither the local network nor loopback, multicast or beyond.
fn is_usable(prefix: Prefix) -> bool {
    let unusable = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3"];
    let mut unusable = unusable.iter().filter_map(|text| Prefix::parse(text));
    !unusable.any(|other| prefix.overlaps(other))
}

fn default_address(host: &InternetHost) -> Option<std::net::Ipv4Addr> {
    let single = prefixes(host).find(|prefix| prefix.length_bits() == 32);
    single.or_else(|| prefixes(host).next()).map(Prefix::second)
}

fn check_names(hosts: &[InternetHost]) -> Result<(), ConfigError> {
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

fn check_prefixes(hosts: &[InternetHost]) -> Result<(), ConfigError> {
    for (index, host) in hosts.iter().enumerate() {
        let own: Vec<_> = prefixes(host).collect();
        if let Some((_, twice)) = own
            .iter()
            .enumerate()
            .find(|(at, one)| own[..*at].contains(one))
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
) -> Result<(), ConfigError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let place = if host.is_empty() { "" } else { ": " };
    Err(ConfigError::Range {
        key: format!("{host}{place}{key}"),
        value,
        min: *allowed.start(),
        max: *allowed.end(),
    })
}

fn wrong<T>(host: &str, expected: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError::Host {
        host: host.to_owned(),
        expected: expected.into(),
    })
}

#[cfg(test)]
mod tests;
