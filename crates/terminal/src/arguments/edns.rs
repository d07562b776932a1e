//! The EDNS(0) arguments of `query` and `stub`. Not for: the EDNS(0) options of forwarded queries.

use resolab_dns::edns::{UDP_PAYLOAD_BYTES, UDP_PAYLOAD_RANGE_BYTES};
use resolab_dns::{ClientSubnet, EdnsOptions, Padding};

/// The EDNS(0) settings of queries.
#[derive(Debug, clap::Args)]
pub struct EdnsArguments {
    /// EDNS(0) UDP payload size to announce, 512 to 4096.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = UDP_PAYLOAD_BYTES,
        value_parser = payload_bytes()
    )]
    edns_payload: u16,
    /// Padding of queries on encrypted transports: rfc8467 (to a multiple of 128 bytes), none, or
    /// the multiple.
    #[arg(
        long,
        value_name = "rfc8467|none|BYTES",
        default_value = "rfc8467",
        conflicts_with = "no_padding"
    )]
    padding: Padding,
    /// Client subnet to send (RFC 7871); off asks the resolver to send none. Without the option,
    /// the resolver decides.
    #[arg(long, value_name = "off|ADDRESS/LENGTH")]
    ecs: Option<ClientSubnet>,
    /// Send cookies (RFC 7873). A DoUDP response with another query's cookie is ignored.
    #[arg(long)]
    cookie: bool,
    /// Request the identifier of the answering name server (NSID, RFC 5001).
    #[arg(long)]
    nsid: bool,
}

fn payload_bytes() -> clap::builder::RangedI64ValueParser<u16> {
    let (least, most) = UDP_PAYLOAD_RANGE_BYTES.into_inner();
    clap::value_parser!(u16).range(i64::from(least)..=i64::from(most))
}

impl EdnsArguments {
    /// Returns the options for the client.
    pub fn options(&self) -> EdnsOptions {
        EdnsOptions {
            udp_payload_bytes: self.edns_payload,
            padding: self.padding,
            client_subnet: self.ecs,
            has_cookie: self.cookie,
            asks_identifier: self.nsid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::client::ClientArguments;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct EdnsCommandLine {
        #[command(flatten)]
        _client: ClientArguments,
        #[command(flatten)]
        edns: EdnsArguments,
    }

    fn read(arguments: &[&str]) -> Result<EdnsOptions, clap::Error> {
        let arguments = ["query"].iter().chain(arguments);
        EdnsCommandLine::try_parse_from(arguments).map(|both| both.edns.options())
    }

    #[test]
    fn without_arguments_they_are_the_defaults() {
        assert_eq!(read(&[]).unwrap(), EdnsOptions::default());
        assert_eq!(read(&["--no-padding"]).unwrap(), EdnsOptions::default());
    }

    #[test]
    fn each_argument_sets_its_option() {
        let typed = "--edns-payload 512 --padding none --ecs 192.0.2.9/24 --cookie --nsid";
        let typed: Vec<_> = typed.split(' ').collect();
        let expected = EdnsOptions {
            udp_payload_bytes: 512,
            padding: Padding::None,
            client_subnet: Some("192.0.2.0/24".parse().unwrap()),
            has_cookie: true,
            asks_identifier: true,
        };
        assert_eq!(read(&typed).unwrap(), expected);
        let off = read(&["--ecs", "off"]).unwrap();
        assert_eq!(off.client_subnet, Some(ClientSubnet::OFF));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for typed in [
            ["--edns-payload", "511"],
            ["--edns-payload", "4097"],
            ["--padding", "0"],
            ["--ecs", "192.0.2.0"],
        ] {
            let refusal = read(&typed).unwrap_err().to_string();
            assert!(refusal.contains(typed[1]), "{refusal}");
        }
        assert!(read(&["--no-padding", "--padding", "64"]).is_err());
    }
}
