"""A comparison of two datasets as a self-contained HTML page.

For: `resolab compare --html`. Not for: its content (`text`).
"""

import jinja2

from resolab.report.compare.changes import DatasetComparison
from resolab.report.compare.text import tables, verdict
from resolab.wording import escape_xml_controls

_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>resolab compare: {{ ids[0] }} and {{ ids[1] }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-bottom: 2rem; }
th, td { border-bottom: 1px solid #ccc; padding: .2rem .7rem; text-align: right; vertical-align: top; }
.word { text-align: left; overflow-wrap: anywhere; }
.verdict { font-size: 1.15rem; border-left: 4px solid #444; padding-left: 1rem; }
</style></head><body>
<h1>Two datasets compared</h1>
<p>A: {{ ids[0] }}<br>B: {{ ids[1] }}</p>
<p class="verdict">{{ verdict }}</p>
{% for title, table in tables %}
<h2>{{ title }}</h2>
<table><thead><tr>
{% for column in table.columns %}<th{% if loop.index0 in table.words %} class="word"{% endif %}>{{ column }}</th>
{% endfor %}</tr></thead><tbody>
{% for row in table.rows %}<tr>
{% for cell in row %}<td{% if loop.index0 in table.words %} class="word"{% endif %}>{{ cell }}</td>
{% endfor %}</tr>
{% endfor %}</tbody></table>
{% endfor %}
<p>Intervals hold 95 % each; p-values are of rank-sum tests, adjusted by Holm over all rows of a table. ~ means within
noise. Failed loads count as at least their limit. Every statistic: docs/method/statistics.md.</p>
</body></html>
"""


def comparison_page(found: DatasetComparison) -> str:
    """Return the HTML page of a comparison."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_TEMPLATE)
    return escape_xml_controls(template.render(ids=found.dataset_ids, verdict=verdict(found), tables=tables(found)))
