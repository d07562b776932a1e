//! Names of response codes by their number, as far as a message's header has room for them. Not
//! for: codes with EDNS's upper bits.

/// Names of RFC 1035 section 4.1.1, RFC 2136 section 2.2 and RFC 8490 section 10.4.
pub const RCODE_NAMES: [&str; 16] = [
    "NOERROR",
    "FORMERR",
    "SERVFAIL",
    "NXDOMAIN",
    "NOTIMP",
    "REFUSED",
    "YXDOMAIN",
    "YXRRSET",
    "NXRRSET",
    "NOTAUTH",
    "NOTZONE",
    "DSOTYPENI",
    "RCODE12",
    "RCODE13",
    "RCODE14",
    "RCODE15",
];
