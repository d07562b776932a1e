//! Tests of reading, checking and completing profiles, and of those that are shipped.

use super::files::known_names;
use super::*;
use resolab_record::{
    DirectionProfile, Jitter, JitterDistribution, PolicerSettings, QueueDiscipline,
};

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles")
}

fn read_text(text: &str) -> Result<LinkProfile, ProfileError> {
    complete(parse(text, Path::new("test.toml"))?)
}

fn with(up: &str) -> String {
    format!(
        "name = 'x'\nsource = 'test'\n[up]\none_way_delay_ms = 1\n{up}\n\
         [down]\none_way_delay_ms = 2\n"
    )
}

/// Round trip in ms, down and up in bit/s: the study's own numbers.
const STUDY: [(&str, f64, f64, f64); 5] = [
    ("fiber", 14.767_147, 99_859_576.0, 109_103_380.0),
    ("cable", 25.176_65, 165_046_798.0, 11_634_674.0),
    ("dsl", 42.359_79, 10_734_760.0, 842_152.0),
    ("4g", 91.852_311, 53_954_872.0, 21_181_033.0),
    ("4g-medium", 104.504_141, 28_648_298.0, 4_224_283.0),
];

#[test]
fn shipped_profiles_are_the_studys() {
    for (name, round_trip_ms, down_bps, up_bps) in STUDY {
        let profile = load(name, &[shipped()], None).unwrap();
        assert_eq!(profile.name, name);
        let delays = (profile.up.one_way_delay_ms, profile.down.one_way_delay_ms);
        assert_eq!(delays, (round_trip_ms / 2.0, round_trip_ms / 2.0), "{name}");
        let rates = (profile.down.rate_bps, profile.up.rate_bps);
        assert_eq!(rates, (Some(down_bps), Some(up_bps)), "{name}");
    }
}

/// Round trip and its deviation in ms, loss, up and down in bit/s.
const EARLIER_STUDY: [(&str, [f64; 5]); 3] = [
    ("4g-h20", [53.3, 1.0, 0.005, 7.44e6, 22.1e6]),
    ("lossy-4g-h20", [53.3, 1.0, 0.015, 7.44e6, 22.1e6]),
    ("3g-h20", [150.0, 8.0, 0.021, 1e6, 1e6]),
];

fn numbers(profile: &LinkProfile) -> [f64; 5] {
    let deviation = |direction: &DirectionProfile| {
        let jitter = direction.jitter.as_ref().unwrap();
        jitter.standard_deviation_ms.unwrap()
    };
    let (up, down) = (&profile.up, &profile.down);
    assert!((up.loss_ratio - down.loss_ratio).abs() < 1e-12);
    [
        up.one_way_delay_ms + down.one_way_delay_ms,
        deviation(up).hypot(deviation(down)),
        up.loss_ratio,
        up.rate_bps.unwrap(),
        down.rate_bps.unwrap(),
    ]
}

fn assert_near(got: [f64; 5], wanted: [f64; 5]) {
    for (got, wanted) in got.into_iter().zip(wanted) {
        assert!((got - wanted).abs() <= wanted * 1e-4, "{got} for {wanted}");
    }
}

#[test]
fn shipped_profiles_are_the_earlier_studys() {
    for (name, wanted) in EARLIER_STUDY {
        assert_near(numbers(&load(name, &[shipped()], None).unwrap()), wanted);
    }
}

/// As their script had it: all of the delay, the jitter and the loss upstream, a policer downstream.
#[test]
fn the_earlier_studys_as_published_lose_upstream_and_police_downstream() {
    for (name, [round_trip_ms, jitter_ms, loss_ratio, up_bps, down_bps]) in EARLIER_STUDY {
        let profile = load(&format!("{name}-as-published"), &[shipped()], None).unwrap();
        let (up, down) = (&profile.up, &profile.down);
        let jitter = up.jitter.as_ref().unwrap();
        let wanted = Jitter {
            quantiles_ms: Some(vec![-jitter_ms, jitter_ms]),
            per_packet_reordering: true,
            ..Jitter::default()
        };
        assert_eq!(
            (up.one_way_delay_ms, jitter),
            (round_trip_ms, &wanted),
            "{name}"
        );
        assert_eq!(
            (up.loss_ratio, up.rate_bps),
            (loss_ratio, Some(up_bps)),
            "{name}"
        );
        assert_eq!(
            (up.queue_bytes, up.queue_packets),
            (None, Some(1_000)),
            "{name}"
        );
        let policed = DirectionProfile {
            policer: Some(PolicerSettings {
                rate_bps: down_bps,
                burst_bytes: 256 * 1_024,
            }),
            queue_discipline: Some(QueueDiscipline::Droptail),
            ..DirectionProfile::default()
        };
        assert_eq!(*down, policed, "{name}");
    }
}

#[test]
fn the_mobile_networks_are_all_there() {
    let names = known_names(&[shipped()]);
    let mobile = names.iter().filter(|name| name.starts_with("errant-"));
    assert_eq!(mobile.count(), 26);
    let profile = load("errant-net1-norway-4g-bad", &[shipped()], None).unwrap();
    let wanted = [112.902_371, 82.044_727, 0.0, 149_747.0, 3_295_667.0];
    assert_near(numbers(&profile), wanted);
    assert_eq!(
        profile.up.jitter.unwrap().distribution,
        Some(JitterDistribution::Lognormal)
    );
}

#[test]
fn every_shipped_profile_loads_under_its_own_name() {
    let names = known_names(&[shipped()]);
    assert!(names.contains(&"ideal".to_owned()));
    for name in names {
        assert_eq!(load(&name, &[shipped()], None).unwrap().name, name);
    }
}

#[test]
fn defaults_are_written_out() {
    let profile = read_text(&with("rate_bps = 80_000_000")).unwrap();
    assert_eq!(profile.mtu_bytes, Some(1_500));
    assert_eq!(profile.up.queue_bytes, Some(30_000));
    assert_eq!(profile.up.queue_discipline, Some(QueueDiscipline::Droptail));
    assert_eq!(profile.down.queue_bytes, None);
    let slow = read_text(&with("rate_bps = 80_000")).unwrap();
    assert_eq!(slow.up.queue_bytes, Some(15_000));
    let codel = read_text(&with("rate_bps = 80_000\nqueue_discipline = 'codel'")).unwrap();
    assert_eq!(codel.up.queue_bytes, Some(1_500_000));
    assert_eq!(
        (codel.up.codel_target_ms, codel.up.codel_interval_ms),
        (Some(5.0), Some(100.0))
    );
    let counted = read_text(&with("rate_bps = 80_000\nqueue_packets = 5")).unwrap();
    assert_eq!(
        (counted.up.queue_bytes, counted.up.queue_packets),
        (None, Some(5))
    );
    let given = read_text(&with("rate_bps = 80_000\nqueue_bytes = 7")).unwrap();
    assert_eq!(given.up.queue_bytes, Some(7));
}

#[test]
fn absurd_values_are_named_with_their_range() {
    for (text, wanted) in [
        (
            "rate_bps = -5",
            "up.rate_bps = -5 is outside 1000 to 100000000000",
        ),
        ("rate_bps = nan", "up.rate_bps = NaN is outside"),
        ("loss_ratio = 1.5", "up.loss_ratio = 1.5 is outside 0 to 1"),
        (
            "cross_traffic = { model = 'on_off', rate_bps = 1e6 }",
            "up.cross_traffic must be given with both on_ms and off_ms",
        ),
        (
            "cross_traffic = { model = 'poisson', rate_bps = 1 }",
            "up.cross_traffic.rate_bps = 1 is outside 1000 to",
        ),
        (
            "jitter = { standard_deviation_ms = 0.5 }",
            "up.jitter.standard_deviation_ms = 0.5 is outside 0 to 0.333",
        ),
        (
            "jitter = { standard_deviation_ms = 0.3, interval_ms = 1 }",
            "up.jitter.interval_ms = 1 is outside 1.5 to",
        ),
        (
            "jitter = { interval_ms = 20 }",
            "up.jitter must be given by either standard_deviation_ms or quantiles_ms",
        ),
        (
            "jitter = { quantiles_ms = [3, 2] }",
            "up.jitter.quantiles_ms must be 2 to 1001 values",
        ),
        (
            "jitter = { quantiles_ms = [-2, 2] }",
            "up.jitter.quantiles_ms = -2 is outside -1 to 10000",
        ),
        (
            "gilbert_elliott = { good_to_bad_ratio = 2, bad_to_good_ratio = 0.3 }",
            "up.gilbert_elliott.good_to_bad_ratio = 2 is outside 0 to 1",
        ),
        (
            "packet_overhead_bytes = 2000",
            "up.packet_overhead_bytes = 2000 is outside 0 to 1000",
        ),
        (
            "queue_packets = 99999999",
            "up.queue_packets = 99999999 is outside 0 to",
        ),
        (
            "queue_bytes = 999999999999",
            "up.queue_bytes = 999999999999 is outside 0 to",
        ),
    ] {
        let message = read_text(&with(text)).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
    let late = with("").replace("one_way_delay_ms = 2", "one_way_delay_ms = 20000");
    let message = read_text(&late).unwrap_err().to_string();
    assert!(message.contains("down.one_way_delay_ms = 20000 is outside 0 to 10000"));
}

/// The burst holds at least one full packet.
#[test]
fn absurd_policers_are_named_with_their_range() {
    for (text, wanted) in [
        (
            "policer = { rate_bps = 999, burst_bytes = 1500 }",
            "up.policer.rate_bps = 999 is outside 1000 to",
        ),
        (
            "policer = { rate_bps = 1e6, burst_bytes = 1499 }",
            "up.policer.burst_bytes = 1499 is outside 1500 to 268435456",
        ),
    ] {
        let message = read_text(&with(text)).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

/// Each packet of others, and each time without one, is a step of the model.
#[test]
fn cross_traffic_is_bounded_in_steps() {
    for (keys, wanted) in [
        (
            "model = 'poisson', rate_bps = 1e10, packet_bytes = 20",
            "at most 1,000,000 packets a second",
        ),
        (
            "model = 'poisson', rate_bps = 1.3e10",
            "at most 1,000,000 packets a second",
        ),
        (
            "model = 'on_off', rate_bps = 1e5, on_ms = 0.1, off_ms = 1",
            "at least 0.001 packets while on",
        ),
    ] {
        let text = with(&format!("cross_traffic = {{ {keys} }}"));
        let message = read_text(&text).unwrap_err().to_string();
        let wanted = format!("up.cross_traffic must be {wanted}");
        assert!(message.contains(&wanted), "{message}");
    }
    let usual = "cross_traffic = { model = 'poisson', rate_bps = 1e10 }";
    assert!(read_text(&with(usual)).is_ok());
}

#[test]
fn a_trace_is_found_beside_the_profile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let wanted = parse(&with("trace_file = 'tiny.trace'"), Path::new("x.toml")).unwrap();
    let profile = complete_beside(wanted.clone(), std::slice::from_ref(&folder), None).unwrap();
    let path = folder.join("tiny.trace").to_string_lossy().into_owned();
    assert_eq!(profile.up.trace_file, Some(path));
    assert_eq!(profile.up.queue_bytes, Some(15_000));
    assert_eq!(complete(profile.clone()).unwrap(), profile);
    let message = complete_beside(wanted, &[], None).unwrap_err().to_string();
    assert!(
        message.contains("up.trace_file: failed to read trace /"),
        "{message}"
    );
}

#[test]
fn a_trace_goes_without_a_rate() {
    let message = read_text(&with("trace_file = 'x'\nrate_bps = 5000"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("up.trace_file must be given without rate_bps"),
        "{message}"
    );
}

#[test]
fn far_servers_are_checked() {
    let far = |network: &str, delay_ms: i32| {
        let table =
            format!("[[far]]\nnetwork = '{network}'\nextra_one_way_delay_ms = {delay_ms}\n");
        read_text(&(with("") + &table))
    };
    assert_eq!(far("10.77.1.16/28", 20).unwrap().far.unwrap().len(), 1);
    let message = far("10.77.1.17/28", 20).unwrap_err().to_string();
    assert!(
        message.contains("far.network = \"10.77.1.17/28\" must be the first"),
        "{message}"
    );
    let message = far("10.77.1.16/28", -1).unwrap_err().to_string();
    assert!(
        message.contains("far.extra_one_way_delay_ms = -1 is outside 0 to"),
        "{message}"
    );
}

#[test]
fn unknown_keys_are_named_with_their_line() {
    let message = read_text(&with("rate_mbps = 5")).unwrap_err().to_string();
    assert!(
        message.contains("test.toml, line 5") && message.contains("rate_mbps"),
        "{message}"
    );
    assert!(
        message.contains("rate_bps") && !message.contains('\n'),
        "{message}"
    );
}

#[test]
fn a_name_and_a_source_are_wanted() {
    let nameless = with("").replace("'x'", "'a b'");
    assert!(
        read_text(&nameless)
            .unwrap_err()
            .to_string()
            .contains("name must be")
    );
    let sourceless = with("").replace("'test'", "' '");
    assert!(
        read_text(&sourceless)
            .unwrap_err()
            .to_string()
            .contains("source must be")
    );
}

#[test]
fn an_unknown_name_lists_what_exists() {
    let message = load("fibre", &[shipped()], None).unwrap_err().to_string();
    for name in [
        "4g-medium, ",
        ", cable, ",
        ", dsl, ",
        ", fiber, ",
        ", ideal, ",
    ] {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn the_mtu_can_be_given_beside_the_file() {
    let profile = load("ideal", &[shipped()], Some(1_280)).unwrap();
    assert_eq!(profile.mtu_bytes, Some(1_280));
    assert!(load("ideal", &[shipped()], Some(100)).is_err());
}

/// An MTU beside the file holds for the profiles of its schedule, too; what their files say is compared
/// as it stands there.
#[test]
fn an_mtu_beside_the_file_is_the_schedules_too() {
    let folder = std::env::temp_dir().join(format!("resolab-mtu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let handover = "[[schedule]]\nafter_ms = 5\nprofile = 'dsl'\n";
    let path = folder.join("x.toml");
    std::fs::write(&path, with("") + handover).unwrap();
    let read = |mtu_bytes| load(path.to_str().unwrap(), &[shipped()], mtu_bytes);
    let profile = read(Some(1_400)).unwrap();
    assert_eq!(profile.mtu_bytes, Some(1_400));
    let change = &profile.schedule.as_deref().unwrap()[0];
    // Ten full packets, more than the rate takes in a round trip.
    assert_eq!(change.up.as_ref().unwrap().queue_bytes, Some(14_000));
    let usual = read(None).unwrap();
    let change = &usual.schedule.as_deref().unwrap()[0];
    assert_eq!(change.up.as_ref().unwrap().queue_bytes, Some(15_000));
    std::fs::write(&path, format!("mtu_bytes = 1400\n{}{handover}", with(""))).unwrap();
    for mtu_bytes in [None, Some(1_400), Some(1_500)] {
        let message = read(mtu_bytes).unwrap_err().to_string();
        assert!(message.contains("the same mtu_bytes"), "{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
