"""The process `resolab-core internet` as a Python object: many hosts joined at one exchange.

For: starting an internet, changing hosts, counting traffic. Not for: programs in the hosts (`programs.enter_prefix`
with the internet's pid and a host's name places programs there).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from resolab.basics.errors import ResolabError
from resolab.basics.installation import find_core
from resolab.basics.records import InternetCount, InternetFlowsRecord, InternetReadyRecord, InternetSetHost, Record
from resolab.lab.engine.process import CoreProcess
from resolab.lab.engine.programs import START_TIMEOUT_S, build_environment

LINE_LIMIT_BYTES = 16 << 20
"""The longest line read, in bytes. A window of 20,000 flows is a line of some megabytes."""
COUNT_TIMEOUT_S = 15.0


def _ignore(_record: Record) -> None:
    pass


class Internet:
    """The hosts at known distances from each other, from a configuration file (docs/formats/internet.md)."""

    def __init__(self, process: CoreProcess, flows: list[InternetFlowsRecord]) -> None:
        self.process = process
        self._flows = flows

    ready: InternetReadyRecord

    @classmethod
    async def start(
        cls, config_file: Path, *, on_record: Callable[[Record], None] = _ignore, keep_awake: bool = False
    ) -> Self:
        """Make all hosts and wait until they are ready."""
        command = [str(find_core()), "internet", "--config", str(config_file)]
        if keep_awake:
            command.append("--keep-awake")
        flows: list[InternetFlowsRecord] = []

        def keep(record: Record) -> None:
            if isinstance(record, InternetFlowsRecord):
                flows.append(record)
            on_record(record)

        process = await CoreProcess.start(
            "the internet", command, keep, line_limit_bytes=LINE_LIMIT_BYTES, environment=build_environment()
        )
        internet = cls(process, flows)
        try:
            internet.ready = await process.first(InternetReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await internet.close()
            raise
        return internet

    async def set_host(
        self, name: str, *, one_way_ms: float | None = None, loss_ratio: float | None = None, down: bool | None = None
    ) -> None:
        """Change the path between a host and the exchange from now on; `None` keeps the current value."""
        await self.process.command(
            lambda number: InternetSetHost(
                id=number, name=name, one_way_ms=one_way_ms, loss_ratio=loss_ratio, down=down
            )
        )

    async def count(self, label: str | None = None) -> InternetFlowsRecord:
        """Return the traffic since the last count, or since the start."""
        await self.process.command(lambda number: InternetCount(id=number, label=label), COUNT_TIMEOUT_S)
        if not self._flows:
            raise ResolabError("the internet wrote no internet_flows record")
        # Only the last is the caller's: whoever wants all takes them by `on_record`.
        flows = self._flows[-1]
        self._flows.clear()
        return flows

    async def close(self) -> None:
        """End the internet and everything in the hosts; wait until the process has ended."""
        await self.process.close()
