"""Parts of sentences used by many packages: a number with its noun, the word probably meant.

For: messages and texts for people. Not for: numbers with units or intervals (`plots`), or any sentence as a whole.
"""

import difflib
import re
from collections.abc import Iterable

_NOT_IN_XML = re.compile("[^\\t\\n\\r\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_count(count: int, noun: str, several: str | None = None) -> str:
    """Write a number with its noun, as `1 block` and `2 blocks`."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


_OTHER_WORDS = {
    "do53": "doudp",
    "dns": "doudp",
    "udp": "doudp",
    "tcp": "dotcp",
    "tls": "dot",
    "https": "doh",
    "http3": "h3",
    "http2": "h2",
    "quic": "doq",
    "0rtt": "zero_rtt",
    "earlydata": "zero_rtt",
    "chrome": "chromium",
}
"""Words of the field for levels of plans, in small letters and without separators."""


def suggest_word(word: object, known: Iterable[str]) -> str:
    """Ask for the nearest known word, as the end of a sentence; empty without a similar word, or for a non-string."""
    if not isinstance(word, str):
        return ""
    words = list(known)
    other = _OTHER_WORDS.get(re.sub(r"[\W_]", "", word.lower()))
    if other in words:
        return f"; did you mean {other!r}?"
    alike = difflib.get_close_matches(word.lower(), words, n=1)
    return f"; did you mean {alike[0]!r}?" if alike else ""


def clean(words: str) -> str:
    """Replace control characters of a terminal, line breaks included, in foreign text before display."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)


def escape_xml_controls(text: str) -> str:
    """Replace the characters forbidden in any XML document, escaped or not (XML 1.0, section 2.2)."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def clip_text(words: str, *, longest: int = 200) -> str:
    """Write foreign text as part of a line: clean, and cut to `longest` characters."""
    kept = clean(words[: longest + 1])
    return kept if len(kept) <= longest else f"{kept[:longest]}..."
