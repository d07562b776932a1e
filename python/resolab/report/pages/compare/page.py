"""A comparison of two datasets as a self-contained HTML page.

For: `resolab compare --html`. Not for: its content (`text`).
"""

from resolab.basics.wording import escape_xml_controls
from resolab.report.pages.compare.changes import DatasetComparison
from resolab.report.pages.compare.text import tables, verdict
from resolab.report.pages.template import page_template


def comparison_page(found: DatasetComparison) -> str:
    """Return the HTML page of a comparison."""
    template = page_template("compare.html.j2")
    return escape_xml_controls(template.render(ids=found.dataset_ids, verdict=verdict(found), tables=tables(found)))
