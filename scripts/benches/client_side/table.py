"""Both verdicts as a table. Not for: measuring."""

from collections import Counter
from collections.abc import Sequence

from benches.client_side.verdicts import ASPECTS, VerdictPair
from benches.common.part import BenchPart

COLUMNS = ["browser", "resolver", "page", "aspect", "loads", "agree", "null", "disagree", "verdict"]


def agreement(pairs: Sequence[VerdictPair]) -> BenchPart:
    """Count the pairs by group and aspect; no pair may disagree."""
    part = BenchPart("agreement", "the client's side alone against the edge", COLUMNS)
    for group in dict.fromkeys(pair.group for pair in pairs):
        for aspect in ASPECTS:
            of_aspect = [pair for pair in pairs if pair.group == group and pair.aspect == aspect]
            words = Counter(pair.word for pair in of_aspect)
            if all(pair.edge is None for pair in of_aspect) and not words["disagree"]:
                continue  # There is no such thing, and both say so.
            counts = [str(words[word]) for word in ("agree", "null", "disagree")]
            # A client's side that says nothing does not agree either.
            verdict = "MISSED" if words["disagree"] or words["null"] > words["agree"] else "met"
            cells = [group.browser, group.way, group.version, aspect, str(len(of_aspect)), *counts, verdict]
            part.add(cells, {"group": vars(group), "aspect": aspect, **words})
    others = [pair for pair in pairs if pair.word != "agree"]
    wrong = Counter((pair.group, pair.aspect, pair.asked, pair.edge, pair.client) for pair in others)
    for (group, aspect, asked, edge, client), count in wrong.items():
        where = f"{group.browser} {group.way} {group.version}, asked for {asked}"
        part.remarks.append(f"{count}x {where}: {aspect} is {edge} by the edge, {client} by the client's side")
    totals = Counter(pair.word for pair in pairs if pair.edge is not None or pair.client is not None)
    part.remarks.append("all: " + ", ".join(f"{totals[word]} {word}" for word in ("agree", "null", "disagree")))
    return part
