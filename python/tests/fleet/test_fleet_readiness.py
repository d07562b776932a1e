"""What `doctor` says of a fleet: what is installed, and whether an invitation is good."""

import asyncio
import importlib.util
from pathlib import Path

import pytest
from fleet_world import a_world
from pretended import programs_away, run_of

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.cli import doctor
from resolab.extras.fleet import readiness
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.invitation import withdraw
from resolab.extras.fleet.operations import FleetOperator

__all__ = ["programs_away"]


def test_what_is_missing_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nats" else there(name))
    with pytest.raises(MachineError, match=r"^nats-py not installed: pip install .resolab\[fleet\]"):
        readiness.find_packages()


def test_a_good_invitation_is_let_in_and_a_withdrawn_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "CHECKS", {})

    async def go() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            client = await connect_operator(world.folder, world.said.append)
            await FleetOperator(client).begin(run_of("fra", blocks=4))
            await client.close()
            file = world.folder.path / "fra.invitation.toml"
            assert await asyncio.to_thread(doctor.run, file) == 0
            said = capsys.readouterr().out
            assert said.startswith(f"ok       invitation {file}: tls://127.0.0.1:")
            assert said.endswith("lets fra take part; 4 blocks wait for it\n")
            kept = file.read_text()
            withdraw(world.folder, "fra")
            await world.server.reload()
            file.write_text(kept)
            assert await asyncio.to_thread(doctor.run, file) == doctor.EXIT_LACKING
            assert "the credential was withdrawn or replaced; ask for a new invitation\n" in capsys.readouterr().out

    asyncio.run(go())


def test_what_is_no_invitation_is_said_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "fra.invitation.toml"
    file.write_text("vantage = 'fra'")
    with pytest.raises(ConfigurationError, match="could not read invitation"):
        readiness.check_admission(file)
