"""Build `report/index.html` from a dataset: one self-contained file, and the figures beside it.

For: putting sections, figures and template together. Not for: any section.
"""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import escape_xml_controls
from resolab.report.answer.content import Answer, answer_of
from resolab.report.pages.template import page_template
from resolab.report.plots import save_drawings, write_csv
from resolab.report.sections.order import BuiltSection, build_sections
from resolab.report.sections.reading import Reading
from resolab.store import build_tables, ensure_tables, machine_errors, open_dataset
from resolab.store.folder import FIGURES, PAGE, REPORT, is_published


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report: the path of its page, and the results of its dataset for the terminal."""

    page: Path
    reading: Reading


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
        reading = Reading(dataset)
        answer, sections = answer_of(reading.findings), build_sections(reading)
        # The terminal asks for these results, too, after the dataset is closed.
        _ = reading.live
    with _report_errors(target):
        for left in folder.glob(f".{REPORT}-*"):
            shutil.rmtree(left)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            fresh.chmod(0o755)
            page = _render(reading, answer, sections, fresh)
            (fresh / PAGE).write_text(escape_xml_controls(page), "utf-8")
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return Report(target / PAGE, reading)


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


def _render(reading: Reading, answer: Answer, sections: Sequence[BuiltSection], fresh: Path) -> str:
    """Write figures and tables into the new report; return its page."""
    contents = [content for _, content in sections]
    drawings = [
        *([] if answer.drawing is None else [answer.drawing]),
        *(one for content in contents for one in content.drawings),
    ]
    saved = zip(drawings, save_drawings(drawings, fresh / FIGURES), strict=True)
    figures = {one.name: {"svg": Markup(svg), "caption": one.caption} for one, svg in saved}  # noqa: S704
    (fresh / FIGURES).mkdir(exist_ok=True)  # there may be tables only
    for table in (one for content in contents for one in content.tables):
        write_csv(table.rows, fresh / FIGURES / f"{table.name}.csv")
    shown = [(section, content) for section, content in sections if content.blocks]
    return page_template("report.html.j2").render(plan=reading.plan, answer=answer, figures=figures, sections=shown)
