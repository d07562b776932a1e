"""URLs of pages, which anybody wrote.

For: their parts, without an error. Not for: refusing a URL that a user typed (`plan.live`), or names of hosts.
"""

from urllib.parse import SplitResult, urlsplit


def split_url(url: str) -> SplitResult:
    """Take a URL apart; all of what is none (a bracket that nothing closes, for example) counts as its path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")
