//! The zone a configuration describes.
//!
//! For: putting together zone files, sites and records. Not for: what is asked of it.

use crate::config::{EdgeConfig, SiteConfig};
use crate::wire::{TYPE_A, TYPE_AAAA, TYPE_HTTPS, name_wire};
use crate::zone::{DEFAULT_TTL_S, Zone, file, parse_content};
use std::net::IpAddr;

/// The zone; `Err` names the value that is wrong.
pub fn build_zone(config: &EdgeConfig) -> Result<Zone, String> {
    let mut zone = Zone::default();
    if let Some(resolver) = &config.resolver {
        for origin in &resolver.origins {
            zone.add_origin(host_wire(origin)?);
        }
        let name = host_wire(&resolver.name)?;
        for address in &resolver.addresses {
            add_address(&mut zone, &name, *address);
        }
        for path in &resolver.zone_files {
            file::load(&mut zone, path).map_err(|error| error.to_string())?;
        }
    }
    for site in &config.sites {
        add_site(&mut zone, site)?;
    }
    for record in &config.records {
        let name = host_wire(&record.name)?;
        let (record_type, content) = parse_content(&record.record_type, &record.value)
            .map_err(|reason| format!("[[zone]] {}: {reason}", record.name))?;
        zone.add(&name, record_type, record.ttl_s, content);
    }
    Ok(zone)
}

/// Put a site's records in place of those it had.
pub fn add_site(zone: &mut Zone, site: &SiteConfig) -> Result<(), String> {
    let name = host_wire(&site.host)?;
    for record_type in [TYPE_A, TYPE_AAAA, TYPE_HTTPS] {
        zone.remove(&name, record_type);
    }
    add_address(zone, &name, site.address);
    if site.https_record {
        let (_, content) = parse_content("HTTPS", "h3,h2")?;
        zone.add(&name, TYPE_HTTPS, DEFAULT_TTL_S, content);
    }
    Ok(())
}

fn add_address(zone: &mut Zone, name: &[u8], address: IpAddr) {
    match address {
        IpAddr::V4(v4) => zone.add(name, TYPE_A, DEFAULT_TTL_S, v4.octets().to_vec()),
        IpAddr::V6(v6) => zone.add(name, TYPE_AAAA, DEFAULT_TTL_S, v6.octets().to_vec()),
    }
}

fn host_wire(text: &str) -> Result<Vec<u8>, String> {
    name_wire(text).ok_or_else(|| format!("`{text}` is no host name"))
}
