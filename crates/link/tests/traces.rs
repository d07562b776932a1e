//! The published packet-delivery traces, where there is a copy: they are not part of this project.
//! Set `RESOLAB_SHARED` to a folder with `reference/traces/*.gz` to run it; gzip must be there.

use resolab_link::elements::trace::Trace;
use resolab_link::elements::trace_rate::TraceRate;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn published() -> Vec<PathBuf> {
    let Some(shared) = std::env::var_os("RESOLAB_SHARED") else {
        return Vec::new();
    };
    let folder = Path::new(&shared).join("reference/traces");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "gz"));
    files.sort();
    files
}

/// A saturating source of full packets gets exactly one per opportunity, over two periods.
#[test]
fn published_traces_give_one_full_packet_per_opportunity() {
    let files = published();
    if files.is_empty() {
        eprintln!("SKIPPED: no published traces; set RESOLAB_SHARED to a folder that has them");
    }
    for file in files {
        let unpacked = Command::new("gzip").arg("-dc").arg(&file).output().unwrap();
        assert!(unpacked.status.success(), "{}", file.display());
        let trace = Arc::new(Trace::parse(&String::from_utf8(unpacked.stdout).unwrap()).unwrap());
        let mut link = TraceRate::new(Arc::clone(&trace), 0);
        let times_ms = trace.opportunities_ms();
        let again_ms = times_ms.iter().map(|at_ms| trace.period_ms() + at_ms);
        let usable = times_ms
            .iter()
            .copied()
            .chain(again_ms)
            .filter(|at_ms| *at_ms > 0);
        let mut count = 0;
        for at_ms in usable {
            assert_eq!(
                link.serve(0, 1_500).finish_ns,
                at_ms * 1_000_000,
                "{}",
                file.display()
            );
            count += 1;
        }
        eprintln!(
            "{}: {count} opportunities, {:.0} bit/s",
            file.display(),
            trace.mean_rate_bps()
        );
    }
}
