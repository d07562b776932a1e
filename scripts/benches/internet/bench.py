"""How the parts are measured.

For: the options as the parts see them. Not for: measuring.
"""

from dataclasses import dataclass

from benches.common.progress import Progress


@dataclass(frozen=True)
class Bench:
    """Length and conditions."""

    asks_count: int
    load_s: float
    keep_awake: tuple[bool, ...]
    progress: Progress
