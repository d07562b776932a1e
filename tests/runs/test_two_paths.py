"""Two real paths at a time: the same addresses and ports in both, and neither notices the other but by the processors."""

import io
import json

import pytest
from lab import finished, write_plan
from rich.console import Console

from resolab.campaign import run_campaign
from resolab.plan import load_plan

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, privileged):
    """Two blocks of native DoUDP and DoH and of DoQ over the stub, on two paths; `test_run` has the other conditions."""
    folder = tmp_path_factory.mktemp("two")
    plan = write_plan(
        folder,
        profile=["4g"],
        dns_transport=["doudp", "doh", "doq"],
        mode=["full", "zero_rtt"],
        blocks=2,
        more="[instrument]\npaths = 2\nnetlog = true\n"
        '[[exclude]]\ndns_transport = ["doh"]\nrequested_handshake_mode = ["full"]\n'
        '[[exclude]]\ndns_transport = ["doq"]\nrequested_handshake_mode = ["zero_rtt"]\n',
    )
    said = io.StringIO()
    run_campaign(load_plan(plan), folder / "out", Console(file=said, width=200))
    return folder / "out", said.getvalue()


def trials(out):
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in finished(out)]


def test_every_trial_is_what_was_asked_for(dataset):
    out, said = dataset
    assert said.startswith(f"8 of 8 trials to run into {out}, 2 at a time")
    assert json.loads((out / "manifest.json").read_text())["paths"] == 2
    found = trials(out)
    assert len(found) == 8
    for head, *records, end in found:
        assert (head["record"], end["record"]) == ("trial", "trial_end")
        # Beside another trial links may be late; everything else would be a collision.
        assert set(end["flags"]) <= {"lateness_exceeded"}, (head["condition"], end["flags"])
        load = next(one for one in records if one["record"] == "page_load" and one["measured"])
        assert load["failure"] is None, load
        # On a busy machine the handshake may have ended before the request is sent.
        got = {"full": {"full"}, "zero_rtt": {"zero_rtt", "resumed"}}[head["requested_handshake_mode"]]
        assert load["handshake_mode"] in got, head["condition"]


def test_trials_of_a_block_overlap_and_blocks_do_not(dataset):
    out, _ = dataset
    spans = {
        block: [(head["monotonic_ns"], end["monotonic_ns"]) for head, *_, end in trials(out) if head["block"] == block]
        for block in (0, 1)
    }
    assert max(end for _, end in spans[0]) < min(start for start, _ in spans[1])
    for block in spans.values():
        starts_before_ends = [
            one[0] < other[1] and other[0] < one[1] for number, one in enumerate(block) for other in block[number + 1 :]
        ]
        assert any(starts_before_ends)


def test_each_trial_holds_records_of_its_own_edge_only(dataset):
    out, _ = dataset
    for head, *records, end in trials(out):
        received = [one["received_ns"] for one in records if one["record"] in {"edge_query", "edge_request"}]
        assert received
        assert all(head["monotonic_ns"] < instant < end["monotonic_ns"] for instant in received), head["trial_id"]
        # A warm-up and a measured load of a page of one document, whatever the other path loads meanwhile.
        documents = [one for one in records if one["record"] == "edge_request" and one["path"] == "/"]
        # The first load of a browser's life is not kept, but its request may be recorded late.
        assert len(documents) in {2, 3}, head["trial_id"]


def test_each_browser_keeps_a_log_of_its_own(dataset):
    out, _ = dataset
    logs = [sorted(folder.glob("*.json")) for folder in (out / "netlogs", out / "netlogs" / "path2")]
    assert all(logs)
    for log in (one for of_path in logs for one in of_path):
        assert json.loads(log.read_text())["events"]
