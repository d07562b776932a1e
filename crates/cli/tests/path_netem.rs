//! The netem back end where the tests run: refused whole where the kernel lacks sch_netem, a link
//! that carries packets where it has it. Figures are `scripts/netem-guest`'s.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::probe;
use crate::support::{Lab, PROGRAM};
use resolab_link::hosts::Host;
use resolab_record::{PathBackend, PathCommand};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const NETEM: [&str; 2] = ["--backend", "netem"];

/// Start a path with a profile of the project's and end it at once; its process id, and how it
/// ended.
fn attempt(profile: &str) -> (u32, Output) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../profiles")
        .join(format!("{profile}.toml"));
    let process = Command::new(PROGRAM)
        .args(["path", "--profile"])
        .arg(file)
        .args(NETEM)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    (process.id(), process.wait_with_output().unwrap())
}

/// Processes of a group that are not merely waiting to be reaped.
fn members(group: u32) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| {
            // proc_pid_stat(5): after the name come state, parent, group.
            let rest = stat.rsplit(") ").next().unwrap_or_default();
            let fields: Vec<&str> = rest.split(' ').collect();
            fields[0] != "Z" && fields.get(2) == Some(&group.to_string().as_str())
        })
        .count()
}

fn devices() -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir("/sys/class/net").unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_kernel_without_netem_is_told_so_and_nothing_is_left_behind() {
    let before = devices();
    let (group, output) = attempt("cable");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((members(group), devices()), (0, before));
    if output.status.success() {
        return support::skip("this kernel has sch_netem");
    }
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(output.stdout.is_empty());
    assert_eq!(message.lines().count(), 1, "{message}");
    if message.contains("namespaces") || message.contains("install the package") {
        return support::skip(&message);
    }
    assert!(
        message.contains("no sch_netem") && message.contains("use --backend tun"),
        "{message}"
    );
}

#[test]
fn what_netem_cannot_do_is_an_unsupported_combination() {
    let (_, output) = attempt("3g-h20");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127), "{message}");
    assert!(
        message.contains("up.jitter") && message.contains("use --backend tun"),
        "{message}"
    );
}

#[test]
fn the_link_carries_packets_and_counts_them() {
    let up = "one_way_delay_ms = 20\nrate_bps = 1_000_000";
    let Some(mut lab) = Lab::open_with(up, "one_way_delay_ms = 5", &NETEM) else {
        return;
    };
    assert_eq!(lab.ready.backend, PathBackend::Netem);
    let (_, done) = lab.command(&PathCommand::StartSchedule { id: 77 });
    assert!(done.error.unwrap().contains("use --backend tun"));
    if lab.ready.rootless {
        return support::skip(
            "the rest opens sockets inside the path's hosts and must run as root",
        );
    }
    let client = lab.socket(Host::Client, "10.77.0.2:4000");
    let origin = lab.socket(Host::Server, "10.77.1.42:4000");
    let arrivals = probe::run(&client, &origin, 20, 1_250, Duration::from_millis(15));
    let shortest_ns = arrivals.iter().map(probe::Arrival::delay_ns).min().unwrap();
    assert!(
        (30_000_000..35_000_000).contains(&shortest_ns),
        "{shortest_ns}"
    );
    let totals = lab.summary("probes").totals;
    let counts = (totals.up.packets_in_count, totals.up.packets_out_count);
    assert_eq!(counts, (20, 20));
    assert_eq!(
        (totals.up.bytes_out_bytes, totals.up.lateness_p50_ns),
        (25_000, None)
    );
}
