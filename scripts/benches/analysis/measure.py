"""All results of a report about queries, from the tables to saved figures, with seconds and memory.

For: a process for this analysis only. Not for: making the dataset.
"""

import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolab.plan import access_rtt_ms, parse_plan
from resolab.report.findings.exchanges import exchange_results
from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.findings.oracle import Oracle
from resolab.report.parts.captions import exchange_caption
from resolab.report.parts.figures import exchange_series
from resolab.report.parts.tables import exchange_table, failure_table, handshake_table
from resolab.report.plots import draw_exchanges, save_drawings
from resolab.store import Dataset, open_dataset
from resolab.store.outcomes import PLT
from resolab.studies.h20.amortisation import amortisation_drawings, amortisation_table, amortisations
from resolab.studies.h20.responses import fastest_table, follow_up_table, response_drawings
from resolab.studies.h20.study import H20Study
from resolab.studies.s24.exchanges import exchange_drawings, read_timings
from resolab.studies.s24.paper_comparison import paper_exchange_table
from resolab.studies.s24.scope import choose_scope


def analyse(folder: Path) -> dict[str, object]:
    """Make every query table and figure; return the time, processor time and memory used."""
    parts_s: dict[str, float] = {}
    counts: dict[str, int] = {}
    begun = time.monotonic()
    with open_dataset(folder) as dataset, tempfile.TemporaryDirectory() as figures:
        _report(dataset, Path(figures), parts_s, counts)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": time.monotonic() - begun,
        "processor_s": sum(one.ru_utime + one.ru_stime for one in used),
        "resident_max_mb": _resident_max_mb(used[1].ru_maxrss * 1024 / 1e6),
        "parts_s": parts_s,
        **counts,
    }


def _report(dataset: Dataset, figures: Path, parts_s: dict[str, float], counts: dict[str, int]) -> None:
    @contextmanager
    def part(name: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        parts_s[name] = time.monotonic() - begun

    manifest = dataset.manifest
    plan = parse_plan(manifest.plan_text, "plan.toml", corpus=None)
    rtt_ms = {link.name: access_rtt_ms(link) for link in manifest.profiles}
    with part("exchanges"):
        exchanges = exchange_results(plan, dataset, rtt_ms)
    with part("failures"):
        failures = dataset.failures()
    with part("handshakes"):
        handshakes = dataset.handshakes()
    findings = Findings(
        manifest=manifest, plan=plan, loads=(), plt=OutcomeFindings(PLT, ()), exchanges=exchanges, failures=failures,
        flags=[], handshakes=handshakes, lateness=[], browsers=[], trials_count=manifest.trials_finished_count,
        oracle=Oracle(plan, rtt_ms),
    )  # fmt: skip
    with part("tables"):
        tables = [make(findings) for make in (exchange_table, paper_exchange_table, failure_table, handshake_table)]
        if not all(table.rows for table in tables):
            raise RuntimeError("a table is empty")
    with part("H20 queries"):
        study = H20Study(dataset, findings)
        paid = amortisations(study)
        tables = [amortisation_table(study, paid), fastest_table(study), follow_up_table(study)]
        drawings = [*response_drawings(study), *amortisation_drawings(study, paid)]
    with part("S24 queries"):
        scope = choose_scope(plan)
        drawings += exchange_drawings(read_timings(dataset, findings, scope), findings, scope)
    with part("figures"):
        drawings.append(draw_exchanges(exchange_series(findings), exchange_caption(findings)))
        save_drawings(drawings, figures)
    counts["figures"], counts["tables"] = len(drawings), len(tables) + 4


def _resident_max_mb(child_mb: float) -> float:
    """Return the peak of memory in RAM, by the kernel's account: alone, or with the figures' workers.

    A worker begins with the pages of this process; these pages count once.
    """
    now_mb, most_mb = _status_mb("VmRSS"), _status_mb("VmHWM")
    workers_count = len(os.sched_getaffinity(0))
    return max(most_mb, now_mb + workers_count * max(0.0, child_mb - now_mb))


def _status_mb(key: str) -> float:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(key))
