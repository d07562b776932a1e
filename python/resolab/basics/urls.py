"""URLs of pages, and their hosts, from any author.

For: splitting a URL without an error; the one spelling of a host name. Not for: refusing a user's URL (`plan.live`).
"""

import re
from urllib.parse import SplitResult, urlsplit

_NO_HOST = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
"""Characters impossible in a URL's host (URL Standard, forbidden domain code points), in any spelling."""
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
"""RFC 3986 section 2.3: such a character and its escape are one."""


def split_url(url: str) -> SplitResult:
    """Split a URL; all of an invalid URL (an unclosed bracket, for example) counts as its path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def host_in_ascii(host: str) -> str:
    """Return a host as it is looked up, in lower case and A-labels (RFC 5890 section 2.3.2.1); empty for no host.

    Like browsers and `resolab-core`: UTS #46, nontransitional. Python's own codec `idna` is of 2003 and writes `ß` as
    `ss`, the name of another domain.
    """
    if host.isascii():
        return host.lower()
    # The tables are large, and few hosts need them.
    from idna import IDNAError, uts46_remap  # noqa: PLC0415

    try:
        mapped = uts46_remap(host, std3_rules=False, transitional=False)
    except IDNAError:
        return ""
    return "" if _NO_HOST.search(mapped) else ".".join(map(_a_label, mapped.split(".")))


def host_of_split(parts: SplitResult) -> str:
    """Return the host of a split URL as `host_in_ascii`, without the final dot; empty without a host."""
    return host_in_ascii(host_as_written(parts)).rstrip(".")


def host_as_written(parts: SplitResult) -> str:
    """Return the host of a split URL; only hosts in ASCII are in lower case.

    Python's `lower` is not UTS #46: the last `Σ` of a word becomes `ς`, a letter of another domain.
    """
    host = parts.hostname or ""
    return host if host.isascii() else parts.netloc.rpartition("@")[2].partition(":")[0]


def plain_escapes(text: str) -> str:
    """Return a part of a URL with the escapes needed and no others (RFC 3986 sections 6.2.2.1 and 6.2.2.2)."""
    return _ESCAPE.sub(_plain_escape, text)


def _plain_escape(found: re.Match[str]) -> str:
    meant = chr(int(found[1], 16))
    return meant if _UNRESERVED.fullmatch(meant) else found[0].upper()


def _a_label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode()}"
