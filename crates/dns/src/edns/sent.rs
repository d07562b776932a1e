//! A query's EDNS(0) contents that its response must match. Not for: other checks of a response
//! (`message`).

use crate::edns::client_subnet::ClientSubnet;
use crate::edns::cookie::{CookieMismatch, SentCookie, cookie_of};
use crate::edns::{ClientEdns, QueryEdns};
use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use std::sync::Arc;
use thiserror::Error;

/// The reason to discard a response because of its EDNS(0) options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum EdnsMismatch {
    /// A cookie different from the query's cookie.
    #[error(transparent)]
    Cookie(#[from] CookieMismatch),
    /// A subnet different from the query's subnet.
    #[error("the response is for the client subnet {got}, the query was for {asked}")]
    ClientSubnet {
        /// The query's client subnet.
        asked: ClientSubnet,
        /// The response's client subnet.
        got: ClientSubnet,
    },
    /// A client subnet with an impossible prefix.
    #[error("the response's client subnet has a prefix longer than its address")]
    NotASubnet,
}

/// The options as sent, and the client keeping the cookies.
#[derive(Debug, Clone)]
pub(crate) struct SentEdns {
    pub(crate) client: Arc<ClientEdns>,
    pub(crate) cookie: Option<SentCookie>,
    pub(crate) client_subnet: Option<ClientSubnet>,
}

impl SentEdns {
    /// Takes the options from a query of this client.
    pub(crate) fn new(query: &QueryEdns, client: &Arc<ClientEdns>) -> Self {
        Self {
            client: Arc::clone(client),
            cookie: query.cookie.clone(),
            client_subnet: query.client_subnet,
        }
    }

    /// Returns true when a response has options to check.
    pub(crate) fn is_to_be_echoed(&self) -> bool {
        self.cookie.is_some() || self.client_subnet.is_some()
    }

    /// Checks that a response matches the query's options.
    pub(crate) fn check(&self, response: &Message) -> Result<(), EdnsMismatch> {
        if let (Some(sent), Some(received)) = (&self.cookie, cookie_of(response)) {
            sent.check(received)?;
        }
        self.check_client_subnet(response)
    }

    /// Checks a response without a connection, possibly sent by an attacker. `None` means an
    /// unreadable response.
    pub(crate) fn check_unconnected(&self, response: Option<&Message>) -> Result<(), EdnsMismatch> {
        if let Some(sent) = &self.cookie {
            sent.check_unconnected(response.and_then(cookie_of))?;
        }
        response.map_or(Ok(()), |response| self.check_client_subnet(response))
    }

    /// Keeps the server's cookie for the next query.
    pub(crate) fn keep_cookie(&self, response: &Message) {
        if let (Some(jar), Some(received)) = (&self.client.cookies, cookie_of(response)) {
            jar.keep(received);
        }
    }

    /// Checks family, address and source prefix length against the query. A query only hiding its
    /// subnet accepts any subnet (RFC 7871 section 7.3). A response may leave the option out
    /// (section 7.2.1).
    fn check_client_subnet(&self, response: &Message) -> Result<(), EdnsMismatch> {
        let edns = response.edns.as_ref();
        let option = edns.and_then(|edns| edns.option(EdnsCode::Subnet));
        let (Some(asked), Some(EdnsOption::Subnet(got))) = (self.client_subnet, option) else {
            return Ok(());
        };
        let got = ClientSubnet::new(got.addr(), got.source_prefix());
        let got = got.ok_or(EdnsMismatch::NotASubnet)?;
        if asked.is_hidden() || got == asked {
            Ok(())
        } else {
            Err(EdnsMismatch::ClientSubnet { asked, got })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edns::EdnsOptions;
    use hickory_proto::op::Edns;
    use hickory_proto::rr::rdata::opt::ClientSubnet as SubnetOption;
    use std::net::IpAddr;

    fn sent(subnet: &str) -> SentEdns {
        let resolver = IpAddr::from([192, 0, 2, 1]);
        SentEdns {
            client: Arc::new(ClientEdns::new(EdnsOptions::default(), resolver, false)),
            cookie: None,
            client_subnet: Some(subnet.parse().unwrap()),
        }
    }

    fn response(address: &str, source: u8, scope: u8) -> Message {
        let mut edns = Edns::new();
        let option = SubnetOption::new(address.parse().unwrap(), source, scope);
        edns.options_mut().insert(EdnsOption::Subnet(option));
        let mut response = Message::response(0, hickory_proto::op::OpCode::Query);
        response.edns = Some(edns);
        response
    }

    #[test]
    fn a_subnet_must_come_back_as_it_was_sent_whatever_its_scope() {
        let sent_v4 = sent("192.0.2.0/24");
        for (address, source, is_same) in [
            ("192.0.2.0", 24, true),
            // Bits behind the prefix say nothing.
            ("192.0.2.7", 24, true),
            ("192.0.3.0", 24, false),
            ("192.0.2.0", 23, false),
            ("192.0.2.0", 25, false),
            ("0.0.0.0", 0, false),
            ("2001:db8::", 24, false),
        ] {
            let response = response(address, source, 16);
            assert_eq!(
                sent_v4.check(&response).is_ok(),
                is_same,
                "{address}/{source}"
            );
            assert_eq!(sent_v4.check_unconnected(Some(&response)).is_ok(), is_same);
        }
        let error = sent_v4.check(&response("192.0.3.0", 24, 0)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("192.0.3.0/24") && text.contains("192.0.2.0/24"),
            "{text}"
        );
    }

    #[test]
    fn a_hidden_subnet_may_be_answered_for_any_and_the_option_may_be_left_out() {
        assert_eq!(sent("off").check(&response("198.51.100.0", 24, 24)), Ok(()));
        let mut bare = response("192.0.3.0", 24, 0);
        bare.edns = None;
        assert_eq!(sent("192.0.2.0/24").check(&bare), Ok(()));
        assert_eq!(sent("192.0.2.0/24").check_unconnected(None), Ok(()));
        let nothing_sent = SentEdns {
            client_subnet: None,
            ..sent("off")
        };
        assert!(!nothing_sent.is_to_be_echoed());
        assert_eq!(nothing_sent.check(&response("192.0.3.0", 24, 0)), Ok(()));
    }

    #[test]
    fn a_prefix_longer_than_the_address_is_none() {
        let response = response("192.0.2.0", 33, 0);
        let mismatch = Err(EdnsMismatch::NotASubnet);
        assert_eq!(sent("192.0.2.0/24").check(&response), mismatch);
    }
}
