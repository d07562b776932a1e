"""Generated pages: models of pages that nobody recorded, drawn jointly from published distributions.

How and from what: docs/method/generated-pages.md. Not for: real pages (`recordings`), or serving (`pages.clone`).
"""

from resolab.pages.generated.page import generate, name_of, serves

__all__ = ["generate", "name_of", "serves"]
