"""An internet of many hosts joined at one exchange: `resolab-core internet` as a Python object.

For: starting it, changing its hosts, asking what passed. Not for: what runs in its hosts (`programs.enter_prefix` with
the internet's pid and a host's name places programs there).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from resolab.engine.process import CoreProcess
from resolab.engine.programs import START_TIMEOUT_S, measured_environment
from resolab.errors import ResolabError
from resolab.installation import find_core
from resolab.records import InternetCount, InternetFlowsRecord, InternetReadyRecord, InternetSetHost, Record

LINE_LIMIT_BYTES = 16 << 20
"""A window of 20,000 flows is a line of some megabytes."""
COUNT_TIMEOUT_S = 15.0


def _ignore(_record: Record) -> None:
    pass


class Internet:
    """Hosts at known distances from each other, by a configuration file (docs/formats/internet.md)."""

    def __init__(self, process: CoreProcess, flows: list[InternetFlowsRecord]) -> None:
        self.process = process
        self._flows = flows

    ready: InternetReadyRecord

    @classmethod
    async def start(
        cls, config_file: Path, *, on_record: Callable[[Record], None] = _ignore, keep_awake: bool = False
    ) -> Self:
        """Make all hosts and wait until they stand."""
        command = [str(find_core()), "internet", "--config", str(config_file)]
        if keep_awake:
            command.append("--keep-awake")
        flows: list[InternetFlowsRecord] = []

        def keep(record: Record) -> None:
            if isinstance(record, InternetFlowsRecord):
                flows.append(record)
            on_record(record)

        process = await CoreProcess.start(
            "the internet", command, keep, line_limit_bytes=LINE_LIMIT_BYTES, environment=measured_environment()
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
        """Change a host's way to the exchange from now on; None leaves what is."""
        await self.process.command(
            lambda number: InternetSetHost(
                id=number, name=name, one_way_ms=one_way_ms, loss_ratio=loss_ratio, down=down
            )
        )

    async def count(self, label: str | None = None) -> InternetFlowsRecord:
        """Say what passed since the last count, or since the start."""
        await self.process.command(lambda number: InternetCount(id=number, label=label), COUNT_TIMEOUT_S)
        if not self._flows:
            raise ResolabError("the internet wrote no internet_flows record")
        # Only the last is the caller's: whoever wants all takes them by `on_record`.
        flows = self._flows[-1]
        self._flows.clear()
        return flows

    async def close(self) -> None:
        """End it and everything in its hosts; wait until it has ended."""
        await self.process.close()
