"""What was asked before an interruption counts after it, while the machine's clock is the same."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from live_queries import query

from resolab.basics.records import (
    FORMAT_VERSION,
    BrowserKind,
    CacheState,
    DnsTransport,
    HandshakeMode,
    HttpVersion,
    ResolverPath,
    TrialEndRecord,
    TrialRecord,
)
from resolab.store import TrialWriter, create_dataset_folder
from resolab.trials.live.earlier_queries import read_earlier_queries

LATER = query(5_000, 3_600)


def dataset(folder: Path, **changes: Any) -> Path:
    """Write a dataset of one trial that asked for a.test at 900 s of its machine's clock."""
    create_dataset_folder(folder)
    head = TrialRecord(
        format_version=FORMAT_VERSION, trial_id="b000-t000", block=0, position=0, condition="c", page="a_test",
        profile="live", dns_transport=DnsTransport.DOUDP, resolver_path=ResolverPath.STUB,
        http_version=HttpVersion.ANY, requested_handshake_mode=HandshakeMode.FULL, browser=BrowserKind.FIREFOX,
        resolver="quick", monotonic_ns=890_000_000_000,
        wall_time_unix_ns=time.time_ns() - time.monotonic_ns() + 890_000_000_000, load_average_1min=0.5,
    )  # fmt: skip
    with TrialWriter(folder, msgspec.structs.replace(head, **changes)) as writer:
        writer.write(query(900, 3_600))
        writer.finish(TrialEndRecord(trial_id="b000-t000", monotonic_ns=910_000_000_000, flags=[]))
    return folder


def test_what_was_asked_since_the_machine_started_counts(tmp_path: Path) -> None:
    # 4,100 s later, of an answer that may be kept for 3,600.
    assert read_earlier_queries(dataset(tmp_path / "d")).state("quick", LATER) is CacheState.AFTER_TTL


@pytest.mark.parametrize("earlier_s", [60, 172_800])
def test_what_was_asked_before_it_started_anew_has_no_place_on_its_clock(tmp_path: Path, earlier_s: int) -> None:
    before = time.time_ns() - time.monotonic_ns() + 890_000_000_000 - earlier_s * 1_000_000_000
    folder = dataset(tmp_path / "d", wall_time_unix_ns=before)
    assert read_earlier_queries(folder).state("quick", LATER) is CacheState.FIRST_ASKED
