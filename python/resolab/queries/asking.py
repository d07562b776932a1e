"""Runs `resolab-core query` and hands its records on as they come, until it ends or somebody interrupts it.

Not for: which arguments it gets.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from resolab.engine import CoreProcess, enter_prefix, find_core
from resolab.records import Record

NOTE_PREFIX = "resolab-core: "
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


async def ask(
    arguments: Sequence[str],
    *,
    inside: tuple[int, str] | None,
    on_record: Callable[[Record], None],
    on_note: Callable[[str], None],
    within_s: float,
) -> bool:
    """Ask from where we stand, or from a host of the path whose process id is given.

    Returns whether it was interrupted before everything was asked; nothing runs any more either way.
    """
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
        except OSError as error:  # Nobody reads on, or what is read goes to a disk that is full.
            if not reader_gone.done():
                reader_gone.set_exception(error)

    with _interrupts() as interrupted:
        process = await CoreProcess.start("resolab-core query", command, take, on_stderr=note)
        ended = asyncio.create_task(process.wait(within_s))
        try:
            await asyncio.wait({ended, reader_gone, interrupted}, return_when=asyncio.FIRST_COMPLETED)
            # Before all else: a terminal interrupts resolab-core, too, and what that ends with is no error then.
            if interrupted.done():
                return True
            await (reader_gone if reader_gone.done() else ended)
            return False
        finally:
            ended.cancel()
            reader_gone.cancel()
            if process.running:
                # It holds nothing that would have to be given back.
                await process.close(timeout_s=0.1)
            await asyncio.gather(ended, return_exceptions=True)


@contextmanager
def _interrupts() -> Iterator["asyncio.Future[None]"]:
    """Take interrupts as an event of the loop while the block runs.

    An exception raised wherever Python happens to be is lost where exceptions are ignored, and there is none at all
    when whoever started us had SIGINT ignored, as shells do with what they run in the background.
    """
    loop = asyncio.get_running_loop()
    interrupted: asyncio.Future[None] = loop.create_future()

    def take() -> None:
        if not interrupted.done():
            interrupted.set_result(None)

    for number in INTERRUPTS:
        loop.add_signal_handler(number, take)
    try:
        yield interrupted
    finally:
        for number in INTERRUPTS:
            loop.remove_signal_handler(number)
