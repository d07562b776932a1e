#!/usr/bin/env python3
"""Run one real server on free ports, for tests and by hand, and print its address.

Usage: start.py unbound|bind9|kresd|dnsdist|coredns [--address ADDRESS] [--idle-s SECONDS]
       start.py caddy --pages FOLDER [the same]: no DNS, the folder over HTTP/3

Once the server answers, one line of JSON goes to stdout: name, address, ports by transport, and the authority of the
server's certificate (name dns.interop.test). The program ends when its standard input closes or on SIGTERM or SIGINT,
and ends the server, too. Exit code 4: the machine lacks the server, or the server did not start; one line has the
reason. Needs only the standard library. Not for: queries to the server; see tests/interop.
"""

import argparse
import contextlib
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "dns.interop.test"
BIG_ADDRESSES_COUNT = 90  # 1.4 kB; BIND takes at most 100 records of a name and type
ATTEMPTS_COUNT = 3
START_TIMEOUT_S = 20.0
LOWEST_PORT, HIGHEST_PORT = 20_000, 32_000  # below the ports the kernel gives to clients
STREAM = {"do53", "dot", "doh"}
DATAGRAM = {"do53", "doq", "doh3", "h3"}
OVER_TCP = ["do53", "dot", "doh"]
SERVERS = {
    "unbound": (OVER_TCP, "unbound", ["-d", "-p", "-c", "@CONFIGURATION@"]),
    "bind9": (OVER_TCP, "named", ["-g", "-n", "1", "-c", "@CONFIGURATION@"]),
    "kresd": (OVER_TCP, "kresd", ["-n", "-c", "@CONFIGURATION@", "@FOLDER@"]),
    "dnsdist": (OVER_TCP, "dnsdist", ["--supervised", "--disable-syslog", "-C", "@CONFIGURATION@"]),
    "coredns": ([*OVER_TCP, "doh3", "doq"], "coredns", ["-conf", "@CONFIGURATION@"]),
    "caddy": (["h3"], "caddy", ["run", "--config", "@CONFIGURATION@"]),
}


class CannotStartError(Exception):
    """The server does not run; the message has the reason."""


def main() -> int:
    """Start the server, announce the server, wait, and stop the server."""
    arguments = parse_arguments()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix=f"interop-{arguments.server}-") as folder:
        try:
            server, ports = start(arguments, Path(folder))
        except CannotStartError as error:
            print(f"interop: failed to start {arguments.server}: {error}", file=sys.stderr)
            return 4
        try:
            ready = {"server": arguments.server, "address": arguments.address, "ports": ports}
            print(json.dumps(ready | {"pid": server.pid, "name": NAME, "ca": f"{folder}/ca.pem"}), flush=True)
            return until_told(server, Path(folder))
        finally:
            stop(server)


def parse_arguments() -> argparse.Namespace:
    """Read the command line's arguments."""
    parser = argparse.ArgumentParser(description="Run one real server on free ports; one line of JSON says where.")
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("--address", default="127.0.0.1", help="where it listens")
    parser.add_argument("--idle-s", type=int, default=30, help="when it closes a connection on which nothing is asked")
    parser.add_argument("--pages", type=Path, default=HERE, help="caddy: the folder it serves")
    return parser.parse_args()


def start(arguments: argparse.Namespace, folder: Path) -> tuple[subprocess.Popen[bytes], dict[str, int]]:
    """Start the server on free ports; try other ports when another process takes a port meanwhile."""
    program = find_program(arguments.server, folder)
    make_certificates(folder, arguments.address)
    addresses = "".join(f"big IN A 198.51.100.{last}\n" for last in range(1, BIG_ADDRESSES_COUNT + 1))
    (folder / "zone").write_text((HERE / "interop.test.zone").read_text() + addresses)
    transports = SERVERS[arguments.server][0]
    for attempt in range(1, ATTEMPTS_COUNT + 1):
        ports = free_ports(arguments.address, transports)
        server = launch(arguments, program, folder, ports)
        try:
            wait_until_it_answers(server, arguments.address, ports)
        except CannotStartError as error:
            stop(server)
            if attempt == ATTEMPTS_COUNT:
                raise CannotStartError(f"{error}; {last_words(folder)}") from None
        except BaseException:
            stop(server)
            raise
        else:
            return server, ports
    raise AssertionError


def find_program(server: str, folder: Path) -> Path:
    """Find the program; return a copy if AppArmor confines the program, by its path, to its usual folders."""
    name = SERVERS[server][1]
    own = HERE.parent / ".setup/bin"
    found = shutil.which(name, path=os.pathsep.join([str(own), "/usr/sbin", os.environ.get("PATH", os.defpath)]))
    if found is None:
        option = "--bench" if server == "caddy" else "--interop"
        raise CannotStartError(f"{name} is not on this machine; scripts/setup {option} installs it")
    if not Path(f"/etc/apparmor.d/usr.sbin.{name}").exists():
        return Path(found)
    return Path(shutil.copy(found, folder / name))


def make_certificates(folder: Path, address: str) -> None:
    """Make an authority, and the server's certificate from it: ECDSA on P-256, the most common kind."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    uses = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    authority, authority_key, request = folder / "ca.pem", folder / "ca-key.pem", folder / "request.pem"
    named = ["-subj", "/CN=interop authority", "-days", "3650"]
    openssl("req", "-x509", *key, *named, *uses, "-keyout", authority_key, "-out", authority)
    openssl("req", *key, "-subj", f"/CN={NAME}", "-keyout", folder / "key.pem", "-out", request)
    (folder / "extensions").write_text(
        f"subjectAltName=DNS:{NAME},IP:{address}\nbasicConstraints=critical,CA:FALSE\n"
        "keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
    )
    signed = ["-CA", authority, "-CAkey", authority_key, "-extfile", folder / "extensions", "-days", "3650"]
    openssl("x509", "-req", "-in", request, *signed, "-set_serial", "1", "-out", folder / "leaf.pem")


def openssl(*arguments: str | Path) -> None:
    """Run openssl; raise an error with its last line after a failure."""
    ended = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CannotStartError(f"openssl {arguments[0]}: {ended.stderr.strip().splitlines()[-1:]}")


def free_ports(address: str, transports: list[str]) -> dict[str, int]:
    """Pick a port for each transport, free over both UDP and TCP now."""
    ports: dict[str, int] = {}
    while len(ports) < len(transports):
        port = random.randint(LOWEST_PORT, HIGHEST_PORT)
        if port in ports.values():
            continue
        with socket.socket(type=socket.SOCK_STREAM) as stream, socket.socket(type=socket.SOCK_DGRAM) as datagram:
            try:
                stream.bind((address, port))
                datagram.bind((address, port))
            except OSError as error:
                if error.errno != 98:  # address in use
                    raise CannotStartError(f"cannot listen on {address}: {error.strerror}") from None
                continue
        ports[transports[len(ports)]] = port
    return ports


def launch(
    arguments: argparse.Namespace, program: Path, folder: Path, ports: dict[str, int]
) -> subprocess.Popen[bytes]:
    """Start the server with its configuration; the server's output goes to a file."""
    values = {transport.upper(): str(port) for transport, port in ports.items()}
    values |= {"ADDRESS": arguments.address, "FOLDER": str(folder), "ZONE": str(folder / "zone")}
    values["PAGES"] = str(arguments.pages.resolve())
    idle_s = arguments.idle_s
    values |= {"IDLE_S": str(idle_s), "IDLE_TENTHS": str(idle_s * 10), "IDLE_MS": str(idle_s * 1000)}
    values |= {"CERTIFICATE": str(folder / "leaf.pem"), "KEY": str(folder / "key.pem")}
    configuration = folder / "configuration"
    configuration.write_text(filled((HERE / f"{arguments.server}.conf").read_text(), values))
    values["CONFIGURATION"] = str(configuration)
    # should this program be killed, the kernel kills the server
    command = ["setpriv", "--pdeathsig", "KILL", str(program)]
    command += [filled(one, values) for one in SERVERS[arguments.server][2]]
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)


def filled(text: str, values: dict[str, str]) -> str:
    """Replace each @KEY@ of a text."""
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def wait_until_it_answers(server: subprocess.Popen[bytes], address: str, ports: dict[str, int]) -> None:
    """Wait until the server listens on every port and, for a DNS server, answers over Do53."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (listens(address, ports) and ("do53" not in ports or answers(address, ports["do53"]))):
        if server.poll() is not None:
            raise CannotStartError(f"it ended with code {server.returncode}")
        if time.monotonic() > deadline:
            raise CannotStartError(f"it did not answer within {START_TIMEOUT_S:g} s")
        time.sleep(0.02)


def listens(address: str, ports: dict[str, int]) -> bool:
    """Return True when the kernel has sockets for all ports (proc(5), /proc/net/tcp)."""
    host = socket.inet_aton(address)[::-1].hex().upper()

    def there(table: str, port: int) -> bool:
        return f" {host}:{port:04X} 00000000:0000 " in tables[table]

    tables = {table: Path(f"/proc/self/net/{table}").read_text() for table in ("tcp", "udp")}
    over_tcp = all(there("tcp", port) for transport, port in ports.items() if transport in STREAM)
    return over_tcp and all(there("udp", port) for transport, port in ports.items() if transport in DATAGRAM)


def answers(address: str, port: int) -> bool:
    """Return True when the server resolves www.interop.test to its address (RFC 1035 section 4)."""
    question = b"\x03www\x07interop\x04test\x00\x00\x01\x00\x01"
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.settimeout(0.5)
        with contextlib.suppress(OSError):
            udp.sendto(b"\x51\x51\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + question, (address, port))
            response = udp.recv(4096)
            return response[3] & 0x0F == 0 and socket.inet_aton("192.0.2.80") in response
    return False


def until_told(server: subprocess.Popen[bytes], folder: Path) -> int:
    """Wait for the end of standard input; report an earlier end of the server as an error."""
    while server.poll() is None:
        readable, _, _ = select.select([sys.stdin], [], [], 0.2)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return 0
    print(f"interop: the server ended by itself with code {server.returncode}; {last_words(folder)}", file=sys.stderr)
    return 4


def last_words(folder: Path) -> str:
    """Quote the last line of the server's output."""
    lines = (folder / "output").read_text(errors="replace").strip().splitlines()
    return f"its last words: {lines[-1]}" if lines else "it said nothing"


def stop(server: subprocess.Popen[bytes]) -> None:
    """Stop the server, by force after 3 s."""
    server.terminate()
    try:
        server.wait(3)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
