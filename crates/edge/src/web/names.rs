//! A site's own DNS records, and the site of a host name.
//!
//! Not for: records of other names.

use super::settings::SiteConfig;
use crate::dns::wire::{TYPE_A, TYPE_AAAA, TYPE_HTTPS, name_wire};
use crate::dns::zone::{DEFAULT_TTL_S, Zone, parse_content};
use std::net::IpAddr;

/// Adds a site's records to the zone, replacing the old records of the site.
pub fn add_site(zone: &mut Zone, site: &SiteConfig) -> Result<(), String> {
    remove_site(zone, &site.host)?;
    let name = host_wire(&site.host)?;
    for address in &site.addresses {
        add_address(zone, &name, *address);
    }
    if let Some(alpn) = site.https_record.alpn() {
        let (_, content) = parse_content("HTTPS", &alpn.join(","))?;
        zone.add(&name, TYPE_HTTPS, DEFAULT_TTL_S, content);
    }
    Ok(())
}

/// Removes a site's records from the zone.
pub fn remove_site(zone: &mut Zone, host: &str) -> Result<(), String> {
    let name = host_wire(host)?;
    for record_type in [TYPE_A, TYPE_AAAA, TYPE_HTTPS] {
        zone.remove(&name, record_type);
    }
    Ok(())
}

/// Adds an A or AAAA record.
pub fn add_address(zone: &mut Zone, name: &[u8], address: IpAddr) {
    match address {
        IpAddr::V4(v4) => zone.add(name, TYPE_A, DEFAULT_TTL_S, v4.octets().to_vec()),
        IpAddr::V6(v6) => zone.add(name, TYPE_AAAA, DEFAULT_TTL_S, v6.octets().to_vec()),
    }
}

/// Returns a host name in wire format.
pub fn host_wire(text: &str) -> Result<Vec<u8>, String> {
    name_wire(text).ok_or_else(|| format!("`{text}` is no host name"))
}

/// Returns the wildcard covering a name, by the rule of certificates: one label deep (RFC 6125
/// section 6.4.3).
pub fn wildcard_of(host: &str) -> Option<String> {
    let (_, parent) = host.split_once('.')?;
    Some(format!("*.{parent}"))
}
