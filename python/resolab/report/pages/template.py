"""The HTML templates of report, comparison and waterfall, with one look.

For: reading a template. Not for: its content, or the look itself (`templates/look.css`).
"""

import jinja2


def page_template(name: str) -> jinja2.Template:
    """Read a template; a missing value is an error, and every word is escaped."""
    loader = jinja2.PackageLoader("resolab.report.pages", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["type_name"] = lambda value: type(value).__name__
    return environment.get_template(name)
