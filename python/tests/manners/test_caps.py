"""Caps are lowered and never raised."""

from dataclasses import asdict, fields, replace

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.plan.manners import HARD_CAPS, QUERIES_PER_LOAD, Caps


def test_a_plan_lowers_a_cap() -> None:
    lowered = HARD_CAPS.lower({"loads_per_site_per_hour": 7})
    assert lowered == replace(HARD_CAPS, loads_per_site_per_hour=7)


@pytest.mark.parametrize("name", [one.name for one in fields(Caps)])
def test_no_cap_is_raised(name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot raise them"):
        HARD_CAPS.lower({name: getattr(HARD_CAPS, name) + 1})


def test_what_was_lowered_is_not_raised_again() -> None:
    lowered = HARD_CAPS.lower({"loads_per_hour": 10})
    with pytest.raises(ConfigurationError, match="above 10"):
        lowered.lower({"loads_per_hour": 11})


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ({"loads_per_week": 1}, "is no cap"),
        ({"loads_per_hour": 0}, "whole number from 1"),
        ({"loads_per_hour": True}, "whole number"),
        ({"loads_per_hour": 1.5}, "whole number"),
        ({"queries_per_resolver_per_hour": QUERIES_PER_LOAD - 1}, f"from {QUERIES_PER_LOAD}"),
    ],
)
def test_what_is_no_cap_is_refused_in_one_line(by: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as refused:
        HARD_CAPS.lower(by)
    assert "\n" not in str(refused.value)


def test_the_pause_between_queries_keeps_to_the_cap() -> None:
    for a_second in range(1, HARD_CAPS.queries_per_resolver_per_second + 1):
        pause_ms = replace(HARD_CAPS, queries_per_resolver_per_second=a_second).query_interval_ms
        assert 1000 / pause_ms <= a_second


def test_every_cap_is_a_positive_number() -> None:
    assert all(number > 0 for number in asdict(HARD_CAPS).values())
