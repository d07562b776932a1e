//! The arguments of a gateway, and their conversion for `resolab_gateway`. Not for: running the
//! gateway.

use clap::ValueEnum;
use resolab_gateway::GatewayOptions;
use resolab_gateway::names::AddressRange;
use resolab_record::{ConnectionSharing, GatewayTrigger, HttpVersion};
use resolab_terminal::arguments::client::{ClientArguments, HandshakeArgument};
use resolab_terminal::arguments::durations::deadline_ms;
use resolab_terminal::arguments::edns::EdnsArguments;
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of the gateway.
#[derive(clap::Args)]
pub struct Arguments {
    /// Address for answering names by plain DNS on UDP and TCP: the browser's resolver.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::stub::address_and_port)]
    pub listen: SocketAddr,
    /// Resolver for the names: udp://, tcp://, tls://, https://, h3://, quic:// or a DNS stamp.
    #[arg(long, value_name = "URL")]
    pub upstream: String,
    /// Folder of the browser's trusted certificate authority (ca.pem, ca-key.pem), made if missing.
    #[arg(long, value_name = "FOLDER")]
    ca_folder: PathBuf,
    /// Addresses to give to names, all of them this host's own (ip route add local RANGE dev lo).
    #[arg(long, value_name = "ADDRESS/BITS", default_value_t = AddressRange::BENCHMARKING)]
    range: AddressRange,
    /// Make the range this host's own first if necessary; needs rights over the network of a path's
    /// hosts, or root.
    #[arg(long)]
    pub claim_range: bool,
    /// Limit of names to answer for; each takes two sockets.
    #[arg(long, value_name = "COUNT", default_value_t = 4_096)]
    names: u32,
    /// Port for the browser's connections.
    #[arg(long, default_value_t = 443)]
    port: u16,
    /// Port of the page servers.
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
    legs: Vec<BrowserHttpArgument>,
    /// HTTP version to the page servers.
    #[arg(long, value_enum, default_value = "h3")]
    page_http: PageHttpArgument,
    /// Requested handshake with page servers; --handshake is for the resolver.
    #[arg(long, value_enum, default_value = "full")]
    page_handshake: HandshakeArgument,
    /// Event for opening a connection to a page server.
    #[arg(long, value_enum, default_value = "mirror")]
    trigger: TriggerArgument,
    /// Connections usable for requests to other names.
    #[arg(long, value_enum, default_value = "separate")]
    sharing: SharingArgument,
    /// Time limit of a look-up, and then of a connection.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    timeout_ms: u64,
    /// The settings of the resolver's client; --ca and --groups hold for the page servers, too.
    #[command(flatten)]
    pub client: ClientArguments,
    #[command(flatten)]
    pub edns: EdnsArguments,
    #[command(flatten)]
    pub stay: StayArgument,
}

/// An HTTP version towards the browser, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BrowserHttpArgument {
    /// HTTP/1.1 over TLS and TCP.
    H1,
    /// HTTP/2 over TLS and TCP.
    H2,
    /// HTTP/3 over QUIC and UDP.
    H3,
}

/// An HTTP version towards page servers, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PageHttpArgument {
    /// HTTP/2 over TLS and TCP.
    H2,
    /// HTTP/3 over QUIC and UDP.
    H3,
}

/// A trigger of upstream connections, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TriggerArgument {
    /// The query for the name; the browser is answered at once.
    Dns,
    /// The browser's ClientHello; query and hello are answered at once.
    Hello,
    /// The first request of the browser.
    Request,
    /// The ClientHello, answered when the upstream connection is established. The query is answered
    /// after the resolver's answer. The browser has the same phases as without a gateway.
    Mirror,
}

/// The sharing of connections, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum SharingArgument {
    /// A separate connection for each name.
    Separate,
    /// Sharing by address and certificate, like browsers.
    BrowserRule,
    /// The same, and also by an ORIGIN frame (HTTP/3).
    OriginFrame,
    /// Sharing wherever the certificate covers the name: the upper bound.
    Certificate,
    /// On the resolver's connection only, with the rule of origin_frame: h3://, or quic:// by the
    /// private ALPN.
    ResolverConnection,
}

impl Arguments {
    /// Returns the options of the gateway.
    pub fn options(&self) -> Result<GatewayOptions, CommandRefusal> {
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

    /// Returns the folder of the browser's certificate authority.
    pub fn ca_folder(&self) -> &std::path::Path {
        &self.ca_folder
    }
}

impl BrowserHttpArgument {
    fn version(self) -> HttpVersion {
        match self {
            Self::H1 => HttpVersion::H1,
            Self::H2 => HttpVersion::H2,
            Self::H3 => HttpVersion::H3,
        }
    }
}
