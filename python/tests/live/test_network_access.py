"""Standing on the ground of the machine the tests run on, whatever it permits; nothing is sent beyond loopback."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import msgspec
import pytest

from resolab.basics.records import LiveWay, StubReadyRecord
from resolab.lab.engine import CoreProcess, find_core
from resolab.trials.live.network_access import choose_access, open_access, read_facts
from resolab.trials.live.network_access.facts import MachineFacts, PortState

NOBODY = 65534
A_QUESTION = b"\0\1"
ADDRESS = "198.18.0.9"


@pytest.fixture
def upstream():
    """A resolver on loopback with one answer for all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        yield f"udp://127.0.0.1:{server.getsockname()[1]}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", server.getsockname())
        thread.join(10)


def answer(server):
    while True:
        query, sender = server.recvfrom(2048)
        if not query:
            return
        question = query[12 : query.index(0, 12) + 5]
        is_a = question[-4:-2] == A_QUESTION
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_a else b"\0\0") + bytes(4)
        record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(ADDRESS) if is_a else b""
        server.sendto(head + question + record, sender)


async def look_up(upstream, name):
    """Stand, start a stub, and have the C library ask it as a browser's would."""
    async with open_access() as ground:
        if refusal := ground.refusal(by_stub=True, speaks_doh=False):
            return ground, refusal
        command = [*ground.stub_prefix(), str(find_core()), "stub", "--listen", f"{ground.stub_address}:53"]
        stub = await CoreProcess.start("the stub", [*command, *ground.stub_arguments(), "--upstream", upstream])
        try:
            await stub.first(StubReadyRecord, 15)
            words = [*ground.browser_prefix(ground.stub_address), "getent", "ahostsv4", name]
            getent = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
            out, _ = await getent.communicate()
        finally:
            await stub.close()
        return ground, out.decode()


def test_a_browsers_names_go_through_the_stub(upstream):
    before = Path("/etc/resolv.conf").read_bytes()
    ground, found = asyncio.run(look_up(upstream, "www.example.test"))
    if ground.way is LiveWay.DNS_ONLY:
        pytest.skip(f"NO STUB ON PORT 53 ON THIS MACHINE: {ground.missing}")
    assert found.startswith(ADDRESS), (ground, found)
    assert Path("/etc/resolv.conf").read_bytes() == before


def test_facts_are_of_this_user():
    facts = read_facts()
    assert facts.is_root == (os.geteuid() == 0)
    if facts.port_53 is PortState.FREE:
        assert facts.own_view or facts.own_view_refusal
    assert choose_access(facts).way is not None


def test_a_machine_that_permits_nothing_says_so(tmp_path):
    """A core that refuses everything stands for it."""
    core = tmp_path / "core"
    core.write_text("#!/bin/sh\necho 'resolab-core: failed to do it: no' >&2\nexit 4\n", "ascii")
    core.chmod(0o755)
    facts = read_facts(core)
    assert (facts.own_view, facts.own_view_refusal) == (False, "failed to do it: no")
    assert facts.port_53 is PortState.CLOSED
    assert choose_access(facts).way is LiveWay.DNS_ONLY
    core.write_text("#!/bin/sh\nexit 3\n", "ascii")
    assert read_facts(core).port_53 is PortState.TAKEN


def as_nobody(code, core, folder):
    """Run Python as an ordinary user; skips loudly where that cannot be."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("NOT TRIED AS AN ORDINARY USER: only root can become one")
    packages = [str(Path(__file__).parents[2]), *(path for path in sys.path if path.endswith("site-packages"))]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": ":".join(packages)}
    environment |= {"RESOLAB_CORE": str(core), "PYTHONDONTWRITEBYTECODE": "1"}
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for interpreter in (python, sys.executable):
        words = [*prefix, interpreter, "-c", code]
        if Path(interpreter).exists():
            ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
            if "ModuleNotFoundError" not in ended.stderr and "Permission denied" not in ended.stderr:
                return ended
    pytest.skip("NOT TRIED AS AN ORDINARY USER: no Python with our packages is open to one")
    raise AssertionError


@pytest.mark.parametrize("capable", [False, True])
def test_an_ordinary_user_is_told_the_command_and_it_helps(tmp_path_factory, capable):
    folder = tmp_path_factory.mktemp("ground")
    # Side by side, workers have folders of their own in between.
    of_tests = [one for one in folder.parents if one.is_relative_to(Path(tempfile.gettempdir(), "pytest-of-root"))]
    for one in (folder, *of_tests):
        one.chmod(0o755)
    core = folder / "resolab-core"
    shutil.copy(find_core(), core)
    core.chmod(0o755)
    if capable and (os.geteuid() != 0 or not shutil.which("setcap")):
        pytest.skip("NO CAPABILITY SET: only root can, with setcap")
    if capable:
        subprocess.run(["setcap", "cap_net_bind_service+ep", core], check=True)
    code = "import msgspec; from resolab.trials.live.network_access import *; print(msgspec.json.encode(read_facts()).decode())"
    ended = as_nobody(code, core, folder)
    assert ended.returncode == 0, ended.stderr
    facts = msgspec.json.decode(ended.stdout, type=MachineFacts)
    assert not facts.is_root
    if not facts.own_view:
        pytest.skip(f"NO NAMESPACES FOR ORDINARY USERS HERE: {facts.own_view_refusal}")
    if capable:
        assert choose_access(facts).way is LiveWay.USER_CAPABILITY
    elif facts.port_53 is PortState.CLOSED:
        assert f"sudo setcap cap_net_bind_service+ep {core}" in (choose_access(facts).missing or "")
