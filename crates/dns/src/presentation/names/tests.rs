use super::*;
use proptest::prelude::*;

fn labels(text: &str) -> Vec<Vec<u8>> {
    let name = read_name(text).unwrap();
    assert!(name.is_fqdn());
    name.iter().map(<[u8]>::to_vec).collect()
}

#[test]
fn a_number_behind_a_backslash_is_decimal() {
    // RFC 1035 section 5.1.
    assert_eq!(labels("a\\065b.test"), [&b"aAb"[..], b"test"]);
    assert_eq!(labels("a\\119b.test."), [&b"awb"[..], b"test"]);
    assert_eq!(
        labels("\\000\\255\\027[.test"),
        [&b"\0\xff\x1b["[..], b"test"]
    );
    let name = Name::from_labels([&b"sp ace"[..], b"\0\xff\x1b[31m", b"test"]).unwrap();
    assert_eq!(name_text(&name), "sp\\032ace.\\000\\255\\027[31m.test.");
    let name = Name::from_labels([&b"a:b,c.d\"(e)"[..], b"test"]).unwrap();
    assert_eq!(name_text(&name), "a\\:b\\,c\\.d\\\"\\(e\\).test.");
}

#[test]
fn any_octets_may_stand_in_a_label() {
    // RFC 2181 section 11.
    assert_eq!(labels("a b.test"), [&b"a b"[..], b"test"]);
    assert_eq!(labels("a\\\\b.test"), [&b"a\\b"[..], b"test"]);
    assert_eq!(labels("a\\.b.test"), [&b"a.b"[..], b"test"]);
    assert_eq!(labels("a\\ .test"), [&b"a "[..], b"test"]);
    assert_eq!(labels("0/25.2.0.192.in-addr.arpa")[0], b"0/25");
    assert_eq!(labels("-x.*.a\"b")[2], b"a\"b");
    assert_eq!(labels("_dns.xn--a"), [&b"_dns"[..], b"xn--a"]);
}

#[test]
fn labels_beyond_ascii_are_asked_for_as_their_a_labels() {
    // RFC 3492 section 7.1 and UTS #46, as kdig and Chromium ask for them.
    for (text, ascii) in [
        ("bücher.Example", "xn--bcher-kva.Example."),
        ("straße.example", "xn--strae-oqa.example."),
        ("MÜNCHEN.test", "xn--mnchen-3ya.test."),
        (
            "_acme-challenge.münchen.test",
            "_acme-challenge.xn--mnchen-3ya.test.",
        ),
        ("a_ü.test", "xn--a_-yka.test."),
    ] {
        assert_eq!(name_text(&read_name(text).unwrap()), ascii, "{text}");
    }
}

#[test]
fn every_dot_of_uts_46_ends_a_label() {
    for text in ["Example。test", "Example．test", "Example｡test｡"] {
        assert_eq!(
            name_text(&read_name(text).unwrap()),
            "Example.test.",
            "{text}"
        );
    }
    for root in [".", "。"] {
        assert!(read_name(root).unwrap().is_root(), "{root}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let long = "a".repeat(64);
    for (text, says) in [
        ("", "it is empty; the root is `.`"),
        ("..", "a label is empty"),
        (".a", "a label is empty"),
        ("a..b", "a label is empty"),
        (&long, "64 bytes, 63 is the most"),
        ("a\\300", "up to 255"),
        ("a\\", "a backslash ends it"),
        ("ü\\065", "beyond ASCII has a backslash"),
        ("a\u{ad}\u{378}", "no form in ASCII"),
        ("\u{2026}.test", "no form in ASCII"),
        ("a.test:53", "`\\058` where it is meant"),
        ("https://a.test/", "`\\058` where it is meant"),
        ("a.test,b.test", "`\\044` where it is meant"),
        ("a.test\r", "`\\013` where it is meant"),
        (" a.test", "`\\032` where it is meant"),
        (
            "a.test\u{a0}",
            "`\\194\\160`, the octets of its UTF-8, where it is meant",
        ),
        (
            "a\u{85}b.test",
            "`\\194\\133`, the octets of its UTF-8, where it is meant",
        ),
        ("a\u{1b}[31m", "'\\u{1b}' stands in it"),
    ] {
        let error = read_name(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let most = [
        "a".repeat(63),
        "b".repeat(63),
        "c".repeat(63),
        "d".repeat(61),
    ]
    .join(".");
    assert!(read_name(&most).is_ok());
    assert_eq!(
        read_name(&format!("{most}d")),
        Err(NameError::LongName(256))
    );
}

proptest! {
    #[test]
    fn a_name_is_read_back_as_it_was(
        labels in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..8),
    ) {
        let mut name = Name::from_labels(labels.iter().map(Vec::as_slice)).unwrap();
        name.set_fqdn(true);
        let text = name_text(&name);
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{}", text);
        let read = read_name(&text).unwrap();
        prop_assert!(read.iter().eq(name.iter()), "{}", text);
    }

    #[test]
    fn what_is_read_has_one_text(text in "[a-zA-Z0-9_.\\\\üß。-]{0,40}") {
        if let Ok(name) = read_name(&text) {
            let written = name_text(&name);
            prop_assert_eq!(name_text(&read_name(&written).unwrap()), written);
        }
    }
}
