"""URLs of pages, from any author.

For: splitting a URL without an error. Not for: refusing a user's URL (`plan.live`), or names of hosts.
"""

from urllib.parse import SplitResult, urlsplit


def split_url(url: str) -> SplitResult:
    """Split a URL; all of an invalid URL (an unclosed bracket, for example) counts as its path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")
