//! Builds the zone of a configuration.
//!
//! For: combining zone files, sites and records. Not for: answering queries.

use crate::config::EdgeConfig;
use crate::dns::zone::{Zone, file, parse_content};
use crate::web::names::{add_address, add_site, host_wire};

/// Builds the zone. Errors with the name of the wrong value.
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
