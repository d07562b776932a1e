"""Margins that planned blocks decide: by a quiet machine's spread and by a pilot, with a warning for smaller ones."""

import json
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.campaign.decidable_margins import describe_margins, list_decidable_margins
from resolab.cli.main import main
from resolab.plan import Plan, parse_plan
from resolab.store import build_tables, open_dataset

ARMS = (
    'treatment = { dns_transport = ["doq"] }\nbaseline = { dns_transport = "doudp", requested_handshake_mode = "full" }'
)
EXPECT = f"""
[[expect]]
name = "close"
kind = "not_slower_than"
margin_ms = 1
outcome = "response_start"
{ARMS}
[[expect]]
name = "no tail"
kind = "slow_share_at_most"
percent = 50
slow_ms = 900
{ARMS}
[[expect]]
name = "in percent"
kind = "equivalent_within"
margin_percent = 40
{ARMS}
"""


def plan_of(blocks: int, more: str = EXPECT) -> Plan:
    return parse_plan(PLAN_TEXT.replace("blocks = 6", f"blocks = {blocks}") + more, "p.toml", None)


def test_a_quiet_machines_spread_gives_margins_in_ms_only() -> None:
    close, tail = list_decidable_margins(plan_of(40))
    assert (close.expectation.name, close.spread_ms, close.is_enough) == ("close", 7.0, False)
    assert close.smallest is not None
    # Twice the blocks decide smaller margins, a sequence of looks larger ones.
    smaller = list_decidable_margins(plan_of(80))[0].smallest
    sequential = list_decidable_margins(plan_of(40, EXPECT + '[stop]\nrule = "expectations"\n'))[0].smallest
    assert smaller is not None
    assert sequential is not None
    assert smaller < close.smallest < sequential
    assert tail.is_enough
    first, second = describe_margins(plan_of(40), [close, tail])
    assert first.startswith("  warning: close: 40 blocks decide ")
    assert second.endswith("% and more without a slow trial")


def test_blocks_without_an_interval_decide_nothing() -> None:
    close, _ = list_decidable_margins(plan_of(4))
    assert (close.smallest, close.is_enough) == (None, False)
    assert describe_margins(plan_of(4), [close]) == ["  warning: close: 4 blocks decide nothing"]


def test_a_pilot_gives_margins_in_percent_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_dataset(tmp_path / "pilot", make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 12")))
    build_tables(folder)
    with open_dataset(folder) as pilot:
        found = {one.expectation.name: one for one in list_decidable_margins(plan_of(40), pilot)}
    assert set(found) == {"close", "no tail", "in percent"}
    assert found["in percent"].comparison is not None
    assert found["in percent"].is_enough
    file = tmp_path / "p.toml"
    file.write_text(PLAN_TEXT + EXPECT)
    assert main(["plan", "check", str(file), "--from", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["margins"]
    assert [one["by"] for one in told] == ["pilot", "reference", "pilot"]
    assert told[2]["smallest_percent"] > 0


def test_a_pilot_without_the_arms_leaves_the_quiet_machines_warning(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "pilot", make_plan(PLAN_TEXT))
    build_tables(folder)
    other = make_plan(PLAN_TEXT.replace('["fiber", "4g"]', '["cable"]') + EXPECT)
    with open_dataset(folder) as pilot:
        assert list_decidable_margins(other, pilot) == list_decidable_margins(other)
