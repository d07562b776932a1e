"""Style sheets of a clone: imports, and rules with fonts and pictures used by elements of the document.

For: the text of a style sheet. Not for: its filling (`body`), or the elements (`document`).
"""

from collections.abc import Sequence

from resolab.pages.clone.names import make_url
from resolab.pages.model import Kind, PageModel


def stylesheet_text(model: PageModel, styles: Sequence[int]) -> str:
    """Write the rules for a style sheet's requests; imports come first (CSS Cascade, section 2)."""
    imports = [place for place in styles if model.resources[place].kind is Kind.STYLESHEET]
    others = [place for place in styles if place not in set(imports)]
    return "".join(
        [
            *(f"@import url({make_url(model, place)});" for place in imports),
            *(_rule(model, place) for place in others),
        ]
    )


def _rule(model: PageModel, place: int) -> str:
    url = make_url(model, place)
    if model.resources[place].kind is Kind.FONT:
        # A font is fetched when a letter of it is to be shown (CSS Fonts 4, section 4.8.3).
        return f"@font-face{{font-family:f{place};src:url({url})}}#s{place}{{font-family:f{place}}}"
    return f"#s{place}{{background:url({url})}}"
