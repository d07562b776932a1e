//! A qlog of every QUIC connection, if requested by the environment: JSON text sequences (RFC
//! 7464), a file for each connection. The file name has the time and the destination connection id
//! of the first packet. The same id is the group of the connection's first events.
//! Not for: connections measured to the microsecond. Measured times include opening the file.

use quinn::{ClientConfig, ConnectionId, QlogConfig, TransportConfig};
use ring::rand::{SecureRandom, SystemRandom};
use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// The environment variable with the folder for the files.
const VARIABLE: &str = "QLOGDIR";
/// The least length of a client's first destination connection id (RFC 9000 section 7.2).
const CONNECTION_ID_BYTES: usize = 8;

/// The folder cannot be created.
#[derive(Debug, Error)]
#[error("write qlogs to {folder} ({VARIABLE}): {source}; give a folder that can be written")]
pub struct QlogFolderError {
    folder: String,
    source: io::Error,
}

/// The folder for the logs.
#[derive(Debug, Clone)]
pub struct QlogFolder(Arc<PathBuf>);

impl QlogFolder {
    /// Returns the folder from the environment, creating the folder if missing. `None` when the
    /// environment requests no logs. Errors when the folder cannot be created.
    pub fn from_environment() -> Result<Option<Self>, QlogFolderError> {
        let folder = env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        folder
            .map(|folder| Self::create(PathBuf::from(folder)))
            .transpose()
    }

    fn create(folder: PathBuf) -> Result<Self, QlogFolderError> {
        fs::create_dir_all(&folder).map_err(|source| QlogFolderError {
            folder: folder.display().to_string(),
            source,
        })?;
        Ok(Self(Arc::new(folder)))
    }

    /// Opens the log of the next connection with `config` and `transport`. The log is complete at
    /// the end of the connection.
    pub fn log_next(
        &self,
        title: String,
        mut transport: TransportConfig,
        config: &mut ClientConfig,
    ) -> io::Result<()> {
        let mut bytes = [0; CONNECTION_ID_BYTES];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system has no random bytes"))?;
        let connection_id = ConnectionId::new(&bytes);
        let unix_ns = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let file = File::create(self.0.join(format!("{unix_ns}-{connection_id}.sqlog")))?;
        let mut log = QlogConfig::default();
        log.writer(Box::new(BufWriter::new(file)))
            .title(Some(title));
        transport.qlog_stream(log.into_stream());
        config
            .transport_config(Arc::new(transport))
            .initial_dst_cid_provider(Arc::new(move || connection_id));
        Ok(())
    }
}
