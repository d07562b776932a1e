//! Contents read back by an independent implementation, and by their bytes.

use super::*;
use hickory_proto::rr::{RData, Record, RecordType};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder};
use proptest::prelude::*;

fn read(record_type: &str, value: &str) -> Result<Vec<u8>, String> {
    let number = type_number(record_type).unwrap();
    contents(number, &words(value)?, Some(b"\x04test\x00"))
}

/// What hickory makes of the bytes, in its text form.
fn by_hickory(record_type: u16, content: &[u8]) -> String {
    let mut record = vec![0];
    record.extend(record_type.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 60]);
    record.extend((content.len() as u16).to_be_bytes());
    record.extend(content);
    let record = Record::<RData>::read(&mut BinDecoder::new(&record)).unwrap();
    assert_eq!(record.record_type(), RecordType::from(record_type));
    record.data.to_string()
}

#[test]
fn another_implementation_reads_the_same() {
    for (record_type, value, expected) in [
        ("A", "192.0.2.7", "192.0.2.7"),
        ("AAAA", "2001:db8::7", "2001:db8::7"),
        ("CNAME", "a.example.", "a.example."),
        ("NS", "ns", "ns.test."),
        ("PTR", "@", "test."),
        ("MX", "10 mail", "10 mail.test."),
        ("SRV", "1 2 443 web.example.", "1 2 443 web.example."),
        (
            "SOA",
            "ns host ( 7 1h 10m 1d 300 )",
            "ns.test. host.test. 7 3600 600 86400 300",
        ),
        ("TXT", "\"a b\" c", "a bc"),
    ] {
        let content = read(record_type, value).unwrap();
        let number = type_number(record_type).unwrap();
        assert!(is_well_formed(number, &content));
        assert_eq!(by_hickory(number, &content), expected, "{record_type}");
    }
}

/// The vectors of RFC 9460 appendix D.
#[test]
fn service_bindings_are_those_of_the_rfc() {
    let foo = b"\x03foo\x07example\x03com\x00".as_slice();
    let with = |priority: u16, target: &[u8], rest: &[u8]| {
        [&priority.to_be_bytes(), target, rest].concat()
    };
    for (value, expected) in [
        ("0 foo.example.com.", with(0, foo, b"")),
        ("1 .", with(1, b"\x00", b"")),
        (
            "16 foo.example.com. port=53",
            with(16, foo, b"\x00\x03\x00\x02\x00\x35"),
        ),
        (
            "1 foo.example.com. key667=hello",
            with(1, foo, b"\x02\x9b\x00\x05hello"),
        ),
        (
            "1 foo.example.com. key667=\"hello\\210qoo\"",
            with(1, foo, b"\x02\x9b\x00\x09hello\xd2qoo"),
        ),
        (
            "1 foo.example.com. ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
            with(
                1,
                foo,
                b"\x00\x06\x00\x20\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\
                  \x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\x00\x53\x00\x01",
            ),
        ),
        (
            "16 foo.example.org. ( alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 )",
            with(
                16,
                b"\x03foo\x07example\x03org\x00",
                b"\x00\x00\x00\x04\x00\x01\x00\x04\x00\x01\x00\x09\x02h2\x05h3-19\
                  \x00\x04\x00\x04\xc0\x00\x02\x01",
            ),
        ),
        (
            "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
            with(
                16,
                b"\x03foo\x07example\x03org\x00",
                b"\x00\x01\x00\x0c\x08f\\oo,bar\x02h2",
            ),
        ),
        (
            "1 . key1=\"\\002h2\" key3=!1",
            with(1, b"\x00", b"\x00\x01\x00\x03\x02h2\x00\x03\x00\x02!1"),
        ),
        (
            "1 . alpn=h2 no-default-alpn",
            with(1, b"\x00", b"\x00\x01\x00\x03\x02h2\x00\x02\x00\x00"),
        ),
    ] {
        let content = read("HTTPS", value).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(content, expected, "{value}");
        assert!(is_well_formed(65, &content), "{value}");
        by_hickory(64, &content);
    }
}

#[test]
fn times_of_a_start_of_authority_have_32_bits() {
    let text = "ns host 7 4294967295 2147483648 1 2147483649";
    let (_, data) = parse_content("SOA", text).unwrap();
    assert!(data.ends_with(&[
        0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 1
    ]));
    assert!(parse_content("SOA", "ns host 7 4294967296 1 1 1").is_err());
}

#[test]
fn what_is_wrong_is_said() {
    for (record_type, value, part) in [
        ("A", "::1", "`::1` is no IPv4 address"),
        ("A", "10.0.0.1 x", "one value too many"),
        ("MX", "10", "too few values"),
        ("MX", "x mail", "number up to 65535"),
        ("TXT", "", "no string"),
        ("SOA", "ns host 7 1h 10m 1y 300", "`1y` is no time"),
        ("HTTPS", "1 . alpn", "alpn: the value is missing"),
        ("HTTPS", "1 . alpn=h2,,h3", "1 to 255 bytes"),
        ("HTTPS", "1 . port=1 port=2", "port stands twice"),
        ("HTTPS", "1 . port=70000", "no port"),
        ("HTTPS", "1 . no-default-alpn", "without alpn"),
        ("HTTPS", "1 . no-default-alpn=", "has no value"),
        ("HTTPS", "1 . mandatory=port", "key3, which is missing"),
        ("HTTPS", "1 . prot=1", "`prot` is no service parameter"),
        ("HTTPS", "1 . key065=1", "`key065`"),
        ("HTTPS", "1 . ipv4hint=::1", "of its family"),
        ("HTTPS", "1 . key4", "key4: the value has a wrong length"),
        (
            "HTTPS",
            "1 . key4=abc",
            "key4: the value has a wrong length",
        ),
        ("HTTPS", "1 . key3=a", "key3: the value has a wrong length"),
        (
            "HTTPS",
            "1 . key1=\\004h2",
            "key1: the value has a wrong length",
        ),
        ("DS", "1 2 3 4", "\\# LENGTH HEX"),
        ("DS", "\\# 2 abc", "hexadecimal"),
        ("DS", "\\# 1 +f", "hexadecimal"),
        ("DS", "\\# +1 ff", "`+1` is no length"),
        ("MX", "+10 mail", "number up to 65535"),
        ("HTTPS", "+1 .", "number up to 65535"),
        ("HTTPS", "1 . port=+443", "no port"),
        ("HTTPS", "1 . key+7=a", "`key+7`"),
        ("TXT", "\\1+2", "three digits"),
        ("DS", "\\# 3 abcd", "the length says 3"),
        ("A", "\\# 3 abcdef", "the bytes are no A"),
        ("HTTPS", "\\# 7 00010000030000", "the bytes are no HTTPS"),
    ] {
        let error = read(record_type, value).unwrap_err();
        assert!(error.contains(part), "{record_type} {value}: {error}");
    }
}

#[test]
fn unknown_types_and_known_ones_are_read_as_bytes() {
    assert_eq!(
        read("TYPE731", "\\# 6 abcd ( ef 01 23 45 )").unwrap(),
        b"\xab\xcd\xef\x01\x23\x45"
    );
    assert_eq!(read("type1", "\\# 4 C0000207").unwrap(), [192, 0, 2, 7]);
    assert!(read("TYPE62347", "\\# 0").unwrap().is_empty());
}

#[test]
fn the_configuration_has_short_forms() {
    assert_eq!(
        parse_content("HTTPS", "h3,h2").unwrap(),
        (65, b"\x00\x01\x00\x00\x01\x00\x06\x02h3\x02h2".to_vec())
    );
    assert_eq!(
        parse_content("HTTPS", "0 a.test").unwrap().1,
        b"\x00\x00\x01a\x04test\x00"
    );
    assert_eq!(parse_content("TXT", "a b; c").unwrap().1, b"\x06a b; c");
    assert_eq!(
        parse_content("TXT", "\"a b\" c").unwrap().1,
        b"\x03a b\x01c"
    );
    assert_eq!(
        parse_content("CNAME", "a.test").unwrap().1,
        b"\x01a\x04test\x00"
    );
    assert_eq!(
        parse_content("TYPE999", "\\# 1 ff").unwrap(),
        (999, vec![255])
    );
    for wrong in ["ANY", "OPT", "NONE", "TYPE65536"] {
        let error = parse_content(wrong, "x").unwrap_err();
        assert!(error.contains("no type of records"), "{error}");
    }
    assert!(
        parse_content("A", "::1")
            .unwrap_err()
            .contains("`::1` is no IPv4 address")
    );
}

proptest! {
    #[test]
    fn what_is_written_of_a_response_is_read_as_the_same_bytes(
        record_type in prop::sample::select(vec![1, 2, 5, 6, 12, 13, 15, 16, 28, 33, 64, 65, 99, 257, 65_280]),
        start in prop::collection::vec(0..4_u8, 0..4),
        strings in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..4),
        end: Vec<u8>,
    ) {
        // Numbers, character strings or labels, and what comes.
        let strings = strings.iter().flat_map(|text| [&[text.len() as u8], &text[..]].concat());
        let data: Vec<u8> = start.into_iter().chain(strings).chain(end).collect();
        let text = resolab_dns::presentation::data_text(record_type, &data);
        match contents(record_type, &words(&text).unwrap(), None) {
            Ok(read) => prop_assert_eq!(read, data, "{}", text),
            // Forms that no record should have, and bytes of a type's that are none of it.
            Err(_) => prop_assert!(text.starts_with("\\#") || matches!(record_type, 64 | 65 | 99), "{}", text),
        }
    }
}
