//! The generated command lines: every word that matters, for each kind of profile.

use super::*;
use crate::profile::load;
use resolab_record::{FarNetwork, ScheduledChange};
use std::path::Path;

fn shipped(name: &str) -> LinkProfile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    load(name, &[folder], None).unwrap()
}

fn with(up: DirectionProfile) -> LinkProfile {
    LinkProfile {
        name: "x".to_owned(),
        source: "test".to_owned(),
        mtu_bytes: Some(1_500),
        up,
        ..shipped("ideal")
    }
}

fn limited() -> DirectionProfile {
    DirectionProfile {
        one_way_delay_ms: 10.0,
        rate_bps: Some(8e6),
        queue_bytes: Some(30_000),
        ..DirectionProfile::default()
    }
}

fn lines(profile: &LinkProfile, sender: Host, element: Element) -> Vec<String> {
    rules(profile, None)
        .unwrap()
        .iter()
        .filter(|stage| stage.sender == sender && stage.element == element)
        .flat_map(|stage| stage.commands.iter().map(ToString::to_string))
        .collect()
}

fn line(profile: &LinkProfile, sender: Host, element: Element) -> String {
    lines(profile, sender, element).join("; ")
}

fn up(direction: DirectionProfile, element: Element) -> String {
    line(&with(direction), Host::Client, element)
}

#[test]
fn a_rate_and_a_delay_are_apart() {
    let dsl = shipped("dsl");
    assert_eq!(
        line(&dsl, Host::Client, Element::Loss),
        "tc qdisc replace dev hop1c root stab overhead -14 netem limit 100000 loss random 0% \
         rate 8tbit"
    );
    assert_eq!(
        line(&dsl, Host::Client, Element::Queue),
        "tc qdisc replace dev hop2c root handle 1: stab overhead -14 tbf rate 842152bit \
         burst 3000 limit 13500; tc qdisc replace dev hop2c parent 1:1 handle 10: bfifo limit 13500"
    );
    assert_eq!(
        line(&dsl, Host::Client, Element::Link),
        "tc qdisc replace dev hop3c root stab overhead -14 netem limit 100000 rate 842152bit 0"
    );
    assert_eq!(
        line(&dsl, Host::Client, Element::Delay),
        "tc qdisc replace dev server0 root stab overhead -14 netem limit 100000 delay 21179.895us"
    );
    assert!(line(&dsl, Host::Server, Element::Delay).contains("dev client0 root"));
}

/// What tbf hands over early comes off the queue, so that both together hold the profile's bytes.
#[test]
fn packets_ahead_are_of_the_queue() {
    for name in ["fiber", "cable", "dsl", "4g", "4g-medium"] {
        let profile = shipped(name);
        for (sender, direction) in [(Host::Client, &profile.up), (Host::Server, &profile.down)] {
            let [shaper, room] = &lines(&profile, sender, Element::Queue)[..] else {
                panic!("{name}");
            };
            let word = |text: &str, key: &str| -> u64 {
                let mut words = text.split(' ').skip_while(|word| *word != key);
                words.nth(1).unwrap().parse().unwrap()
            };
            let burst = word(shaper, "burst");
            assert_eq!(burst % 1_500, 0);
            let ahead_ms = (burst - 1_500) as f64 * 8.0 / direction.rate_bps.unwrap() * 1_000.0;
            assert!(ahead_ms >= 6.0, "{name}: {ahead_ms} ms ahead");
            let held = burst - 1_500 + word(room, "limit");
            assert_eq!(Some(held), direction.queue_bytes, "{name}");
        }
    }
}

#[test]
fn no_rate_no_queue() {
    let ideal = shipped("ideal");
    assert!(lines(&ideal, Host::Client, Element::Queue).is_empty());
    assert!(line(&ideal, Host::Client, Element::Link).ends_with("netem limit 100000"));
    assert!(line(&ideal, Host::Client, Element::Delay).ends_with("delay 0.000us"));
}

/// `limit` must hold what is under way: here 100 ms at 10 Gbit/s of the smallest packets.
#[test]
fn the_delay_line_has_room() {
    let far = DirectionProfile {
        one_way_delay_ms: 100.0,
        ..DirectionProfile::default()
    };
    assert!(up(far, Element::Delay).contains("limit 6250000 delay 100000.000us"));
    let stages = rules(&shipped("cable"), None).unwrap();
    let netems = stages.iter().flat_map(|stage| &stage.commands);
    let netems = netems.filter(|command| command.arguments.contains(&"netem".to_owned()));
    assert!(netems.clone().count() == 6);
    assert!(
        netems
            .into_iter()
            .all(|command| command.to_string().contains("netem limit "))
    );
}

#[test]
fn loss_has_all_its_digits() {
    let lossy = |loss_ratio| {
        let direction = DirectionProfile {
            loss_ratio,
            ..limited()
        };
        up(direction, Element::Loss)
    };
    assert!(lossy(0.021).ends_with("loss random 2.1% rate 8tbit"));
    assert!(lossy(0.000_000_123_4).ends_with("loss random 0.00001234% rate 8tbit"));
    assert!(lossy(1.0).ends_with("loss random 100% rate 8tbit"));
}

/// tc's order is p r 1-h 1-k: to bad, to good, lost in bad, lost in good.
#[test]
fn bursts_are_in_tcs_order() {
    let chain = |loss_ratio, good_loss_ratio, bad_loss_ratio| DirectionProfile {
        loss_ratio,
        gilbert_elliott: Some(GilbertElliott {
            good_to_bad_ratio: 0.005,
            bad_to_good_ratio: 0.3,
            good_loss_ratio,
            bad_loss_ratio,
        }),
        ..limited()
    };
    let words = |direction| up(direction, Element::Loss);
    assert!(words(chain(0.0, None, None)).ends_with("loss gemodel 0.5% 30% 100% 0% rate 8tbit"));
    let mixed = chain(0.0, Some(0.01), Some(0.4));
    assert!(words(mixed).ends_with("loss gemodel 0.5% 30% 40% 1% rate 8tbit"));
    let both = chain(0.1, None, Some(0.4));
    assert!(words(both).ends_with("loss gemodel 0.5% 30% 46% 10% rate 8tbit"));
}

#[test]
fn overhead_counts_for_the_rate_and_not_for_the_queue() {
    let framed = DirectionProfile {
        packet_overhead_bytes: Some(10),
        ..limited()
    };
    assert_eq!(
        up(framed.clone(), Element::Queue),
        "tc qdisc replace dev hop2c root handle 1: stab overhead -14 tbf rate 8000000bit \
         burst 12080 limit 19500 overhead 10; \
         tc qdisc replace dev hop2c parent 1:1 handle 10: bfifo limit 19500"
    );
    assert!(up(framed, Element::Link).ends_with("rate 8000000bit 10"));
}

#[test]
fn queues_of_packets_and_codel() {
    let packets = DirectionProfile {
        queue_bytes: None,
        queue_packets: Some(20),
        ..limited()
    };
    assert!(up(packets, Element::Queue).ends_with("parent 1:1 handle 10: pfifo limit 13"));
    let codel = DirectionProfile {
        queue_discipline: Some(QueueDiscipline::Codel),
        queue_bytes: Some(1_500_000),
        codel_target_ms: Some(5.0),
        codel_interval_ms: Some(100.0),
        ..limited()
    };
    assert!(
        up(codel, Element::Queue).ends_with(
            "parent 1:1 handle 10: codel limit 999 target 5000us interval 100000us noecn"
        )
    );
}

#[test]
fn a_queue_of_one_packet_still_lets_one_wait() {
    let small = DirectionProfile {
        queue_bytes: Some(1_500),
        ..limited()
    };
    assert!(up(small, Element::Queue).contains("burst 1500 limit 1500;"));
}

#[test]
fn jitter_per_packet_is_netems() {
    let jittery = DirectionProfile {
        jitter: Some(Jitter {
            standard_deviation_ms: Some(3.0),
            per_packet_reordering: true,
            ..Jitter::default()
        }),
        ..limited()
    };
    let delay = up(jittery.clone(), Element::Delay);
    assert!(delay.ends_with("delay 10000.000us 3000.000us distribution normal"));
    assert!(
        !delay.contains("rate"),
        "with a rate netem does not reorder"
    );
    let seeded = rules(&with(jittery), Some(1)).unwrap();
    let words: Vec<String> = seeded
        .iter()
        .flat_map(|stage| &stage.commands)
        .map(ToString::to_string)
        .filter(|line| line.contains(" seed "))
        .collect();
    let mut seeds: Vec<&str> = words
        .iter()
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3, "loss each way and jitter up: {words:?}");
}

#[test]
fn what_the_kernel_cannot_do_names_its_key() {
    let deviation = "standard_deviation_ms = 1";
    for (key, rest) in [
        ("up.trace_file", "trace_file = 'x'".to_owned()),
        (
            "up.cross_traffic",
            "cross_traffic = { model = 'poisson', rate_bps = 1e6 }".to_owned(),
        ),
        (
            "up.policer",
            "policer = { rate_bps = 1e6, burst_bytes = 262144 }".to_owned(),
        ),
        ("up.jitter", format!("jitter = {{ {deviation} }}")),
        (
            "up.jitter.distribution",
            format!("jitter = {{ {deviation}, distribution = 'lognormal' }}"),
        ),
        (
            "up.jitter.quantiles_ms",
            "jitter = { quantiles_ms = [-1, 1], per_packet_reordering = true }".to_owned(),
        ),
        (
            "up.queue_packets",
            "rate_bps = 8e6\nqueue_bytes = 30000\nqueue_packets = 9".to_owned(),
        ),
        (
            "up.queue_packets",
            "rate_bps = 8e6\nqueue_packets = 0".to_owned(),
        ),
        (
            "up.queue_bytes",
            "rate_bps = 8e6\nqueue_bytes = 1499".to_owned(),
        ),
    ] {
        let direction = toml::from_str(&format!("one_way_delay_ms = 10\n{rest}")).unwrap();
        let error = rules(&with(direction), None).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(&format!("{key} ")) && message.contains("use --backend tun"),
            "{key}: {message}"
        );
    }
}

#[test]
fn far_servers_and_schedules_are_refused() {
    let far = LinkProfile {
        far: Some(vec![FarNetwork {
            network: "10.77.1.16/28".to_owned(),
            extra_one_way_delay_ms: 20.0,
        }]),
        ..with(limited())
    };
    let message = rules(&far, None).unwrap_err().to_string();
    assert!(message.contains(" far "), "{message}");
    let scheduled = LinkProfile {
        schedule: Some(vec![ScheduledChange::default()]),
        ..with(limited())
    };
    let message = rules(&scheduled, None).unwrap_err().to_string();
    assert!(message.contains(" schedule "), "{message}");
}

/// Of the profiles that come with the project, those whose delay varies are refused; so are those
/// with a policer, whose delay varies, too.
#[test]
fn each_shipped_profile_has_rules_or_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let profile = load(&path.to_string_lossy(), &[], None).unwrap();
        let varies = profile.up.jitter.is_some() || profile.down.jitter.is_some();
        let far = profile.far.is_some();
        match rules(&profile, None) {
            Ok(stages) => assert!(!varies && !far && stages.len() == 8, "{}", profile.name),
            Err(error) => {
                let reason = if far { ": far " } else { ".jitter" };
                assert!(varies || far, "{error}");
                assert!(error.to_string().contains(reason), "{error}");
            }
        }
    }
}
