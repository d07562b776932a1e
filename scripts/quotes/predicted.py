"""What page models foresaw of published loads, and what was measured of it.

For: the closed form of pushed answers beside a run over real pages. Not for: the closed form itself (`pages.path`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolab.pages.file import read_model
from resolab.pages.path import Announced, predicted_lookups


@dataclass(frozen=True)
class Saving:
    """Of one page, by answers that are there before they are asked for, ms."""

    predicted_ms: float
    measured_ms: float

    @property
    def beyond_ms(self) -> float:
        """What was measured beyond what was foreseen."""
        return self.measured_ms - self.predicted_ms


def savings(models: Path, loads: Sequence[Mapping[str, Any]], rtt_ms: float) -> list[Saving]:
    """Compare page by page the loads of one browser over one transport that ended with and without pushed answers."""
    arms: dict[str, dict[str, float]] = {}
    for one in loads:
        if one["failure"] is None and not one["is_incomplete"]:
            arms.setdefault(one["page"], {})[one["answer_push"]] = one["plt_ms"]
    transport = {one["dns_transport"] for one in loads}
    (over,) = transport
    return [
        Saving(_predicted_ms(models / f"{page}.page.json", over, rtt_ms), of_page["off"] - of_page["page_names"])
        for page, of_page in arms.items()
        if len(of_page) == 2
    ]


def _predicted_ms(file: Path, dns_transport: str, rtt_ms: float) -> float:
    model = read_model(file)
    off, pushed = (
        predicted_lookups(
            model, dns_transport=dns_transport, resolver_rtt_ms=rtt_ms, round_trip_ms=rtt_ms, announced=one
        )
        for one in (Announced.NOT, Announced.WITH_FIRST)
    )
    return off.load_ms - pushed.load_ms
