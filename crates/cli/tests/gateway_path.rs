//! `resolab-core gateway` on an emulated path: what the link's tap sees of a load that is over.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::edge::Edge;
use crate::support::{Lab, PROGRAM};
use nix::net::if_::if_nametoindex;
use resolab_link::hosts::{DEVICE_NAME, Host};
use resolab_link::netlink::{Netlink, RouteKind};
use resolab_record::FlowRecord;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

const NEAR: &str = "one_way_delay_ms = 5";
const PAGE: &str = "page.resolab.test";
/// Nobody has it: what goes there is lost without a word.
const BLACK_HOLE: Ipv4Addr = Ipv4Addr::new(10, 77, 9, 9);
const LONG: Duration = Duration::from_secs(30);
/// QUIC's first two probes leave 1 and 3 s after its first packet (RFC 9002 section 6.2.2), as TCP's SYN is
/// repeated after 1 and 3 s (RFC 6298 section 2).
const TWO_REPETITIONS: Duration = Duration::from_millis(3_500);

struct Gateway {
    child: Child,
    lines: BufReader<ChildStdout>,
    dns: SocketAddr,
    trigger: &'static str,
}

impl Gateway {
    /// In the client host, with names in 198.18.NUMBER.0/24.
    fn start(lab: &Lab, edge: &Edge, number: u8, trigger: &'static str, version: &str) -> Self {
        let dns = SocketAddr::from(([127, 0, 0, 1], 5_400 + u16::from(number)));
        let ca = edge.folder.join("ca");
        let mut command = lab.enter("client");
        command
            .args(["--", PROGRAM, "gateway", "--claim-range"])
            .args(["--listen", &dns.to_string()])
            .args(["--range", &format!("198.18.{number}.0/24")])
            .args(["--upstream", "udp://10.77.0.1", "--trigger", trigger])
            .args(["--page-http", version, "--ca-folder"])
            .arg(&ca)
            .arg("--ca")
            .arg(ca.join("ca.pem"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut gateway = Self {
            child,
            lines,
            dns,
            trigger,
        };
        gateway.until("gateway_ready");
        gateway
    }

    /// The next record of a kind.
    fn until(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "no {kind}");
            let record: Value = serde_json::from_str(&line).unwrap();
            if record["record"] == kind {
                return record;
            }
        }
    }

    /// What a browser does that makes it open a connection to the page; the leg, where there is one.
    fn trigger(&self, lab: &Lab) -> Option<TcpStream> {
        let (dns, trigger) = (self.dns, self.trigger);
        let act = move || {
            let address = look_up(dns);
            (trigger != "dns").then(|| {
                let mut leg = TcpStream::connect((address, 443)).unwrap();
                // The first byte of a TLS record with a handshake message.
                leg.write_all(&[22]).unwrap();
                leg
            })
        };
        lab.inside(Host::Client, act).join().unwrap()
    }

    fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn begin_load(&mut self) {
        self.send(r#"{"command":"new_load","id":1,"forget_tickets":false}"#);
    }

    /// Until its load is begun.
    fn wait_for_load(&mut self) -> Value {
        let done = self.until("command_done");
        assert_eq!(done["error"], Value::Null, "{done}");
        done
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of the page, as a browser's resolver tells it.
fn look_up(dns: SocketAddr) -> Ipv4Addr {
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in PAGE.split('.') {
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.extend_from_slice(&[0, 0, 1, 0, 1]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket.send_to(&query, dns).unwrap();
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).unwrap();
    let address: [u8; 4] = answer[length - 4..length].try_into().unwrap();
    address.into()
}

/// What went to a server since the summary before.
fn flows_to(server: Ipv4Addr, lab: &mut Lab, label: &str) -> Vec<FlowRecord> {
    let flows = lab.summary(label).flows.into_iter();
    flows.filter(|flow| flow.server_address == server).collect()
}

/// A connection to the page that is being opened ends with its load, whatever began it.
#[test]
fn a_load_that_is_over_sends_nothing_more() {
    let Some(mut lab) = Lab::open_as_root(NEAR, NEAR) else {
        return;
    };
    let zone = format!("[[zone]]\nname = \"{PAGE}\"\ntype = \"A\"\nvalue = \"{BLACK_HOLE}\"\n");
    let edge = Edge::behind_with(&lab, &zone);
    let kinds = ["dns", "hello", "mirror"]
        .into_iter()
        .flat_map(|trigger| ["h2", "h3"].map(|version| (trigger, version)));
    let mut gateways: Vec<_> = kinds
        .zip(1..)
        .map(|((trigger, version), number)| Gateway::start(&lab, &edge, number, trigger, version))
        .collect();
    let legs: Vec<_> = gateways.iter().map(|it| it.trigger(&lab)).collect();
    let (mut begun, started) = (BTreeSet::new(), Instant::now());
    while begun.len() < gateways.len() {
        assert!(started.elapsed() < LONG, "only {begun:?} began");
        let flows = flows_to(BLACK_HOLE, &mut lab, "load");
        begun.extend(
            flows
                .into_iter()
                .map(|flow| (flow.protocol, flow.client_port)),
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    for gateway in &mut gateways {
        gateway.begin_load();
    }
    for gateway in &mut gateways {
        let connection = gateway.until("gateway_connection");
        assert_eq!(connection["usable_ns"], Value::Null, "{connection}");
        let done = gateway.wait_for_load();
        assert!(connection["closed_ns"].as_u64() <= done["monotonic_ns"].as_u64());
    }
    lab.summary("ending");
    std::thread::sleep(TWO_REPETITIONS);
    let late = flows_to(BLACK_HOLE, &mut lab, "next load");
    assert!(late.is_empty(), "{late:#?}");
    drop(legs);
}

/// Nor does the kernel go on with an upload that its load left behind: at this rate what an edge takes of one
/// request at once, 128 KiB, is on its way for five seconds.
#[test]
fn an_upload_ends_with_its_load() {
    let slow = "one_way_delay_ms = 5\nrate_bps = 200_000\nqueue_packets = 10";
    let Some(mut lab) = Lab::open_as_root(slow, NEAR) else {
        return;
    };
    let server = Ipv4Addr::new(10, 77, 1, 1);
    let edge = Edge::with_pages(&lab, &server.to_string(), "");
    let mut gateway = Gateway::start(&lab, &edge, 1, "mirror", "h2");
    let dns = gateway.dns;
    let leg = lab
        .inside(Host::Client, move || look_up(dns))
        .join()
        .unwrap();
    let upload = edge.folder.join("upload");
    std::fs::write(&upload, vec![b'x'; 1_000_000]).unwrap();
    let mut curl = lab.enter("client");
    curl.args(["--", "curl", "--silent", "--output", "/dev/null"])
        .arg("--cacert")
        .arg(edge.folder.join("ca/ca.pem"))
        .args(["--resolve", &format!("{PAGE}:443:{leg}"), "--data-binary"])
        .arg(format!("@{}", upload.display()))
        .arg(format!("https://{PAGE}/1k.txt"));
    let mut curl = curl.spawn().unwrap();
    let (mut sent_bytes, started) = (0, Instant::now());
    while sent_bytes < 20_000 {
        assert!(
            started.elapsed() < LONG,
            "only {sent_bytes} bytes were sent"
        );
        std::thread::sleep(Duration::from_millis(10));
        let flows = flows_to(server, &mut lab, "load");
        sent_bytes += flows.iter().map(|flow| flow.up_bytes).sum::<u64>();
    }
    gateway.begin_load();
    gateway.wait_for_load();
    lab.summary("ending");
    std::thread::sleep(Duration::from_secs(2));
    // What the server acknowledged before it had the reset is answered without data.
    for flow in flows_to(server, &mut lab, "next load") {
        assert!(flow.up_bytes <= 60 * flow.up_packets_count, "{flow:#?}");
    }
    let _ = curl.kill();
    curl.wait().unwrap();
}

/// The whole range is the client host's own, which takes packets for it from the link, too.
#[test]
fn a_leg_is_for_its_own_host_alone() {
    let Some(lab) = Lab::open_as_root(NEAR, NEAR) else {
        return;
    };
    let zone = format!("[[zone]]\nname = \"{PAGE}\"\ntype = \"A\"\nvalue = \"{BLACK_HOLE}\"\n");
    let edge = Edge::behind_with(&lab, &zone);
    let gateway = Gateway::start(&lab, &edge, 1, "request", "h3");
    let dns = gateway.dns;
    let here = lab.inside(Host::Client, move || {
        let leg = look_up(dns);
        (leg, TcpStream::connect((leg, 443)).is_ok())
    });
    let (leg, is_reached) = here.join().unwrap();
    assert!(is_reached);
    let beyond = lab.inside(Host::Server, move || {
        let device = if_nametoindex(DEVICE_NAME).unwrap();
        let mut netlink = Netlink::open().unwrap();
        let route = netlink.add_route(device, RouteKind::Unicast, leg.into(), 32);
        assert_eq!(route, Ok(()));
        let leg = SocketAddr::from((leg, 443));
        TcpStream::connect_timeout(&leg, Duration::from_secs(5)).map_err(|error| error.kind())
    });
    assert_eq!(
        beyond.join().unwrap().err(),
        Some(ErrorKind::ConnectionRefused)
    );
}
