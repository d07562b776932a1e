"""All software of a plan in one lab: files, starts, state before each trial, counts after it, and ends.

For: the part of the lab beside the edge. Not for: one process (`process`), the host (`host`) or readiness
(`readiness`).

All software runs at once, each at an address of its own, so a block holds every arm. A program that ended is started
again before its next trial. A hanging program stays: its queries and loads fail, and their failures are the result.
"""

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from resolab.basics.errors import ResolabError
from resolab.basics.records import DnsTransport, Record, SoftwareRecord, TrialFlag
from resolab.basics.servers.certificates import certify
from resolab.basics.servers.programs import find_program
from resolab.basics.servers.template import fill_template
from resolab.lab import engine, layout
from resolab.lab.engine import QueryOptions, ResolverTarget
from resolab.lab.running_parts import RunningParts
from resolab.lab.scratch import scratch_folder
from resolab.lab.software.host import ServerHost
from resolab.lab.software.process import LINES_KEPT, SoftwareProcess
from resolab.lab.software.readiness import is_good_answer, wait_until_ready
from resolab.plan import RESOLVER_NAME, Condition
from resolab.plan.software import CacheBefore, Software
from resolab.store.files import machine_errors

CONFIGURATION, CERTIFICATE, KEY, BOTH, AUTHORITY = "configuration", "certificate.pem", "key.pem", "both.pem", "ca.pem"
WARMING_TIMEOUT_S = 1.0
WARMING_ATTEMPTS = 2
_PASSABLE = 0o711
"""The permissions of the folder above the software's own: other users pass through, and list nothing."""


@dataclass(slots=True)
class _Slot:
    """One software with its place and its current process."""

    software: Software
    address: str
    folder: Path
    process: SoftwareProcess | None = None
    """The current process; `None` before the start and after a recorded end."""
    restarts_count: int = 0
    began_ns: int | None = None
    """The processor time at the trial's begin."""
    words_before: list[str] | None = None
    """The last output of a program that ended outside the software's own trials; `None` without such an end."""
    is_cache_ready: bool = True
    """False when some of the trial's names had no good answer before the trial."""


class SoftwareRack(RunningParts):
    """The software of a plan, running in the server's host."""

    def __init__(self, software: Mapping[str, Software], addresses: Mapping[str, str]) -> None:
        super().__init__()
        self._software, self._addresses = software, addresses
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
            self._slots[name] = _Slot(one, self._addresses[name], above / name)
            await self._launch(self._slots[name])

    async def _launch(self, slot: _Slot) -> None:
        """Start a software in a new folder at a free address, and wait for its answers."""
        name = slot.software.name
        await self._host.add_address(slot.address)
        await self._host.wait_until_free(slot.address, name)
        command = await self._install(slot)
        slot.process = await SoftwareProcess.start(name, self._host.run_as_user(command), slot.folder)
        targets = {one: self._target(slot, one) for one in slot.software.transports}
        await wait_until_ready(slot.process, self._host.path_pid, targets, slot.software.ready_s)

    async def _install(self, slot: _Slot) -> list[str]:
        """Make the folder of a software anew with its files, and return the command.

        An earlier process may have left its cache in the folder.
        """
        folder, software = slot.folder, slot.software
        with machine_errors(
            f"make the folder of software {software.name} anew", elsewhere="set TMPDIR to another folder"
        ):
            if folder.exists():
                shutil.rmtree(folder)
            folder.mkdir(0o700)
        await certify(self._ca_file.parent, folder, RESOLVER_NAME, slot.address)
        words = list_words(folder, slot.address)
        _write_files(folder, self._ca_file, fill_template(software.configuration, words))
        program = find_program(software.command[0], folder)
        self._host.give_to_user(folder)
        return [program, *(fill_template(word, words) for word in software.command[1:])]

    async def prepare(self, condition: Condition, transports: Sequence[DnsTransport], names: Sequence[str]) -> None:
        """Bring a condition's software into the state of its plan: running, with cold or warm caches.

        The names are asked over these transports: some servers keep a cache for each transport.
        """
        slot = self._slots.get(condition.resolver_software)
        if slot is None:
            return
        if slot.process is not None and not slot.process.running:
            slot.words_before = await slot.process.read_last_words()
            await self._end(slot)
        slot.restarts_count += slot.process is None
        if slot.process is None or slot.software.cache is CacheBefore.COLD:
            await self._end(slot)
            await self._launch(slot)
        slot.is_cache_ready = slot.software.cache is CacheBefore.COLD or await self._warm(slot, transports, names)
        slot.began_ns = None if slot.process is None else slot.process.read_processor_time_ns()

    async def _warm(self, slot: _Slot, transports: Sequence[DnsTransport], names: Sequence[str]) -> bool:
        """Ask the names inside the server's host, again after a failure; return True when all had a good answer."""
        spoken = {one: self._target(slot, one) for one in transports if one in slot.software.transports}
        options = QueryOptions(timeout_s=WARMING_TIMEOUT_S)
        wanted = {(transport, name) for transport in spoken for name in names}
        for _ in range(WARMING_ATTEMPTS):
            # The client itself may not end in time, on a busy machine.
            with contextlib.suppress(ResolabError):
                told = await engine.run_queries(
                    self._host.path_pid, list(spoken.values()), names, options, host="server"
                )
                wanted -= {(one.dns_transport, one.qname.rstrip(".")) for one in told if is_good_answer(one)}
            if not wanted:
                return True
        return False

    async def end_trial(self, condition: Condition) -> tuple[list[Record], list[TrialFlag]]:
        """Return the record of a condition's software, with flags for its end and for names missing in its cache."""
        slot = self._slots.get(condition.resolver_software)
        if slot is None or slot.process is None:
            return [], []
        process, words = slot.process, slot.words_before
        slot.words_before = None
        if not process.running:
            words = [*(words or []), *await process.read_last_words()][-LINES_KEPT:]
            await self._end(slot)
        record = SoftwareRecord(
            name=slot.software.name,
            restarts_count=slot.restarts_count,
            processor_time_ns=compute_spent_ns(slot.began_ns, process.read_processor_time_ns()),
            memory_bytes=process.read_memory_bytes(),
            last_words=words,
        )
        flags = [] if words is None else [TrialFlag.SOFTWARE_ENDED]
        return [record], [*flags, *([] if slot.is_cache_ready else [TrialFlag.CACHE_NOT_WARM])]

    async def _end(self, slot: _Slot) -> None:
        process, slot.process = slot.process, None
        if process is not None:
            await process.close()

    async def _close(self) -> None:
        for slot in self._slots.values():
            await self._end(slot)

    def _target(self, slot: _Slot, transport: DnsTransport) -> ResolverTarget:
        return layout.resolver(transport, self._ca_file, address=slot.address)


def compute_spent_ns(began_ns: int | None, ended_ns: int | None) -> int | None:
    """Return the processor time between two readings, in ns. Pure.

    `None`: a reading is missing, or threads with more time than was spent in between have ended.
    """
    if began_ns is None or ended_ns is None or ended_ns < began_ns:
        return None
    return ended_ns - began_ns


def _write_files(folder: Path, ca_file: Path, configuration: str) -> None:
    """Write the configuration, the authority, and certificate and key in one file, beside the certificate."""
    (folder / BOTH).write_bytes((folder / CERTIFICATE).read_bytes() + (folder / KEY).read_bytes())
    (folder / BOTH).chmod(0o600)
    shutil.copyfile(ca_file, folder / AUTHORITY)
    (folder / CONFIGURATION).write_text(configuration, "utf-8")


def list_words(folder: Path, address: str) -> dict[str, str]:
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
