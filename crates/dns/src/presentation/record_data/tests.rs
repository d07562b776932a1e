use super::*;
use hickory_proto::rr::Name;
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Type, data, and what BIND's named-rrchecker reads as that data.
const TEXTS: [(u16, &str, &str); 36] = [
    (1, "c0000201", "192.0.2.1"),
    (28, "20010db8000000000000000000000001", "2001:db8::1"),
    (2, "026e7303614162047465737400", "ns.aAb.test."),
    (
        6,
        "026e730474657374000a686f73746d617374657204746573740078c4072100001c2000000e100012750000000e10",
        "ns.test. hostmaster.test. 2026112801 7200 3600 1209600 3600",
    ),
    (13, "056120637075026f73", r#""a cpu" "os""#),
    (15, "000a046d61696c0161047465737400", "10 mail.a.test."),
    (
        17,
        "046d626f780161047465737400037478740161047465737400",
        "mbox.a.test. txt.a.test.",
    ),
    (
        16,
        "05706c61696e051b5d303b781271756f7465202220616e64205c206261636b036dc3bc00",
        r#""plain" "\027]0;x" "quote \" and \\ back" "m\195\188" """#,
    ),
    (
        33,
        "0000000513c4037369700161047465737400",
        "0 5 5060 sip.a.test.",
    ),
    (
        35,
        "0064000a0153075349502b44325513215e2e2a24217369703a7840612e7465737421045f736970045f7564700161047465737400",
        r#"100 10 "S" "SIP+D2U" "!^.*$!sip:x@a.test!" _sip._udp.a.test."#,
    ),
    (36, "000a046d61696c0161047465737400", "10 mail.a.test."),
    (37, "000100020501020304", "1 2 5 AQIDBA=="),
    (39, "0162047465737400", "b.test."),
    (
        42,
        "00011503c0a82000011c83c0a82600020801ff",
        "1:192.168.32.0/21 !1:192.168.38.0/28 2:ff00::/8",
    ),
    (43, "30390d02abcd", "12345 13 2 ABCD"),
    (44, "0402abcd", "4 2 ABCD"),
    (
        46,
        "00010d030000012c70dbd88069a3817f3039016104746573740001020304",
        "A 13 3 300 20300101000000 20260228235959 12345 a.test. AQIDBA==",
    ),
    (
        47,
        "01620474657374000006620180000003041b000000000000000000000000000000000000000000000000000020",
        "b.test. A NS SOA MX TXT RRSIG NSEC TYPE1234",
    ),
    (48, "0101030d01020304", "257 3 13 AQIDBA=="),
    (
        50,
        "0101000c04aabbccdd14174eb2409fe28bcb4887a1836f957f0a8425e27b000720010000000080",
        "1 1 12 AABBCCDD 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR NS MX DNSKEY",
    ),
    (51, "0100000000", "1 0 0 -"),
    (52, "0301010123abcd", "3 1 1 0123ABCD"),
    (61, "01020304", "AQIDBA=="),
    (62, "000000420003000460000008", "66 3 A NS AAAA"),
    (63, "7848b78c010162e6cf51", "2018031500 1 1 62E6CF51"),
    (99, "0b763d73706631202d616c6c", r#""v=spf1 -all""#),
    (104, "000a00144fffff20ee64", "10 0014:4fff:ff20:ee64"),
    (105, "000a0a010200", "10 10.1.2.0"),
    (108, "00005e00532a", "00-00-5e-00-53-2a"),
    (109, "00005eef1000002a", "00-00-5e-ef-10-00-00-2a"),
    (
        256,
        "000a000168747470733a2f2f612e746573742f20227822",
        r#"10 1 "https://a.test/ \"x\"""#,
    ),
    (
        257,
        "0005697373756563612e746573743b206163636f756e743d31",
        r#"0 issue "ca.test; account=1""#,
    ),
    (
        29,
        "0033161389172dd070be15f000988d20",
        "42 21 54.000 N 71 6 18.000 W -24.00m 30m 10000m 10m",
    ),
    (
        29,
        "001000997fffffffa69fb20000989680",
        "0 0 0.001 S 180 0 0.000 E 0.00m 0.01m 0.00m 90000000m",
    ),
    // RFC 3597 section 5.
    (65_280, "0001feff", r"\# 4 0001FEFF"),
    (65_280, "", r"\# 0"),
];

/// RFC 9460 sections 2.1 and 7.1.1, appendix A and vectors of appendix D.
const SERVICES: [(&str, &str); 7] = [
    (
        "0001000001000d02683206665c6f6f2c62026833000200000003000220fb",
        r#"1 . alpn="h2,f\\\\oo\\,b,h3" no-default-alpn port=8443"#,
    ),
    (
        "00010000040008c0000201c000020200050004010203040006001020010db8000000000000000000000001",
        "1 . ipv4hint=192.0.2.1,192.0.2.2 ech=AQIDBA== ipv6hint=2001:db8::1",
    ),
    (
        "00010000070010\
      2f646e732d71756572797b3f646e737dff7800056120622263",
        r#"1 . dohpath=/dns-query{?dns} key65400="a b\"c""#,
    ),
    (
        "001003666f6f076578616d706c65036f7267000000000400010004000100090268320568332d313900040004c0000201",
        "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1",
    ),
    (
        "000103666f6f076578616d706c6503636f6d00029b000968656c6c6fd2716f6f",
        r#"1 foo.example.com. key667="hello\210qoo""#,
    ),
    (
        "000003666f6f076578616d706c6503636f6d00",
        "0 foo.example.com.",
    ),
    // No port: what it is nobody knows, and its bytes are not lost.
    ("0001000003000150", "1 . key3=P"),
];

#[test]
fn data_is_what_readers_of_zone_files_take_it_for() {
    let services = SERVICES.map(|(data, text)| (65, data, text));
    for (record_type, data, text) in TEXTS.into_iter().chain(services) {
        assert_eq!(data_text(record_type, &bytes(data)), text);
    }
}

#[test]
fn data_that_is_not_what_its_type_has_is_written_as_unknown() {
    for (record_type, data) in [
        (1, "c00002"),
        (15, "000a"),
        (15, "000ac000"),
        (16, "05616263"),
        (47, "00000200"),
        (47, "000001400001400001ff"),
        (65, "000100000100"),
        (65, "0001000003000220fb0001000302683200"),
        (42, "00011503c0a800"),
        (29, "0133161389172dd070be15f000988d20"),
    ] {
        let count = data.len() / 2;
        let expected = format!("\\# {count} {}", data.to_ascii_uppercase());
        assert_eq!(data_text(record_type, &bytes(data)), expected);
    }
}

#[test]
fn a_record_read_by_hickory_loses_nothing() {
    for (record_type, data, text) in TEXTS {
        let data = bytes(data);
        if data.is_empty() {
            continue;
        }
        // A response with one record, whose owner is the root.
        let mut message = b"\0\0\x80\0\0\0\0\x01\0\0\0\0\0".to_vec();
        message.extend(record_type.to_be_bytes());
        message.extend(b"\0\x01\0\0\0\x3c");
        message.extend((data.len() as u16).to_be_bytes());
        message.extend(&data);
        let read = hickory_proto::op::Message::from_vec(&message).unwrap();
        let expected = format!("{} {text}", type_number_text(record_type));
        assert_eq!(record_data_text(&read.answers[0]), expected);
    }
    let alias = RData::CNAME(hickory_proto::rr::rdata::CNAME(
        Name::from_labels([&b"a.b"[..], b"sp ace", b"\0\xff\x1b[31m", b"test"]).unwrap(),
    ));
    let record = Record::from_rdata(Name::root(), 60, alias);
    let text = r"CNAME a\.b.sp\032ace.\000\255\027[31m.test.";
    assert_eq!(record_data_text(&record), text);
}

proptest! {
    #[test]
    fn any_bytes_are_one_line_of_visible_ascii(record_type in 0..300_u16, data: Vec<u8>) {
        let text = data_text(record_type, &data);
        prop_assert!(!text.is_empty() && !text.contains("  "));
        prop_assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", text);
    }
}
