//! Types and classes between their names and their numbers. Numbers without a name are written
//! `TYPE65280` and `CLASS32` (RFC 3597 section 5). Not for: the structure of record data.

use hickory_proto::rr::{DNSClass, RecordType};

/// Names of registered types by number (IANA, Resource Record (RR) TYPEs, 2026-11).
pub(crate) const TYPE_NAMES: [(u16, &str); 97] = [
    (1, "A"),
    (2, "NS"),
    (3, "MD"),
    (4, "MF"),
    (5, "CNAME"),
    (6, "SOA"),
    (7, "MB"),
    (8, "MG"),
    (9, "MR"),
    (10, "NULL"),
    (11, "WKS"),
    (12, "PTR"),
    (13, "HINFO"),
    (14, "MINFO"),
    (15, "MX"),
    (16, "TXT"),
    (17, "RP"),
    (18, "AFSDB"),
    (19, "X25"),
    (20, "ISDN"),
    (21, "RT"),
    (22, "NSAP"),
    (23, "NSAP-PTR"),
    (24, "SIG"),
    (25, "KEY"),
    (26, "PX"),
    (27, "GPOS"),
    (28, "AAAA"),
    (29, "LOC"),
    (30, "NXT"),
    (31, "EID"),
    (32, "NIMLOC"),
    (33, "SRV"),
    (34, "ATMA"),
    (35, "NAPTR"),
    (36, "KX"),
    (37, "CERT"),
    (38, "A6"),
    (39, "DNAME"),
    (40, "SINK"),
    (41, "OPT"),
    (42, "APL"),
    (43, "DS"),
    (44, "SSHFP"),
    (45, "IPSECKEY"),
    (46, "RRSIG"),
    (47, "NSEC"),
    (48, "DNSKEY"),
    (49, "DHCID"),
    (50, "NSEC3"),
    (51, "NSEC3PARAM"),
    (52, "TLSA"),
    (53, "SMIMEA"),
    (55, "HIP"),
    (56, "NINFO"),
    (57, "RKEY"),
    (58, "TALINK"),
    (59, "CDS"),
    (60, "CDNSKEY"),
    (61, "OPENPGPKEY"),
    (62, "CSYNC"),
    (63, "ZONEMD"),
    (64, "SVCB"),
    (65, "HTTPS"),
    (66, "DSYNC"),
    (67, "HHIT"),
    (68, "BRID"),
    (99, "SPF"),
    (104, "NID"),
    (105, "L32"),
    (106, "L64"),
    (107, "LP"),
    (108, "EUI48"),
    (109, "EUI64"),
    (128, "NXNAME"),
    (249, "TKEY"),
    (250, "TSIG"),
    (251, "IXFR"),
    (252, "AXFR"),
    (253, "MAILB"),
    (254, "MAILA"),
    (255, "ANY"),
    (256, "URI"),
    (257, "CAA"),
    (258, "AVC"),
    (259, "DOA"),
    (260, "AMTRELAY"),
    (261, "RESINFO"),
    (262, "WALLET"),
    (263, "CLA"),
    (264, "IPN"),
    (32_768, "TA"),
    (32_769, "DLV"),
    (100, "UINFO"),
    (101, "UID"),
    (102, "GID"),
    (103, "UNSPEC"),
];

const CLASS_NAMES: [(u16, &str); 5] =
    [(1, "IN"), (3, "CH"), (4, "HS"), (254, "NONE"), (255, "ANY")];

/// Reads a type by name or as `TYPE65535`, in any case.
pub fn read_type(text: &str) -> Option<RecordType> {
    number_of(text, &TYPE_NAMES, "TYPE").map(RecordType::from)
}

/// Returns a type as text.
pub fn type_text(record_type: RecordType) -> String {
    type_number_text(record_type.into())
}

/// Returns the type of a number as text.
pub fn type_number_text(number: u16) -> String {
    text_of(number, &TYPE_NAMES, "TYPE")
}

/// Reads a class by name or as `CLASS65535`, in any case.
pub fn read_class(text: &str) -> Option<DNSClass> {
    number_of(text, &CLASS_NAMES, "CLASS").map(DNSClass::from)
}

/// Returns a class as text.
pub fn class_text(class: DNSClass) -> String {
    text_of(class.into(), &CLASS_NAMES, "CLASS")
}

fn number_of(text: &str, names: &[(u16, &str)], prefix: &str) -> Option<u16> {
    let known = names
        .iter()
        .find(|(_, name)| name.eq_ignore_ascii_case(text));
    let numbered = || {
        let (start, digits) = text.split_at_checked(prefix.len())?;
        let is_number = start.eq_ignore_ascii_case(prefix) && !digits.starts_with('+');
        digits.parse().ok().filter(|_| is_number)
    };
    known.map(|(number, _)| *number).or_else(numbered)
}

fn text_of(number: u16, names: &[(u16, &str)], prefix: &str) -> String {
    let known = names.iter().find(|(candidate, _)| *candidate == number);
    known.map_or_else(
        || format!("{prefix}{number}"),
        |(_, name)| (*name).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_classes_have_one_text_that_is_read_back() {
        for number in 0..=u16::MAX {
            let record_type = RecordType::from(number);
            let text = type_text(record_type);
            assert_eq!(read_type(&text.to_lowercase()), Some(record_type), "{text}");
            let class = DNSClass::from(number);
            let text = class_text(class);
            assert_eq!(read_class(&text).map(u16::from), Some(number), "{text}");
        }
    }

    #[test]
    fn every_number_and_name_stands_once() {
        for (index, (number, name)) in TYPE_NAMES.iter().enumerate() {
            let mut others = TYPE_NAMES[index + 1..].iter();
            assert!(
                !others.any(|other| other.0 == *number || other.1 == *name),
                "{name}"
            );
        }
    }

    /// Names as in the documents, not as in the table above.
    const WELL_KNOWN: [(&str, u16); 71] = [
        ("A", 1),           // RFC 1035
        ("NS", 2),          // RFC 1035
        ("CNAME", 5),       // RFC 1035
        ("SOA", 6),         // RFC 1035
        ("WKS", 11),        // RFC 1035
        ("PTR", 12),        // RFC 1035
        ("HINFO", 13),      // RFC 1035
        ("MX", 15),         // RFC 1035
        ("TXT", 16),        // RFC 1035
        ("RP", 17),         // RFC 1183
        ("AFSDB", 18),      // RFC 1183
        ("X25", 19),        // RFC 1183
        ("ISDN", 20),       // RFC 1183
        ("RT", 21),         // RFC 1183
        ("NSAP", 22),       // RFC 1706
        ("NSAP-PTR", 23),   // RFC 1706
        ("SIG", 24),        // RFC 2535
        ("KEY", 25),        // RFC 2535
        ("PX", 26),         // RFC 2163
        ("GPOS", 27),       // RFC 1712
        ("AAAA", 28),       // RFC 3596
        ("LOC", 29),        // RFC 1876
        ("NXT", 30),        // RFC 2535
        ("SRV", 33),        // RFC 2782
        ("NAPTR", 35),      // RFC 3403
        ("KX", 36),         // RFC 2230
        ("CERT", 37),       // RFC 4398
        ("A6", 38),         // RFC 2874
        ("DNAME", 39),      // RFC 6672
        ("OPT", 41),        // RFC 6891
        ("APL", 42),        // RFC 3123
        ("DS", 43),         // RFC 4034
        ("SSHFP", 44),      // RFC 4255
        ("IPSECKEY", 45),   // RFC 4025
        ("RRSIG", 46),      // RFC 4034
        ("NSEC", 47),       // RFC 4034
        ("DNSKEY", 48),     // RFC 4034
        ("DHCID", 49),      // RFC 4701
        ("NSEC3", 50),      // RFC 5155
        ("NSEC3PARAM", 51), // RFC 5155
        ("TLSA", 52),       // RFC 6698
        ("SMIMEA", 53),     // RFC 8162
        ("HIP", 55),        // RFC 8005
        ("CDS", 59),        // RFC 7344
        ("CDNSKEY", 60),    // RFC 7344
        ("OPENPGPKEY", 61), // RFC 7929
        ("CSYNC", 62),      // RFC 7477
        ("ZONEMD", 63),     // RFC 8976
        ("SVCB", 64),       // RFC 9460
        ("HTTPS", 65),      // RFC 9460
        ("DSYNC", 66),      // RFC 9859
        ("SPF", 99),        // RFC 7208
        ("NID", 104),       // RFC 6742
        ("L32", 105),       // RFC 6742
        ("L64", 106),       // RFC 6742
        ("LP", 107),        // RFC 6742
        ("EUI48", 108),     // RFC 7043
        ("EUI64", 109),     // RFC 7043
        ("NXNAME", 128),    // RFC 9824
        ("TKEY", 249),      // RFC 2930
        ("TSIG", 250),      // RFC 8945
        ("IXFR", 251),      // RFC 1995
        ("AXFR", 252),      // RFC 5936
        ("MAILB", 253),     // RFC 1035
        ("MAILA", 254),     // RFC 1035
        ("ANY", 255),       // RFC 8482
        ("URI", 256),       // RFC 7553
        ("CAA", 257),       // RFC 8659
        ("AMTRELAY", 260),  // RFC 8777
        ("RESINFO", 261),   // RFC 9606
        ("DLV", 32_769),    // RFC 4431
    ];

    #[test]
    fn well_known_types_and_classes_have_their_registered_numbers() {
        for (name, number) in WELL_KNOWN {
            assert_eq!(type_number_text(number), name);
            assert_eq!(read_type(name).map(u16::from), Some(number), "{name}");
        }
        // RFC 6895 section 3.2.
        for (name, number) in [("IN", 1), ("CH", 3), ("HS", 4), ("NONE", 254), ("ANY", 255)] {
            assert_eq!(read_class(name).map(u16::from), Some(number), "{name}");
        }
    }

    #[test]
    fn what_is_no_type() {
        for text in ["FOO", "TYPE", "TYPE65536", "TYPE+1", "TYPE-1", "", "É"] {
            assert_eq!(read_type(text), None, "{text}");
        }
        assert_eq!(read_type("loc").map(u16::from), Some(29));
        assert_eq!(read_class("CLASS32").map(u16::from), Some(32));
    }
}
