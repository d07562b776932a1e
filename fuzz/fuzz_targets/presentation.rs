//! Record data as text: one line of visible ASCII, read back to the same bytes by the edge's reader
//! of zone files. The input is also a name: the name's text is read back as the same name. The
//! input is a type, in two bytes, and data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::presentation::{data_text, name_text, read_name};
use resolab_edge::fuzzing::zone_data;

fuzz_target!(|input: &[u8]| {
    if let Ok(name) = read_name(&String::from_utf8_lossy(input)) {
        let text = name_text(&name);
        let read = read_name(&text).expect("a name's text is a name");
        assert!(read.iter().eq(name.iter()), "{text}");
    }
    let Some((record_type, data)) = input.split_first_chunk::<2>() else {
        return;
    };
    let record_type = u16::from_be_bytes(*record_type);
    let text = data_text(record_type, data);
    assert!(
        text.bytes().all(|byte| matches!(byte, b' '..=b'~')),
        "{text}"
    );
    // Not every type and form has a reader there; what is read must be the same.
    if let Ok(read) = zone_data(record_type, &text) {
        assert_eq!(read, data, "TYPE{record_type} {text}");
    }
});
