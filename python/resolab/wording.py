"""Small parts of sentences that many rooms say: a number with its noun, the word that was meant.

For: messages and texts for people. Not for: numbers with units or intervals (`plots`), or any sentence as a whole.
"""

import difflib
from collections.abc import Iterable


def counted(count: int, noun: str, several: str | None = None) -> str:
    """Write a number with its noun, as `1 block` and `2 blocks`."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def meant(word: object, known: Iterable[str]) -> str:
    """Ask whether another word was meant, as the end of a sentence; empty where none is alike, or it is no word."""
    if not isinstance(word, str):
        return ""
    alike = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {alike[0]!r}?" if alike else ""
