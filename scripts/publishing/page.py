"""A report's page without its figures: the sentences and tables as published.

For: a small file beside the tables. Not for: the report itself, which `resolab report` makes with its figures.
"""

import re

_FIGURE = re.compile(r"<figure id=\"([^\"]*)\">.*?</figure>", re.DOTALL)
_CAPTION = re.compile(r"<figcaption>.*?</figcaption>", re.DOTALL)
_HEADER = "</header>"


def without_figures(page: str, command: str) -> str:
    """Return the page with the captions in place of the figures, and with the command that draws them."""
    note = (
        '<p class="note">Sentences and tables as published, without figures. The report with its figures, and the '
        f"files named here: <code>{command}</code></p>\n"
    )
    text = _FIGURE.sub(lambda found: f'<figure id="{found[1]}">{_caption(found[0])}</figure>', page)
    return text.replace(_HEADER, f"{note}{_HEADER}", 1)


def _caption(figure: str) -> str:
    found = _CAPTION.search(figure)
    return "" if found is None else found[0]
