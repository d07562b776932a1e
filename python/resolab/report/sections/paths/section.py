"""The section of the waits of modelled pages' loads: parts, lookups and connections by arm.

For: rounding and words. Not for: finding paths (`loads`) or sums (`summary`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from resolab.basics.wording import format_count
from resolab.pages.path import PhaseKind
from resolab.plan import Plan
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import estimate_text, interval_text
from resolab.report.plots.save import Value
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.paths.loads import TABLES_READ, LoadPaths, load_paths
from resolab.report.sections.paths.models import read_models
from resolab.report.sections.paths.summary import PathSummary, path_summaries
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent
from resolab.stats import Estimate

PART_WORDS = {
    PhaseKind.BROWSER: "browser",
    PhaseKind.DNS: "DNS",
    PhaseKind.CONNECT: "connect",
    PhaseKind.HANDSHAKE: "TLS, QUIC",
    PhaseKind.ROUND_TRIP: "round trip",
    PhaseKind.SERVER: "server",
    PhaseKind.TRANSFER: "transfer",
    PhaseKind.UNTOLD: "untold",
}
_COUNT_WORDS = {
    "connections": "connections",
    "unused": "unused",
    "failed": "failed",
    "full": "full",
    "resumed": "resumed",
    "zero_rtt": "0-RTT",
    "names": "names asked",
    "sharing_names": "on others' connections",
    "may_share_names": "may share",
}


_PATHS = Part("Waits of the loads", TABLES_READ, ("path_parts", "path_lookups", "path_connections"), "paths")


def _build(reading: Reading) -> SectionContent:
    if not reading.lacks(TABLES_READ):
        return path_content(reading.folder, reading.plan, reading.findings.pages)
    has_models = bool(read_models(reading.plan, reading.findings.pages))
    return SectionContent(note_missing(reading, _PATHS) if has_models else [])


def path_content(folder: Path, plan: Plan, pages: Sequence[str]) -> SectionContent:
    """Build the tables and notes of a dataset; empty without a modelled page or without any path."""
    models = read_models(plan, pages)
    # Every trial is read: nothing is, for pages nobody has a model of.
    paths = load_paths(folder, models) if models else LoadPaths((), (), 0)
    summaries = path_summaries(paths.found)
    if not summaries:
        return SectionContent([])
    served = [one for one in summaries if one.connections]
    tables = [_parts(summaries), _lookups(summaries), *([_connections(served)] if served else [])]
    return SectionContent([*tables, *list_notes(_notes(paths, summaries))])


def _parts(summaries: Sequence[PathSummary]) -> NamedTable:
    parts = [part for part in PhaseKind if any(one.shares_ratio[part].high for one in summaries)]
    columns = ("arm", "pages", "loads", "load ms", *(f"{PART_WORDS[part]} %" for part in parts))
    rows = [
        (
            one.arm,
            str(one.pages_count),
            str(one.loads_count),
            estimate_text(one.load_ms, 0),
            *(estimate_text(one.shares_ratio[part], scale=100) for part in parts),
        )
        for one in summaries
    ]
    numbers = [
        {**_head(one), **_columns("load_ms", one.load_ms)}
        | {key: value for part in parts for key, value in _columns(f"{part}_ratio", one.shares_ratio[part]).items()}
        for one in summaries
    ]
    note = (
        "The chain of requests that the load event waited for, each stretch of it in one part: medians of the shares "
        "of the load time, which need not sum up to 100. Browser: queueing, parsing, computing, timers. Round trip: "
        "the way to the server and back, the access network's where no handshake tells more; server: what it took "
        "beyond."
    )
    return NamedTable("path_parts", "Where the time of a load went", _table(columns, rows), numbers, note)


def _lookups(summaries: Sequence[PathSummary]) -> NamedTable:
    columns = ("arm", "blocking look-ups", "all look-ups", "on the path ms", "interval", "closed form ms")
    rows = [
        (
            one.arm,
            estimate_text(one.blocking_lookups_count),
            estimate_text(one.lookups_count),
            estimate_text(one.lookup_ms),
            interval_text(one.lookup_ms),
            estimate_text(one.predicted_lookup_ms),
        )
        for one in summaries
    ]
    numbers = [
        {
            **_head(one),
            **_columns("blocking_lookups_count", one.blocking_lookups_count),
            **_columns("lookups_count", one.lookups_count),
            **_columns("lookup_ms", one.lookup_ms),
            **_columns("predicted_lookup_ms", one.predicted_lookup_ms),
        }
        for one in summaries
    ]
    note = (
        "Blocking: names whose look-up the load event waited for, of all that were looked up before it. Closed form: "
        "round trips of the look-ups on the page's longest chain, and of the connection to the resolver, and what it "
        "takes to find the names it lacks; the page's servers are as far as the plan has them."
    )
    return NamedTable("path_lookups", "Blocking look-ups", _table(columns, rows), numbers, note)


def _connections(summaries: Sequence[PathSummary]) -> NamedTable:
    counted = list(summaries[0].connections)
    columns = ("arm", *(_COUNT_WORDS[what] for what in counted))
    rows = [(one.arm, *(estimate_text(one.connections[what]) for what in counted)) for one in summaries]
    numbers = [
        _head(one) | {key: v for what in counted for key, v in _columns(f"{what}_count", one.connections[what]).items()}
        for one in summaries
    ]
    note = (
        "As the server saw them, up to the load event. On others' connections: names whose requests all went over "
        "connections opened for other names, by the browser's own rule. May share: names that have address and "
        "certificate in common with another one of the page (RFC 9113, section 9.1.1)."
    )
    return NamedTable("path_connections", "Connections, and who shared them", _table(columns, rows), numbers, note)


def _notes(paths: LoadPaths, summaries: Sequence[PathSummary]) -> Iterator[str]:
    yield (
        "Of pages that have a model: who discovered whom is the model's, instants are the browser's and the server's "
        "(docs/method/critical-path.md). Medians over pages where there are several, over loads where there is one. "
        "Load by load: resolab page critical-path DATASET MODELS --trial ID."
    )
    untold = sum(one.with_untold_count for one in summaries)
    if untold:
        yield f"{untold} loads lack requests of their model: their paths may have gone through those."
    unserved = sum(one.loads_count - (one.connections["names"].n if one.connections else 0) for one in summaries)
    if unserved and any(one.connections for one in summaries):
        lacking = format_count(unserved, "load")
        yield f"The table of connections lacks {lacking}: nobody knows when they began by the server's clock."
    yield from (f"{told[:1].upper()}{told[1:]}." for told in paths.left_out)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return Table(columns, rows, frozenset({0}))


def _head(one: PathSummary) -> dict[str, Value]:
    return {"arm": one.arm, "pages_count": one.pages_count, "loads_count": one.loads_count}


def _columns(name: str, estimate: Estimate) -> Mapping[str, Value]:
    return {name: estimate.value, f"{name}_ci_low": estimate.ci_low, f"{name}_ci_high": estimate.ci_high}


SECTION = Section(
    id="paths",
    title="What loads waited for: look-ups, connections, servers, the browser",
    link="What loads waited for",
    applies=lambda reading: not reading.is_live,
    build=_build,
)
