//! An edge as a whole: started from a configuration, commanded, stopped.

use crate::config::{EdgeConfig, SiteConfig};
use crate::connections::RecordSink;
use crate::name_config::NameConfig;
use crate::serve::{ListenerSpec, Listeners};
use crate::site::Site;
use crate::world::World;
use resolab_record::{EdgeCommand, EdgeReadyRecord, TicketPolicy};
use resolab_transport::server::{AuthorityError, CertificateAuthority, ServerPolicies};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Why there is no edge.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// The configuration asks for something wrong.
    #[error("use the configuration: {0}")]
    Configuration(String),
    /// The certificate authority.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// A socket.
    #[error("{0}; is the address in this host, and the port free?")]
    Listen(#[from] crate::serve::ListenError),
}

/// A running edge; needs the tokio runtime it was started in.
pub struct Edge {
    authority: CertificateAuthority,
    world: Arc<World>,
    listeners: Listeners,
    /// Where sites loaded later go by default.
    web_address: Option<IpAddr>,
}

impl Edge {
    /// Load every site, bind every socket.
    pub async fn start(config: &EdgeConfig, sink: RecordSink) -> Result<Self, EdgeError> {
        let authority = CertificateAuthority::open_or_create(&config.ca.folder)?;
        let policies = Arc::new(ServerPolicies::new(TicketPolicy::EarlyData));
        let world = World::new(config, policies, sink).map_err(EdgeError::Configuration)?;
        let mut edge = Self {
            authority,
            world: Arc::new(world),
            listeners: Listeners::default(),
            web_address: config.sites.first().map(|site| site.address),
        };
        let mut specs = Vec::new();
        if let Some(resolver) = &config.resolver {
            let mut names = vec![resolver.name.to_ascii_lowercase()];
            names.extend(resolver.addresses.iter().map(ToString::to_string));
            let certificate = edge.authority.issue(&names)?;
            edge.world
                .policies
                .add_name(&names[0], certificate, resolver.ticket_policy);
            specs.extend(ListenerSpec::of_resolver(resolver));
        }
        for site in &config.sites {
            edge.put_site(site)?;
            specs.extend(ListenerSpec::of_site(site.address, &config.web));
        }
        edge.listeners.add(&edge.world, &specs).await?;
        Ok(edge)
    }

    /// What clients must know.
    pub fn ready_record(&self) -> EdgeReadyRecord {
        EdgeReadyRecord {
            ca_file: self.authority.certificate_file().display().to_string(),
            ca_spki_sha256: self.authority.spki_sha256().to_owned(),
            listeners: self.listeners.urls(),
        }
    }

    /// Carry out a command; `Err` is the one line for `command_done`.
    pub async fn carry_out(&mut self, command: EdgeCommand) -> Result<(), String> {
        match command {
            EdgeCommand::SetTicketPolicy { name, policy, .. } => {
                let known = self.world.policies.set_policy(name.as_deref(), policy);
                let name = name.unwrap_or_default();
                known
                    .then_some(())
                    .ok_or_else(|| format!("no server name `{name}` here"))
            }
            EdgeCommand::CloseConnections { name, .. } => {
                match self.world.connections.close(name.as_deref()).await {
                    0 => Ok(()),
                    left => Err(format!("{left} connections did not end in time")),
                }
            }
            EdgeCommand::Flush { .. } => {
                self.world.connections.write_open();
                Ok(())
            }
            EdgeCommand::SetNameBehaviour {
                name,
                delay_ms,
                delay,
                failure,
                ..
            } => self.world.set_name_behaviour(&NameConfig {
                name,
                delay_ms,
                delay,
                failure,
            }),
            EdgeCommand::Summary { label, .. } => {
                self.world.write_summary(label);
                Ok(())
            }
            EdgeCommand::LoadSite {
                host,
                folder,
                address,
                ..
            } => self.load_site(host, folder, address).await,
        }
    }

    /// Close every connection, each with its record, and accept no more.
    pub async fn stop(&mut self) {
        self.world.connections.close(None).await;
        self.listeners.stop();
        self.world.write_summary(None);
    }

    async fn load_site(
        &mut self,
        host: String,
        folder: String,
        address: Option<String>,
    ) -> Result<(), String> {
        let address = match address {
            Some(text) => text
                .parse()
                .map_err(|_| format!("`{text}` is no address"))?,
            None => self
                .web_address
                .ok_or("the configuration has no site, so give an address")?,
        };
        let site = SiteConfig {
            host,
            address,
            folder: PathBuf::from(folder),
            ticket_policy: TicketPolicy::EarlyData,
            https_record: false,
        };
        self.put_site(&site).map_err(|error| error.to_string())?;
        let specs = ListenerSpec::of_site(address, &self.world.web);
        self.listeners
            .add(&self.world, &specs)
            .await
            .map_err(|error| error.to_string())
    }

    fn put_site(&self, config: &SiteConfig) -> Result<(), EdgeError> {
        let folder = config.folder.display();
        let loaded = Site::load(&config.folder).map_err(|error| {
            EdgeError::Configuration(format!("site {}: read {folder}: {error}", config.host))
        })?;
        if loaded.file_count() == 0 {
            let reason = format!("site {}: {folder} holds no file", config.host);
            return Err(EdgeError::Configuration(reason));
        }
        // A name that is served already keeps its certificate and its policy.
        if !self.world.policies.has_name(&config.host) {
            let certificate = self.authority.issue(std::slice::from_ref(&config.host))?;
            self.world
                .policies
                .add_name(&config.host, certificate, config.ticket_policy);
        }
        self.world
            .put_site(config, loaded)
            .map_err(EdgeError::Configuration)
    }
}
