//! An edge as a whole: start from a configuration, commands, stop.

use crate::config::EdgeConfig;
use crate::config::names::NameConfig;
use crate::connections::RecordSink;
use crate::control_commands;
use crate::serve::{ListenerSpec, Listeners};
use crate::site_command;
use crate::state::EdgeState;
use crate::web::Site;
use crate::web::settings::SiteConfig;
use resolab_record::{EdgeCommand, EdgeReadyRecord, TicketPolicy};
use resolab_transport::server::{
    AuthorityError, CertificateAuthority, ServerPolicies, TicketTerms,
};
use std::net::IpAddr;
use std::sync::Arc;

/// The reasons for a failed start.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// The configuration has an invalid setting.
    #[error("use the configuration: {0}")]
    Configuration(String),
    /// The certificate authority is unusable.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// A socket cannot be opened.
    #[error("{}; {}", .0, .0.remedy())]
    Listen(#[from] crate::serve::ListenError),
}

/// A running edge; needs the tokio runtime of its start.
pub struct Edge {
    authority: CertificateAuthority,
    state: Arc<EdgeState>,
    listeners: Listeners,
    /// The default address of sites loaded later.
    web_address: Option<IpAddr>,
}

impl Edge {
    /// Loads every site and binds every socket.
    pub async fn start(config: &EdgeConfig, sink: RecordSink) -> Result<Self, EdgeError> {
        let authority = authority(config)?;
        let policies = ServerPolicies::new(TicketPolicy::EarlyData, config.tls.tls12_allowed());
        let policies = Arc::new(policies.with_groups(&config.tls.groups));
        let state = EdgeState::new(config, policies, sink).map_err(EdgeError::Configuration)?;
        let mut edge = Self {
            authority,
            state: Arc::new(state),
            listeners: Listeners::default(),
            web_address: config.sites.first().map(|site| site.addresses[0]),
        };
        let mut specs = Vec::new();
        if let Some(resolver) = &config.resolver {
            let mut names = resolver_names(&resolver.name, &resolver.addresses);
            // A group's certificate does not have the sites that coalescing adds.
            let coalesced = edge.state.coalescing.certificate_names();
            let certificate = if coalesced.is_empty() {
                edge.authority.certificate_for(&names)?
            } else {
                names.extend(coalesced);
                edge.authority.issue(&names)?
            };
            let terms = TicketTerms::new(resolver.ticket_policy).with(
                resolver.ticket_lifetime_s,
                resolver.tickets_per_handshake_count,
            );
            edge.state.policies.add_name(&names[0], certificate, terms);
            specs.extend(ListenerSpec::resolver_specs(resolver, &config.coalescing));
        }
        for site in &config.sites {
            edge.put_site(site, false).await?;
            for address in &site.addresses {
                specs.extend(ListenerSpec::site_specs(*address, &config.web));
            }
        }
        edge.listeners.add(&edge.state, &specs).await?;
        Ok(edge)
    }

    /// Returns the record with the facts required by clients.
    pub fn ready_record(&self) -> EdgeReadyRecord {
        EdgeReadyRecord {
            ca_file: self.authority.certificate_file().display().to_string(),
            ca_spki_sha256: self.authority.spki_sha256().to_owned(),
            listeners: self.listeners.urls(),
        }
    }

    /// Carries out a command. Errors with the line for `command_done`.
    pub async fn carry_out(&mut self, command: EdgeCommand) -> Result<(), String> {
        match command {
            EdgeCommand::CloseConnections { name, names, .. } => {
                control_commands::close_connections(&self.state, name, names).await
            }
            EdgeCommand::Flush { .. } => {
                self.state.connections.write_open();
                Ok(())
            }
            EdgeCommand::SetNameBehaviour {
                name,
                delay_ms,
                delay,
                failure,
                ..
            } => self.state.set_name_behaviour(&NameConfig {
                name,
                delay_ms,
                delay,
                failure,
            }),
            EdgeCommand::LoadSite {
                host,
                folder,
                address,
                settings,
                ..
            } => {
                let given = site_command::SiteArguments {
                    host,
                    folder,
                    address,
                    settings,
                };
                let (site, names_policy) = given.site(self.web_address)?;
                self.load_site(site, names_policy).await
            }
            EdgeCommand::RemoveSite { host, .. } => self.remove_site(&host),
            EdgeCommand::CoverNames { names, .. } => self.cover_names(&names),
            EdgeCommand::SetOriginFrames { telling, .. } => {
                self.state.coalescing.set_telling(telling);
                Ok(())
            }
            control @ (EdgeCommand::SetTicketPolicy { .. }
            | EdgeCommand::SetTickets { .. }
            | EdgeCommand::SetAddressValidation { .. }
            | EdgeCommand::SetAccepting { .. }
            | EdgeCommand::SetBlackHole { .. }
            | EdgeCommand::Summary { .. }) => {
                control_commands::carry_out(&self.state, &mut self.listeners, control).await
            }
        }
    }

    /// Closes every connection, writing its record, and stops accepting.
    pub async fn stop(&mut self) {
        self.state.policies.black_hole.end(None);
        self.state.connections.close(None).await;
        // The listeners' own counts go with them.
        control_commands::write_summary(&self.state, &self.listeners, None);
        self.listeners.stop();
    }

    async fn load_site(&mut self, site: SiteConfig, names_policy: bool) -> Result<(), String> {
        self.put_site(&site, names_policy)
            .await
            .map_err(|error| error.to_string())?;
        self.state.name_site(&site)?;
        let addresses = site.addresses.iter();
        let specs: Vec<_> = addresses
            .flat_map(|address| ListenerSpec::site_specs(*address, &self.state.web))
            .collect();
        self.listeners
            .add(&self.state, &specs)
            .await
            .map_err(|error| error.to_string())
    }

    /// Removes a site. The sockets stay: other sites may use them, and clients get 421 there.
    fn remove_site(&self, host: &str) -> Result<(), String> {
        if !self.state.remove_site(host)? {
            return Err(format!("no site `{host}` here"));
        }
        let resolver = self.state.doh.as_ref();
        if resolver.is_none_or(|doh| !doh.name.eq_ignore_ascii_case(host)) {
            self.state.policies.remove_name(host);
        }
        Ok(())
    }

    /// Issues a resolver certificate with these additional names. The resolver's connections then
    /// serve the sites among the names.
    fn cover_names(&self, names: &[String]) -> Result<(), String> {
        let resolver = self.state.doh.as_ref();
        let resolver = resolver.filter(|_| self.state.coalescing.is_wanted());
        let resolver = resolver.ok_or("there is no [coalescing] in the configuration")?;
        let mut all = resolver_names(&resolver.name, &resolver.addresses);
        all.extend_from_slice(names);
        let certificate = self.authority.issue(&all);
        let certificate = certificate.map_err(|error| error.to_string())?;
        let policies = &self.state.policies;
        policies.replace_certificate(&resolver.name, certificate);
        self.state.coalescing.cover(names);
        Ok(())
    }

    async fn put_site(&self, config: &SiteConfig, names_policy: bool) -> Result<(), EdgeError> {
        let (site, web) = (config.clone(), self.state.web.clone());
        // Reading and compressing must not hold up what is being served.
        let built = tokio::task::spawn_blocking(move || Site::build(&site, &web)).await;
        let loaded = built
            .map_err(|error| EdgeError::Configuration(error.to_string()))?
            .map_err(EdgeError::Configuration)?;
        let policies = &self.state.policies;
        // A name that is served already keeps its certificate, and its policy unless told.
        if !policies.has_name(&config.host) {
            let names = std::slice::from_ref(&config.host);
            let certificate = self.authority.certificate_for(names)?;
            policies.add_name(&config.host, certificate, config.ticket_terms());
        } else if names_policy {
            policies.set_policy(Some(&config.host), config.ticket_policy);
        }
        policies.leave_out(&config.host, config.left_out_alpn());
        self.state.put_site(&config.host, loaded);
        Ok(())
    }
}

/// Returns the names of the resolver's own certificate: the name for clients knowing the name, and
/// the addresses for other clients.
fn resolver_names(name: &str, addresses: &[IpAddr]) -> Vec<String> {
    let addresses = addresses.iter().map(ToString::to_string);
    std::iter::once(name.to_ascii_lowercase())
        .chain(addresses)
        .collect()
}

/// Opens the authority and makes the shared certificates. A certificate with the resolver's name
/// also has the resolver's addresses, for clients without a name.
fn authority(config: &EdgeConfig) -> Result<CertificateAuthority, EdgeError> {
    let mut authority = CertificateAuthority::open_or_create(&config.ca.folder)?;
    for certificate in &config.certificates {
        let mut names = certificate.names.clone();
        let resolver = config.resolver.as_ref();
        let resolver = resolver.filter(|resolver| {
            let is = |name: &String| name.eq_ignore_ascii_case(&resolver.name);
            names.iter().any(is)
        });
        if let Some(resolver) = resolver {
            names.extend(resolver.addresses.iter().map(ToString::to_string));
        }
        authority.share(&names)?;
    }
    Ok(authority)
}
