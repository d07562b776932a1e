"""A fleet at a NATS server that somebody else runs, which includes the fleet's part of its configuration."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.cli.main import main
from resolab.extras.fleet.connection import connect_agent, connect_operator
from resolab.extras.fleet.invitation import read_invitation
from resolab.extras.fleet.job import Job, encode
from resolab.extras.fleet.readiness import check_admission
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.process import find_program
from resolab.extras.fleet.transfer import AgentClient, done

PATIENCE_S = 60.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def somebody_elses(folder: Path, port: int, included: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server as its own administrator would, its storage and port its own."""
    conf = folder / "theirs.conf"
    text = f'host: "127.0.0.1"\nport: {port}\njetstream {{ store_dir: "{folder}/theirs" }}\n'
    # An included file is looked for beside the one that includes it.
    conf.write_text(text + f'include "{os.path.relpath(included, folder)}"\n')
    with (folder / "theirs.log").open("wb") as log:
        process = subprocess.Popen([find_program(), "-c", conf], stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def fleet(*words: str) -> int:
    return main(["fleet", *words])


def until_done(*words: str) -> None:
    """Say it until the server is there, or has read its configuration."""
    deadline = time.monotonic() + PATIENCE_S
    while fleet(*words):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def until_let_in(process: subprocess.Popen[bytes], invitation: Path) -> None:
    """Have the server read its configuration until the agent is in: one reading is not enough for a new account."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            check_admission(invitation)
        except ResolabError:
            assert time.monotonic() < deadline
            process.send_signal(signal.SIGHUP)
            time.sleep(0.1)
        else:
            return


def test_agents_meet_at_a_server_of_somebody_elses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, port = tmp_path / "f", free_port()
    url, at = f"tls://127.0.0.1:{port}", ("--fleet", str(place))
    assert fleet("serve", "--nats", url, *at) != 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"it has to include {place}/shared.conf" in said
    assert sorted(one.name for one in place.iterdir() if one.is_dir()) == []
    folder = ServerFolder.open(place)
    with somebody_elses(tmp_path, port, folder.config_file) as process:
        until_done("serve", *at)
        assert fleet("invite", "fra", *at) == 0
        assert "have it read that again" in capsys.readouterr().err
        process.send_signal(signal.SIGHUP)
        until_done("serve", *at)
        until_let_in(process, place / "fra.invitation.toml")
        invitation = read_invitation(place / "fra.invitation.toml")
        assert invitation.url == url

        async def takes_part() -> None:
            operator = await connect_operator(folder, print)
            job = Job(run="r1", vantage="fra", block=0)
            await operator.jetstream().publish(job.subject, encode(job))
            client = await connect_agent(invitation, print)
            message = await AgentClient(client, "fra").next_job(PATIENCE_S)
            assert message is not None
            assert message.data == encode(job)
            await done(message)
            await client.close()
            await operator.close()

        asyncio.run(takes_part())


@pytest.mark.parametrize("url", ["nats://a.example:4222", "tls://a.example", "tls://:4222", "tls://a.example:x"])
def test_what_is_no_address_of_a_server_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigurationError, match="tls://NAME:PORT"):
        ServerFolder.create_elsewhere(tmp_path / "f", url)
    assert not (tmp_path / "f").exists()


def test_it_neither_listens_nor_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--fleet", str(tmp_path / "f"))
    assert fleet("serve", "--nats", "tls://127.0.0.1:1", "--port", "4", *at) != 0
    assert "leaves nothing to listen on" in capsys.readouterr().err
    ServerFolder.create_elsewhere(tmp_path / "f", "tls://127.0.0.1:1")
    assert fleet("serve", "--nats", "tls://127.0.0.1:2", *at) != 0
    assert "give another --fleet folder" in capsys.readouterr().err
    assert fleet("serve", "--listen", "0.0.0.0", *at) != 0
    assert "run by others" in capsys.readouterr().err
