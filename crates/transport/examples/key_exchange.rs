//! Measures the cost of a key exchange in every group of the provider: the client's share, the
//! server's answer, and the client's secret. Run the program by hand on a quiet machine. The output
//! has a line for each group.
//! Not for: whole handshakes, or the network.
//!
//! cargo run --release -p resolab-transport --example key_exchange -- [ROUNDS]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use resolab_record::KeyExchangeGroup;
use resolab_transport::clock::monotonic_ns;
use rustls::crypto::SupportedKxGroup;

/// The number of exchanges in a group before the next group's turn.
const TURN_COUNT: usize = 100;

/// The durations of one step, in ns.
type Durations = Vec<u64>;

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(60, |typed| typed.parse().unwrap());
    let groups = resolab_transport::provider(&KeyExchangeGroup::ALL).kx_groups;
    let mut steps = vec![[const { Durations::new() }; 3]; groups.len()];
    for _ in 0..rounds {
        for (group, steps) in groups.iter().zip(&mut steps) {
            for _ in 0..TURN_COUNT {
                exchange(*group, steps);
            }
        }
    }
    println!("median / 90th percentile, us: client's share; server's answer; client's secret");
    for (group, steps) in groups.iter().zip(&mut steps) {
        let [share, answer, secret] = steps.each_mut().map(quantiles);
        println!("{:16?} {share}; {answer}; {secret}", group.name());
    }
}

fn exchange(group: &dyn SupportedKxGroup, steps: &mut [Durations; 3]) {
    let began_ns = monotonic_ns();
    let client = group.start().unwrap();
    let started_ns = monotonic_ns();
    let server = group.start_and_complete(client.pub_key()).unwrap();
    let answered_ns = monotonic_ns();
    let secret = client.complete(&server.pub_key).unwrap();
    let ended_ns = monotonic_ns();
    assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    steps[0].push(started_ns - began_ns);
    steps[1].push(answered_ns - started_ns);
    steps[2].push(ended_ns - answered_ns);
}

fn quantiles(durations: &mut Durations) -> String {
    durations.sort_unstable();
    let us = |at: usize| durations[at] as f64 / 1e3;
    let count = durations.len();
    format!("{:6.1} / {:6.1}", us(count / 2), us(count * 9 / 10))
}
