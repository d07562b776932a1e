//! Response codes of DNS (IANA, DNS RCODEs) as records spell them, whichever program writes them. Not
//! for: what a code means to a client or a server.

/// Of the codes a message's header has room for, by number; `RCODE` and the number where there is no
/// name.
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

/// The name of a response code, EDNS's upper bits included.
pub fn rcode_text(number: u16) -> String {
    match number {
        16 => "BADVERS".to_owned(),
        23 => "BADCOOKIE".to_owned(),
        _ => match RCODE_NAMES.get(usize::from(number)) {
            Some(name) => (*name).to_owned(),
            None => format!("RCODE{number}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_name_or_its_number() {
        let texts = [0, 3, 11, 12, 16, 23, 24].map(rcode_text);
        let wanted = [
            "NOERROR",
            "NXDOMAIN",
            "DSOTYPENI",
            "RCODE12",
            "BADVERS",
            "BADCOOKIE",
            "RCODE24",
        ];
        assert_eq!(texts, wanted);
    }
}
