//! Doors for the fuzz targets to what is private, open only in their build (`--cfg fuzzing`).
//! Not for: anybody else.

use crate::answer::{Channel, answer};
use crate::wire::{TYPE_A, TYPE_CNAME, TYPE_TXT, name_wire};
use crate::zone::Zone;

/// A small zone under `test`, with an alias that points at itself.
pub fn zone() -> Zone {
    let mut zone = Zone::default();
    let name = |text: &str| name_wire(text).unwrap_or_default();
    zone.add_origin(name("test"));
    zone.add(&name("a.test"), TYPE_A, 60, vec![192, 0, 2, 7]);
    let loop_name = name("loop.test");
    zone.add(&loop_name, TYPE_CNAME, 60, loop_name.clone());
    for _ in 0..20 {
        let text = [&[200][..], &[b'x'; 200]].concat();
        zone.add(&name("large.test"), TYPE_TXT, 60, text);
    }
    zone
}

/// The edge's answers as a datagram, on a stream and encrypted; `None` when the query is dropped.
pub fn answers(query: &[u8], zone: &Zone) -> [Option<Vec<u8>>; 3] {
    [Channel::Datagram, Channel::Stream, Channel::Encrypted]
        .map(|channel| answer(query, zone, channel).map(|answer| answer.message))
}

pub use crate::zone::Zone as FuzzZone;
