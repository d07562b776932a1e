//! Logs the secrets of TLS connections for programs decrypting captures, if requested by the
//! environment. Not for: QUIC's own log, see `qlog`.

use rustls::{KeyLog, KeyLogFile};
use std::env;
use std::sync::{Arc, OnceLock};

/// The file for the secrets, in NSS's format; secrets are appended.
const VARIABLE: &str = "SSLKEYLOGFILE";

/// Returns the log for all connections of the process. `None` when the environment requests no log;
/// measured times then include no logging.
pub(super) fn from_environment() -> Option<Arc<dyn KeyLog>> {
    static LOG: OnceLock<Option<Arc<KeyLogFile>>> = OnceLock::new();
    let open = || {
        let path = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        path.map(|_| Arc::new(KeyLogFile::new()))
    };
    let log = LOG.get_or_init(open).clone()?;
    Some(log)
}
