"""A page load by each way a machine may permit: as root, as an ordinary user with and without the right to port 53.

The client's host of an emulated path stands for the machine: it is a network of its own whose settings may be changed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from chromium_lab import PLAIN, RESOLVER, browser_lab
from lab import ROOT

from resolab.basics.records import LiveWay
from resolab.lab.engine import find_core

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
NOBODY = 65534
PROGRAM = Path(__file__).with_name("load_page.py")
UNPRIVILEGED_PORT_START = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
AS_USER = (
    # In a mount namespace of its own, so that the machine's device stays as closed as it is.
    f'echo $1 > {UNPRIVILEGED_PORT_START} && mknod "$2" c 10 200 && chmod $3 "$2" && mount --bind "$2" /dev/net/tun && '
    f'rm "$2" && shift 3 && exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups -- "$@"'
)


@pytest.fixture(scope="module")
def lab(privileged, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("NO WAY BUT ONE'S OWN WAS TRIED: only root can become an ordinary user")
    folder = tmp_path_factory.mktemp("ground")
    with browser_lab(folder) as lab:
        yield lab


@pytest.fixture(scope="module")
def user():
    """An ordinary user's home with what he needs in it: core and authority, and Python and its packages."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    packages = [str(ROOT / "python"), *(path for path in sys.path if path.endswith("site-packages"))]
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as home:
        Path(home).chmod(0o777)
        core = Path(home, "resolab-core")
        shutil.copy(find_core(), core)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "PYTHONPATH": ":".join(packages)}
        environment |= {"RESOLAB_CORE": str(core), "PYTHONDONTWRITEBYTECODE": "1"}
        for interpreter in (python, sys.executable):
            tried = [
                "setpriv",
                f"--reuid={NOBODY}",
                "--",
                interpreter,
                "-c",
                "import msgspec, resolab.trials.live.network_access",
            ]
            if Path(interpreter).exists() and not subprocess.run(tried, env=environment, check=False).returncode:
                yield interpreter, environment, Path(home)
                return
        pytest.skip("NOT TRIED AS AN ORDINARY USER: no Python with our packages is open to one")


def load(lab, prefix, python, environment, folder):
    """Load in the client's host; what the program said, and the transports the resolver was asked over."""
    authority = shutil.copy(lab.edge.ca, folder / "authority.pem")
    Path(authority).chmod(0o644)
    lab.edge.records()
    words = [*lab.prefix(), *prefix, python, PROGRAM, f"https://{PLAIN}/", authority, f"quic://{RESOLVER}"]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    asked = [one for one in lab.edge.records() if one["record"] == "edge_query"]
    by_stub = {one["dns_transport"] for one in asked if one["qname"].lower().startswith(PLAIN)}
    return json.loads(ended.stdout), by_stub


def as_user(folder, port_start, tun_mode):
    """Words that make the client's host permit so much, and an ordinary user of who runs them."""
    device = str(folder / f"tun-{tun_mode}")
    return ["unshare", "--mount", "sh", "-c", AS_USER, "sh", str(port_start), device, tun_mode]


def test_as_root_the_browser_asks_the_stub_on_the_machines_loopback(lab, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    said, transports = load(lab, [], sys.executable, environment, tmp_path)
    assert said == {"way": LiveWay.ROOT, "failure": None, "missing": None}
    assert transports == {"doq"}


@pytest.mark.parametrize(
    ("port_start", "tun_mode", "way"), [(0, "600", LiveWay.USER_CAPABILITY), (1024, "666", LiveWay.SLIRP4NETNS)]
)
def test_as_an_ordinary_user_with_and_without_port_53(lab, user, port_start, tun_mode, way):
    if way is LiveWay.SLIRP4NETNS and not shutil.which("slirp4netns"):
        pytest.skip("NOT TRIED BEHIND SLIRP4NETNS: apt-get install slirp4netns")
    python, environment, home = user
    said, transports = load(lab, as_user(home, port_start, tun_mode), python, environment, home)
    assert (said["way"], said["failure"]) == (way, None), said
    assert ("setcap" in (said["missing"] or "")) is (way is LiveWay.SLIRP4NETNS)
    assert transports == {"doq"}
