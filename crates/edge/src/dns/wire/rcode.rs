//! Response codes (IANA, DNS RCODEs): those the edge knows, by their numbers.

use resolab_record::rcode_text;

/// Response codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rcode {
    /// No error.
    NoError,
    /// The query could not be read.
    FormErr,
    /// There is an answer somewhere, and it could not be had.
    ServFail,
    /// The name does not exist.
    NxDomain,
    /// Not a standard query.
    NotImp,
    /// A name this edge does not answer for.
    Refused,
    /// Unknown EDNS version.
    BadVers,
    /// What an upstream said.
    Other(u16),
}

impl Rcode {
    /// Those with a name here.
    pub const NAMED: [Self; 7] = [
        Self::NoError,
        Self::FormErr,
        Self::ServFail,
        Self::NxDomain,
        Self::NotImp,
        Self::Refused,
        Self::BadVers,
    ];

    /// Its number, the part in the OPT record included.
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

    /// That of a number.
    pub fn of(number: u16) -> Self {
        let named = Self::NAMED.into_iter();
        let mut found = named.filter(|rcode| rcode.number() == number);
        found.next().unwrap_or(Self::Other(number))
    }

    /// As text, the way records spell it.
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
            assert_eq!(Rcode::of(rcode.number()), rcode);
        }
        assert_eq!(Rcode::of(3).text(), "NXDOMAIN");
        assert_eq!(
            (Rcode::of(9), Rcode::of(9).text()),
            (Rcode::Other(9), "NOTAUTH".to_owned())
        );
    }
}
