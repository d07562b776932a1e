"""A fleet of one by the command line: server, invitation, agent, run, dataset; row for row what one machine measures.

Not for: what goes wrong in a fleet (python/tests/fleet).
"""

import contextlib
import json
import signal
import subprocess

import pytest
from lab import COMMAND, ROOT, finished, resolab, wait_until, write_plan

LIMIT_S = 120
LEAVES = {"condition", "position", "block", "vantage_point", "replicate", "trial_id"}


@contextlib.contextmanager
def standing(*arguments, says):
    """Run a command beside others for as long as it is needed; it must end well by Ctrl-C."""
    log = says.open("wb")
    process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=log, stderr=log, cwd=ROOT)
    try:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0, says.read_text()
    finally:
        process.kill()
        process.wait()
        log.close()


def heads(dataset):
    lines = [json.loads(file.read_text().partition("\n")[0]) for file in finished(dataset)]
    return sorted(({key: line[key] for key in LEAVES} for line in lines), key=lambda one: one["trial_id"])


@pytest.mark.usefixtures("privileged")
def test_a_fleet_of_one_has_what_one_machine_has(tmp_path):
    fleet, plan = tmp_path / "fleet", write_plan(tmp_path, blocks=2, dns_transport=("doudp", "doh"))
    with standing("fleet", "serve", "--fleet", fleet, "--port", 0, says=tmp_path / "serve.log"):
        wait_until(lambda: "serving at" in (tmp_path / "serve.log").read_text(), LIMIT_S)
        invited = resolab("fleet", "invite", "fra", "--fleet", fleet)
        assert invited.returncode == 0, invited.stderr
        invitation, spool = fleet / "fra.invitation.toml", tmp_path / "spool"
        assert invitation.stat().st_mode & 0o077 == 0
        agent = ("fleet", "agent", "--invitation", invitation, "--spool", spool)
        with standing(*agent, says=tmp_path / "agent.log"):
            begun = resolab("fleet", "run", plan, "--fleet", fleet, "--json")
            assert begun.returncode == 0, begun.stderr
            assert json.loads(begun.stdout)["vantages"] == ["fra"]
            waited = resolab("fleet", "status", "--wait", "--fleet", fleet, "--json")
            assert json.loads(waited.stdout)["blocks_done_count"] == 2, (tmp_path / "agent.log").read_text()
        fetched = resolab("fleet", "fetch", "--fleet", fleet, "--out", tmp_path / "fetched")
        assert fetched.returncode == 0, fetched.stderr
    alone = resolab("run", plan, "--vantage", "fra", "--out", tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    assert heads(tmp_path / "fetched") == heads(tmp_path / "alone")
    assert {one["vantage_point"] for one in heads(tmp_path / "fetched")} == {"fra"}
    report = resolab("report", tmp_path / "fetched")
    assert report.returncode == 0, report.stderr
