"""A path with the edge behind the path, and our client fetching a document and its names over the path.

For: running, and each fetch with its bytes. Not for: the expected times (`model`).
"""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benches.announced.model import DocumentCase
from benches.common.servers import EDGE_NAME, edge_configuration, names
from benches.dns import path_capture
from benches.dns.cold import pause_ms
from benches.dns.path_capture import Crossing
from benches.dns.testbed import SERVER_ADDRESS, edge_behind
from resolab import engine
from resolab.errors import ResolabError
from resolab.plan import Corpus
from resolab.records import FetchNamesRecord, PathStartCapture, PathStopCapture, Record

HOSTS = {"separate": ("own.resolab.test", "10.77.1.1"), "shared_connection": ("shared.resolab.test", SERVER_ADDRESS)}
NAMES_KEY = 65400
FETCH_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class FetchWithBytes:
    """A fetch with its bytes."""

    record: FetchNamesRecord
    up_bytes: int
    """IP bytes from the query for the document's own name to the last answer."""
    down_bytes: int
    names_up_bytes: int
    """The part of `up_bytes` from the document's first byte on."""
    names_down_bytes: int


@dataclass(frozen=True)
class AnnouncedPath:
    """A running path with the edge behind the path."""

    path: engine.Path
    profile: str
    folder: Path
    ca_file: str

    async def fetch(self, case: DocumentCase, count: int) -> list[FetchWithBytes]:
        """Fetch `count` times, one fetch after another."""
        capture = self.folder / "fetch.pcapng"
        await self.path.process.command(lambda number: PathStartCapture(id=number, file=str(capture)))
        records = await asyncio.to_thread(self._fetch, case, count)
        await self.path.process.command(lambda number: PathStopCapture(id=number))
        crossings = path_capture.read(capture)
        capture.unlink()
        return [_add_bytes(record, crossings) for record in records]

    def _fetch(self, case: DocumentCase, count: int) -> list[FetchNamesRecord]:
        command = [*engine.enter_prefix(self.path.ready.pid, "client"), str(engine.find_core()), "fetch-names"]
        command += ["--announcement", case.announcement, "--mode", case.mode, "--ca", self.ca_file]
        command += ["--resolver", f"https://{EDGE_NAME}/dns-query", "--resolve", f"{EDGE_NAME}={SERVER_ADDRESS}"]
        command += ["--count", str(count), "--interval-ms", str(pause_ms(self.profile)), _url(case)]
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=FETCH_TIMEOUT_S * count, check=True)
        decoder = msgspec.json.Decoder(Record)
        records = [one for one in map(decoder.decode, done.stdout.splitlines()) if isinstance(one, FetchNamesRecord)]
        for one in records:
            if one.failure is not None or one.name_wait_ns is None:
                raise ResolabError(f"a fetch failed: {case} {one.failure}: {one.failure_detail}")
        return records


@contextlib.asynccontextmanager
async def open_path(
    profile: str, names_count: int, cases: Sequence[DocumentCase], folder: Path, congestion_control: str
) -> AsyncIterator[AnnouncedPath]:
    """Make a path, and run the edge behind the path."""
    file = Corpus.from_project().profile_file(profile)
    path = await engine.Path.start(file, seed=1, keep_awake=True, on_record=lambda _record: None)
    config = folder / "edge.toml"
    config.write_text(_configuration(folder, names_count, cases), "utf-8")
    try:
        for side in ("client", "server"):
            _set_congestion_control(path.ready.pid, side, congestion_control)
        with edge_behind(path.ready.pid, config) as ca_file:
            yield AnnouncedPath(path, profile, folder, ca_file)
    finally:
        await path.close()


def _set_congestion_control(path_pid: int, side: str, name: str) -> None:
    """Set the congestion control of TCP in a host of the path; the setting ends with the path.

    Programs in a host lack the right to change the setting. A helper program runs in the host, and `nsenter` enters the
    helper's network with the rights of this process.
    """
    inside = [*engine.enter_prefix(path_pid, side), "sh", "-c", "echo there; read -r _"]
    with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as standing:
        assert standing.stdout is not None
        standing.stdout.readline()
        command = ["nsenter", "-t", str(standing.pid), "-n", "tee", "/proc/sys/net/ipv4/tcp_congestion_control"]
        done = subprocess.run(command, input=name, text=True, capture_output=True, timeout=FETCH_TIMEOUT_S, check=False)
        standing.communicate("\n", FETCH_TIMEOUT_S)
    if done.returncode:
        raise ResolabError(f"could not set TCP's congestion control to {name}: {done.stderr.strip()}")


def _url(case: DocumentCase) -> str:
    return f"https://{_host(case)}{_path(case)}"


def _host(case: DocumentCase) -> str:
    """Return the host's name; each list of names is in the HTTPS record of a separate host."""
    listed = f"listed{case.name_delay_ms:g}-" if case.announcement == "https_record" else ""
    return listed + HOSTS[case.mode][0]


def _path(case: DocumentCase) -> str:
    return f"/{case.announcement}-{case.server_time_ms:g}-{case.name_delay_ms:g}.html"


def _zone_names(count: int, delay_ms: float) -> list[str]:
    return [f"late{delay_ms:g}-{one}" for one in names(count)]


def _configuration(folder: Path, names_count: int, cases: Sequence[DocumentCase]) -> str:
    """Write the edge's TOML: a document for each case, and the names for each delay."""
    pages = folder / "pages"
    pages.mkdir()
    delays_ms = sorted({case.name_delay_ms for case in cases})
    every = {delay_ms: _zone_names(names_count, delay_ms) for delay_ms in delays_ms}
    zone = [name for listed in every.values() for name in listed]
    text = edge_configuration(folder / "ca", SERVER_ADDRESS, zone, "none")
    text += "[coalescing]\nshared_connection = true\n"
    for delay_ms, listed in every.items():
        text += "".join(f'[[name]]\nname = "{name}"\ndelay_ms = {delay_ms}\n' for name in listed if delay_ms)
    for case in cases:
        links = "".join(f"<img src=https://{name}/1>" for name in every[case.name_delay_ms])
        (pages / _path(case)[1:]).write_text(f"<!doctype html>{links}\n", "utf-8")
    for host in dict.fromkeys(map(_host, cases)):
        text += _site(host, pages, [case for case in cases if _host(case) == host], every)
    return text


def _site(host: str, pages: Path, cases: Sequence[DocumentCase], every: dict[float, list[str]]) -> str:
    first = cases[0]
    address = HOSTS[first.mode][1]
    text = f'[[site]]\nhost = "{host}"\naddress = "{address}"\nfolder = "{pages}"\ncompression = []\n'
    for case in cases:
        text += f'[[site.response]]\npath = "{_path(case)}"\nserver_time_ms = {case.server_time_ms}\n'
        listed = every[case.name_delay_ms]
        if case.announcement == "early_hints":
            text += "early_hints = [" + ", ".join(f"'<https://{name}>; rel=dns-prefetch'" for name in listed) + "]\n"
        if case.announcement == "server_push":
            text += "pushed_questions = [" + ", ".join(f"'{name} A'" for name in listed) + "]\n"
    if first.announcement == "https_record":
        text += _https_record(host, every[first.name_delay_ms])
    return text


def _https_record(host: str, listed: Sequence[str]) -> str:
    value = f'1 . alpn=h2 key{NAMES_KEY}="{",".join(listed)}"'
    return f'[[zone]]\nname = "{host}"\ntype = "HTTPS"\nvalue = \'{value}\'\n'


def _add_bytes(record: FetchNamesRecord, crossings: Sequence[Crossing]) -> FetchWithBytes:
    begin_ns = record.time_origin_ns or 0
    found_ns = begin_ns + (record.document_first_byte_ns or 0)
    end_ns = begin_ns + (record.names_complete_ns or 0)
    during = [one for one in crossings if begin_ns <= one.entered_ns <= end_ns]
    of_names = [one for one in during if one.entered_ns >= found_ns]
    counts = [sum(one.ip_bytes for one in some if one.up == up) for some in (during, of_names) for up in (True, False)]
    return FetchWithBytes(record, *counts)
