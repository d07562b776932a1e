"""The section of explanations: how to read the report.

For: the terms of every report. Not for: notes under single tables, which stand with them.
"""

from resolab.report.findings.interval_level import find_level, level_text
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Definitions, Section, SectionContent

_CONDITIONS = (
    "A condition is one level of each factor. A block runs every condition once in random order; a condition is "
    "compared with its baseline within the same block, so that slow drifts of the machine cancel."
)
_BOUNDS = (
    "Loads that did not end are known to be at least their limit. A median is a number only while fewer than half of "
    "the values are such; otherwise it is printed as a bound."
)
_HANDSHAKES = (
    "full: no ticket; resumed: a ticket without early data; 0-RTT: the request itself was accepted as early data."
)


def _build(reading: Reading) -> SectionContent:
    rows = (
        ("Condition, block, pair", _CONDITIONS),
        ("Interval", _describe_intervals(reading)),
        ("≥ and ∞", _BOUNDS),
        ("Left out", _describe_left_out(reading)),
        ("Handshakes", _HANDSHAKES),
    )
    return SectionContent([Definitions(rows)])


def _describe_intervals(reading: Reading) -> str:
    stop, stopping = reading.plan.stop, ""
    if stop is not None and stop.drops_conditions:
        stopping = " (of page loads, 95 % confidence sequences instead, from eight blocks on)"
    elif stop is not None:
        stopping = " (the plan may stop by them, which costs some of a level: docs/method/statistics.md)"
    return (
        "Of medians and paired differences between order statistics of blocks (for DNS exchanges of single exchanges), "
        f"interpolated to {level_text(find_level(reading.plan))}{stopping}; of five or six values their range, with "
        "the level it reaches; of fewer none. Of relative changes by percentile bootstrap over blocks, seeded, from "
        "eight blocks on. The method stands under each figure; how often each holds the truth was simulated "
        "(docs/method/statistics.md)."
    )


def _describe_left_out(reading: Reading) -> str:
    live = (
        " On the live network, too: loads that our manners refused and, of comparisons alone, pairs of which both "
        "loads failed, for a site that loads for nobody says nothing of a difference."
    )
    return (
        "Only loads lost to the instrument itself (driver, browser crash or hang), or never made; the tables count "
        f"them as lost.{live if reading.is_live else ''}"
    )


SECTION = Section(id="reading", title="How to read this", link="How to read", build=_build)
