//! Resolvers that do wrong, by accident or on purpose, on every transport: each must end as a
//! failure from the closed list within the deadline, and leave nothing behind: no task, no
//! descriptor, no memory without bound. What the record says is in `docs/method/hostile.md`.

// The tests are lists of cases; peers are `async` because they need the runtime around them.
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    clippy::unused_async,
    clippy::print_stderr
)]

mod support;

mod hostile {
    mod doq;
    mod family;
    mod framed;
    mod h2_frames;
    mod h2_peers;
    mod h3_peers;
    mod pki;
    mod quic_handshake;
    mod quic_server;
    mod script;
    mod tls;
    mod tls_server;
    mod udp;
}
