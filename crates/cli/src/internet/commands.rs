//! Commands to a running internet: read from standard input, carried out between packets, answered
//! on standard output. Not for: the hub itself.

use crate::path::{id_of, write_done};
use resolab_link::hosts::device::HostDevice;
use resolab_link::star::config::check_way;
use resolab_link::star::control::{StarControl, ThreadEnded};
use resolab_link::star::model::{HostChange, StarModel};
use resolab_record::{InternetCommand, InternetConfig, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::io::{self, BufRead};
use std::sync::{Arc, Mutex};

/// The reason for the end of serving commands; messages follow "failed to".
#[derive(Debug)]
pub enum InternetCommandsError {
    Ended(ThreadEnded),
    Device(nix::errno::Errno),
    Input(io::Error),
    Output(io::Error),
}

impl std::fmt::Display for InternetCommandsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ended(error) => error.fmt(formatter),
            Self::Device(error) => write!(formatter, "read a device's drop counter: {error}"),
            Self::Input(error) => write!(formatter, "read commands: {error}"),
            Self::Output(error) => write!(formatter, "write to standard output: {error}"),
        }
    }
}

impl From<InternetCommandsError> for CommandRefusal {
    fn from(error: InternetCommandsError) -> Self {
        match error {
            InternetCommandsError::Output(error) => Self::unwritten(error),
            other @ (InternetCommandsError::Ended(_)
            | InternetCommandsError::Device(_)
            | InternetCommandsError::Input(_)) => Self::internal(other),
        }
    }
}

/// The state of the commands thread.
pub struct InternetController {
    control: StarControl,
    devices: Vec<HostDevice>,
    names: Vec<String>,
    /// The model for finding an address's owner; carries no packets.
    map: StarModel,
    /// A lock held while a command's records are written.
    writing: Arc<Mutex<()>>,
}

impl InternetController {
    pub fn new(
        control: StarControl,
        devices: Vec<HostDevice>,
        config: &InternetConfig,
        writing: Arc<Mutex<()>>,
    ) -> Self {
        Self {
            control,
            devices,
            names: config.hosts.iter().map(|host| host.name.clone()).collect(),
            map: StarModel::new(config),
            writing,
        }
    }

    /// Serves commands until the end of input.
    pub fn serve(&mut self, input: impl BufRead) -> Result<(), InternetCommandsError> {
        let writing = Arc::clone(&self.writing);
        for line in input.lines() {
            let line = line.map_err(InternetCommandsError::Input)?;
            if line.trim().is_empty() {
                continue;
            }
            // A poisoned lock only means that this thread is ending.
            let _held = writing.lock();
            self.carry_out(&line)?;
        }
        Ok(())
    }

    /// Stops the hub thread.
    pub fn stop(&self) {
        self.control.stop();
    }

    fn carry_out(&mut self, line: &str) -> Result<(), InternetCommandsError> {
        let (id, error) = match serde_json::from_str(line) {
            Ok(InternetCommand::SetHost {
                id,
                name,
                one_way_ms,
                loss_ratio,
                down,
            }) => {
                let change = HostChange {
                    one_way_ms,
                    loss_ratio,
                    down,
                };
                match self.check(&name, change) {
                    Ok(host) => {
                        self.control
                            .change(host, change)
                            .map_err(InternetCommandsError::Ended)?;
                        (id, None)
                    }
                    Err(error) => (id, Some(error)),
                }
            }
            Ok(InternetCommand::Count { id, label }) => {
                self.count(label)?;
                (id, None)
            }
            Err(error) => {
                let text = format!("failed to understand the command: {error}");
                (id_of(line), Some(text))
            }
        };
        write_done(id, error).map_err(InternetCommandsError::Output)
    }

    /// Returns the host's index. Errors with the reason when the change is impossible.
    fn check(&self, name: &str, change: HostChange) -> Result<usize, String> {
        let (one_way_ms, loss_ratio) = (change.one_way_ms, change.loss_ratio);
        check_way(
            name,
            one_way_ms.unwrap_or_default(),
            loss_ratio.unwrap_or_default(),
        )
        .map_err(|error| format!("failed to {error}"))?;
        let place = self.names.iter().position(|known_name| known_name == name);
        place.ok_or_else(|| {
            let known = self.names.join(", ");
            format!("failed to change host {name:?}: there is none; there are {known}")
        })
    }

    fn count(&mut self, label: Option<String>) -> Result<(), InternetCommandsError> {
        let (mut window, ended_ns) = self.control.count().map_err(InternetCommandsError::Ended)?;
        for device in &mut self.devices {
            window.note_device_drops(
                device
                    .new_drops_count()
                    .map_err(InternetCommandsError::Device)?,
            );
        }
        let owner = |address| self.map.owner(address);
        let record = window.record(label, ended_ns, &self.names, owner);
        output::write_record(&Record::InternetFlows(Box::new(record)))
            .map_err(InternetCommandsError::Output)
    }
}
