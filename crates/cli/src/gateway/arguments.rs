//! The arguments of a gateway, and what they mean to `resolab_gateway`. Not for: running it.

use crate::client_arguments::{ClientArguments, HandshakeArgument};
use crate::command_lines::Stay;
use crate::edns_arguments::EdnsArguments;
use crate::refusal::Refusal;
use crate::times::deadline_ms;
use clap::ValueEnum;
use resolab_gateway::GatewayOptions;
use resolab_gateway::names::AddressRange;
use resolab_record::{ConnectionSharing, GatewayTrigger, HttpVersion};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of the gateway.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where to answer for names, by plain DNS on UDP and TCP: the browser's resolver.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::stub::address_and_port)]
    pub listen: SocketAddr,
    /// Resolver to ask for them: udp://, tcp://, tls://, https://, h3://, quic:// or a DNS stamp.
    #[arg(long, value_name = "URL")]
    pub upstream: String,
    /// Folder of the certificate authority the browser trusts (ca.pem, ca-key.pem), made if missing.
    #[arg(long, value_name = "FOLDER")]
    ca_folder: PathBuf,
    /// Addresses to give to names, all of them this host's own (ip route add local RANGE dev lo).
    #[arg(long, value_name = "ADDRESS/BITS", default_value_t = AddressRange::BENCHMARKING)]
    range: AddressRange,
    /// Make the range this host's own first, unless it is; takes the rights over the network of a path's
    /// hosts, or root.
    #[arg(long)]
    pub claim_range: bool,
    /// Names to answer for at most; each takes two sockets.
    #[arg(long, value_name = "COUNT", default_value_t = 4_096)]
    names: u32,
    /// Port to be reached at.
    #[arg(long, default_value_t = 443)]
    port: u16,
    /// Port of the names' servers.
    #[arg(long, default_value_t = 443)]
    page_port: u16,
    /// HTTP versions to offer to the browser.
    #[arg(
        long,
        value_enum,
        value_name = "VERSION,...",
        value_delimiter = ',',
        default_value = "h1,h2,h3"
    )]
    legs: Vec<LegArgument>,
    /// HTTP version to speak to the names' servers.
    #[arg(long, value_enum, default_value = "h3")]
    page_http: PageHttpArgument,
    /// Handshake to ask the names' servers for; --handshake is the resolver's.
    #[arg(long, value_enum, default_value = "full")]
    page_handshake: HandshakeArgument,
    /// What makes a connection to a name's server begin.
    #[arg(long, value_enum, default_value = "mirror")]
    trigger: TriggerArgument,
    /// Which connections requests for other names may go on.
    #[arg(long, value_enum, default_value = "separate")]
    sharing: SharingArgument,
    /// How long a look-up, and then a connection, may take.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    timeout_ms: u64,
    /// How to ask the resolver; --ca and --groups hold for the names' servers, too.
    #[command(flatten)]
    pub client: ClientArguments,
    #[command(flatten)]
    pub edns: EdnsArguments,
    #[command(flatten)]
    pub stay: Stay,
}

/// An HTTP version towards the browser, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LegArgument {
    /// HTTP/1.1.
    H1,
    /// HTTP/2.
    H2,
    /// HTTP/3.
    H3,
}

/// An HTTP version upstream, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PageHttpArgument {
    /// HTTP/2.
    H2,
    /// HTTP/3.
    H3,
}

/// A trigger as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TriggerArgument {
    /// The name's query; the browser is answered at once.
    Dns,
    /// The browser's ClientHello; query and hello are answered at once.
    Hello,
    /// The first request.
    Request,
    /// The ClientHello, which is answered when the connection stands, as the query is when the
    /// resolver has answered: the browser has the phases it would have without a gateway.
    Mirror,
}

/// How connections are shared, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum SharingArgument {
    /// A connection for each name.
    Separate,
    /// By address and certificate.
    BrowserRule,
    /// The same, and where an ORIGIN frame says so (HTTP/3).
    OriginFrame,
    /// Wherever the certificate covers the name: the upper bound.
    Certificate,
    /// On the resolver's alone, as origin_frame allows: h3://, or quic:// by the private ALPN.
    ResolverConnection,
}

impl Arguments {
    /// What the gateway is to be.
    pub fn options(&self) -> Result<GatewayOptions, Refusal> {
        Ok(GatewayOptions {
            range: self.range,
            names_max_count: self.names,
            port: self.port,
            upstream_port: self.page_port,
            leg_versions: self.legs.iter().map(|leg| leg.version()).collect(),
            upstream_version: match self.page_http {
                PageHttpArgument::H2 => HttpVersion::H2,
                PageHttpArgument::H3 => HttpVersion::H3,
            },
            trigger: match self.trigger {
                TriggerArgument::Dns => GatewayTrigger::Dns,
                TriggerArgument::Hello => GatewayTrigger::Hello,
                TriggerArgument::Request => GatewayTrigger::Request,
                TriggerArgument::Mirror => GatewayTrigger::Mirror,
            },
            sharing: match self.sharing {
                SharingArgument::Separate => ConnectionSharing::Separate,
                SharingArgument::BrowserRule => ConnectionSharing::BrowserRule,
                SharingArgument::OriginFrame => ConnectionSharing::OriginFrame,
                SharingArgument::Certificate => ConnectionSharing::Certificate,
                SharingArgument::ResolverConnection => ConnectionSharing::ResolverConnection,
            },
            handshake_mode: self.page_handshake.into(),
            groups: self.client.groups().to_vec(),
            trust: self.client.trust()?,
            deadline: Duration::from_millis(self.timeout_ms),
        })
    }

    /// Where the browser's certificate authority lies.
    pub fn ca_folder(&self) -> &std::path::Path {
        &self.ca_folder
    }
}

impl LegArgument {
    fn version(self) -> HttpVersion {
        match self {
            Self::H1 => HttpVersion::H1,
            Self::H2 => HttpVersion::H2,
            Self::H3 => HttpVersion::H3,
        }
    }
}
