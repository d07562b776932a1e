//! The secrets of TLS connections for programs that decrypt captures, where the environment asks
//! for them. Not for: QUIC's own log; that is `qlog`.

use rustls::{KeyLog, KeyLogFile};
use std::env;
use std::sync::{Arc, OnceLock};

/// File to append the secrets to, in NSS's format.
const VARIABLE: &str = "SSLKEYLOGFILE";

/// One log for all connections of the process; `None` where nobody asks for one, and then nothing
/// of it is in any clock.
pub(super) fn from_environment() -> Option<Arc<dyn KeyLog>> {
    static LOG: OnceLock<Option<Arc<KeyLogFile>>> = OnceLock::new();
    let open = || {
        let path = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        path.map(|_| Arc::new(KeyLogFile::new()))
    };
    let log = LOG.get_or_init(open).clone()?;
    Some(log)
}
