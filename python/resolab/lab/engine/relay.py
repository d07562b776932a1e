"""The relay for ordinary users' browsers: `resolab-core relay` as a Python object.

For: starting and ending the relay. Not for: the decision to use a relay (`live.network_access`), or programs in the
relay's host (`programs.enter_prefix` with the relay's pid and host).
"""

from typing import Self

from resolab.basics.installation import find_core
from resolab.basics.records import RelayReadyRecord
from resolab.lab.engine.process import CoreProcess
from resolab.lab.engine.programs import START_TIMEOUT_S, build_environment


class Relay:
    """A host connected to the machine's network by slirp4netns."""

    ready: RelayReadyRecord

    def __init__(self, process: CoreProcess) -> None:
        self.process = process

    @classmethod
    async def start(cls, *, ipv6: bool) -> Self:
        """Make the host and wait for the ready line."""
        command = [str(find_core()), "relay", *(["--ipv6"] if ipv6 else [])]
        relay = cls(await CoreProcess.start("the relay", command, environment=build_environment()))
        try:
            relay.ready = await relay.process.first(RelayReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await relay.close()
            raise
        return relay

    async def close(self) -> None:
        """Stop the relay, including all programs in the relay's host."""
        await self.process.close()
