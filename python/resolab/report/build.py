"""Build `report/index.html` from a dataset: one self-contained file, and the figures beside it.

For: putting findings, figures and template together. Not for: any of their contents.
"""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from resolab.errors import ConfigurationError
from resolab.plots import Drawing, save_drawings, write_csv
from resolab.records import TrialKind
from resolab.report.adjusted import build_adjusted_tables
from resolab.report.answer.content import answer_of
from resolab.report.calibrations import calibration_table, outside_count
from resolab.report.closed_form import build_closed_form_table
from resolab.report.comparison_tables import aa_sentences, aa_table, comparison_table
from resolab.report.connections.hellos import hello_table
from resolab.report.connections.section import connection_section
from resolab.report.decisions import decision_table
from resolab.report.effects import effect_tables, slope_sentences
from resolab.report.environment import command_line, environment, profiles
from resolab.report.failures import failures_line, trouble_sentence
from resolab.report.figures import drawings
from resolab.report.findings.analysis import analyse
from resolab.report.findings.estimands import WORDS
from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.findings.interval_level import find_level, find_significance, level_text
from resolab.report.h20.section import H20Section
from resolab.report.h20.study import has_h20_network
from resolab.report.labels import baseline_label
from resolab.report.live.answers import live_answers
from resolab.report.live.circumstances import live_environment, live_lines
from resolab.report.live.section import LiveSection
from resolab.report.name_counts import names_drawing
from resolab.report.named_table import NamedTable
from resolab.report.outcome_tables import further_outcomes, outcome_table, sum_table
from resolab.report.paths.loads import TABLES_READ
from resolab.report.paths.section import PathSection, path_section
from resolab.report.places.comparison_table import build_across_table
from resolab.report.plain_answers import plain_answers, too_few_sentence
from resolab.report.s24.paper_comparison import paper_exchange_table, paper_load_table
from resolab.report.s24.paper_numbers import CITATION
from resolab.report.s24.section import S24Section
from resolab.report.sensitivity import sensitivity_table
from resolab.report.sentences import answers
from resolab.report.shift_functions import shift_drawings, shift_table
from resolab.report.statuses import CITATION as STATUSES_CITATION
from resolab.report.tables import (
    Table,
    exchange_table,
    failure_table,
    flag_table,
    handshake_table,
    lateness_table,
    rename_live_columns,
    status_table,
)
from resolab.report.template import page_template
from resolab.report.unpublished import lacks, lines_of_missing_tables
from resolab.store import Dataset, build_tables, ensure_tables, machine_errors, open_dataset
from resolab.store.folder import FIGURES, PAGE, REPORT, is_published
from resolab.wording import escape_xml_controls


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report: the path of its page, and its findings."""

    page: Path
    findings: Findings


LIVE_TITLE = "By resolver and vantage point, as Hounsel et al. (2020)"


def make_report(folder: Path, out: Path | None = None) -> Report:
    """Rebuild the tables and the report of a dataset, completely or not at all; the report may lie elsewhere.

    A published dataset has its tables only, which stay as they are.
    """
    target = folder / REPORT if out is None else _report_place(out)
    _try_place(target)
    if is_published(folder):
        ensure_tables(folder)
    else:
        build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
        papers = _papers(dataset, findings)
    with _report_errors(target):
        for left in folder.glob(f".{REPORT}-*"):
            shutil.rmtree(left)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            fresh.chmod(0o755)
            page = _render(findings, fresh, papers, folder)
            (fresh / PAGE).write_text(escape_xml_controls(page), "utf-8")
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return Report(target / PAGE, findings)


def _report_errors(target: Path) -> AbstractContextManager[None]:
    return machine_errors(f"write the report {target}", elsewhere="name another place with --output")


def _try_place(target: Path) -> None:
    """Fail before the estimates where no report can be written after them."""
    with _report_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent).cleanup()


def _report_place(out: Path) -> Path:
    """Return the folder of a report; only an empty folder and an older report are replaced."""
    if out.exists() and not (out.is_dir() and {one.name for one in out.iterdir()} <= {PAGE, FIGURES}):
        problem = "it holds something other than a report"
        raise ConfigurationError(f"could not write the report into {out}: {problem}; give a new folder")
    return out.absolute()


def build_report(folder: Path) -> Path:
    """Rebuild tables and report; return the path of the page."""
    return make_report(folder).page


@dataclass(frozen=True, slots=True)
class PaperSection:
    """The report's figures and tables with a paper's own numbers, and the list of missing figures."""

    anchor: str
    title: str
    drawings: Sequence[Drawing]
    tables: Sequence[NamedTable]
    missing: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Names of the figures, in the paper's order."""
        return [one.name for one in self.drawings]


def _papers(dataset: Dataset, findings: Findings) -> list[PaperSection]:
    """Draw the available figures of each paper with the dataset's networks and pages, or with its method."""
    if findings.live is not None:
        live = LiveSection(dataset, findings, findings.live)
        return [PaperSection("live", LIVE_TITLE, list(live.drawings()), live.tables(), live.missing())]
    if findings.plan.kind is not TrialKind.PAGE_LOAD:
        return []
    s24, h20 = S24Section(dataset, findings), H20Section(dataset, findings)
    papers = []
    if s24.is_theirs:
        drawn = list(s24.drawings())
        missing = s24.missing(one.name for one in drawn)
        if lacks(findings, ["queries"]):
            missing.append("Figures and tables of DNS exchanges: this published folder has no table queries.")
        papers.append(PaperSection("s24", "Sengupta et al. (2024)", drawn, s24.tables(), missing))
    if h20.is_theirs:
        papers.append(PaperSection("h20", "Hounsel et al. (2020)", list(h20.drawings()), h20.tables(), h20.missing()))
    return [one for one in papers if one.drawings or lacks(findings, ["queries"])]


def _render(findings: Findings, fresh: Path, papers: Sequence[PaperSection], folder: Path) -> str:
    """Write the figures into the new report and return its page."""
    paths = _paths(findings, folder)
    connections, answer = connection_section(findings), answer_of(findings)
    of_answer = () if answer.drawing is None else (answer.drawing,)
    figures = _draw(findings, fresh / FIGURES, [*of_answer, *connections.drawings, *_drawn(papers)])
    sensitivity = _told_named(findings, sensitivity_table(findings))
    effects = _effects(findings)
    of_paths = paths.tables if paths is not None else ()
    of_papers = (one for paper in papers for one in paper.tables)
    for one in (sensitivity, *effects, *connections.tables, *of_paths, *of_papers):
        write_csv(one.rows, fresh / FIGURES / f"{one.name}.csv")
    return page_template("report.html.j2").render(
        **_content(findings),
        answer=answer,
        figures=figures,
        sensitivity=sensitivity,
        effects=effects,
        connections=connections,
        papers=papers,
        paths=paths,
        missing=lines_of_missing_tables(findings, folder),
    )


def _paths(findings: Findings, folder: Path) -> PathSection | None:
    if findings.live is not None or lacks(findings, TABLES_READ):
        return None
    return path_section(folder, findings.plan, findings.pages)


def _drawn(papers: Sequence[PaperSection]) -> list[Drawing]:
    return [one for paper in papers for one in paper.drawings]


def _draw(findings: Findings, folder: Path, further: Sequence[Drawing]) -> dict[str, dict[str, str]]:
    """Draw every available figure, and save the figures as files."""
    by_names = names_drawing(findings)
    of_names = () if by_names is None else (by_names,)
    drawn = [*drawings(findings), *of_names, *shift_drawings(findings), *further]
    saved = zip(drawn, save_drawings(drawn, folder), strict=True)
    folder.mkdir(exist_ok=True)  # there may be tables only
    return {drawing.name: {"svg": Markup(svg), "caption": drawing.caption} for drawing, svg in saved}  # noqa: S704


def _effects(findings: Findings) -> list[NamedTable]:
    """List the tables of the conditions' effects, beside the tables of each outcome."""
    tables = (
        build_across_table(findings),
        *effect_tables(findings),
        build_closed_form_table(findings),
        shift_table(findings),
        *build_adjusted_tables(findings),
    )
    return [_told_named(findings, one) for one in tables if one is not None]


def _content(findings: Findings) -> dict[str, Any]:
    """Collect the fixed content of the page, independent of its figures."""
    return {
        "findings": findings,
        "manifest": findings.manifest,
        "plan": findings.plan,
        "plain_answers": plain_answers(findings),
        "trouble": trouble_sentence(findings),
        "failures_line": failures_line(findings),
        "estimand": WORDS[findings.plan.analysis.estimand],
        "too_few": too_few_sentence(findings.primary, find_significance(findings.plan)),
        "live_lines": live_lines(findings),
        "live_answers": live_answers(findings),
        "answers": answers(findings),
        "baseline": baseline_label(findings),
        "level": level_text(find_level(findings.plan)),
        "significance": level_text(find_significance(findings.plan)),
        "citation": CITATION,
        "statuses_citation": STATUSES_CITATION,
        "tables": _told(findings, _tables(findings)),
        "comparisons_title": "The comparisons the plan names"
        if findings.plan.comparison_rules
        else "Each condition against its baseline, tested",
        "slope_sentences": slope_sentences(findings),
        "aa_sentences": aa_sentences(findings),
        "outcomes": [_told(findings, _section(findings, found)) for found in further_outcomes(findings)],
        "device_drops": sum(one.dropped_device_count for one in findings.lateness),
        "calibrations_outside": outside_count(findings),
        "environment": [*environment(findings), *live_environment(findings)],
        "profiles": [] if findings.live else profiles(findings),
        "command_line": command_line(findings),
    }


def _told_named(findings: Findings, one: NamedTable) -> NamedTable:
    return one if findings.live is None else replace(one, table=rename_live_columns(one.table))


def _told(findings: Findings, parts: dict[str, Any]) -> dict[str, Any]:
    """Adapt the tables' words to the live network."""
    if findings.live is None:
        return parts
    return {name: rename_live_columns(one) if isinstance(one, Table) else one for name, one in parts.items()}


def _tables(findings: Findings) -> dict[str, Table]:
    return {
        "failures": failure_table(findings),
        "statuses": status_table(findings) if findings.live is None and has_h20_network(findings) else Table((), ()),
        "flags": flag_table(findings),
        "handshakes": handshake_table(findings),
        "hellos": hello_table(findings.hellos),
        "exchanges": exchange_table(findings),
        "loads": outcome_table(findings, findings.plt),
        "comparisons": comparison_table(findings, findings.plt),
        "aa": aa_table(findings, findings.plt),
        "decisions": decision_table(findings),
        "plt_sums": sum_table(findings),
        "paper_exchanges": paper_exchange_table(findings),
        "paper_loads": paper_load_table(findings),
        "lateness": lateness_table(findings),
        "calibrations": calibration_table(findings),
    }


def _section(findings: Findings, found: OutcomeFindings) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "loads": outcome_table(findings, found),
        "comparisons": comparison_table(findings, found),
        "aa": aa_table(findings, found),
    }
