"""Fixtures of the end-to-end tests, and which of them may run beside what (decision 14)."""

import subprocess
from pathlib import Path

import pytest
from edge_under_test import edge_for
from lab import network_namespaces, processes_of_the_lab, wait_until

from resolab.lab.engine import find_core

SIDE_BY_SIDE = {"test_bad_input.py", "test_setup.py"}
"""Files whose tests measure no time and start no browser; what they write is in folders of their own."""
ALONE = {"test_calibrate.py", "test_interop_round_trips.py", "test_resolver_distance.py", "test_run.py"}
"""Files whose tests hold times narrowly: to within a millisecond or a percent, or a look-up below one more round trip."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.name not in SIDE_BY_SIDE:
            # Whoever sees to it that nothing is left on the machine would take a neighbour's for it.
            alone = item.path.name in ALONE or "lab_is_clean" in item.fixturenames
            item.add_marker("alone" if alone else "paired")


@pytest.fixture
def lab_is_clean():
    assert processes_of_the_lab() == []
    before = network_namespaces()
    yield
    wait_until(lambda: processes_of_the_lab() == [], 10)
    wait_until(lambda: network_namespaces() <= before, 10)


@pytest.fixture(scope="session")
def privileged():
    ended = subprocess.run(
        [find_core(), "path", "--profile", "ideal"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    if ended.returncode == 4:
        pytest.skip(f"NO EMULATED PATH ON THIS MACHINE: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def running_edge(tmp_path_factory):
    with edge_for(tmp_path_factory.mktemp("edge")) as running:
        yield running


@pytest.fixture
def edge(running_edge):
    """The module's edge; what earlier tests left unread is not this test's."""
    running_edge.records()
    return running_edge
