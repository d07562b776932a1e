"""Generated pages: models of unrecorded pages, drawn jointly from published distributions.

Method and sources: docs/method/generated-pages.md. Not for: real pages (`recordings`), or serving (`pages.clone`).
"""

from resolab.pages.generated.page import generate, name_of, serves

__all__ = ["generate", "name_of", "serves"]
