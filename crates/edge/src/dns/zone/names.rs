//! The names served by the edge, with their records.
//!
//! For: lookup; pure data. Not for: messages, or text.

use crate::dns::wire::{TYPE_CNAME, TYPE_NS, TYPE_SOA};
use std::collections::HashMap;

/// The default TTL of records, and the TTL of negative answers, in s.
pub const DEFAULT_TTL_S: u32 = 300;

/// The records of one name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSet {
    /// The number of the record type.
    pub record_type: u16,
    /// The time to live, in s.
    pub ttl_s: u32,
    /// The record data in wire form, never compressed.
    pub contents: Vec<Vec<u8>>,
    /// True for a default set, not requested by the configuration: added records replace the set.
    is_made: bool,
}

/// The zone's answer to a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// The records of the query type, or the CNAME in their place.
    Records(&'a RecordSet),
    /// The name exists without this type; the field is the wire name of the zone's origin for the
    /// SOA.
    NoData(&'a [u8]),
    /// The name does not exist; the field is the origin.
    NoName(&'a [u8]),
    /// The name is not under any origin.
    NotOurs,
}

/// The names by their lower-case wire form.
#[derive(Debug, Clone, Default)]
pub struct Zone {
    origins: Vec<Vec<u8>>,
    names: HashMap<Vec<u8>, Vec<RecordSet>>,
}

impl Zone {
    /// Adds the responsibility for all names below `origin` (wire form, lower case). The zone makes
    /// a default SOA and NS, replaced by added records.
    pub fn add_origin(&mut self, origin: Vec<u8>) {
        if self.origins.contains(&origin) {
            return;
        }
        let made = |record_type, content| RecordSet {
            record_type,
            ttl_s: DEFAULT_TTL_S,
            contents: vec![content],
            is_made: true,
        };
        let apex = self.names.entry(origin.clone()).or_default();
        apex.push(made(TYPE_SOA, soa_content(&origin)));
        apex.push(made(TYPE_NS, label_below(b"ns", &origin)));
        self.origins.push(origin);
        // The longest origin wins.
        self.origins
            .sort_by_key(|origin| std::cmp::Reverse(origin.len()));
    }

    /// Adds a record. The owner of an SOA, and a name under no origin, becomes an origin.
    pub fn add(&mut self, name: &[u8], record_type: u16, ttl_s: u32, content: Vec<u8>) {
        let name = name.to_ascii_lowercase();
        if record_type == TYPE_SOA || self.origin_of(&name).is_none() {
            self.add_origin(name.clone());
        }
        self.add_ancestors(&name);
        let sets = self.names.entry(name).or_default();
        // One SOA, one CNAME: the later one counts, and anything counts more than what was made.
        let is_single = record_type == TYPE_SOA || record_type == TYPE_CNAME;
        sets.retain(|set| set.record_type != record_type || !(is_single || set.is_made));
        match sets.iter_mut().find(|set| set.record_type == record_type) {
            Some(set) => {
                // RFC 2181 section 5: one TTL, and no record twice.
                set.ttl_s = set.ttl_s.min(ttl_s);
                if !set.contents.contains(&content) {
                    set.contents.push(content);
                }
            }
            None => sets.push(RecordSet {
                record_type,
                ttl_s,
                contents: vec![content],
                is_made: false,
            }),
        }
    }

    /// Removes the records of one name and type.
    pub fn remove(&mut self, name: &[u8], record_type: u16) {
        let mut name = name.to_ascii_lowercase();
        let Some(sets) = self.names.get_mut(&name) else {
            return;
        };
        sets.retain(|set| set.record_type != record_type);
        // A name without records is one only while there is another below it (RFC 8020 section 2),
        // and hides a wildcard above.
        while !self.origins.contains(&name) && self.names.get(&name).is_some_and(Vec::is_empty) {
            if self.names.keys().any(|other| is_right_below(other, &name)) {
                return;
            }
            self.names.remove(&name);
            name.drain(..=usize::from(name[0]));
        }
    }

    /// Looks up a name in any case.
    pub fn lookup(&self, name: &[u8], record_type: u16) -> Lookup<'_> {
        let name = name.to_ascii_lowercase();
        let Some(origin) = self.origin_of(&name) else {
            return Lookup::NotOurs;
        };
        let sets = self.names.get(&name);
        let Some(sets) = sets.or_else(|| self.wildcard_for(&name, origin.len())) else {
            return Lookup::NoName(origin);
        };
        sets.iter()
            .find(|set| set.record_type == record_type || set.record_type == TYPE_CNAME)
            .map_or(Lookup::NoData(origin), Lookup::Records)
    }

    /// Returns the origin above a name in any case.
    pub fn origin(&self, name: &[u8]) -> Option<&[u8]> {
        self.origin_of(&name.to_ascii_lowercase())
    }

    /// Returns the wildcard right below the closest existing name, if any; wildcards further up do
    /// not count (RFC 4592 section 3.3.1).
    fn wildcard_for(&self, name: &[u8], origin_bytes: usize) -> Option<&Vec<RecordSet>> {
        let mut encloser = name;
        while encloser.len() > origin_bytes {
            encloser = &encloser[1 + usize::from(encloser[0])..];
            if self.names.contains_key(encloser) {
                return self.names.get(&label_below(b"*", encloser));
            }
        }
        None
    }

    fn origin_of(&self, name: &[u8]) -> Option<&[u8]> {
        self.origins
            .iter()
            .map(Vec::as_slice)
            .find(|origin| is_below(name, origin))
    }

    /// Adds the names between a new name and its origin, because these names exist, too (RFC 8020).
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

/// Returns true when `name` is `origin` or below `origin`, on a label boundary.
pub(super) fn is_below(name: &[u8], origin: &[u8]) -> bool {
    let mut rest = name;
    while rest.len() > origin.len() {
        rest = &rest[1 + usize::from(rest[0])..];
    }
    rest == origin
}

/// Returns true when a name is another name with one label in front.
fn is_right_below(name: &[u8], other: &[u8]) -> bool {
    let label_bytes = name.first().map_or(0, |count| usize::from(*count));
    name.get(1 + label_bytes..) == Some(other)
}

/// Returns a name with a label in front.
fn label_below(label: &[u8], name: &[u8]) -> Vec<u8> {
    let mut below = vec![label.len() as u8];
    below.extend_from_slice(label);
    below.extend_from_slice(name);
    below
}

fn soa_content(origin: &[u8]) -> Vec<u8> {
    let mut content = label_below(b"ns", origin);
    content.extend(label_below(b"hostmaster", origin));
    // Serial, refresh, retry, expire, minimum: the last bounds negative answers (RFC 2308).
    for number in [1, 3_600, 600, 86_400, DEFAULT_TTL_S] {
        content.extend_from_slice(&number.to_be_bytes());
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::wire::{TYPE_A, TYPE_AAAA, TYPE_TXT, name_wire};

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
    fn a_name_that_was_removed_is_none_any_more_and_hides_no_wildcard() {
        let mut zone = zone();
        zone.add(&wire("*.resolab.test"), TYPE_A, 60, vec![10, 0, 0, 9]);
        zone.add(&wire("c.b.resolab.test"), TYPE_A, 60, vec![10, 0, 0, 2]);
        let origin = wire("resolab.test");
        zone.remove(&wire("A.b.resolab.test"), TYPE_A);
        // b.resolab.test has another below it: it is still the closest name that exists.
        assert_eq!(
            zone.lookup(&wire("a.b.resolab.test"), TYPE_A),
            Lookup::NoName(&origin)
        );
        assert_eq!(
            zone.lookup(&wire("b.resolab.test"), TYPE_A),
            Lookup::NoData(&origin)
        );
        zone.remove(&wire("c.b.resolab.test"), TYPE_A);
        for name in ["a.b.resolab.test", "b.resolab.test"] {
            assert!(matches!(
                zone.lookup(&wire(name), TYPE_A),
                Lookup::Records(set) if set.contents == [[10, 0, 0, 9]]
            ));
        }
        zone.remove(&wire("*.resolab.test"), TYPE_A);
        assert_eq!(
            zone.lookup(&wire("resolab.test"), TYPE_A),
            Lookup::NoData(&origin)
        );
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
    fn a_wildcard_stands_for_what_does_not_exist_below_the_closest_name() {
        // RFC 4592 section 2.2.1, in short.
        let mut zone = zone();
        zone.add(&wire("*.resolab.test"), TYPE_TXT, 60, b"\x01w".to_vec());
        zone.add(&wire("host1.resolab.test"), TYPE_A, 60, vec![10, 0, 0, 9]);
        let found = |name: &str, record_type| match zone.lookup(&wire(name), record_type) {
            Lookup::Records(_) => "records",
            Lookup::NoData(_) => "no data",
            Lookup::NoName(_) => "no name",
            Lookup::NotOurs => "not ours",
        };
        assert_eq!(found("host3.resolab.test", TYPE_TXT), "records");
        assert_eq!(found("x.host3.resolab.test", TYPE_TXT), "records");
        assert_eq!(found("host3.resolab.test", TYPE_A), "no data");
        assert_eq!(found("host1.resolab.test", TYPE_TXT), "no data");
        assert_eq!(found("x.host1.resolab.test", TYPE_TXT), "no name");
        // An empty non-terminal exists, and nothing is below it but what is there.
        assert_eq!(found("b.resolab.test", TYPE_TXT), "no data");
        assert_eq!(found("c.b.resolab.test", TYPE_TXT), "no name");
        assert_eq!(found("*.resolab.test", TYPE_TXT), "records");
    }

    #[test]
    fn a_soa_makes_an_origin_and_replaces_what_was_made() {
        let mut zone = zone();
        let apex = wire("sub.resolab.test");
        zone.add(&apex, TYPE_SOA, 60, soa_content(b"\x00"));
        zone.add(&apex, TYPE_SOA, 90, soa_content(b"\x00"));
        zone.add(&apex, TYPE_NS, 60, wire("ns.elsewhere"));
        zone.add(&apex, TYPE_NS, 50, wire("ns.elsewhere"));
        for (record_type, ttl_s) in [(TYPE_SOA, 90), (TYPE_NS, 50)] {
            let Lookup::Records(set) = zone.lookup(&apex, record_type) else {
                panic!("{record_type}");
            };
            assert_eq!((set.contents.len(), set.ttl_s), (1, ttl_s));
        }
        let unknown = zone.lookup(&wire("x.sub.resolab.test"), TYPE_A);
        assert_eq!(unknown, Lookup::NoName(&apex));
    }
}
