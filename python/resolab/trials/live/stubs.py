"""The stub of a live bed: one at a time, in front of a trial's resolver and transport.

For: starting and replacing the stub. Not for: browsers, with the stub always at the same address.
"""

from collections.abc import Callable

from resolab.basics.records import Record, StubReadyRecord
from resolab.lab.engine import CoreProcess, Stub, find_core
from resolab.lab.engine.programs import START_TIMEOUT_S, build_environment
from resolab.trials.live.access_interface import AccessInterface
from resolab.trials.live.own_client import QueryClientSettings
from resolab.trials.live.resolver_addresses import ResolverRoute


class LiveStub:
    """The single listening address for a stub."""

    def __init__(
        self, place: AccessInterface, client: QueryClientSettings, on_record: Callable[[Record], None]
    ) -> None:
        self._place, self._client, self._on_record = place, client, on_record
        self._reached: ResolverRoute | None = None
        self._stub: Stub | None = None

    async def put(self, reached: ResolverRoute) -> None:
        """Provide a stub in front of this resolver, without an open connection and without a ticket."""
        if self._stub is not None and self._stub.process.running and self._reached == reached:
            await self._stub.close_connections(forget_tickets=True)
            return
        await self.close()
        command = [
            *self._place.stub_prefix(), str(find_core()), "stub", "--listen", f"{self._place.stub_address}:53",
            *self._place.stub_arguments(), "--upstream", reached.url, "--handshake", "full",
            *self._client.build_trust_arguments(), *reached.arguments(),
        ]  # fmt: skip
        process = await CoreProcess.start("the stub", command, self._on_record, environment=build_environment())
        stub = Stub(process)
        try:
            stub.ready = await process.first(StubReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await stub.close()
            raise
        self._stub, self._reached = stub, reached

    async def close(self) -> None:
        """End the current stub, if any."""
        stub, self._stub = self._stub, None
        if stub is not None:
            await stub.close()
