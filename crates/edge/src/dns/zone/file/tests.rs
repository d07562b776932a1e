use super::*;
use crate::dns::wire::{TYPE_A, name_wire, type_number};
use crate::dns::zone::Lookup;

const GOOD: &str = r#"
$ORIGIN example.test.
$TTL 1h
@       IN SOA ns hostmaster (
        2026010101 ; serial
        1h 10m 1w 5m )
    NS  ns
ns      A   192.0.2.1
    AAAA 2001:db8::1
www 60 IN CNAME ns
*.wild  IN 30 TXT "any" "thing"
svc     HTTPS 1 . alpn="h3,h2" port=8443 ipv4hint=192.0.2.1
$INCLUDE more.zone sub
tail    MX  10 mail.elsewhere.
"#;

fn read(text: &str) -> Result<Vec<FileRecord>, ZoneFileError> {
    let include = |file: &str| match file {
        "more.zone" => Ok("\nx TYPE99 \\# 1 00\nowner A 192.0.2.9\n".to_owned()),
        "loop.zone" => Ok("$INCLUDE loop.zone\n".to_owned()),
        _ => Err(format!("no {file}")),
    };
    records(text, "a.zone", &include)
}

#[test]
fn a_file_is_read_with_owners_ttls_and_included_files() {
    let records = read(GOOD).unwrap();
    let shown: Vec<_> = records
        .iter()
        .map(|record| {
            (
                name_text(&record.name),
                type_text(record.record_type),
                record.ttl_s,
            )
        })
        .collect();
    let shown: Vec<_> = shown
        .iter()
        .map(|(name, kind, ttl_s)| (name.as_str(), kind.as_str(), *ttl_s))
        .collect();
    assert_eq!(
        shown,
        [
            ("example.test.", "SOA", 3_600),
            ("example.test.", "NS", 3_600),
            ("ns.example.test.", "A", 3_600),
            ("ns.example.test.", "AAAA", 3_600),
            ("www.example.test.", "CNAME", 60),
            ("*.wild.example.test.", "TXT", 30),
            ("svc.example.test.", "HTTPS", 3_600),
            ("x.sub.example.test.", "SPF", 3_600),
            ("owner.sub.example.test.", "A", 3_600),
            ("tail.example.test.", "MX", 3_600),
        ]
    );
    assert_eq!(soa_minimum_s(&records[0].content), Some(300));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let expected = read(GOOD).unwrap().len();
    assert_eq!(read(&format!("\u{feff}{GOOD}")).unwrap().len(), expected);
    let marked = |file: &str| match file {
        "more.zone" => Ok("\u{feff}x TYPE99 \\# 1 00\nowner A 192.0.2.9\n".to_owned()),
        _ => Err(format!("no {file}")),
    };
    assert_eq!(records(GOOD, "a.zone", &marked).unwrap().len(), expected);
    // At any other place the character is one of a name.
    assert!(read(&format!("\u{feff}\u{feff}{GOOD}")).is_err());
}

#[test]
fn without_a_default_the_ttl_is_the_last_one_then_that_of_the_soa() {
    let soa = "$ORIGIN t.\n@ SOA ns h 1 2 3 4 77\n";
    let ttls = |text: String| -> Vec<u32> {
        read(&text)
            .unwrap()
            .iter()
            .map(|record| record.ttl_s)
            .collect()
    };
    assert_eq!(ttls(format!("{soa}a A 192.0.2.1\n")), [77, 77]);
    assert_eq!(
        ttls(format!("{soa}a 9 A 192.0.2.1\nb A 192.0.2.1\n")),
        [77, 9, 9]
    );
    assert_eq!(ttls("a. A 192.0.2.1".to_owned()), [DEFAULT_TTL_S]);
}

#[test]
fn errors_name_the_file_the_line_and_what_is_wrong() {
    for (text, line, part) in [
        ("a A 192.0.2.1", 1, "$ORIGIN"),
        ("$ORIGIN t.\n\na A 192.0.2.256\n", 3, "A: `192.0.2.256`"),
        ("$ORIGIN t.\n A 192.0.2.1\n", 2, "no owner before"),
        ("$ORIGIN t.\na 60 60 A 192.0.2.1", 2, "`60` is no type"),
        ("$ORIGIN t.\na CH TXT x", 2, "only IN"),
        ("$ORIGIN t.\na 60 IN", 2, "no type"),
        ("$ORIGIN t.\na ANY x", 2, "type of questions"),
        ("$ORIGIN", 1, "takes one value"),
        ("$GENERATE 1-2 a A 1.2.3.4", 1, "`$GENERATE`"),
        ("$INCLUDE nothing.zone", 1, "no nothing.zone"),
        ("$INCLUDE loop.zone", 1, "include each other"),
        (
            "$ORIGIN t.\na CNAME b\nA A 192.0.2.1",
            3,
            "a.t. has a CNAME",
        ),
        (
            "$ORIGIN t.\na A 192.0.2.1\na CNAME b",
            3,
            "a.t. has a CNAME",
        ),
        (
            "$ORIGIN t.\n@ SOA a b 1 2 3 4 5\n@ SOA a b 1 2 3 4 5",
            3,
            "second SOA",
        ),
        (
            "$ORIGIN t.\n@ SOA a b 1 2 3 4 5\nx. A 192.0.2.1",
            3,
            "x. is outside the zone t.",
        ),
        (
            "x. A 192.0.2.1\n$ORIGIN t.\n@ SOA a b 1 2 3 4 5",
            3,
            "x. is outside",
        ),
        ("$ORIGIN t.\na TXT \"open", 2, "quote"),
    ] {
        let error = read(text).unwrap_err();
        let said = error.to_string();
        let right_line = matches!(error, ZoneFileError::Line { line: found, .. } if found == line);
        assert!(
            right_line && said.contains(part) && said.contains(".zone"),
            "{said}"
        );
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn a_loaded_file_is_looked_up() {
    let file = std::env::temp_dir().join(format!("resolab-zone-{}.zone", std::process::id()));
    std::fs::write(&file, GOOD.replace("$INCLUDE more.zone sub\n", "")).unwrap();
    let mut zone = Zone::default();
    load(&mut zone, &file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let found = zone.lookup(
        &name_wire("q.wild.example.test").unwrap(),
        type_number("TXT").unwrap(),
    );
    assert!(
        matches!(found, Lookup::Records(set) if set.ttl_s == 30),
        "{found:?}"
    );
    let none = zone.lookup(&name_wire("none.example.test").unwrap(), TYPE_A);
    assert_eq!(none, Lookup::NoName(&name_wire("example.test").unwrap()));
    let missing = load(&mut zone, &file).unwrap_err().to_string();
    assert!(missing.contains("resolab-zone"), "{missing}");
}
