"""Sizes of the bodies of a generated page: drawn by kind, then scaled to the page's sum.

Pixels, answers of interfaces and frames keep their size; the kinds with most of the bytes are scaled. Not for: times.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.margins import MarginalDistribution
from resolab.pages.generated.request_forms import RequestForm
from resolab.pages.generated.tree import Node
from resolab.pages.model import Kind

_LEAST_BYTES = 100
"""The least size of a scaled body, in bytes; a smaller body is a pixel or a word."""


def _build_from_kb(values: Sequence[float]) -> MarginalDistribution:
    return MarginalDistribution.from_percentiles([kb * published.KB_BYTES for kb in values])


_MARGINS: Mapping[Kind, MarginalDistribution] = {
    Kind.SCRIPT: _build_from_kb(published.SCRIPT_KB),
    Kind.IMAGE: _build_from_kb(published.IMAGE_KB),
    Kind.FONT: _build_from_kb(published.FONT_KB),
    Kind.STYLESHEET: _build_from_kb(published.STYLESHEET_KB),
    Kind.MEDIA: MarginalDistribution.log_normal(published.MEDIA_MEDIAN_BYTES, published.MEDIA_LOG_SD),
    Kind.DOCUMENT: MarginalDistribution.log_normal(published.FRAME_MEDIAN_BYTES, published.FRAME_LOG_SD),
    Kind.XHR: MarginalDistribution.log_normal(published.XHR_MEDIAN_BYTES, published.XHR_LOG_SD),
    Kind.FETCH: MarginalDistribution.log_normal(published.FETCH_MEDIAN_BYTES, published.FETCH_LOG_SD),
    Kind.BEACON: MarginalDistribution.log_normal(published.BEACON_MEDIAN_BYTES, published.BEACON_LOG_SD),
    Kind.OTHER: MarginalDistribution.log_normal(published.OTHER_MEDIAN_BYTES, published.OTHER_LOG_SD),
}
_PAGE_DOCUMENT = MarginalDistribution.log_normal(published.DOCUMENT_MEDIAN_BYTES, published.DOCUMENT_LOG_SD)
_SWELLING = (Kind.IMAGE, Kind.MEDIA)
_SCALED = (Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.STYLESHEET, Kind.MEDIA)
_LOG_FACTOR_MAX, _HALVINGS = 40.0, 60
_SCORE_MAX = 2.6
"""The largest score; one file in a hundred lies further out. A page's bytes are not those of one file."""


@dataclass(frozen=True, slots=True)
class BodySizes:
    """The sizes of one body, on the wire and decoded."""

    wire_bytes: int
    raw_bytes: int


def draw_bodies(
    chance: UniformStream, nodes: Sequence[Node], manners: Sequence[RequestForm], wire_bytes: int
) -> list[BodySizes]:
    """Draw every body; the sum on the wire is the page's."""
    level = chance.log_normal(published.IMAGE_LEVEL, published.IMAGE_LEVEL_LOG_SD)
    drawn = [_draw(chance, node, manner, level) for node, manner in zip(nodes, manners, strict=True)]
    wires = _scale(nodes, drawn, wire_bytes)
    return [BodySizes(wire, _raw(chance, node.kind, wire)) for node, wire in zip(nodes, wires, strict=True)]


def _draw(chance: UniformStream, node: Node, manner: RequestForm, image_level: float) -> int:
    score = max(-_SCORE_MAX, min(_SCORE_MAX, chance.normal()))
    if node.is_redirect or not manner.has_content:
        return 0
    if node.kind is Kind.IMAGE and node.ends_chain:
        return published.PIXEL_BYTES
    size = round((_PAGE_DOCUMENT if node.is_page_document else _MARGINS[node.kind]).value(score))
    if node.kind is Kind.IMAGE:
        return round(size * image_level) if size > _LEAST_BYTES else published.PIXEL_BYTES
    return max(size, 1)


def _scale(nodes: Sequence[Node], drawn: Sequence[int], wire_bytes: int) -> list[int]:
    """Scale the kinds in `_SCALED`; when the rest alone exceeds the page's bytes, scale all kinds."""
    scaled = [
        place
        for place, (node, size) in enumerate(zip(nodes, drawn, strict=True))
        if node.kind in _SCALED and size >= _LEAST_BYTES
    ]
    kept_bytes = sum(drawn) - sum(drawn[place] for place in scaled)
    if wire_bytes - kept_bytes < _LEAST_BYTES * len(scaled) or not scaled:
        scaled = [place for place, size in enumerate(drawn) if size > 0]
        kept_bytes = 0
    swelling = sum(drawn[place] for place in scaled if nodes[place].kind in _SWELLING)
    log = _log_factor(swelling, sum(drawn[place] for place in scaled) - swelling, wire_bytes - kept_bytes)
    sizes = list(drawn)
    for place in scaled:
        exponent = 1.0 if nodes[place].kind in _SWELLING else published.TEXT_SCALE_EXPONENT
        sizes[place] = max(1, round(drawn[place] * math.exp(exponent * log)))
    largest = max(scaled, key=lambda place: sizes[place])
    sizes[largest] = max(1, sizes[largest] + wire_bytes - sum(sizes))
    return sizes


def _log_factor(swelling_bytes: int, other_bytes: int, wanted_bytes: int) -> float:
    """Find the factor's logarithm by bisection; the sum rises with the factor."""
    low, high = -_LOG_FACTOR_MAX, _LOG_FACTOR_MAX
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        made = swelling_bytes * math.exp(middle) + other_bytes * math.exp(published.TEXT_SCALE_EXPONENT * middle)
        low, high = (middle, high) if made < wanted_bytes else (low, middle)
    return (low + high) / 2


def _raw(chance: UniformStream, kind: Kind, wire: int) -> int:
    coding = published.CODING.get(kind)
    if coding is None or wire < published.CODED_FROM_BYTES:
        return wire
    ratio, median, log_sd = coding
    is_coded, drawn = chance.happens(ratio), chance.log_normal(median, log_sd)
    return max(wire, round(wire * drawn)) if is_coded else wire
