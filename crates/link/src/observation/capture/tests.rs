use super::*;
use crate::devices::packet::{TCP, samples::ipv4};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::time::Instant;

fn packet(bytes: &[u8]) -> Packets<'_> {
    Packets {
        frame: bytes,
        offload: Offload::default(),
        first: 0,
        count: 1,
    }
}

/// A file name nobody has, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("resolab-{name}-{}.pcapng", std::process::id());
        let file = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&file);
        Self(file)
    }

    fn words(&self) -> Vec<u32> {
        let bytes = std::fs::read(&self.0).unwrap();
        let (words, rest) = bytes.as_chunks::<4>();
        assert!(rest.is_empty());
        words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
    }

    /// Type and words of each block.
    fn blocks(&self) -> Vec<(u32, Vec<u32>)> {
        let words = self.words();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let count = words[at + 1] as usize / 4;
            assert_eq!(words[at + 1], words[at + count - 1], "both lengths");
            blocks.push((words[at], words[at..at + count].to_vec()));
            at += count;
        }
        blocks
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Interface, wall time, packet's first word and whether there is a comment, of each packet block.
fn packets(blocks: &[(u32, Vec<u32>)]) -> Vec<(u32, u64, u32, bool)> {
    let packets = blocks.iter().filter(|(kind, _)| *kind == 6);
    packets
        .map(|(_, words)| {
            let unix_ns = u64::from(words[3]) << 32 | u64::from(words[4]);
            (words[2], unix_ns, words[7], words.len() > 8 + 4)
        })
        .collect()
}

#[test]
fn every_packet_stands_on_its_interfaces() {
    let scratch = Scratch::new("interfaces");
    let mut capture = Capture::start(&scratch.0).unwrap();
    let offset_ns = capture.wall_clock_offset_ns;
    capture.note_entry(Host::Client, 10, packet(&[1; 4]));
    capture.note_drop(Host::Server, 20, packet(&[2; 4]), "dropped: loss");
    capture.note_delivery(Host::Client, 30, packet(&[1; 4]));
    capture.note_refusal(Host::Client, 40, packet(&[3; 4]), "dropped: device");
    let report = capture.stop().unwrap();
    assert_eq!((report.captured_count, report.not_captured_count), (4, 0));
    let blocks = scratch.blocks();
    let kinds: Vec<_> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 6, 6, 6, 6, 5, 5]);
    assert_eq!(
        packets(&blocks),
        [
            (0, offset_ns + 10, 0x0101_0101, false),
            (1, offset_ns + 20, 0x0202_0202, true),
            (1, offset_ns + 30, 0x0101_0101, false),
            (1, offset_ns + 40, 0x0303_0303, true),
        ]
    );
}

#[test]
fn packets_of_a_train_stand_there_each_by_itself() {
    let scratch = Scratch::new("train");
    let mut frame = ipv4(
        TCP,
        (Ipv4Addr::LOCALHOST, 1),
        (Ipv4Addr::LOCALHOST, 2),
        &[7; 2_500],
    );
    frame[33] = 0x10;
    let mut header = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    for (at, field) in [(2, 40_u16), (4, 1_000), (6, 20), (8, 16)] {
        header[at..at + 2].copy_from_slice(&field.to_ne_bytes());
    }
    let mut capture = Capture::start(&scratch.0).unwrap();
    let offload = Offload::decode(header);
    for (first, count) in [(0, 1), (1, 2)] {
        let some = Packets {
            frame: &frame,
            offload,
            first,
            count,
        };
        capture.note_entry(Host::Client, 10, some);
    }
    assert_eq!(capture.stop().unwrap().captured_count, 3);
    let blocks = scratch.blocks();
    let lengths: Vec<_> = blocks
        .iter()
        .filter(|(kind, _)| *kind == 6)
        .map(|(_, words)| words[5])
        .collect();
    assert_eq!(lengths, [1_040, 1_040, 540]);
}

#[test]
fn an_existing_file_is_left_alone() {
    let scratch = Scratch::new("existing");
    std::fs::write(&scratch.0, "precious").unwrap();
    let error = Capture::start(&scratch.0).unwrap_err();
    assert!(matches!(error, CaptureError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&scratch.0).unwrap(), "precious");
    let error = Capture::start(Path::new("/no/such/folder/file")).unwrap_err();
    assert!(matches!(error, CaptureError::Start { .. }), "{error}");
}

#[test]
fn it_ends_in_good_order_when_dropped() {
    let scratch = Scratch::new("dropped");
    let mut capture = Capture::start(&scratch.0).unwrap();
    capture.note_entry(Host::Client, 10, packet(&[1; 1_500]));
    drop(capture);
    assert_eq!(packets(&scratch.blocks()).len(), 1);
}

#[test]
fn more_than_all_chunks_is_written_in_order_if_time_allows() {
    let scratch = Scratch::new("long");
    let mut capture = Capture::start(&scratch.0).unwrap();
    let count = 30_000;
    for index in 0..count {
        let mut bytes = [0; 1_500];
        bytes[..4].copy_from_slice(&(index as u32).to_ne_bytes());
        while !capture.make_room(2_000, 0) {
            thread::sleep(WRITER_REST);
        }
        capture.note_entry(Host::Server, index, packet(&bytes));
    }
    let report = capture.stop().unwrap();
    assert_eq!(
        (report.captured_count, report.not_captured_count),
        (count, 0)
    );
    let numbers: Vec<u32> = packets(&scratch.blocks())
        .iter()
        .map(|packet| packet.2)
        .collect();
    assert!(numbers.iter().copied().eq(0..count as u32));
}

#[test]
fn what_a_slow_file_leaves_out_is_counted() {
    let scratch = Scratch::new("slow");
    let mut capture = Capture::start(&scratch.0).unwrap();
    // As if the writer held every chunk.
    let held: Vec<_> = capture.empty.try_iter().collect();
    assert_eq!(held.len(), CHUNK_COUNT);
    for at_ns in 0..5 {
        capture.note_entry(Host::Client, at_ns, packet(&[1; 100]));
    }
    capture.note_delivery(Host::Client, 6, packet(&[1; 100]));
    let report = capture.stop().unwrap();
    assert_eq!((report.captured_count, report.not_captured_count), (0, 6));
    let blocks = scratch.blocks();
    assert_eq!(packets(&blocks).len(), 0);
    let statistics: Vec<_> = blocks.iter().filter(|(kind, _)| *kind == 5).collect();
    // isb_ifdrop, after the fixed fields and three options before it.
    let dropped = statistics.iter().map(|(_, words)| words[5 + 9 + 1]);
    assert_eq!(dropped.collect::<Vec<_>>(), [5, 1]);
}

#[test]
fn a_failing_file_is_told_at_the_end() {
    // The kernel's device that is always full.
    let file = Path::new("/dev/full");
    let Ok(mut output) = File::options().write(true).open(file) else {
        return;
    };
    let (full, to_write) = sync_channel(1);
    let (written, _empty) = sync_channel(1);
    full.try_send(vec![0; 10]).unwrap();
    drop(full);
    let error = write_chunks(&mut output, &to_write, &written).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

/// `cargo test --release -p resolab-link capture -- --ignored --nocapture`
#[test]
#[ignore = "a measurement to be read by a person"]
fn cost() {
    for bytes in [100, 1_500] {
        let scratch = Scratch::new("cost");
        let mut capture = Capture::start(&scratch.0).unwrap();
        let frame = vec![7; bytes];
        // So few that the writer need not keep up.
        let count = 15_000;
        let started = Instant::now();
        for index in 0..count {
            capture.note_entry(Host::Client, index, packet(black_box(&frame)));
        }
        let spent = started.elapsed();
        let report = capture.stop().unwrap();
        println!(
            "{bytes} bytes: {:.1} ns, {} not captured",
            spent.as_nanos() as f64 / count as f64,
            report.not_captured_count
        );
    }
}
