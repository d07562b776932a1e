"""The machine's state, read from made-up /proc and /sys and from the real ones."""

import os
from pathlib import Path

import pytest

from resolab.store import cpu_ticks, describe_environment
from resolab.store.environment import shares


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "loadavg").write_text("0.25 1.50 2.75 4/321 999\n")
    (tmp_path / "stat").write_text("cpu  100 0 50 800 20 0 10 20 5 0\ncpu0 100 0 50 800 20 0 10 20 5 0\nintr 5\n")
    (tmp_path / "meminfo").write_text("MemTotal: 2000 kB\nMemFree: 10 kB\nMemAvailable:    1000 kB\n")
    (tmp_path / "cpuinfo").write_text("processor : 0\ncpu MHz\t\t: 1000.0\n\nprocessor : 1\ncpu MHz\t\t: 3000.0\n")
    for number, governor in enumerate(("powersave", "performance", "powersave")):
        folder = tmp_path / f"devices/system/cpu/cpu{number}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{governor}\n")
    commands = (
        ("resolab-core", "/bin/resolab-core\0path\0--seed\0001\0"),
        ("resolab-client", "/bin/resolab-core\0path\0"),  # a host of that path
        ("resolab-core", "/bin/resolab-core\0edge\0"),
        ("path", "path\0path\0"),
    )
    for number, (name, command) in enumerate(commands):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "comm").write_text(f"{name}\n")
        (tmp_path / str(number) / "cmdline").write_text(command)
    return tmp_path


def test_a_machine_is_described(machine: Path) -> None:
    before = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    one = describe_environment(versions={"chromium": "1"}, ticks_before=before, proc=machine, sys=machine)
    assert (one.load_average_1min, one.load_average_5min, one.load_average_15min) == (0.25, 1.5, 2.75)
    assert one.runnable_tasks_count == 3
    assert one.memory_available_bytes == 1_024_000
    assert one.cpu_governors == ["powersave", "performance"]
    assert one.cpu_frequency_mhz == 2000
    # Guests' 5 ticks are within the user's 100.
    assert one.steal_ratio == pytest.approx(20 / 1000)
    assert one.busy_ratio == pytest.approx(1 - 820 / 1000)
    assert one.versions == {"chromium": "1"}
    assert one.other_paths_count == 1


def test_shares_are_of_the_time_between_two_readings() -> None:
    assert shares((10, 0, 0, 10, 0, 0, 0, 0, 0, 0), (20, 0, 0, 30, 0, 0, 0, 10, 0, 0)) == (0.25, 0.5)
    assert shares(None, (1,) * 10) == shares((1,) * 10, (1,) * 10) == (None, None)


def test_where_the_kernel_tells_nothing_nothing_is_made_up(tmp_path: Path) -> None:
    one = describe_environment(versions={}, ticks_before=(1,) * 10, proc=tmp_path, sys=tmp_path)
    assert (one.load_average_1min, one.runnable_tasks_count, one.memory_available_bytes) == (None, None, None)
    assert (one.cpu_governors, one.cpu_frequency_mhz, one.steal_ratio) == ([], None, None)
    assert one.other_paths_count is None


def test_the_real_machine_has_a_load_and_a_kernel() -> None:
    one = describe_environment(versions={}, ticks_before=cpu_ticks())
    assert one.kernel == os.uname().release
    assert one.load_average_1min is not None
    assert one.memory_available_bytes
    assert one.runnable_tasks_count is not None
