"""A set-up that is finished asks nothing of the caller's machine, and one that was killed is finished by the next.

The real `scripts/setup` runs in a folder of its own. Compilers, Python, uv and the package manager are stand-ins that note
each call and leave the files that the real ones leave.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STAND_INS = ("python3", "cargo", "rustc", "cc", "git", "dpkg", "dpkg-query", "apt-get")
STAND_IN = r"""#!/bin/sh
number=$(flock "$CALLS.lock" sh -c 'echo "$1" >> "$CALLS"; wc -l < "$CALLS"' sh "${0##*/} $*") # two programs may run at once
[ "$number" != "${KILL_AT:-}" ] || kill -KILL 0
case "${0##*/} $*" in "${FAILING:-nothing}"*) exit 1 ;; esac
install_at() { mkdir -p "$(dirname "$1")" && cp "$STAND_IN" "$1" && chmod 755 "$1"; }
case "${0##*/} $*" in
    dpkg-query*"${MISSING:-nothing}"*) printf 'not-installed' ;;
    dpkg-query*) printf 'install ok installed' ;;
    'apt-get -q update')
        [ "$(grep -c '^apt-get -q update' "$CALLS")" -gt "${LOCKED_TIMES:-0}" ] && exit 0
        echo 'E: Unable to lock directory /var/lib/apt/lists/' >&2; exit 100 ;;
    'rustc --version') echo 'rustc 1.95.0 (stand-in)' ;;
    'python3 -V') echo 'Python 3.11.7' ;;
    'python3 -m venv --clear '*) rm -rf "$4"; install_at "$4/bin/python" ;;
    'python -m pip install '*) install_at .setup/uv/bin/uv ;;
    'uv venv --clear '*) rm -rf .venv; install_at .venv/bin/python3.11; ln -s python3.11 .venv/bin/python; mkdir -p .venv/lib/python3.11 ;;
    'uv pip sync '*) : > .venv/packages ;;
    'python -c import sysconfig'*) echo .venv/lib/python3.11 ;;
    'cargo build --profile '*) for _ in $(seq "${BUILD_S:-0}"); do sleep 1; done
        case "$*" in *'-p resolab-cli'*) install_at "target/$3/resolab-core" ;; esac
        case "$*" in *'-p resolab-load-cli'*) install_at "target/$3/resolab-load" ;; esac ;;
esac
"""
CALLS_AT_MOST = 60
INTERRUPTED = 130


@dataclass(frozen=True)
class Checkout:
    """A folder with the real `scripts/setup`, stand-ins for all that it calls, and a note of each call."""

    folder: Path

    @property
    def _calls_file(self) -> Path:
        return self.folder / "calls"

    @contextmanager
    def running(
        self, *options: str, kill_at: int | None = None, **environment: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start the set-up, which is killed at that call, and end what is left of it."""
        self._calls_file.write_text("")
        told = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "CALLS": str(self._calls_file),
            "STAND_IN": str(self.folder / "stand-in"),
        }
        if kill_at is not None:
            told["KILL_AT"] = str(kill_at)
        with subprocess.Popen(
            [self.folder / "scripts" / "setup", *options], cwd=self.folder, env=told | environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        ) as process:  # fmt: skip
            yield process
            process.kill()

    def run(self, *options: str, kill_at: int | None = None, **environment: str) -> int:
        """Run the set-up once, kill it at that call, and return its exit code."""
        with self.running(*options, kill_at=kill_at, **environment) as process:
            return process.wait(timeout=60)

    @property
    def calls(self) -> list[str]:
        """All programs that the last run called, but for the question which Debian packages there are."""
        return [line for line in self._calls_file.read_text().splitlines() if not line.startswith("dpkg-query ")]

    @property
    def calls_count(self) -> int:
        """Number of all calls of the last run."""
        return len(self._calls_file.read_text().splitlines())

    @property
    def is_whole(self) -> bool:
        """Whether packages and program are there."""
        return all((self.folder / part).exists() for part in (".venv/packages", "target/release/resolab-core"))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    for part in ("scripts/setup", "Cargo.toml", "requirements.lock", "requirements-uv.lock"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, tmp_path / part)
    (tmp_path / "Cargo.lock").write_text("")
    (tmp_path / "crates").mkdir()
    stand_in = tmp_path / "stand-in"
    stand_in.write_text(STAND_IN)
    (tmp_path / "bin").mkdir()
    for name in STAND_INS:
        shutil.copy(stand_in, tmp_path / "bin" / name)
        (tmp_path / "bin" / name).chmod(0o755)
    return Checkout(tmp_path)


def test_a_first_set_up_installs_packages_and_builds(checkout: Checkout) -> None:
    assert checkout.run() == 0
    assert checkout.is_whole


def test_a_finished_set_up_calls_no_compiler_no_python_and_no_package_manager(checkout: Checkout) -> None:
    checkout.run()
    assert checkout.run() == 0
    assert checkout.calls == []


def test_the_measured_build_is_made_beside_the_release_build(checkout: Checkout) -> None:
    checkout.run()
    assert checkout.run("--measured") == 0
    assert (checkout.folder / "target/measured/resolab-core").exists()
    assert checkout.run() == 0
    assert checkout.calls == []
    assert checkout.run("--measured") == 0
    assert checkout.calls == []


def test_the_load_generator_is_built_on_request_alone(checkout: Checkout) -> None:
    load = checkout.folder / "target/release/resolab-load"
    checkout.run()
    assert not load.exists()
    assert checkout.run("--load") == 0
    assert load.exists()
    assert [call for call in checkout.calls if "resolab-cli" in call] == []
    assert checkout.run("--load") == 0
    assert checkout.calls == []


def test_only_the_measured_build_has_the_optional_features(checkout: Checkout) -> None:
    checkout.run()
    assert not any("--all-features" in call for call in checkout.calls)
    checkout.run("--measured", "--load")
    (build,) = (call for call in checkout.calls if call.startswith("cargo build"))
    assert build.endswith("--all-features -p resolab-cli -p resolab-load-cli")


@pytest.mark.parametrize("environment", [{"HOME": "/nonexistent"}, {"HOME": "/proc"}, {"RUSTUP_HOME": "/nonexistent"}])
def test_another_environment_finds_it_finished(checkout: Checkout, environment: dict[str, str]) -> None:
    checkout.run()
    # Such a PATH have cron and systemd units: neither the compiler nor the Python that set it up.
    assert checkout.run(PATH="/usr/bin:/bin", **environment) == 0
    assert checkout.is_whole


def test_packages_are_installed_beside_the_build(checkout: Checkout) -> None:
    assert checkout.run(BUILD_S="3") == 0
    packages, program = (checkout.folder / part for part in (".venv/packages", "target/release/resolab-core"))
    assert packages.stat().st_mtime < program.stat().st_mtime - 1


def test_a_source_changed_during_the_build_is_built_by_the_next(checkout: Checkout) -> None:
    with checkout.running(BUILD_S="3") as process:
        time.sleep(1.5)
        (checkout.folder / "crates" / "changed.rs").write_text("")
        assert process.wait(timeout=60) == 0
    assert checkout.run() == 0
    assert any(one.startswith("cargo build") for one in checkout.calls)


@pytest.mark.parametrize("failing", ["cargo build", "uv pip sync"])
def test_one_that_fails_fails_the_set_up_and_the_next_makes_up_for_it(checkout: Checkout, failing: str) -> None:
    began = time.monotonic()
    assert checkout.run(FAILING=failing, BUILD_S="30") == 4
    assert time.monotonic() - began < 20  # Without packages, nobody waits for the build.
    assert not checkout.is_whole
    assert checkout.run() == 0
    assert checkout.is_whole


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_set_up_ends_its_build(checkout: Checkout, sent: signal.Signals) -> None:
    with checkout.running(BUILD_S="100") as process:
        while not any(call.startswith("cargo build") for call in checkout.calls):
            time.sleep(0.05)
        os.kill(process.pid, sent)  # Of a terminal, the build gets its own.
        assert process.wait(timeout=20) == INTERRUPTED
    assert not checkout.is_whole
    assert checkout.run() == 0
    assert checkout.is_whole


def test_another_python_on_the_path_leaves_the_packages(checkout: Checkout) -> None:
    checkout.run()
    python = checkout.folder / "bin" / "python3"
    python.write_text(python.read_text().replace("Python 3.11.7", "Python 3.13.1"))
    assert checkout.run() == 0
    assert checkout.calls == []


def test_a_python_that_is_gone_has_the_packages_installed_anew(checkout: Checkout) -> None:
    checkout.run()
    (checkout.folder / ".venv" / "bin" / "python3.11").unlink()
    assert checkout.run() == 0
    assert any(call.startswith("uv pip sync") for call in checkout.calls)


def test_a_set_up_killed_at_any_call_is_finished_by_the_next(checkout: Checkout) -> None:
    killed = 0
    for kill_at in range(1, CALLS_AT_MOST):
        for part in (".setup", ".venv", "target"):
            shutil.rmtree(checkout.folder / part, ignore_errors=True)
        code = checkout.run(kill_at=kill_at)
        if code == 0:
            break  # It made fewer calls than that.
        assert code == -signal.SIGKILL
        killed += 1
        assert checkout.run() == 0, kill_at
        assert checkout.is_whole, kill_at
        assert checkout.run() == 0, kill_at
        assert checkout.calls == [], kill_at
    assert killed >= 10


def test_packages_made_anew_and_killed_are_made_by_the_next(checkout: Checkout) -> None:
    checkout.run()
    lock = checkout.folder / "requirements.lock"
    lock.write_text(lock.read_text() + "# another\n")
    assert checkout.run(kill_at=count_until(checkout, "uv pip sync")) == -signal.SIGKILL
    lock.write_text(lock.read_text().removesuffix("# another\n"))
    assert checkout.run() == 0
    assert checkout.is_whole


def count_until(checkout: Checkout, call: str) -> int:
    """Number of the call that begins so, in a set-up with other packages; the set-up is left as it was."""
    kept = checkout.folder.parent / "kept"
    shutil.copytree(checkout.folder, kept, symlinks=True)
    checkout.run()
    lines = (checkout.folder / "calls").read_text().splitlines()
    for part in (".setup", ".venv"):
        shutil.rmtree(checkout.folder / part)
        shutil.copytree(kept / part, checkout.folder / part, symlinks=True)
    return next(number for number, line in enumerate(lines, 1) if line.startswith(call))


@pytest.mark.skipif(os.geteuid() != 0, reason="others need sudo for packages")
def test_package_lists_locked_by_another_are_waited_for(checkout: Checkout) -> None:
    assert checkout.run(MISSING="libnss3-tools", LOCKED_TIMES="1") == 0
    assert [one for one in checkout.calls if one.startswith("apt-get")] == [
        "apt-get -q update",
        "apt-get -q update",
        "apt-get -qy -o DPkg::Lock::Timeout=120 install --no-install-recommends libnss3-tools",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="others need sudo for packages")
def test_package_lists_locked_for_good_end_the_set_up(checkout: Checkout) -> None:
    assert checkout.run(MISSING="libnss3-tools", LOCKED_TIMES="9", RESOLAB_SETUP_LOCK_TRIES="2") == 4
    assert checkout.calls.count("apt-get -q update") == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="others need sudo for packages")
def test_package_lists_that_fail_otherwise_end_the_set_up_at_once(checkout: Checkout) -> None:
    assert checkout.run(MISSING="libnss3-tools", FAILING="apt-get -q update") == 4
    assert checkout.calls.count("apt-get -q update") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes the file of services")
def test_the_next_set_up_lets_services_start_again_after_one_that_was_killed(checkout: Checkout) -> None:
    policy = checkout.folder / "system/usr/sbin/policy-rc.d"
    policy.parent.mkdir(parents=True)
    policy.write_text("#!/bin/sh\n# written by resolab setup\nexit 101\n")
    subprocess.run(
        [checkout.folder / "scripts" / "setup", "--interop"], cwd=checkout.folder, capture_output=True, timeout=60, check=False,
        env={"PATH": f"{checkout.folder}/bin:/usr/bin:/bin", "CALLS": str(checkout.folder / "calls"),
             "STAND_IN": str(checkout.folder / "stand-in"), "RESOLAB_SETUP_SYSTEM_ROOT": str(checkout.folder / "system")},
    )  # fmt: skip
    assert not policy.exists()
