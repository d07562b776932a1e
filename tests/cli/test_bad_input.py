"""What a user gives wrong ends with one line that says what and what to do, the right exit code, and nothing left behind."""

import os
import shutil
import subprocess
import sys

import pytest
from lab import ROOT, resolab, write_plan


def one_line(ended):
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    assert ended.stdout == ""
    return lines[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text + "\n[extra]\nx = 1\n", ["extra"]),
        (lambda text: text.replace("blocks", "bloks"), ["bloks"]),
        (lambda text: text.replace("fiber", "fibre"), ["fibre", "fiber"]),
        (lambda text: text.replace("'example'", "'exmaple'"), ["exmaple", "example"]),
        (lambda text: text.replace("['doudp']", "['dodup']"), ["dodup", "doudp"]),
        (lambda text: text.replace("blocks = 1", "blocks = 0"), ["blocks", "1"]),
        (lambda text: text.replace("page_timeout_s = 20", "page_timeout_s = -1"), ["page_timeout_s"]),
        (lambda text: text + "\nthis is no toml", ["TOML"]),
    ],
    ids=["unknown table", "unknown key", "profile", "page", "transport", "blocks", "limit", "no toml"],
)
def test_a_wrong_plan_is_refused_by_name(tmp_path, change, words):
    plan = write_plan(tmp_path)
    plan.write_text(change(plan.read_text()))
    ended = resolab("run", plan, "--out", tmp_path / "out")
    line = one_line(ended)
    assert ended.returncode == 3
    assert all(word in line for word in words), line
    assert not (tmp_path / "out").exists()


def test_a_missing_plan_is_refused(tmp_path):
    ended = resolab("run", tmp_path / "no.toml")
    assert ended.returncode == 3
    assert "no.toml" in one_line(ended)


def test_an_existing_folder_is_not_touched(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    ended = resolab("run", write_plan(tmp_path), "--out", out)
    assert ended.returncode == 3
    assert "--out" in one_line(ended)
    assert [file.name for file in out.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("words", "environment", "code"),
    [
        (("path", "--profile", "ideal", "--backend", "netem"), {}, 127),
        (("query", "--resolver", "quic://127.0.0.1", "a.test"), {"QLOGDIR": "/nowhere"}, 3),
    ],
    ids=["netem", "qlog"],
)
def test_an_optional_feature_names_the_build_with_it(words, environment, code):
    """The build of `./resolab` is without the features of decision 38."""
    release = ROOT / "target" / "release" / "resolab-core"
    ended = resolab(*words, env=os.environ | {"RESOLAB_CORE": str(release)} | environment)
    assert ended.returncode == code
    line = ended.stderr.strip().splitlines()[-1]
    assert "scripts/setup --measured" in line


def test_a_missing_browser_is_the_machines_lack(tmp_path, privileged):
    ended = resolab(
        "run", write_plan(tmp_path), "--out", tmp_path / "out", env={**os.environ, "RESOLAB_CHROMIUM": "/no/chromium"}
    )
    assert ended.returncode == 4
    assert "chromium" in ended.stderr.lower()
    assert not (tmp_path / "out").exists()


def test_a_missing_core_is_the_machines_lack(tmp_path):
    ended = resolab(
        "run", write_plan(tmp_path), "--out", tmp_path / "out", env={**os.environ, "RESOLAB_CORE": "/no/resolab-core"}
    )
    assert ended.returncode == 4
    assert "scripts/setup" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="NEEDS ROOT to take rights away")
def test_no_permission_for_namespaces_is_the_machines_lack(tmp_path):
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces are not permitted here, as inside a chroot")
    # An own user namespace that may hold no further namespaces: what a locked-down machine gives an ordinary user.
    command = f"echo 0 > /proc/sys/user/max_net_namespaces; exec {sys.executable} -m resolab run {write_plan(tmp_path)}"
    ended = subprocess.run(
        ["unshare", "-Ur", "--", "sh", "-c", f"{command} --out {tmp_path / 'out'}"],
        capture_output=True, text=True, timeout=60, check=False, cwd=ROOT,
    )  # fmt: skip
    assert ended.returncode == 4, ended.stderr
    assert "namespace" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_dataset_cannot_be_resumed_or_reported(tmp_path):
    for command in ("resume", "report"):
        ended = resolab(command, tmp_path)
        assert ended.returncode == 3
        assert "manifest.json" in one_line(ended)


def test_usage_errors_have_their_own_code():
    assert resolab("resume").returncode == 2
    assert resolab("fly").returncode == 2
