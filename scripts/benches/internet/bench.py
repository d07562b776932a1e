"""The settings of the parts.

For: the options in the form needed by the parts. Not for: measuring.
"""

from dataclasses import dataclass

from benches.common.progress import Progress


@dataclass(frozen=True)
class InternetBench:
    """The length and the conditions of a measurement."""

    asks_count: int
    load_s: float
    keep_awake: tuple[bool, ...]
    progress: Progress
