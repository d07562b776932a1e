"""Write many drawings to disk, on all processors.

For: the figures of a report; laying out and writing a figure takes 1 s to 10 s on one processor. Not for: the content
of a drawing's files (`save`).

The workers are forked, to avoid sending drawings to them. They only write files and return text. The process's other
threads (DuckDB's) do not exist in the workers.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from resolab.report.plots.save import Drawing, save_drawing

_under_way: list[Drawing] = []
"""The drawings inherited by the workers."""


def save_drawings(drawings: Sequence[Drawing], folder: Path) -> list[str]:
    """Write `name.svg`, `name.pdf` and `name.csv` of each drawing; return the SVGs for HTML, in order."""
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
