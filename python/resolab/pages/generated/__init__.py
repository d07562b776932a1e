"""Generated pages: models of unrecorded pages, drawn jointly from published distributions.

Method and sources: docs/method/generated-pages.md. Not for: real pages (`recordings`), or serving (`pages.clone`).
"""

from resolab.pages.generated.page import format_name, generate, serves

__all__ = ["format_name", "generate", "serves"]
