//! The names the edge answers for, and what is known of each.
//!
//! For: lookup; pure data. Not for: messages, and not for zone files.

use crate::wire::{TYPE_A, TYPE_AAAA, TYPE_CNAME, TYPE_HTTPS, TYPE_SOA, TYPE_TXT, name_wire};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// TTL of records that say nothing else, and of negative answers.
pub const DEFAULT_TTL_S: u32 = 300;

/// Records of one name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSet {
    /// Type.
    pub record_type: u16,
    /// Time to live.
    pub ttl_s: u32,
    /// Contents in wire form, never compressed.
    pub contents: Vec<Vec<u8>>,
}

/// What the zone says to a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// Records of the type asked, or the CNAME in their place.
    Records(&'a RecordSet),
    /// The name exists, the type does not; the wire name of the zone's origin for the SOA.
    NoData(&'a [u8]),
    /// The name does not exist; the origin.
    NoName(&'a [u8]),
    /// Not under any origin.
    NotOurs,
}

/// Names by their lower-case wire form.
#[derive(Debug, Clone, Default)]
pub struct Zone {
    origins: Vec<Vec<u8>>,
    names: HashMap<Vec<u8>, Vec<RecordSet>>,
}

impl Zone {
    /// Be responsible for everything below `origin` (wire form, lower case).
    pub fn add_origin(&mut self, origin: Vec<u8>) {
        if self.origins.contains(&origin) {
            return;
        }
        let soa = RecordSet {
            record_type: TYPE_SOA,
            ttl_s: DEFAULT_TTL_S,
            contents: vec![soa_content(&origin)],
        };
        self.names.entry(origin.clone()).or_default().push(soa);
        self.origins.push(origin);
        // The longest origin wins.
        self.origins
            .sort_by_key(|origin| std::cmp::Reverse(origin.len()));
    }

    /// Add one record; a name under no origin becomes an origin of its own.
    pub fn add(&mut self, name: &[u8], record_type: u16, ttl_s: u32, content: Vec<u8>) {
        let name = name.to_ascii_lowercase();
        if self.origin_of(&name).is_none() {
            self.add_origin(name.clone());
        }
        self.add_ancestors(&name);
        let sets = self.names.entry(name).or_default();
        match sets.iter_mut().find(|set| set.record_type == record_type) {
            Some(set) => {
                set.ttl_s = ttl_s;
                set.contents.push(content);
            }
            None => sets.push(RecordSet {
                record_type,
                ttl_s,
                contents: vec![content],
            }),
        }
    }

    /// Forget the records of one name and type.
    pub fn remove(&mut self, name: &[u8], record_type: u16) {
        if let Some(sets) = self.names.get_mut(&name.to_ascii_lowercase()) {
            sets.retain(|set| set.record_type != record_type);
        }
    }

    /// Look up a name in any case.
    pub fn lookup(&self, name: &[u8], record_type: u16) -> Lookup<'_> {
        let name = name.to_ascii_lowercase();
        let Some(origin) = self.origin_of(&name) else {
            return Lookup::NotOurs;
        };
        let Some(sets) = self.names.get(&name) else {
            return Lookup::NoName(origin);
        };
        sets.iter()
            .find(|set| set.record_type == record_type || set.record_type == TYPE_CNAME)
            .map_or(Lookup::NoData(origin), Lookup::Records)
    }

    fn origin_of(&self, name: &[u8]) -> Option<&[u8]> {
        self.origins
            .iter()
            .map(Vec::as_slice)
            .find(|origin| is_below(name, origin))
    }

    /// Names between a new one and its origin exist too (RFC 8020).
    fn add_ancestors(&mut self, name: &[u8]) {
        let Some(origin_bytes) = self.origin_of(name).map(<[u8]>::len) else {
            return;
        };
        let mut rest = name;
        while rest.len() > origin_bytes {
            rest = &rest[1 + usize::from(rest[0])..];
            self.names.entry(rest.to_vec()).or_default();
        }
    }
}

/// Whether `name` is `origin` or below it, on a label boundary.
fn is_below(name: &[u8], origin: &[u8]) -> bool {
    let mut rest = name;
    while rest.len() > origin.len() {
        rest = &rest[1 + usize::from(rest[0])..];
    }
    rest == origin
}

fn soa_content(origin: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    for label in [&b"\x02ns"[..], b"\x0ahostmaster"] {
        content.extend_from_slice(label);
        content.extend_from_slice(origin);
    }
    // Serial, refresh, retry, expire, minimum: the last bounds negative answers (RFC 2308).
    for number in [1, 3_600, 600, 86_400, DEFAULT_TTL_S] {
        content.extend_from_slice(&number.to_be_bytes());
    }
    content
}

/// Contents of an HTTPS record in service mode without a target name of its own (RFC 9460).
pub fn https_content(alpn: &[&str]) -> Vec<u8> {
    let mut list = Vec::new();
    for id in alpn {
        list.push(id.len() as u8);
        list.extend_from_slice(id.as_bytes());
    }
    let mut content = vec![0, 1, 0]; // priority 1, target "."
    content.extend_from_slice(&1_u16.to_be_bytes()); // SvcParamKey alpn
    content.extend_from_slice(&(list.len() as u16).to_be_bytes());
    content.extend_from_slice(&list);
    content
}

/// Contents of a record given as text; `Err` says what is wrong.
pub fn parse_content(record_type: &str, value: &str) -> Result<(u16, Vec<u8>), String> {
    let wrong = |what: &str| format!("`{value}` is no {what}");
    match record_type {
        "A" => match value.parse::<Ipv4Addr>() {
            Ok(address) => Ok((TYPE_A, address.octets().to_vec())),
            Err(_) => Err(wrong("IPv4 address")),
        },
        "AAAA" => match value.parse::<Ipv6Addr>() {
            Ok(address) => Ok((TYPE_AAAA, address.octets().to_vec())),
            Err(_) => Err(wrong("IPv6 address")),
        },
        "CNAME" => name_wire(value)
            .map(|name| (TYPE_CNAME, name))
            .ok_or_else(|| wrong("host name")),
        "TXT" => Ok((TYPE_TXT, text_content(value))),
        "HTTPS" => {
            let alpn: Vec<&str> = value.split(',').collect();
            let fits = alpn.iter().all(|id| (1..=255).contains(&id.len()));
            if fits {
                Ok((TYPE_HTTPS, https_content(&alpn)))
            } else {
                Err(wrong("list of ALPN identifiers"))
            }
        }
        other => Err(format!(
            "type `{other}` is not one of A, AAAA, CNAME, TXT, HTTPS"
        )),
    }
}

fn text_content(value: &str) -> Vec<u8> {
    let mut content = Vec::new();
    for chunk in value.as_bytes().chunks(255) {
        content.push(chunk.len() as u8);
        content.extend_from_slice(chunk);
    }
    if content.is_empty() {
        content.push(0);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(text: &str) -> Vec<u8> {
        name_wire(text).unwrap()
    }

    fn zone() -> Zone {
        let mut zone = Zone::default();
        zone.add_origin(wire("resolab.test"));
        zone.add(&wire("a.b.resolab.test"), TYPE_A, 60, vec![10, 0, 0, 1]);
        zone
    }

    #[test]
    fn known_unknown_and_foreign_names_differ() {
        let zone = zone();
        assert!(matches!(
            zone.lookup(b"\x01A\x01b\x07resolab\x04TEST\x00", TYPE_A),
            Lookup::Records(set) if set.ttl_s == 60
        ));
        let origin = wire("resolab.test");
        assert_eq!(
            zone.lookup(&wire("a.b.resolab.test"), TYPE_AAAA),
            Lookup::NoData(&origin)
        );
        assert_eq!(
            zone.lookup(&wire("b.resolab.test"), TYPE_A),
            Lookup::NoData(&origin)
        );
        assert_eq!(
            zone.lookup(&wire("c.resolab.test"), TYPE_A),
            Lookup::NoName(&origin)
        );
        assert_eq!(
            zone.lookup(&wire("notresolab.test"), TYPE_A),
            Lookup::NotOurs
        );
        assert_eq!(zone.lookup(&wire("test"), TYPE_A), Lookup::NotOurs);
        assert_eq!(zone.lookup(&wire("."), TYPE_A), Lookup::NotOurs);
    }

    #[test]
    fn a_name_outside_every_origin_becomes_its_own() {
        let mut zone = zone();
        zone.add(&wire("upload.example.org"), TYPE_A, 300, vec![10, 0, 0, 2]);
        assert!(matches!(
            zone.lookup(&wire("upload.example.org"), TYPE_A),
            Lookup::Records(_)
        ));
        assert_eq!(zone.lookup(&wire("example.org"), TYPE_A), Lookup::NotOurs);
    }

    #[test]
    fn contents_are_parsed_or_named_as_wrong() {
        assert_eq!(
            parse_content("A", "10.0.0.7"),
            Ok((TYPE_A, vec![10, 0, 0, 7]))
        );
        assert_eq!(
            parse_content("HTTPS", "h3,h2").unwrap().1,
            b"\x00\x01\x00\x00\x01\x00\x06\x02h3\x02h2"
        );
        assert!(
            parse_content("A", "::1")
                .unwrap_err()
                .contains("`::1` is no IPv4 address")
        );
        assert!(parse_content("MX", "x").unwrap_err().contains("`MX`"));
    }
}
