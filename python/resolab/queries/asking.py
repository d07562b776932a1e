"""Runs `resolab-core query` and hands its records on as they come. Not for: which arguments it gets."""

import asyncio
from collections.abc import Callable, Sequence

from resolab.engine import CoreProcess, enter_prefix, find_core
from resolab.records import Record

NOTE_PREFIX = "resolab-core: "


async def ask(
    arguments: Sequence[str],
    *,
    inside: tuple[int, str] | None,
    on_record: Callable[[Record], None],
    on_note: Callable[[str], None],
    within_s: float,
) -> None:
    """Ask from where we stand, or from a host of the path whose process id is given."""
    prefix = [] if inside is None else enter_prefix(*inside)
    command = [*prefix, str(find_core()), "query", *arguments]

    def note(line: str) -> None:
        text = line.removeprefix(NOTE_PREFIX)
        if text.startswith("warning: "):
            on_note(" ".join(text.split()))

    reader_gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(record: Record) -> None:
        try:
            on_record(record)
        except BrokenPipeError as error:
            if not reader_gone.done():
                reader_gone.set_exception(error)

    process = await CoreProcess.start("resolab-core query", command, take, on_stderr=note)
    ended = asyncio.create_task(process.wait(within_s))
    try:
        await asyncio.wait({ended, reader_gone}, return_when=asyncio.FIRST_COMPLETED)
        await (reader_gone if reader_gone.done() else ended)
    finally:
        ended.cancel()
        reader_gone.cancel()
        if process.running:
            # It holds nothing that would have to be given back.
            await process.close(timeout_s=0.1)
