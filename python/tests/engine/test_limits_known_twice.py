"""Limits that stand in resolab-core and, because Python needs them too, in Python: both have the same value.

For: what neither side tells the other. Not for: what travels in a record or a command.
"""

import ipaddress
import re
import typing
from pathlib import Path

import pytest

from resolab.campaign.page_time import QUERY_TIMEOUT_S as LOST_QUERY_TIMEOUT_S
from resolab.cli.query.arguments import DEFAULT_TIMEOUT_MS
from resolab.lab.calibration import spread
from resolab.lab.calibration.probe_design import PACKETS_LIMIT
from resolab.lab.engine.probes import CONNECT_S
from resolab.lab.engine.programs import QUERY_TIMEOUT_S
from resolab.pages.clone import content
from resolab.plan.pages.page_file import ADDRESSES_LIMIT
from resolab.plan.pages.serving import LONGEST_EXTRA_RTT_MS
from resolab.plan.settings import EdgeSettings

CRATES = Path(__file__).parents[3] / "crates"


def rust(file: str, pattern: str) -> list[float]:
    """Numbers of the one place in a Rust file that the pattern finds, one a group."""
    found = re.findall(pattern, (CRATES / file).read_text())
    assert len(found) == 1, f"{file}: {pattern} is found {len(found)} times"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [_number(text) for text in groups]


def _number(text: str) -> float:
    factor, _, shift = text.replace("_", "").partition(" << ")
    return float(factor) * (1 << int(shift or 0))


def const(file: str, name: str) -> float:
    """A constant's value; times in seconds."""
    value = rf"const {name}: [\w<>:]+ = (?:Duration::from_(?:secs|mins)\()?([\d_.]+(?: << \d+)?)\)?;"
    unit = 60.0 if f"{name}: Duration = Duration::from_mins" in (CRATES / file).read_text() else 1.0
    return rust(file, value)[0] * unit


def test_the_longest_server_time_of_a_clone_is_the_edges() -> None:
    assert const("edge/src/web/server_time.rs", "LONGEST") * 1e3 == content._SERVER_TIME_MAX_MS


def test_initial_windows_of_plans_are_those_the_edge_takes() -> None:
    window = rust(
        "edge/src/config/limits.rs", r"INITIAL_WINDOWS_BYTES: RangeInclusive<u32> = ([\d_]+)\.\.=([\d_]+ << \d+);"
    )
    hint = typing.get_type_hints(EdgeSettings, include_extras=True)["quic_initial_window_bytes"]
    within = hint.__metadata__[0]
    assert window == [within.low, within.high]
    assert const("transport/src/server/quic.rs", "INITIAL_WINDOW_BYTES") == EdgeSettings().quic_initial_window_bytes


def test_addresses_of_pages_are_those_a_path_delivers() -> None:
    hosts = (CRATES / "link/src/hosts.rs").read_text()
    first = re.search(r"SERVER_NETWORK: Ipv4Addr = Ipv4Addr::new\(([\d, ]+)\)", hosts)
    length = rust("link/src/hosts.rs", r"SERVER_NETWORK_PREFIX_LENGTH: u8 = (\d+)")[0]
    assert first is not None
    texts = [(first[1], str(int(length))), *re.findall(r"\(Ipv4Addr::new\(([\d, ]+)\), (\d+)\)", hosts)]
    networks = [ipaddress.ip_network(f"{octets.replace(', ', '.')}/{bits}") for octets, bits in texts]
    ends = [int(address) & 255 for network in networks for address in network]
    usable = sum(1 for end in ends if end not in (0, 255))
    assert usable - 1 == ADDRESSES_LIMIT


def test_far_pages_are_within_what_the_link_adds() -> None:
    delay_ms = rust("link/src/profile/check.rs", r"ONE_WAY_DELAY_MS: RangeInclusive<f64> = 0\.0\.\.=([\d_.]+);")[0]
    assert 2 * delay_ms == LONGEST_EXTRA_RTT_MS


@pytest.mark.parametrize("name", ["MIN_INTERVAL_MS", "INTERVAL_DEVIATIONS"])
def test_the_default_interval_of_jitter_is_the_links(name: str) -> None:
    assert const("link/src/elements/jitter.rs", name) == getattr(spread, name)


def test_a_probe_is_waited_for_as_long_as_it_may_connect() -> None:
    assert const("link/src/probe/bulk.rs", "CONNECT_PATIENCE") <= CONNECT_S
    most = rust("cli/src/probe.rs", r"range\(1\.\.=([\d_]+)\)\)\]\n    packets: u32")
    assert most[0] >= PACKETS_LIMIT


def test_lost_queries_are_sent_again_as_plans_foresee() -> None:
    assert const("dns/src/transports/retry.rs", "SYSTEM_TIMEOUT") == LOST_QUERY_TIMEOUT_S


def test_deadlines_of_queries_are_one() -> None:
    default_ms = rust(
        "cli/src/query.rs", r"default_value_t = ([\d_]+), value_name = \"MILLISECONDS\"[^]]*\]\n    timeout_ms"
    )[0]
    assert default_ms == DEFAULT_TIMEOUT_MS == QUERY_TIMEOUT_S * 1e3
