"""All software of a plan in one lab: files, starts, state before each trial, counts after it, and ends.

For: the part of the lab beside the edge. Not for: one process (`process`), the host (`host`) or readiness
(`readiness`).

All software runs at once, each at an address of its own, so a block holds every arm. A program that ended is started
again before its next trial. A hanging program stays: its queries and loads fail, and their failures are the result.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from resolab import engine
from resolab.engine import QueryOptions, ResolverTarget
from resolab.errors import ResolabError
from resolab.lab import layout
from resolab.lab.running_parts import RunningParts
from resolab.lab.scratch import scratch_folder
from resolab.lab.software.host import ServerHost
from resolab.lab.software.process import SoftwareProcess
from resolab.lab.software.readiness import wait_until_ready
from resolab.plan import RESOLVER_NAME, Condition
from resolab.plan.software import CacheBefore, Software
from resolab.records import DnsTransport, Record, SoftwareRecord, TrialFlag
from resolab.servers.certificates import certify
from resolab.servers.programs import find_program
from resolab.servers.template import fill_template

CONFIGURATION, CERTIFICATE, KEY, BOTH, AUTHORITY = "configuration", "certificate.pem", "key.pem", "both.pem", "ca.pem"
WARMING_TIMEOUT_S = 1.0
_PASSABLE = 0o711
"""The permissions of the folder above the software's own: other users pass through, and list nothing."""


@dataclass(slots=True)
class _Slot:
    """One software with its place and its current process."""

    software: Software
    address: str
    folder: Path
    command: list[str]
    process: SoftwareProcess | None = None
    restarts_count: int = 0
    began_ns: int | None = field(default=None)
    """The processor time at the trial's begin."""


class SoftwareRack(RunningParts):
    """The software of a plan, running in the server's host."""

    def __init__(self, software: Mapping[str, Software]) -> None:
        super().__init__()
        self._software = software
        self._addresses = layout.assign_software_addresses(software)
        self._slots: dict[str, _Slot] = {}

    def at(self, path: engine.Path, ca_file: Path) -> Self:
        """Name the path and the authority of the lab, before the start."""
        self._host, self._ca_file = ServerHost(path.ready.pid, path.ready.rootless), ca_file
        return self

    async def _start(self) -> None:
        if not self._software:
            return
        above = self._stack.enter_context(scratch_folder())
        above.chmod(_PASSABLE)
        self._stack.push_async_callback(self._close)
        for name, one in self._software.items():
            self._slots[name] = await self._install(one, above / name)
            await self._launch(self._slots[name])

    async def _install(self, software: Software, folder: Path) -> _Slot:
        """Make the folder of a software with its files."""
        _make_folder(folder)
        address = self._addresses[software.name]
        await certify(self._ca_file.parent, folder, RESOLVER_NAME, address)
        words = _list_words(folder, address)
        _write_files(folder, self._ca_file, fill_template(software.configuration, words))
        program = find_program(software.command[0], folder)
        command = [program, *(fill_template(word, words) for word in software.command[1:])]
        self._host.give_to_user(folder)
        return _Slot(software, address, folder, command)

    async def _launch(self, slot: _Slot) -> None:
        """Start a software at a free address, and wait for its answers."""
        name = slot.software.name
        await self._host.add_address(slot.address)
        await self._host.wait_until_free(slot.address, name)
        slot.process = await SoftwareProcess.start(name, self._host.run_as_user(slot.command), slot.folder)
        targets = {one: self._target(slot, one) for one in slot.software.transports}
        await wait_until_ready(slot.process, self._host.path_pid, targets, slot.software.ready_s)

    async def prepare(self, condition: Condition, transports: Sequence[DnsTransport], names: Sequence[str]) -> None:
        """Bring a condition's software into the state of its plan: running, with cold or warm caches.

        The names are asked over these transports: some servers keep a cache for each transport.
        """
        slot = self._slots.get(condition.resolver_software)
        if slot is None:
            return
        ended = slot.process is None or not slot.process.running
        slot.restarts_count += ended
        if ended or slot.software.cache is CacheBefore.COLD:
            await self._end(slot)
            await self._launch(slot)
        if slot.software.cache is CacheBefore.WARM:
            await self._warm(slot, transports, names)
        slot.began_ns = None if slot.process is None else slot.process.read_processor_time_ns()

    async def _warm(self, slot: _Slot, transports: Sequence[DnsTransport], names: Sequence[str]) -> None:
        """Ask the names once inside the server's host. A failure here shows again in the trial."""
        spoken = [self._target(slot, one) for one in transports if one in slot.software.transports]
        options = QueryOptions(timeout_s=WARMING_TIMEOUT_S)
        try:
            await engine.run_queries(self._host.path_pid, spoken, names, options, host="server")
        except ResolabError:
            return

    async def end_trial(self, condition: Condition) -> tuple[list[Record], list[TrialFlag]]:
        """Return the record of a condition's software, and a flag when it ended during the trial."""
        slot = self._slots.get(condition.resolver_software)
        if slot is None or slot.process is None:
            return [], []
        process = slot.process
        ended = not process.running
        now_ns = process.read_processor_time_ns()
        record = SoftwareRecord(
            name=slot.software.name,
            restarts_count=slot.restarts_count,
            processor_time_ns=None if now_ns is None or slot.began_ns is None else now_ns - slot.began_ns,
            memory_bytes=process.read_memory_bytes(),
            last_words=list(process.lines) if ended else None,
        )
        return [record], [TrialFlag.SOFTWARE_ENDED] if ended else []

    async def _end(self, slot: _Slot) -> None:
        process, slot.process = slot.process, None
        if process is not None:
            await process.close()

    async def _close(self) -> None:
        for slot in self._slots.values():
            await self._end(slot)

    def _target(self, slot: _Slot, transport: DnsTransport) -> ResolverTarget:
        return layout.resolver(transport, self._ca_file, address=slot.address)


def _make_folder(folder: Path) -> None:
    folder.mkdir(0o700)


def _write_files(folder: Path, ca_file: Path, configuration: str) -> None:
    """Write the configuration, the authority, and certificate and key in one file, beside the certificate."""
    (folder / BOTH).write_bytes((folder / CERTIFICATE).read_bytes() + (folder / KEY).read_bytes())
    (folder / BOTH).chmod(0o600)
    shutil.copyfile(ca_file, folder / AUTHORITY)
    (folder / CONFIGURATION).write_text(configuration, "utf-8")


def _list_words(folder: Path, address: str) -> dict[str, str]:
    """List the values of the placeholders."""
    files = {"CONFIGURATION": CONFIGURATION, "CERTIFICATE": CERTIFICATE, "KEY": KEY, "BOTH": BOTH}
    return {
        "ADDRESS": address,
        "BEHIND": layout.RESOLVER_ADDRESS,
        "NAME": RESOLVER_NAME,
        "FOLDER": str(folder),
        "AUTHORITY": str(folder / AUTHORITY),
        **{word: str(folder / file) for word, file in files.items()},
    }
