"""What an agent's operator allows, and what a plan beyond it is told."""

from datetime import datetime
from pathlib import Path

import pytest

from resolab.errors import ConfigurationError
from resolab.fleet.limits import Limits, read_limits, refusal
from resolab.manners import HARD_CAPS
from resolab.plan import Plan, parse_plan

NOON = datetime(2026, 11, 25, 12, 0)
LIVE = """
name = "seen"
question = "Is it reached?"
seed = 1
blocks = 2
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://operator.test/why"
[sites]
urls = ["https://www.example.net/"]
[resolvers.near]
doudp = "192.0.2.1"
[factors]
dns_transport = ["doudp"]
resolver = ["near"]
browser = ["firefox"]
[baseline]
dns_transport = "doudp"
"""


def live_plan(more: str = "") -> Plan:
    return parse_plan(LIVE.replace("[resolvers.near]", f"{more}\n[resolvers.near]"), "plan", None)


def limits(tmp_path: Path, text: str) -> Limits:
    file = tmp_path / "limits.toml"
    file.write_text(text)
    return read_limits(file)


def test_without_a_file_nothing_leaves_the_machine():
    found = refusal(read_limits(None), live_plan(), NOON)
    assert found is not None
    assert found.why == "this agent's limits allow lab plans, and seen is live"
    assert found.again_in_s is None


def test_what_is_allowed_is_not_refused(tmp_path):
    allowed = limits(
        tmp_path, 'kinds = ["live"]\nsites = ["example.net"]\noperator_url = "https://operator.test/why"\n'
    )
    assert refusal(allowed, live_plan(), NOON) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('sites = ["example.org"]', "loads www.example.net, which this agent's limits do not allow"),
        ('sites = ["ww.example.net"]', "loads www.example.net, which"),
        ('operator_url = "https://me.example"', "names https://operator.test/why as its operator"),
        ("trials_per_block = 0", None),
        ("[caps]\nloads_per_hour = 7", "may reach loads_per_hour = 1200, this agent's limits allow 7"),
    ],
)
def test_what_goes_beyond_is_told_in_a_line(tmp_path, text, says):
    if says is None:
        with pytest.raises(ConfigurationError, match="trials_per_block"):
            limits(tmp_path, text)
        return
    found = refusal(limits(tmp_path, f'kinds = ["live"]\n{text}\n'), live_plan(), NOON)
    assert found is not None
    assert says in found.why
    assert "\n" not in found.why


def test_a_plan_that_lowers_its_cap_fits_again(tmp_path):
    allowed = limits(tmp_path, 'kinds = ["live"]\n[caps]\nloads_per_hour = 7\n')
    assert refusal(allowed, live_plan("[network.caps]\nloads_per_hour = 7"), NOON) is None


def test_a_block_has_to_fit(tmp_path):
    plan = live_plan()
    assert refusal(limits(tmp_path, 'kinds = ["live"]\ntrials_per_block = 1\n'), plan, NOON) is None
    two = parse_plan(LIVE.replace('["firefox"]', '["firefox", "chromium"]'), "plan", None)
    found = refusal(limits(tmp_path, 'kinds = ["live"]\ntrials_per_block = 1\n'), two, NOON)
    assert found is not None
    assert "has 2 trials" in found.why


@pytest.mark.parametrize(
    ("hours", "at", "wait_s"),
    [
        ("11:00-13:00", NOON, None),
        ("12:00-12:01", NOON, None),
        ("11:00-12:00", NOON, 23 * 3600.0),
        ("22:00-06:00", NOON, 10 * 3600.0),
        ("22:00-06:00", NOON.replace(hour=23), None),
        ("22:00-06:00", NOON.replace(hour=5), None),
        ("22:00-06:00", NOON.replace(hour=6), 16 * 3600.0),
    ],
)
def test_hours_may_go_over_midnight(tmp_path, hours, at, wait_s):
    found = refusal(limits(tmp_path, f'kinds = ["live"]\nhours = ["{hours}"]\n'), live_plan(), at)
    assert (found and found.again_in_s) == wait_s


@pytest.mark.parametrize(
    "text",
    [
        "hours = '9-17'",
        "hours = ['9-17']",
        "kinds = ['world']",
        "kinds = []",
        "speed = 3",
        "caps = 3",
        "operator_url = 1",
    ],
)
def test_a_wrong_file_is_said(tmp_path, text):
    with pytest.raises(ConfigurationError):
        limits(tmp_path, text)


def test_nobody_allows_more_than_the_manners(tmp_path):
    with pytest.raises(ConfigurationError, match="above"):
        limits(tmp_path, f"[caps]\nloads_per_hour = {HARD_CAPS.loads_per_hour + 1}")
