//! The tap's totals against what the hosts' kernels and sockets say themselves.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::Lab;
use crate::support::probe;
use nix::libc;
use resolab_link::hosts::Host;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

const CLIENT: &str = "10.77.0.2:4000";
const SERVER: &str = "10.77.0.1:4000";
/// Of `tcpi_total_retrans` in the kernel's `tcp_info`.
const TOTAL_RETRANSMITTED_AT: usize = 100;

/// Segments the kernel sent again on this connection.
fn retransmitted_count(stream: &TcpStream) -> u64 {
    let mut information = [0_u8; TOTAL_RETRANSMITTED_AT + 4];
    let mut length = information.len() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the buffer has the length that is said.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            information.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    assert_eq!((result, length as usize), (0, information.len()));
    let count = information.last_chunk::<4>().unwrap();
    u64::from(u32::from_ne_bytes(*count))
}

#[test]
fn retransmitted_segments_are_as_many_as_the_kernel_says() {
    let direction = "one_way_delay_ms = 5\nrate_bps = 50_000_000\nloss_ratio = 0.03";
    let Some(mut lab) = Lab::open_as_root(direction, direction) else {
        return;
    };
    let listener = lab
        .inside(Host::Server, || TcpListener::bind(SERVER).unwrap())
        .join()
        .unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        received.len()
    });
    let sent_bytes = 3_000_000;
    let client = lab.inside(Host::Client, move || {
        let mut stream = TcpStream::connect(SERVER).unwrap();
        stream.write_all(&vec![7; sent_bytes]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        // The server closes when it has everything, our FIN included.
        stream.read_to_end(&mut Vec::new()).unwrap();
        retransmitted_count(&stream)
    });
    assert_eq!(server.join().unwrap(), sent_bytes);
    let by_kernel = client.join().unwrap();
    // Whatever is still under way arrives.
    thread::sleep(Duration::from_millis(100));
    let summary = lab.summary("bulk");
    let (flow, totals) = (&summary.flows[0], &summary.totals);
    assert_eq!(summary.flows.len(), 1);
    assert!(by_kernel > 20, "{by_kernel} of 2000 at 3 % loss");
    assert_eq!(flow.tcp_up_retransmitted_count, Some(by_kernel));
    assert_eq!(
        (flow.up_packets_count, flow.up_delivered_count),
        (totals.up.packets_in_count, totals.up.packets_out_count)
    );
    assert_eq!(
        (flow.down_packets_count, flow.down_delivered_count),
        (totals.down.packets_in_count, totals.down.packets_out_count)
    );
}

#[test]
fn both_stamps_are_the_delay_apart_and_survive_the_end_of_a_window() {
    let Some(mut lab) = Lab::open_as_root("one_way_delay_ms = 400", "one_way_delay_ms = 1") else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let arrivals = probe::run(&client, &server, 3, 100, Duration::from_millis(1));
    assert_eq!(arrivals.len(), 3);
    let flow = lab.summary("whole").flows.remove(0);
    for (entered_ns, delivered_ns) in [
        (flow.up_first_entered_ns, flow.up_first_delivered_ns),
        (flow.up_last_entered_ns, flow.up_last_delivered_ns),
    ] {
        let error_ns = delivered_ns.unwrap() - entered_ns.unwrap() - 400_000_000;
        // Room for a machine that pauses; two stamps of one side would be 400 ms off.
        assert!(error_ns < 100_000_000, "{error_ns} ns more than asked");
    }
    assert_eq!((flow.up_packets_count, flow.up_delivered_count), (3, 3));
    assert_eq!(flow.first_packet_ns, flow.up_first_entered_ns.unwrap());
    assert_eq!(
        (flow.down_delivered_count, flow.down_first_entered_ns),
        (0, None)
    );

    let receiving = server.try_clone().unwrap();
    client.send_to(b"late", SERVER).unwrap();
    thread::sleep(Duration::from_millis(50));
    let before = lab.summary("before");
    receiving.recv(&mut [0; 16]).unwrap();
    let after = lab.summary("after");
    let counts =
        |flow: &resolab_record::FlowRecord| (flow.up_packets_count, flow.up_delivered_count);
    assert_eq!(counts(&before.flows[0]), (1, 0));
    assert_eq!(counts(&after.flows[0]), (0, 1));
    assert_eq!(after.flows[0].up_first_entered_ns, None);
    assert_eq!(
        after.flows[0].up_last_delivered_ns,
        Some(after.flows[0].first_packet_ns)
    );
    assert_eq!(
        before.flows[0].client_port, after.flows[0].client_port,
        "the same flow"
    );
}
