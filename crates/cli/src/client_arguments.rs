//! Arguments `query` and `stub` share: how to ask a resolver. Not for: asking.

use crate::output;
use clap::ValueEnum;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{
    ClientOptions, DnsClient, DohMethod, EdnsOptions, Padding, ResolverAddress, UdpRetryPolicy,
};
use resolab_record::HandshakeMode;
use resolab_transport::client::Sha256;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Once;
use std::time::Duration;

/// A handshake as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum HandshakeArgument {
    /// No ticket used.
    Full,
    /// A ticket used, without early data.
    Resumed,
    /// The query itself goes as early data.
    ZeroRtt,
}

/// A DoH method as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DohMethodArgument {
    /// The query in the body.
    Post,
    /// The query in the URL.
    Get,
}

/// How to ask a resolver.
#[derive(Debug, clap::Args)]
pub struct ClientArguments {
    /// Handshake to ask for; what happened is in the record. Tickets are fetched in this process.
    #[arg(long, value_enum, default_value = "full")]
    handshake: HandshakeArgument,
    /// PEM file with the certificate authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Public key the resolver's certificate must have, beside being vouched for: sha256/ and the
    /// base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7858). May be given several times.
    #[arg(long, value_name = "sha256/BASE64")]
    pin: Vec<String>,
    /// Do not check certificates; with --pin, check the public key only. Records say so.
    #[arg(long)]
    insecure: bool,
    /// Address of a resolver's host name, instead of asking the system.
    #[arg(long, value_name = "HOST=ADDRESS")]
    resolve: Vec<String>,
    /// How DoH queries travel.
    #[arg(long, value_enum, default_value = "post")]
    doh_method: DohMethodArgument,
    /// Do not pad queries on encrypted transports.
    #[arg(long)]
    no_padding: bool,
    /// How long DoUDP waits before it asks again.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 5000)]
    udp_timeout_ms: u64,
    /// Times DoUDP sends a query at most.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    udp_try_count: u32,
}

/// Why there is no client: an exit code and a line.
pub struct Refusal {
    code: u8,
    line: String,
}

impl Refusal {
    /// Something that was given is wrong.
    pub fn configuration(what: impl Display) -> Self {
        Self {
            code: output::EXIT_CONFIGURATION,
            line: format!("failed to {what}"),
        }
    }

    /// The machine lacks a permission.
    pub fn machine(what: impl Display) -> Self {
        Self {
            code: output::EXIT_MACHINE,
            line: format!("failed to {what}"),
        }
    }

    /// The command line cannot mean anything.
    pub fn usage(what: impl Display) -> Self {
        Self {
            code: output::EXIT_USAGE,
            line: format!("failed to {what}"),
        }
    }

    /// What was asked for does not go together.
    pub fn unsupported(what: impl Display) -> Self {
        Self {
            code: output::EXIT_UNSUPPORTED,
            line: format!("failed to {what}"),
        }
    }

    /// resolab-core itself is broken.
    pub fn internal(what: impl Display) -> Self {
        Self {
            code: output::EXIT_INTERNAL,
            line: format!("failed to {what}"),
        }
    }

    /// Say it and end.
    pub fn exit(self) -> ExitCode {
        output::fail(self.code, self.line)
    }
}

impl ClientArguments {
    /// Prepare a client for the resolver at `url`; asks the system for its address if need be.
    /// `--no-padding` goes before `edns`.
    pub fn client(&self, url: &str, edns: EdnsOptions) -> Result<DnsClient, Refusal> {
        let resolver: ResolverAddress = url.parse().map_err(Refusal::usage)?;
        let options = self.options(edns)?;
        let given = GivenAddresses::parse(&self.resolve).map_err(Refusal::usage)?;
        let located = given.locate(&resolver).map_err(Refusal::configuration)?;
        let client = DnsClient::new(resolver, located, &options).map_err(Refusal::configuration)?;
        if !client.certificate_checked {
            warn_once();
        }
        Ok(client)
    }

    fn options(&self, edns: EdnsOptions) -> Result<ClientOptions, Refusal> {
        let padding = if self.no_padding {
            Padding::None
        } else {
            edns.padding
        };
        let read = |text: &String| text.parse::<Sha256>();
        let pins: Result<_, _> = self.pin.iter().map(read).collect();
        Ok(ClientOptions {
            handshake_mode: match self.handshake {
                HandshakeArgument::Full => HandshakeMode::Full,
                HandshakeArgument::Resumed => HandshakeMode::Resumed,
                HandshakeArgument::ZeroRtt => HandshakeMode::ZeroRtt,
            },
            doh_method: match self.doh_method {
                DohMethodArgument::Post => DohMethod::Post,
                DohMethodArgument::Get => DohMethod::Get,
            },
            udp_retry_policy: UdpRetryPolicy {
                timeout: Duration::from_millis(self.udp_timeout_ms),
                try_count: self.udp_try_count,
            },
            edns: EdnsOptions { padding, ..edns },
            ca_file: self.ca.clone(),
            pins: pins.map_err(Refusal::usage)?,
            is_insecure: self.insecure,
        })
    }
}

/// One line for a run, however many resolvers it has.
pub fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        output::note(
            "warning: --insecure: certificates are not checked, anybody may be answering;              records say so in certificate_checked",
        );
    });
}
