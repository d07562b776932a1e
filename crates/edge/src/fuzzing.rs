//! Access to private functions for the fuzz targets, only in their build (`--cfg fuzzing`).
//! Not for: any other caller.

use crate::dns::behaviour::Behaviours;
use crate::dns::resolver::{MessageContext, Resolver, ResolverSettings};
use crate::dns::wire::{TYPE_A, TYPE_CNAME, TYPE_TXT, name_wire};
use crate::dns::zone::file::{FileRecord, records};
use crate::dns::zone::{Zone, is_well_formed, parse_content};
use crate::doh::dns_message;
use crate::web::conditions::{ConditionResult, Validators, judge};
use crate::web::encoding::{Encoding, choose};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use resolab_record::DnsTransport;
use std::ops::Range;
use std::time::{Duration, UNIX_EPOCH};

/// Returns a small zone under `test`, with an alias to itself and a wildcard.
fn zone() -> Zone {
    let mut zone = Zone::default();
    let name = |text: &str| name_wire(text).unwrap_or_default();
    zone.add_origin(name("test"));
    zone.add(&name("a.test"), TYPE_A, 60, vec![192, 0, 2, 7]);
    zone.add(&name("*.w.test"), TYPE_A, 60, vec![192, 0, 2, 8]);
    let loop_name = name("loop.test");
    zone.add(&loop_name, TYPE_CNAME, 60, loop_name.clone());
    for number in 0..20 {
        let text = [&[200][..], &[b'a' + number; 200]].concat();
        zone.add(&name("large.test"), TYPE_TXT, 60, text);
    }
    zone
}

/// Returns record data from the text form of a zone file.
pub fn zone_data(record_type: u16, text: &str) -> Result<Vec<u8>, String> {
    parse_content(&format!("TYPE{record_type}"), text).map(|(_, data)| data)
}

/// Two resolvers of the same zone, with and without the wire-format cache.
pub struct Resolvers {
    fresh: Resolver,
    kept: Resolver,
}

impl Resolvers {
    /// Makes the resolvers with empty caches.
    pub fn new() -> Self {
        let with = |wire_cache| {
            let settings = ResolverSettings {
                wire_cache,
                ..ResolverSettings::default()
            };
            Resolver::new(settings, zone(), Behaviours::default())
        };
        let (fresh, mut kept) = (with(false), with(true));
        kept.share_cookies(&fresh);
        Self { fresh, kept }
    }

    /// Returns the answers over a datagram, a stream and an encrypted transport; `None` for a
    /// dropped query. Each pair has a new answer first, then an answer from the cache.
    pub fn answers(&mut self, query: &[u8]) -> [(Option<Vec<u8>>, Option<Vec<u8>>); 3] {
        [DnsTransport::Doudp, DnsTransport::Dotcp, DnsTransport::Doq].map(|transport| {
            let context = MessageContext {
                transport,
                peer: [192, 0, 2, 1].into(),
                now_ns: 0,
                in_early_data: false,
            };
            let answer = |resolver: &mut Resolver| {
                let mut out = Vec::new();
                resolver.judge(query, context, &mut out).answer.map(|_| out)
            };
            (answer(&mut self.fresh), answer(&mut self.kept))
        })
    }
}

impl Default for Resolvers {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the records of a zone file with at most `more.zone` included, or the error as text. The
/// records' data match their types.
pub fn zone_records(text: &str, more: &str) -> Result<Vec<FileRecord>, String> {
    let include = |file: &str| match file {
        "more.zone" => Ok(more.to_owned()),
        _ => Err(format!("no {file:?}")),
    };
    let records = records(text, "fuzz.zone", &include).map_err(|error| error.to_string())?;
    for record in &records {
        assert!(is_well_formed(record.record_type, &record.content));
    }
    Ok(records)
}

/// Adds records to a zone, asks for each, and returns the answers.
pub fn zone_answers(records: Vec<FileRecord>) -> Vec<Vec<u8>> {
    let mut zone = Zone::default();
    let mut queries = Vec::new();
    for record in records {
        let mut query = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend_from_slice(&record.name);
        query.extend_from_slice(&record.record_type.to_be_bytes());
        query.extend_from_slice(&[0, 1]);
        queries.push(query);
        zone.add(
            &record.name,
            record.record_type,
            record.ttl_s,
            record.content,
        );
    }
    let mut resolver = Resolver::new(ResolverSettings::default(), zone, Behaviours::default());
    let answer = |query: Vec<u8>| {
        let context = MessageContext {
            transport: DnsTransport::Dotcp,
            peer: [192, 0, 2, 1].into(),
            now_ns: 0,
            in_early_data: false,
        };
        let mut out = Vec::new();
        resolver.judge(&query, context, &mut out);
        out
    };
    queries.into_iter().map(answer).collect()
}

/// Returns the DNS message of a DoH request, or the status of the refusal.
pub fn doh_message(head: &Request<()>, body: &[u8]) -> Result<Bytes, StatusCode> {
    dns_message(head, &Ok(Bytes::copy_from_slice(body)))
}

/// Returns the part of a representation for a GET with these fields, if any, after choosing a
/// coding. The representation has `len_bytes` bytes.
pub fn page_part(fields: &HeaderMap, len_bytes: u64) -> Option<Range<u64>> {
    choose(fields, [Encoding::Br, Encoding::Gzip].into_iter());
    let etag = HeaderValue::from_static("\"a\"");
    let validators = Validators {
        etag: &etag,
        last_modified: Some(UNIX_EPOCH + Duration::from_secs(784_111_777)),
    };
    match judge(&Method::GET, fields, validators, len_bytes) {
        ConditionResult::Part(range) => Some(range),
        ConditionResult::Whole
        | ConditionResult::NotModified
        | ConditionResult::Failed
        | ConditionResult::Unsatisfiable => None,
    }
}
