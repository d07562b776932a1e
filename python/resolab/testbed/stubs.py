"""The stub of a testbed: one at a time, with the transport and the handshake the trial asks for.

For: starting it and putting another in its place. Not for: browsers, which always find it at the same address.

A stub's transport and handshake are fixed when it starts. It starts in some tens of milliseconds, so another one takes
its place whenever a trial asks for another kind; one browser process then serves every transport behind a stub.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab import engine
from resolab.records import DnsTransport, HandshakeMode, KeyExchangeGroup, Record
from resolab.testbed import layout


@dataclass(frozen=True, slots=True)
class StubKind:
    """What is fixed when a stub starts."""

    dns_transport: DnsTransport
    handshake: HandshakeMode


class StubPlace:
    """The one place at which a stub listens."""

    def __init__(
        self,
        path_pid: int,
        ca_file: Path,
        on_record: Callable[[Record], None],
        groups: Sequence[KeyExchangeGroup] = (),
        *,
        key_log_file: Path | None = None,
    ) -> None:
        self._path_pid, self._ca_file, self._on_record, self._groups = path_pid, ca_file, on_record, groups
        self._key_log_file = key_log_file
        self._kind: StubKind | None = None
        self.stub: engine.Stub | None = None

    async def put(self, kind: StubKind) -> None:
        """Have a stub of this kind there; the one that is kept has no open connection and no ticket."""
        if self.stub is not None and self.stub.process.running and self._kind == kind:
            await self.stub.close_connections(forget_tickets=True)
            return
        await self.close()
        self.stub = await engine.Stub.start(
            self._path_pid,
            f"{layout.STUB_ADDRESS}:53",
            layout.resolver(kind.dns_transport, self._ca_file, self._groups),
            handshake=kind.handshake,
            on_record=self._on_record,
            key_log_file=self._key_log_file,
        )
        self._kind = kind

    async def close(self) -> None:
        """End the stub that is there."""
        stub, self.stub = self.stub, None
        if stub is not None:
            await stub.close()
