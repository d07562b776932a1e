//! Tests of `model`.

use super::*;
use crate::star::config;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const HOSTS: &str = r#"
    [[host]]
    name = "home"
    one_way_ms = 5.0
    network = [{ prefix = "198.18.0.2/32" }]
    [[host]]
    name = "far"
    one_way_ms = 2.25
    [[host.network]]
    prefix = "198.18.8.0/24"
    extra_one_way_ms = 12.5
    [[host.network]]
    prefix = "198.18.8.7/32"
    extra_one_way_ms = 40.000001
"#;

const HOME: usize = 0;
const FAR: usize = 1;

fn star(hosts: &str) -> StarModel {
    let config = config::complete(toml::from_str(hosts).unwrap()).unwrap();
    StarModel::new(&config)
}

fn with(key: &str) -> StarModel {
    star(&HOSTS.replacen("one_way_ms = 5.0", &format!("one_way_ms = 5.0\n{key}"), 1))
}

fn route(
    star: &StarModel,
    from: usize,
    source: &str,
    destination: &str,
) -> Result<Route, DropReason> {
    star.route(from, source.parse().unwrap(), destination.parse().unwrap())
}

fn to_far(star: &StarModel) -> Route {
    route(star, HOME, "198.18.0.2", "198.18.8.1").unwrap()
}

#[test]
fn a_way_is_both_hosts_and_what_the_longest_prefixes_add_in_both_directions() {
    let mut star = star(HOSTS);
    for (address, one_way_ns) in [("198.18.8.1", 19_750_000), ("198.18.8.7", 47_250_001)] {
        let there = route(&star, HOME, "198.18.0.2", address).unwrap();
        let back = route(&star, FAR, address, "198.18.0.2").unwrap();
        assert_eq!((there.to, back.to), (FAR, HOME));
        assert_eq!(star.depart(there, 3, 100), Ok(3 + one_way_ns));
        assert_eq!(star.arrive(FAR, 3 + one_way_ns, 100), Ok(3 + one_way_ns));
        assert_eq!(star.depart(back, 3, 100), Ok(3 + one_way_ns));
    }
}

#[test]
fn addresses_that_are_nobodys_or_not_the_senders_lead_nowhere() {
    let star = star(HOSTS);
    let gone = |from, source, destination| route(&star, from, source, destination).unwrap_err();
    assert_eq!(gone(HOME, "198.18.0.2", "198.18.9.1"), DropReason::Unowned);
    assert_eq!(
        gone(HOME, "198.18.8.1", "198.18.8.2"),
        DropReason::ForeignSource
    );
    assert_eq!(
        gone(HOME, "10.0.0.1", "198.18.8.2"),
        DropReason::ForeignSource
    );
    assert_eq!(star.owner(Ipv4Addr::new(198, 18, 8, 255)), Some(FAR));
    assert_eq!(star.owner(Ipv4Addr::new(198, 18, 9, 0)), None);
}

#[test]
fn what_is_sent_meets_its_senders_rate_and_what_is_received_the_receivers() {
    // 1 000 bytes at 8 Mbit/s are 1 ms.
    let mut star = with("rate_up_mbps = 8.0\nrate_down_mbps = 4.0");
    let there = to_far(&star);
    let arrivals = [0, 0, MS / 2].map(|now_ns| star.depart(there, now_ns, 1_000).unwrap());
    assert_eq!(arrivals, [20_750_000, 21_750_000, 22_750_000]);
    let deliveries =
        [30 * MS, 30 * MS, 40 * MS].map(|at_ns| star.arrive(HOME, at_ns, 1_000).unwrap());
    assert_eq!(deliveries, [32 * MS, 34 * MS, 42 * MS]);
    assert_eq!(star.arrive(FAR, 30 * MS, 1_000), Ok(30 * MS));
    assert!(!star.sends_plainly(HOME) && !star.receives_plainly(HOME));
    assert!(star.sends_plainly(FAR) && star.receives_plainly(FAR));
}

#[test]
fn a_queue_has_its_limit_in_each_direction() {
    let mut star = with("rate_up_mbps = 8.0\nrate_down_mbps = 8.0\nqueue_packets = 1");
    let there = to_far(&star);
    let fates = [0; 3].map(|now_ns| star.depart(there, now_ns, 1_000));
    assert_eq!(fates[2], Err(DropReason::QueueFull));
    assert!(fates[0].is_ok() && fates[1].is_ok());
    let fates = [0; 3].map(|now_ns| star.arrive(HOME, now_ns, 1_000));
    assert_eq!(fates[2], Err(DropReason::QueueFull));
}

#[test]
fn loss_is_each_directions_own_and_the_seeds() {
    let fates = |seed: u64| {
        let mut star = star(&format!(
            "seed = {seed}\n{}",
            HOSTS.replacen("5.0", "5.0\nloss_ratio = 0.2", 1)
        ));
        let there = to_far(&star);
        let up: Vec<_> = (0..2_000)
            .map(|_| star.depart(there, 0, 100).is_err())
            .collect();
        let down: Vec<_> = (0..2_000)
            .map(|_| star.arrive(HOME, 0, 100).is_err())
            .collect();
        (up, down)
    };
    let (up, down) = fates(1);
    for lost in [&up, &down] {
        let count = lost.iter().filter(|lost| **lost).count();
        assert!((320..480).contains(&count), "{count}");
    }
    assert_ne!(up, down);
    assert_eq!(fates(1), (up.clone(), down));
    assert_ne!(fates(2).0, up);
}

#[test]
fn a_host_that_is_down_neither_sends_nor_receives() {
    let mut star = star(HOSTS);
    let there = to_far(&star);
    let down = |down| HostChange {
        down: Some(down),
        ..HostChange::default()
    };
    star.change(FAR, down(true));
    assert!(star.is_down(FAR));
    let arrival_ns = star.depart(there, 0, 100).unwrap();
    assert_eq!(star.arrive(FAR, arrival_ns, 100), Err(DropReason::Down));
    let back = route(&star, FAR, "198.18.8.1", "198.18.0.2").unwrap();
    assert_eq!(star.depart(back, 0, 100), Err(DropReason::Down));
    star.change(FAR, down(false));
    assert!(star.arrive(FAR, arrival_ns, 100).is_ok());
}

#[test]
fn a_shorter_way_keeps_the_order_of_packets_between_two_networks() {
    let mut star = star(HOSTS);
    let there = to_far(&star);
    assert_eq!(star.depart(there, 0, 100), Ok(19_750_000));
    star.change(
        HOME,
        HostChange {
            one_way_ms: Some(1.0),
            ..HostChange::default()
        },
    );
    assert_eq!(star.depart(there, MS, 100), Ok(19_750_000));
    assert_eq!(star.depart(there, 10 * MS, 100), Ok(25_750_000));
    let other = route(&star, HOME, "198.18.0.2", "198.18.8.7").unwrap();
    assert_eq!(star.depart(other, 0, 100), Ok(43_250_001));
}

#[test]
fn a_change_of_loss_counts_at_once() {
    let mut star = star(HOSTS);
    let there = to_far(&star);
    star.change(
        HOME,
        HostChange {
            loss_ratio: Some(1.0),
            ..HostChange::default()
        },
    );
    assert_eq!(star.depart(there, 0, 100), Err(DropReason::Lost));
    assert_eq!(star.arrive(HOME, 0, 100), Err(DropReason::Lost));
    assert!(!star.sends_plainly(HOME));
}

proptest! {
    #[test]
    fn nothing_comes_before_its_way_is_over_nor_overtakes(
        steps in prop::collection::vec((0_u64..3_000_000, 40_u32..1_500, any::<bool>(), 0.0_f64..20.0), 1..200),
        rate_kbps in 1_000_u32..100_000,
    ) {
        let rate_mbps = f64::from(rate_kbps) / 1_000.0;
        let mut star = with(&format!("rate_up_mbps = {rate_mbps}\nqueue_packets = 20"));
        let there = to_far(&star);
        let (mut now_ns, mut one_way_ms, mut last_ns) = (0, 5.0, 0);
        for (pause_ns, bytes, moves, new_ms) in steps {
            now_ns += pause_ns;
            if moves {
                one_way_ms = new_ms;
                star.change(HOME, HostChange { one_way_ms: Some(new_ms), ..HostChange::default() });
            }
            let Ok(at_ns) = star.depart(there, now_ns, bytes) else {
                continue;
            };
            let bits_ns = u64::from(bytes) * 8_000_000 / u64::from(rate_kbps);
            prop_assert!(at_ns >= now_ns + to_ns(one_way_ms) + 14_750_000 + bits_ns);
            prop_assert!(at_ns >= last_ns);
            last_ns = at_ns;
        }
    }
}
