//! Response codes (IANA, DNS RCODEs) known to the edge, by their numbers.

use resolab_record::rcode_text;

/// A DNS response code (RCODE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rcode {
    /// NOERROR: the query succeeded.
    NoError,
    /// FORMERR: the query is unreadable.
    FormErr,
    /// SERVFAIL: the answer exists elsewhere, but was not available.
    ServFail,
    /// NXDOMAIN: the name does not exist.
    NxDomain,
    /// NOTIMP: the message is not a standard query.
    NotImp,
    /// REFUSED: this edge does not answer for the name.
    Refused,
    /// BADVERS: the EDNS version is unknown.
    BadVers,
    /// Another code, from an upstream resolver.
    Other(u16),
}

impl Rcode {
    /// The codes with a variant in this type.
    pub const NAMED: [Self; 7] = [
        Self::NoError,
        Self::FormErr,
        Self::ServFail,
        Self::NxDomain,
        Self::NotImp,
        Self::Refused,
        Self::BadVers,
    ];

    /// Returns the number of the code, including the part in the OPT record.
    pub fn number(self) -> u16 {
        match self {
            Self::NoError => 0,
            Self::FormErr => 1,
            Self::ServFail => 2,
            Self::NxDomain => 3,
            Self::NotImp => 4,
            Self::Refused => 5,
            Self::BadVers => 16,
            Self::Other(number) => number,
        }
    }

    /// Returns the code of a number.
    pub fn from_number(number: u16) -> Self {
        let named = Self::NAMED.into_iter();
        let mut found = named.filter(|rcode| rcode.number() == number);
        found.next().unwrap_or(Self::Other(number))
    }

    /// Returns the code as text, in the notation of records.
    pub fn text(self) -> String {
        rcode_text(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways_and_others_stay_as_they_are() {
        for rcode in Rcode::NAMED {
            assert_eq!(Rcode::from_number(rcode.number()), rcode);
        }
        assert_eq!(Rcode::from_number(3).text(), "NXDOMAIN");
        assert_eq!(
            (Rcode::from_number(9), Rcode::from_number(9).text()),
            (Rcode::Other(9), "NOTAUTH".to_owned())
        );
    }
}
