//! Response codes (IANA, DNS RCODEs): the numbers, and the names records spell.

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
        self.row().0
    }

    /// That of a number.
    pub fn of(number: u16) -> Self {
        let named = Self::NAMED.into_iter();
        let mut found = named.filter(|rcode| rcode.number() == number);
        found.next().unwrap_or(Self::Other(number))
    }

    /// As text, the way records spell it.
    pub fn text(self) -> String {
        match self.row() {
            (_, Some(name)) => name.to_owned(),
            (number, None) => format!("RCODE{number}"),
        }
    }

    fn row(self) -> (u16, Option<&'static str>) {
        match self {
            Self::NoError => (0, Some("NOERROR")),
            Self::FormErr => (1, Some("FORMERR")),
            Self::ServFail => (2, Some("SERVFAIL")),
            Self::NxDomain => (3, Some("NXDOMAIN")),
            Self::NotImp => (4, Some("NOTIMP")),
            Self::Refused => (5, Some("REFUSED")),
            Self::BadVers => (16, Some("BADVERS")),
            Self::Other(number) => (number, None),
        }
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
            (Rcode::Other(9), "RCODE9".to_owned())
        );
    }
}
