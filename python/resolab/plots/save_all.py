"""Many drawings onto the disk, on all processors.

For: the figures of a report; laying one out and writing it takes a second to ten, on one processor. Not for: what a
file of a drawing holds (`save`).

The workers are forked, so that drawings need not be sent to them: they write files, give text back and touch nothing
else of the process, whose other threads (DuckDB's) do not exist in them.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from resolab.plots.save import Drawing, save_drawing

_under_way: list[Drawing] = []
"""What the workers inherit."""


def save_drawings(drawings: Sequence[Drawing], folder: Path) -> list[str]:
    """Write `name.svg`, `name.pdf` and `name.csv` of each; return the SVGs for embedding in HTML, in their order."""
    workers_count = min(len(drawings), len(os.sched_getaffinity(0)))
    if workers_count < 2:
        return [save_drawing(drawing, folder) for drawing in drawings]
    # The longest first, so that none is begun when all others have ended.
    order = sorted(range(len(drawings)), key=lambda index: -len(drawings[index].figure.axes))
    _under_way[:] = drawings
    try:
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(workers_count, mp_context=context) as pool:
            saved = list(pool.map(_save, order, [folder] * len(order)))
    finally:
        _under_way.clear()
    return [svg for _index, svg in sorted(zip(order, saved, strict=True))]


def _save(index: int, folder: Path) -> str:
    return save_drawing(_under_way[index], folder)
