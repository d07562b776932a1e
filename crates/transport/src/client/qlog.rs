//! A qlog of every QUIC connection, where the environment asks for it: JSON text sequences
//! (RFC 7464), one file a connection, named by when and by the destination connection id
//! of its first packet, which is the group of its first events.
//! Not for: connections that are measured to the microsecond. Opening the file is in their clock.

use quinn::{ClientConfig, ConnectionId, QlogConfig, TransportConfig};
use ring::rand::{SecureRandom, SystemRandom};
use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Folder for the files.
const VARIABLE: &str = "QLOGDIR";
/// As short as RFC 9000 section 7.2 lets a client's first destination connection id be.
const CONNECTION_ID_BYTES: usize = 8;

/// The folder cannot be made.
#[derive(Debug, Error)]
#[error("write qlogs to {folder} ({VARIABLE}): {source}; give a folder that can be written")]
pub struct QlogFolderError {
    folder: String,
    source: io::Error,
}

/// Where the logs go.
#[derive(Debug, Clone)]
pub struct QlogFolder(Arc<PathBuf>);

impl QlogFolder {
    /// `None` where nobody asks for logs.
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

    /// Open the log of the one connection that `config` will be used for, with `transport`. It is
    /// complete when the connection has ended.
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
