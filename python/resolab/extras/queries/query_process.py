"""Run `resolab-core query` and pass on its records as they arrive, until its end or an interrupt.

Not for: choosing its arguments.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from resolab.basics.records import Record
from resolab.lab.engine import CoreProcess, enter_prefix, find_core

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
    """Run the queries in the current network namespace, or in the host of the path with the given process id.

    Return True when an interrupt came before the last query. The process has ended in either case.
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
    """Turn interrupts into an event of the loop while the context is open.

    A handler's exception can be raised anywhere in Python code, and is lost in code ignoring exceptions. No exception
    is raised at all when the parent process ignored SIGINT, as shells do for background commands.
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
