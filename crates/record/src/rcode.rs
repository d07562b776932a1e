//! Response codes of DNS (IANA, DNS RCODEs) as spelled in records of all programs. Not for: the
//! meaning of a code for a client or a server.

/// The names of the codes in a message's header, by number. A code without a name is `RCODE` and
/// its number.
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

/// Returns the name of a response code, with the upper bits of EDNS.
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
