"""Runs `resolab-core query` and hands its records on as they come. Not for: which arguments it gets."""

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

    process = await CoreProcess.start("resolab-core query", command, on_record, on_stderr=note)
    try:
        await process.wait(within_s)
    finally:
        if process.running:
            await process.close()
