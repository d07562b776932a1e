use super::*;
use proptest::prelude::*;

/// Append the parts, each with its length in front.
fn stamp(protocol: u8, parts: &[&[u8]]) -> String {
    let mut bytes = vec![protocol, 7, 0, 0, 0, 0, 0, 0, 0];
    for part in parts {
        bytes.push(part.len() as u8);
        bytes.extend_from_slice(part);
    }
    encode(&bytes)
}

fn encode(bytes: &[u8]) -> String {
    format!("sdns://{}", URL_SAFE_NO_PAD.encode(bytes))
}

fn read(text: &str) -> Result<Stamp, StampError> {
    Stamp::read(text).unwrap()
}

fn says(text: &str) -> String {
    let error = read(text).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn stamps_made_by_others() {
    // AdGuard's public DoT stamp, and Cloudflare's for DoH in the list of public resolvers.
    let dot = read("sdns://AwAAAAAAAAAAAAAPZG5zLmFkZ3VhcmQuY29t").unwrap();
    assert_eq!(
        (dot.transport, dot.host.as_str()),
        (DnsTransport::Dot, "dns.adguard.com")
    );
    assert_eq!((dot.address, dot.port), (None, None));
    let doh = read("sdns://AgcAAAAAAAAABzEuMC4wLjEAEmRucy5jbG91ZGZsYXJlLmNvbQovZG5zLXF1ZXJ5");
    let doh = doh.unwrap();
    assert_eq!(doh.transport, DnsTransport::Doh);
    assert_eq!(doh.address, Some("1.0.0.1".parse().unwrap()));
    assert_eq!(doh.host, "dns.cloudflare.com");
    assert_eq!(doh.path, "/dns-query");
    assert!(doh.certificate_hashes.is_empty());
}

#[test]
fn every_part_is_read() {
    let mut bytes = vec![2, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(b"\x0d[2620:fe::fe]");
    bytes.push(0x80 | 32);
    bytes.extend_from_slice(&[1; 32]);
    bytes.push(32);
    bytes.extend_from_slice(&[2; 32]);
    bytes.extend_from_slice(b"\x10dns.example:8443\x02/q");
    bytes.extend_from_slice(b"\x879.9.9.9\x071.1.1.1");
    let expected = Stamp {
        transport: DnsTransport::Doh,
        address: Some("2620:fe::fe".parse().unwrap()),
        host: "dns.example".to_owned(),
        port: Some(8443),
        path: "/q".to_owned(),
        zone: None,
        certificate_hashes: vec![Sha256([1; 32]), Sha256([2; 32])],
        bootstrap_resolvers: vec!["9.9.9.9:53".parse().unwrap(), "1.1.1.1:53".parse().unwrap()],
    };
    assert_eq!(read(&encode(&bytes)).unwrap(), expected);
    for cut in 0..bytes.len() {
        // Bootstrap addresses may be missing altogether.
        let is_whole = cut == bytes.len() - 16;
        assert_eq!(read(&encode(&bytes[..cut])).is_ok(), is_whole, "{cut}");
    }
    bytes.push(0);
    assert!(says(&encode(&bytes)).contains("1 bytes follow the end"));
}

#[test]
fn addresses_hosts_and_ports() {
    type Expected<'a> = (Option<&'a str>, &'a str, Option<u16>);
    let cases: [(&[u8], &[u8], Expected<'_>); 9] = [
        (b"", b"dns.example", (None, "dns.example", None)),
        (b":8853", b"dns.example", (None, "dns.example", Some(8853))),
        (
            b"192.0.2.1:853",
            b"a.b:853",
            (Some("192.0.2.1"), "a.b", Some(853)),
        ),
        (
            b"[2001:db8::1]:85",
            b"a.b",
            (Some("2001:db8::1"), "a.b", Some(85)),
        ),
        (b"2001:db8::1", b"a.b", (Some("2001:db8::1"), "a.b", None)),
        (b"192.0.2.1", b"", (Some("192.0.2.1"), "192.0.2.1", None)),
        (b"", b"[2001:db8::1]:85", (None, "2001:db8::1", Some(85))),
        (b"", b"[2001:db8::1]", (None, "2001:db8::1", None)),
        (
            b"",
            "dns.m\u{fc}ller.example".as_bytes(),
            (None, "dns.xn--mller-kva.example", None),
        ),
    ];
    for (address, host, expected) in cases {
        let stamp = read(&stamp(4, &[address, b"", host])).unwrap();
        let ip = expected.0.map(|ip| ip.parse().unwrap());
        assert_eq!(
            (
                stamp.transport,
                stamp.address,
                stamp.host.as_str(),
                stamp.port
            ),
            (DnsTransport::Doq, ip, expected.1, expected.2)
        );
    }
    let linked = read(&stamp(0, &[b"[fe80::1%eth0]:5300"])).unwrap();
    assert_eq!(
        (linked.host.as_str(), linked.zone.as_deref()),
        ("fe80::1", Some("eth0"))
    );
    let named = [&b""[..], b"", b"dns.example", b"[2001:db8::1]:5353"];
    let named = read(&stamp(3, &named)).unwrap();
    assert_eq!(
        named.bootstrap_resolvers,
        ["[2001:db8::1]:5353".parse().unwrap()]
    );
    let wrong = [&b""[..], b"", b"dns.example", b"dns.other"];
    assert!(says(&stamp(3, &wrong)).contains("bootstrap address is \"dns.other\""));
    let plain = read(&stamp(0, &[b"[2001:db8::1]:5300"])).unwrap();
    assert_eq!(
        (plain.transport, plain.port),
        (DnsTransport::Doudp, Some(5300))
    );
    assert_eq!(plain.host, "2001:db8::1");
}

#[test]
fn errors_name_what_is_wrong() {
    let cases: [(String, &str); 18] = [
        (
            stamp(1, &[b"192.0.2.1"]),
            "for DNSCrypt, which is not supported",
        ),
        (
            stamp(5, &[b"a.b", b"/"]),
            "for Oblivious DoH, which is not supported",
        ),
        (stamp(0x81, &[b""]), "an anonymized DNSCrypt relay"),
        (stamp(0x85, &[b""]), "an Oblivious DoH relay"),
        (stamp(6, &[b""]), "the number 0x06"),
        (stamp(0, &[b""]), "neither a host name nor an address"),
        (
            stamp(3, &[b"", b"", b""]),
            "neither a host name nor an address",
        ),
        (
            stamp(3, &[b"a.b", b"", b"a.b"]),
            "address is \"a.b\", not an IP",
        ),
        (stamp(3, &[b":99999", b"", b"a.b"]), "address is \":99999\""),
        (stamp(3, &[b"", b"", b"a.b:x"]), "host name is \"a.b:x\""),
        (stamp(3, &[b"", b"", b"a/b\n"]), "host name is \"a/b\\n\""),
        (stamp(3, &[b"", b"", b"\xff"]), "not UTF-8"),
        (
            stamp(3, &[b":1", b"", b"a.b:2"]),
            "two ports, 1 with its address and 2",
        ),
        (
            stamp(3, &[b"", b"abc", b"a.b"]),
            "\"3 bytes long\", where SHA-256",
        ),
        (stamp(2, &[b"", b"", b"a.b", b"q"]), "path is \"q\""),
        (stamp(2, &[b"", b"", b"a.b"]), "ends inside its path"),
        ("sdns://AgcA=".to_owned(), "no base64url"),
        (stamp(0, &[b"192.0.2.1:0"]), "port is \"0\""),
    ];
    for (text, expected) in cases {
        let error = says(&text);
        assert!(error.contains(expected), "{error}");
    }
    assert!(says("sdns://").contains("inside its protocol"));
    assert!(says("SDNS://AwcA").contains("inside its properties"));
}

#[test]
fn other_texts_are_no_stamps() {
    for text in ["", "sdns:/", "tls://dns.example", "sdns\u{fc}://x"] {
        assert!(Stamp::read(text).is_none(), "{text}");
    }
}

proptest! {
    #[test]
    fn arbitrary_texts_and_bytes_do_no_harm(
        text: String,
        protocol in 0..6_u8,
        bytes: Vec<u8>,
        parts in prop::collection::vec("[ -~]{0,20}", 0..5),
    ) {
        let _ = Stamp::read(&text);
        let _ = Stamp::read(&format!("sdns://{text}"));
        let _ = Stamp::read(&encode(&bytes));
        let _ = Stamp::decode(&[&[protocol; 9][..], &bytes].concat());
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        let _ = Stamp::read(&stamp(protocol, &parts));
        let _ = stamp(protocol, &parts).parse::<crate::ResolverAddress>();
    }
}
