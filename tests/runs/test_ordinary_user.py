"""A whole plan as an ordinary user, without sudo: user namespaces are all it needs, on either back end."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from lab import ROOT, write_plan

from resolab.lab.engine import find_core

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")


def packages():
    """Folders this interpreter takes packages from, for another one of the same version."""
    return [str(ROOT / "python"), *(path for path in sys.path if path.endswith("site-packages"))]


def skip(why):
    pytest.skip(f"NO PLAN WAS RUN AS AN ORDINARY USER: {why}")


@pytest.fixture(scope="module")
def user(privileged):
    """How to run Python as somebody who is not root: words before its arguments, and the environment."""
    prefix = () if os.geteuid() else AS_NOBODY
    with tempfile.TemporaryDirectory(prefix="u-", dir="/tmp") as home:
        Path(home).chmod(0o777)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "PYTHONPATH": ":".join(packages())}
        environment |= {"RESOLAB_CORE": str(find_core()), "PYTHONDONTWRITEBYTECODE": "1"}
        python = f"python{sys.version_info.major}.{sys.version_info.minor}"
        # One below root's home is out of reach, and so is its library.
        for interpreter in (f"/usr/bin/{python}", sys.executable):
            asked = [*prefix, interpreter, "-c", "import resolab.cli.main, duckdb, msgspec"]
            if not shutil.which(interpreter):
                continue
            if not subprocess.run(asked, env=environment, capture_output=True, check=False).returncode:
                break
        else:
            skip(f"it can start neither {sys.executable} nor a {python} of the system with our packages")
        yield [*prefix, interpreter], environment


def make_sure_of_a_path(prefix, environment, backend):
    path = [*prefix, find_core(), "path", "--backend", backend, "--profile", ROOT / "profiles" / "ideal.toml"]
    tried = subprocess.run(
        path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
    )
    if tried.returncode == 4:
        skip(tried.stderr.strip())
    assert tried.returncode == 0, tried.stderr


STUDY = """
name = "announced-user"
question = "May an ordinary user set the congestion control of the hosts?"
kind = "study"
seed = 5
blocks = 1
[study]
name = "announced"
[factors]
profile = ["fiber"]
dns_transport = ["doh"]
study_arm = ["document", "early_hints"]
study_case = ["shared_0_0"]
[baseline]
study_arm = "document"
[instrument]
backend = "packet"
"""


def test_a_study_sets_the_congestion_control_as_an_ordinary_user(user):
    python, environment = user
    make_sure_of_a_path(python[:-1], environment, "packet")
    plan = Path(environment["HOME"], "study.toml")
    plan.write_text(STUDY)
    ended = subprocess.run(
        [*python, "-m", "resolab", "run", plan, "--out", Path(environment["HOME"], "study")],
        env=environment, capture_output=True, text=True, timeout=120, cwd=environment["HOME"], check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("backend", ["packet", "tun"])
def test_a_quick_plan_runs_as_an_ordinary_user_on_the_back_end_it_names(user, backend):
    python, environment = user
    folder = Path(environment["HOME"], backend)
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    make_sure_of_a_path(python[:-1], environment, backend)
    plan = write_plan(folder, more=f'[instrument]\nbackend = "{backend}"\n')
    ended = subprocess.run(
        [*python, "-m", "resolab", "run", plan, "--out", folder / "out"],
        env=environment, capture_output=True, text=True, timeout=120, cwd=folder, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert (folder / "out" / "report" / "index.html").is_file()
    if not os.geteuid():
        assert (folder / "out" / "manifest.json").stat().st_uid == NOBODY
    assert json.loads((folder / "out" / "manifest.json").read_text())["backend"] == backend
    (trial,) = (folder / "out" / "trials").iterdir()
    records = [json.loads(line) for line in trial.read_text().splitlines()]
    assert {one["backend"] for one in records if one["record"] == "path_summary"} == {backend}
    (load,) = (one for one in records if one["record"] == "page_load" and one["measured"])
    assert load["failure"] is None, load
    assert set(records[-1]["flags"]) <= {"lateness_exceeded"}
