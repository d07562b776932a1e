"""The predictions of page models for published loads, beside the measurements.

For: closed forms of whole loads, of pushed answers and of names missing in a resolver's cache, beside runs over real
pages. Not for: the closed form (`pages.path`).
"""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolab.lab.cache_misses import draw_missed_names
from resolab.pages.clone.names import host_name
from resolab.pages.file import read_model
from resolab.pages.path import AnnouncementMode, lab_load_ms, move_to_lab, predict_lookups
from resolab.plan import Corpus


@dataclass(frozen=True)
class LoadPrediction:
    """The change of a page's load time by a treatment, in ms."""

    predicted_ms: float
    measured_ms: float

    @property
    def ratio(self) -> float:
        """The measured change over the predicted change."""
        return self.measured_ms / self.predicted_ms

    @property
    def beyond_ms(self) -> float:
        """The measured change less the predicted change."""
        return self.measured_ms - self.predicted_ms


def savings(models: Path, loads: Sequence[Mapping[str, Any]], rtt_ms: float) -> list[LoadPrediction]:
    """Compare page by page the complete loads of a browser over a transport with and without pushed answers."""
    arms: dict[str, dict[str, float]] = {}
    for one in loads:
        if one["failure"] is None and not one["is_incomplete"]:
            arms.setdefault(one["page"], {})[one["answer_push"]] = one["plt_ms"]
    transport = {one["dns_transport"] for one in loads}
    (over,) = transport
    return [
        LoadPrediction(
            _predicted_ms(models / f"{page}.page.json", over, rtt_ms), of_page["off"] - of_page["page_names"]
        )
        for page, of_page in arms.items()
        if len(of_page) == 2
    ]


def whole_loads(models: Path, loads: Sequence[Mapping[str, Any]], profile: str) -> list[LoadPrediction]:
    """Compare page by page the load time over DoUDP, the median of complete loads, with the prediction by structure."""
    link = Corpus.from_project().profile(profile)
    times_ms: dict[str, list[float]] = {}
    for one in loads:
        if one["failure"] is None and not one["is_incomplete"]:
            times_ms.setdefault(one["page"], []).append(one["plt_ms"])
    return [
        LoadPrediction(
            lab_load_ms(move_to_lab(read_model(models / f"{page}.page.json"), link), link), statistics.median(of_page)
        )
        for page, of_page in times_ms.items()
    ]


def _predicted_ms(file: Path, dns_transport: str, rtt_ms: float) -> float:
    model = read_model(file)
    off, pushed = (
        predict_lookups(model, dns_transport=dns_transport, resolver_rtt_ms=rtt_ms, round_trip_ms=rtt_ms, announced=one)
        for one in (AnnouncementMode.NOT, AnnouncementMode.WITH_FIRST)
    )
    return off.load_ms - pushed.load_ms


def later(
    models: Path,
    loads: Sequence[Mapping[str, Any]],
    ratios: tuple[float, float],
    *,
    seed: int,
    miss_delay_ms: float,
    rtt_ms: float,
) -> list[LoadPrediction]:
    """Compare page by page the delay of loads with the second share of missed names against the first.

    The run's own random draws are repeated; the prediction therefore has exactly the missed names of the run.
    """
    arms: dict[str, dict[float, Mapping[str, Any]]] = {}
    for one in loads:
        if one["failure"] is None and not one["is_incomplete"] and one["resolver_miss_ratio"] in ratios:
            arms.setdefault(one["page"], {})[one["resolver_miss_ratio"]] = one
    found = []
    for page, of_page in arms.items():
        if len(of_page) < len(ratios):
            continue
        model = read_model(models / f"{page}.page.json")
        names = [host_name(model, host) for host in range(len(model.hosts))]
        few, many = (
            predict_lookups(
                model,
                dns_transport=one["dns_transport"],
                resolver_rtt_ms=rtt_ms,
                round_trip_ms=rtt_ms,
                recursion_ms=miss_delay_ms,
                misses=_places(names, draw_missed_names(names, seed, one["trial_id"], ratio=ratio)),
            ).load_ms
            for ratio in ratios
            for one in (of_page[ratio],)
        )
        measured = of_page[ratios[1]]["plt_ms"] - of_page[ratios[0]]["plt_ms"]
        found.append(LoadPrediction(many - few, measured))
    return found


def _places(names: Sequence[str], missed: Collection[str]) -> set[int]:
    return {place for place, name in enumerate(names) if name in missed}
