"""Fig. 2 of Hounsel et al. for a live dataset: the matrix of differences between every two configurations.

For: a figure for each vantage point, and its caption. Not for: the pairs (`pairs`).
"""

from collections.abc import Iterator, Sequence

from resolab.report.live.configurations.sampling import describe_sampling
from resolab.report.live.pairs import ConfigurationPair
from resolab.report.live.study import LiveStudy
from resolab.report.parts.captions import intervals_text
from resolab.report.parts.failure_sentences import flags_and_drops
from resolab.report.plots import Drawing
from resolab.report.plots.difference_matrix import MatrixCell, draw_difference_matrix
from resolab.studies.h20.live.responses import figure_name
from resolab.studies.h20.paper_numbers import CITATION


def matrix_drawings(study: LiveStudy, pairs: Sequence[ConfigurationPair]) -> Iterator[Drawing]:
    """Draw a matrix for each vantage point with at least one pair of configurations."""
    for place in study.profiles:
        own = [one for one in pairs if one.profile == place]
        if any(one.curve.median_ms.n for one in own):
            name = figure_name("live_fig2", study, place)
            yield draw_difference_matrix(name, _caption(study, own, place), [_cell(study, one) for one in own])


def _cell(study: LiveStudy, one: ConfigurationPair) -> MatrixCell:
    return MatrixCell(one.treatment.label(study.resolvers), one.baseline.label(study.resolvers), one.curve)


def _caption(study: LiveStudy, pairs: Sequence[ConfigurationPair], place: str) -> str:
    counts = [one.curve.median_ms.n for one in pairs]
    lost = [one.both_failed_count for one in pairs]
    loads = [load for arm in study.loads[place].values() for load in arm.values()]
    failed = sum(load.failure is not None for load in loads)
    sampled = describe_sampling((one.curve.unit, one.curve.pages_count) for one in pairs)
    return (
        f"Differences of {study.outcome.phrase} between every two configurations from {place}, row minus column, "
        f"paired by site and round ({CITATION}, Fig. 2). Each cell: the cumulative distribution, its median as a line "
        "and a number with its interval, colour by the paper's border of 30 ms; the one at 100 ms is ours. A dashed "
        "frame marks cells whose interval contains 0, whatever their colour. "
        f"{min(counts)} to {max(counts)} pairs a cell. {failed} of {len(loads)} loads failed and count as at least "
        f"their limit; {flags_and_drops(study.findings)}. Pairs of which one failed are bounds: the two edges of a "
        "curve hold all it can be; the CSV has their number, and the paper's way beside it, in which they are dropped "
        "(survivor columns). Pairs of which both failed say nothing of a difference and are left out "
        f"({min(lost)} to {max(lost)} a cell). Medians have "
        f"{intervals_text(one.curve.median_ms for one in pairs)}: {sampled}. {study.dataset_words}"
    )
