//! The limit of open files, for programs with many sockets. Not for: opening sockets.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files. Each address needs two sockets; pages have hundreds of
/// addresses, and a usual soft limit is 1,024 open files. Without a raised limit, the failing
/// socket reports the error.
pub fn allow_many_sockets() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
