//! Tests of one direction as a whole; each element has its own beside it.

use super::*;
use proptest::prelude::*;
use resolab_record::{
    CrossTraffic, CrossTrafficModel, FarNetwork, GilbertElliott, Jitter, PolicerSettings,
};

fn profile(delay_ms: f64, rate_bps: Option<f64>, queue_bytes: Option<u64>) -> DirectionProfile {
    DirectionProfile {
        one_way_delay_ms: delay_ms,
        rate_bps,
        queue_bytes,
        ..DirectionProfile::default()
    }
}

fn released(fate: PacketFate) -> u64 {
    match fate {
        PacketFate::Release { at_ns } => at_ns,
        fate @ (PacketFate::Drop(_) | PacketFate::Waits) => panic!("not released: {fate:?}"),
    }
}

#[test]
fn a_lone_packet_takes_its_bits_and_the_delay() {
    let mut link = DirectionModel::new(&profile(20.0, Some(12e6), Some(15_000)), "up", 1);
    assert_eq!(
        released(link.arrival(1_000, 1_500)),
        1_000 + 1_000_000 + 20_000_000
    );
}

#[test]
fn the_delay_line_does_not_fill_the_queue() {
    let mut link = DirectionModel::new(&profile(1_000.0, Some(12e6), Some(0)), "up", 1);
    for index in 0..900 {
        let now_ns = index * 1_000_000;
        assert_eq!(
            released(link.arrival(now_ns, 1_500)),
            now_ns + 1_001_000_000
        );
    }
}

#[test]
fn a_burst_is_cut_at_the_queue_limit() {
    let mut link = DirectionModel::new(&profile(5.0, Some(12e6), Some(4_500)), "up", 1);
    let fates: Vec<PacketFate> = (0..6).map(|_| link.arrival(0, 1_500)).collect();
    assert_eq!(released(fates[3]), 4_000_000 + 5_000_000);
    assert_eq!(fates[4..], [PacketFate::Drop(DropCause::QueueFull); 2]);
}

/// Of a burst of six the policer takes three; they pass without a wait, and who was dropped takes
/// neither room in the queue behind it nor time on the link.
#[test]
fn a_policer_drops_before_the_queue_and_holds_nobody() {
    let policed = DirectionProfile {
        policer: Some(PolicerSettings {
            rate_bps: 12e6,
            burst_bytes: 4_500,
        }),
        ..profile(5.0, None, None)
    };
    let mut link = DirectionModel::new(&policed, "down", 1);
    let fates: Vec<PacketFate> = (0..6).map(|_| link.arrival(0, 1_500)).collect();
    assert_eq!(fates[..3], [PacketFate::Release { at_ns: 5_000_000 }; 3]);
    assert_eq!(fates[3..], [PacketFate::Drop(DropCause::Policer); 3]);
    assert_eq!(released(link.arrival(1_000_000, 1_500)), 6_000_000);

    let behind = DirectionProfile {
        rate_bps: Some(12e6),
        queue_bytes: Some(1_500),
        ..policed
    };
    link.change(&behind, Some(1), 1_000_000);
    let fates: Vec<PacketFate> = (0..4).map(|_| link.arrival(1_000_000, 1_500)).collect();
    assert_eq!(released(fates[1]), 3_000_000 + 5_000_000);
    assert_eq!(fates[2], PacketFate::Drop(DropCause::QueueFull));
    assert_eq!(fates[3], PacketFate::Drop(DropCause::Policer));
}

/// The n-th packet meets the n-th draw of the loss, whether a policer drops it or not.
#[test]
fn a_policer_does_not_move_the_losses() {
    let lossy = DirectionProfile {
        loss_ratio: 0.1,
        ..profile(5.0, None, None)
    };
    let policed = DirectionProfile {
        policer: Some(PolicerSettings {
            rate_bps: 1e6,
            burst_bytes: 1_500,
        }),
        ..lossy.clone()
    };
    let lost = |profile| -> Vec<bool> {
        let mut link = DirectionModel::new(profile, "up", 3);
        let fates = (0..2_000).map(|index| link.arrival(index * 100_000, 100));
        fates
            .map(|fate| fate == PacketFate::Drop(DropCause::Loss))
            .collect()
    };
    assert_eq!(lost(&lossy), lost(&policed));
}

#[test]
fn framing_takes_time_on_the_link_but_no_room_in_the_queue() {
    let framed = DirectionProfile {
        packet_overhead_bytes: Some(1_500),
        ..profile(5.0, Some(12e6), Some(3_000))
    };
    let mut link = DirectionModel::new(&framed, "up", 1);
    let fates: Vec<PacketFate> = (0..4).map(|_| link.arrival(0, 1_500)).collect();
    assert_eq!(released(fates[0]), 2_000_000 + 5_000_000);
    assert_eq!(released(fates[2]), 6_000_000 + 5_000_000);
    assert_eq!(fates[3], PacketFate::Drop(DropCause::QueueFull));
}

#[test]
fn a_queue_can_be_limited_in_packets() {
    let limited = DirectionProfile {
        queue_packets: Some(2),
        ..profile(5.0, Some(12e6), None)
    };
    let mut link = DirectionModel::new(&limited, "up", 1);
    let fates: Vec<PacketFate> = (0..4).map(|_| link.arrival(0, 100)).collect();
    assert!(matches!(fates[2], PacketFate::Release { .. }));
    assert_eq!(fates[3], PacketFate::Drop(DropCause::QueueFull));
}

#[test]
fn nothing_enters_during_an_outage_and_what_is_under_way_arrives() {
    let mut link = DirectionModel::new(&profile(5.0, Some(12e6), Some(15_000)), "up", 1);
    assert_eq!(released(link.arrival(0, 1_500)), 6_000_000);
    link.set_outage(0, 2_000_000);
    assert_eq!(
        link.arrival(1_999_999, 1_500),
        PacketFate::Drop(DropCause::Outage)
    );
    assert_eq!(released(link.arrival(2_000_000, 1_500)), 8_000_000);
}

/// Others send more than the link takes, so the queue is full when the outage begins. It drains in
/// 240 ms; an outage longer than that ends on an idle link, a much shorter one behind what
/// is left of it.
#[test]
fn an_outage_holds_back_the_traffic_of_others_too() {
    const BEGIN_NS: u64 = 5_000_000_000;
    for discipline in [QueueDiscipline::Droptail, QueueDiscipline::Codel] {
        let crowded = DirectionProfile {
            rate_bps: Some(1e6),
            queue_packets: Some(20),
            queue_discipline: Some(discipline),
            cross_traffic: Some(CrossTraffic {
                model: CrossTrafficModel::Poisson,
                rate_bps: 1.3e6,
                packet_bytes: None,
                on_ms: None,
                off_ms: None,
            }),
            ..profile(0.0, None, None)
        };
        let way_after_ns = |outage_ns: u64| {
            let mut link = DirectionModel::new(&crowded, "down", 1);
            link.set_outage(BEGIN_NS, BEGIN_NS + outage_ns);
            let during = link.arrival(BEGIN_NS + outage_ns - 1, 1_500);
            assert_eq!(during, PacketFate::Drop(DropCause::Outage));
            let end_ns = BEGIN_NS + outage_ns;
            let fate = match link.arrival(end_ns, 1_500) {
                PacketFate::Waits => link.settle_next(end_ns + 1_000_000_000).unwrap(),
                fate @ (PacketFate::Release { .. } | PacketFate::Drop(_)) => fate,
            };
            released(fate) - end_ns
        };
        assert_eq!(way_after_ns(1_000_000_000), 12_000_000);
        assert!(way_after_ns(1_000_000) > 12_000_000);
    }
}

#[test]
fn a_lost_packet_does_not_use_the_link() {
    let lossy = DirectionProfile {
        loss_ratio: 1.0,
        ..profile(0.0, Some(12e6), Some(0))
    };
    let mut link = DirectionModel::new(&lossy, "up", 1);
    assert_eq!(link.arrival(0, 1_500), PacketFate::Drop(DropCause::Loss));
    link.change(&profile(0.0, Some(12e6), Some(0)), None, 0);
    assert_eq!(released(link.arrival(0, 1_500)), 1_000_000);
}

#[test]
fn a_new_seed_restarts_the_loss_pattern() {
    let lossy = DirectionProfile {
        loss_ratio: 0.5,
        ..profile(0.0, None, None)
    };
    let pattern = |link: &mut DirectionModel| -> Vec<bool> {
        (0..64)
            .map(|_| matches!(link.arrival(0, 100), PacketFate::Drop(_)))
            .collect()
    };
    let mut link = DirectionModel::new(&lossy, "up", 1);
    let first = pattern(&mut link);
    assert_ne!(pattern(&mut link), first);
    link.change(&lossy, Some(1), 0);
    assert_eq!(pattern(&mut link), first);
    assert_ne!(pattern(&mut DirectionModel::new(&lossy, "down", 1)), first);
}

fn jittery(per_packet_reordering: bool) -> DirectionProfile {
    DirectionProfile {
        jitter: Some(Jitter {
            standard_deviation_ms: Some(3.0),
            interval_ms: Some(15.0),
            per_packet_reordering,
            ..Jitter::default()
        }),
        ..profile(26.65, Some(50e6), Some(100_000))
    }
}

#[test]
fn jitter_keeps_order_unless_asked() {
    for (reordering, share) in [(false, 0.0..=0.0), (true, 0.4..=0.7)] {
        let mut link = DirectionModel::new(&jittery(reordering), "up", 1);
        let releases: Vec<u64> = (0..10_000)
            .map(|index| released(link.arrival(index * 1_000_000, 100)))
            .collect();
        let overtaken = releases.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(
            share.contains(&(overtaken as f64 / 10_000.0)),
            "{overtaken} overtaken"
        );
    }
}

#[test]
fn a_new_seed_restarts_the_jitter() {
    let delays = |link: &mut DirectionModel, from_ns: u64| -> Vec<u64> {
        (0..100)
            .map(|index| from_ns + index * 5_000_000)
            .map(|now_ns| released(link.arrival(now_ns, 100)) - now_ns)
            .collect()
    };
    let mut link = DirectionModel::new(&jittery(false), "up", 1);
    let first = delays(&mut link, 0);
    link.change(&jittery(false), Some(1), 1_000_000_000);
    assert_eq!(delays(&mut link, 10_000_000_000), first);
    assert_ne!(delays(&mut link, 20_000_000_000), first);
}

fn codel(rate_bps: f64) -> DirectionProfile {
    DirectionProfile {
        queue_discipline: Some(QueueDiscipline::Codel),
        ..profile(5.0, Some(rate_bps), None)
    }
}

/// All fates of a train of packets, in their order, as the queue would ask for them.
fn fates(link: &mut DirectionModel, gap_ns: u64, count: u64) -> Vec<PacketFate> {
    let mut fates = Vec::new();
    for now_ns in (0..count).map(|index| index * gap_ns) {
        fates.extend(std::iter::from_fn(|| link.settle_next(now_ns)));
        fates.extend(Some(link.arrival(now_ns, 1_500)).filter(|fate| *fate != PacketFate::Waits));
        fates.extend(std::iter::from_fn(|| link.settle_next(now_ns)));
    }
    fates.extend(std::iter::from_fn(|| link.settle_next(u64::MAX)));
    fates
}

#[test]
fn codel_is_droptail_while_nobody_waits_long() {
    let mut droptail = DirectionModel::new(&profile(5.0, Some(12e6), None), "up", 1);
    let mut link = DirectionModel::new(&codel(12e6), "up", 1);
    assert_eq!(
        fates(&mut link, 1_000_001, 500),
        fates(&mut droptail, 1_000_001, 500)
    );
}

/// An unresponsive flow at twice the rate: the standing queue is attacked ever faster.
#[test]
fn codel_drops_from_a_standing_queue_and_keeps_the_rate() {
    let mut link = DirectionModel::new(&codel(12e6), "up", 1);
    let fates = fates(&mut link, 500_000, 4_000);
    assert_eq!(fates.len(), 4_000);
    let first_drop = fates
        .iter()
        .position(|fate| *fate == PacketFate::Drop(DropCause::Codel));
    assert_eq!(first_drop, Some(110));
    let releases: Vec<u64> = fates
        .iter()
        .filter(|fate| matches!(fate, PacketFate::Release { .. }))
        .map(|fate| released(*fate))
        .collect();
    assert!(
        releases
            .windows(2)
            .all(|pair| pair[1] - pair[0] == 1_000_000)
    );
    assert!(releases.len() < 3_950);
}

#[test]
fn leaving_codel_keeps_who_waits() {
    let mut link = DirectionModel::new(&codel(12e6), "up", 1);
    assert!((0..5).all(|_| link.arrival(0, 1_500) == PacketFate::Waits));
    link.change(&profile(5.0, Some(12e6), None), None, 0);
    for index in 1..=5 {
        let fate = link.settle_next(0).unwrap();
        assert_eq!(released(fate), index * 1_000_000 + 5_000_000);
    }
    assert_eq!(released(link.arrival(0, 1_500)), 11_000_000);
    assert_eq!(link.next_settlement_ns(), None);
}

fn busy(load: f64) -> DirectionProfile {
    DirectionProfile {
        cross_traffic: Some(CrossTraffic {
            model: CrossTrafficModel::Poisson,
            rate_bps: 10.7e6 * load,
            packet_bytes: None,
            on_ms: None,
            off_ms: None,
        }),
        ..profile(0.0, Some(10.7e6), None)
    }
}

/// Pollaczek and Khinchine: the mean wait at load r and service time s is r s / (2 (1 - r)).
#[test]
fn waits_behind_poisson_traffic_are_those_of_an_m_d_1_queue() {
    let service_ns = 12_000.0 * 1e9 / 10.7e6;
    for load in [0.3, 0.7] {
        let mut link = DirectionModel::new(&busy(load), "up", 1);
        let waits = (1..=40_000).map(|index| {
            let now_ns = index * 50_000_000;
            released(link.arrival(now_ns, 1)) - now_ns - 747
        });
        let mean_ns = waits.sum::<u64>() as f64 / 40_000.0;
        let expected_ns = load * service_ns / (2.0 * (1.0 - load));
        assert!(
            (mean_ns / expected_ns - 1.0).abs() < 0.03,
            "{mean_ns} for {expected_ns}"
        );
    }
}

#[test]
fn codel_sees_the_traffic_of_others() {
    let crowded = DirectionProfile {
        queue_discipline: Some(QueueDiscipline::Codel),
        ..busy(1.3)
    };
    let mut link = DirectionModel::new(&crowded, "up", 1);
    let fates = fates(&mut link, 20_000_000, 1_000);
    assert_eq!(fates.len(), 1_000);
    let dropped = fates
        .iter()
        .filter(|fate| **fate == PacketFate::Drop(DropCause::Codel))
        .count();
    assert!((100..400).contains(&dropped), "{dropped} dropped");
    assert_eq!(link.next_settlement_ns(), None);
}

#[test]
fn far_servers_share_the_link_and_take_longer() {
    for discipline in [QueueDiscipline::Droptail, QueueDiscipline::Codel] {
        let wanted = DirectionProfile {
            queue_discipline: Some(discipline),
            ..profile(5.0, Some(12e6), None)
        };
        let mut link = DirectionModel::new(&wanted, "up", 1);
        link.far = FarServers::new(&[FarNetwork {
            network: "10.77.1.16/28".to_owned(),
            extra_one_way_delay_ms: 20.0,
        }]);
        let extra_delay = link.far.find_delay("10.77.1.20".parse().unwrap());
        let mut times_ms = Vec::new();
        for extra_delay in [extra_delay, None, extra_delay] {
            let fate = link.arrival_by(0, 1_500, extra_delay);
            let fate = if fate == PacketFate::Waits {
                link.settle_next(10_000_000)
            } else {
                Some(fate)
            };
            times_ms.push(released(fate.unwrap()) / 1_000_000);
        }
        assert_eq!(times_ms, [26, 7, 28]);
    }
}

#[test]
fn bursts_are_loss_too() {
    let bursty = DirectionProfile {
        gilbert_elliott: Some(GilbertElliott {
            good_to_bad_ratio: 1.0,
            bad_to_good_ratio: 1.0,
            good_loss_ratio: None,
            bad_loss_ratio: None,
        }),
        ..profile(0.0, None, None)
    };
    let mut link = DirectionModel::new(&bursty, "up", 1);
    assert_eq!(released(link.arrival(0, 100)), 0);
    assert_eq!(link.arrival(0, 100), PacketFate::Drop(DropCause::Loss));
    assert_eq!(released(link.arrival(0, 100)), 0);
}

#[test]
fn what_others_sent_before_a_change_met_the_link_of_before() {
    let others = CrossTraffic {
        model: CrossTrafficModel::Poisson,
        rate_bps: 10e6,
        packet_bytes: None,
        on_ms: None,
        off_ms: None,
    };
    let before = DirectionProfile {
        cross_traffic: Some(others),
        ..profile(0.0, Some(50e6), None)
    };
    let slower = DirectionProfile {
        rate_bps: Some(5e6),
        ..before.clone()
    };
    let first_behind = |is_touched: bool| {
        let mut link = DirectionModel::new(&before, "up", 1);
        link.arrival(0, 100);
        if is_touched {
            link.arrival(999_999_000, 40);
        }
        link.change(&slower, None, 1_000_000_000);
        released(link.arrival(1_000_000_001, 100))
    };
    // The packet between takes 6.4 us; a second of others on a link of half their rate takes one.
    let off_ns = first_behind(true).abs_diff(first_behind(false));
    assert!(off_ns < 100_000, "{off_ns}");
}

#[test]
fn a_shorter_delay_does_not_overtake() {
    let mut link = DirectionModel::new(&profile(50.0, None, None), "up", 1);
    assert_eq!(released(link.arrival(0, 100)), 50_000_000);
    link.change(&profile(1.0, None, None), None, 1);
    assert_eq!(released(link.arrival(1, 100)), 50_000_000);
    assert_eq!(released(link.arrival(60_000_000, 100)), 61_000_000);
}

/// A direction with any of the elements.
fn any_direction() -> impl Strategy<Value = DirectionProfile> {
    let jitter = prop::option::of((0.1_f64..3.0).prop_map(|deviation_ms| Jitter {
        standard_deviation_ms: Some(deviation_ms),
        ..Jitter::default()
    }));
    let others = prop::option::of((1e5_f64..5e6).prop_map(|rate_bps| CrossTraffic {
        model: CrossTrafficModel::Poisson,
        rate_bps,
        packet_bytes: None,
        on_ms: None,
        off_ms: None,
    }));
    let codel = any::<bool>();
    let policer = prop::option::of((1e6_f64..1e8, 1_500_u64..300_000).prop_map(
        |(rate_bps, burst_bytes)| PolicerSettings {
            rate_bps,
            burst_bytes,
        },
    ));
    (
        10.0_f64..50.0,
        1e6_f64..1e8,
        (
            0_u64..60_000,
            prop::option::of(0_u64..60),
            prop::option::of(0_u32..60),
        ),
        0.0_f64..0.3,
        jitter,
        others,
        codel,
        policer,
    )
        .prop_map(
            |(one_way_delay_ms, rate_bps, limits, loss_ratio, jitter, others, codel, policer)| {
                let (queue_bytes, queue_packets, packet_overhead_bytes) = limits;
                DirectionProfile {
                    one_way_delay_ms,
                    rate_bps: Some(rate_bps),
                    queue_bytes: Some(queue_bytes),
                    queue_packets,
                    packet_overhead_bytes,
                    loss_ratio,
                    policer,
                    jitter,
                    cross_traffic: others,
                    queue_discipline: codel.then_some(QueueDiscipline::Codel),
                    ..DirectionProfile::default()
                }
            },
        )
}

/// Every packet with its arrival and its fate, as the queue would learn them.
fn run(
    link: &mut DirectionModel,
    packets: &[(u64, u32)],
    mut now_ns: u64,
) -> Vec<(u64, u32, PacketFate)> {
    let (mut known, mut waiting) = (Vec::new(), VecDeque::new());
    for (gap_ns, bytes) in packets {
        now_ns += gap_ns;
        while let Some(fate) = link.settle_next(now_ns) {
            let (came_ns, bytes) = waiting.pop_front().unwrap();
            known.push((came_ns, bytes, fate));
        }
        match link.arrival(now_ns, *bytes) {
            PacketFate::Waits => waiting.push_back((now_ns, *bytes)),
            fate @ (PacketFate::Release { .. } | PacketFate::Drop(_)) => {
                known.push((now_ns, *bytes, fate));
            }
        }
    }
    while let Some(fate) = link.settle_next(now_ns + 60_000_000_000) {
        let (came_ns, bytes) = waiting.pop_front().unwrap();
        known.push((came_ns, bytes, fate));
    }
    assert!(waiting.is_empty());
    known.sort_by_key(|(came_ns, ..)| *came_ns);
    known
}

proptest! {
    /// All elements together: one fate for each packet, order kept, nobody waits longer than a
    /// full queue takes, and seed and arrivals decide everything.
    #[test]
    fn elements_compose(
        wanted in any_direction(),
        seed in any::<u64>(),
        packets in prop::collection::vec((1_u64..2_000_000, 20_u32..1_501), 1..300),
    ) {
        const START_NS: u64 = 10_000_000_000;
        let mut link = DirectionModel::new(&wanted, "up", seed);
        let known = run(&mut link, &packets, START_NS);
        prop_assert_eq!(known.len(), packets.len());
        let bytes_ns = |bytes: u64| bytes as f64 * 8e9 / wanted.rate_bps.unwrap();
        let overhead_bytes = u64::from(wanted.packet_overhead_bytes.unwrap_or(0));
        // Of the smallest packets, 20 bytes long, the most fit.
        let most_waiting_count = wanted.queue_bytes.unwrap() / 20 + 2;
        let most_wait_ns = bytes_ns(
            wanted.queue_bytes.unwrap() + 3_000 + overhead_bytes * most_waiting_count,
        );
        // The largest normal number that 53 bits can make is 8.6.
        let deviation_ms = wanted.jitter.as_ref().and_then(|jitter| jitter.standard_deviation_ms);
        let most_ms = wanted.one_way_delay_ms + 9.0 * deviation_ms.unwrap_or(0.0);
        let mut last_ns = 0;
        for (came_ns, bytes, fate) in &known {
            let PacketFate::Release { at_ns } = fate else { continue };
            prop_assert!(*at_ns >= last_ns);
            let own_ns = bytes_ns(u64::from(*bytes) + overhead_bytes);
            prop_assert!((at_ns - came_ns) as f64 <= most_wait_ns + own_ns + most_ms * 1e6);
            last_ns = *at_ns;
        }
        let mut again = DirectionModel::new(&wanted, "up", seed);
        prop_assert_eq!(run(&mut again, &packets, START_NS), known);
    }

    /// Whatever the link and the arrivals: order is kept, nobody is early, and waiting is
    /// never longer than a full queue takes.
    #[test]
    fn releases_are_ordered_and_bounded(
        delay_ms in 0.0_f64..300.0,
        rate_bps in 100_000.0_f64..1e9,
        queue_bytes in 0_u64..200_000,
        packets in prop::collection::vec((0_u64..2_000_000, 20_u32..1_501), 1..300),
    ) {
        let wanted = profile(delay_ms, Some(rate_bps), Some(queue_bytes));
        let mut link = DirectionModel::new(&wanted, "up", 1);
        let (mut now_ns, mut last_ns) = (1_000_000_000, 0);
        for (gap_ns, bytes) in packets {
            now_ns += gap_ns;
            let PacketFate::Release { at_ns } = link.arrival(now_ns, bytes) else { continue };
            let delay_ns = delay_ms * 1e6;
            let own_ns = f64::from(bytes) * 8e9 / rate_bps;
            let most_ns = (queue_bytes as f64 + 1_500.0) * 8e9 / rate_bps + own_ns;
            let way_ns = (at_ns - now_ns) as f64;
            prop_assert!(at_ns >= last_ns);
            prop_assert!(way_ns >= delay_ns + own_ns - 2.0);
            prop_assert!(way_ns <= delay_ns + most_ns + 3.0);
            last_ns = at_ns;
        }
    }
}
