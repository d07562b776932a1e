"""Words as SQL literals, for statements over closed vocabularies.

For: lists behind `IN`. Not for: values given by a user; pass these as parameters.
"""

from collections.abc import Iterable


def literal(word: str) -> str:
    """Write a word as an SQL literal."""
    return "'" + word.replace("'", "''") + "'"


def literal_list(words: Iterable[str]) -> str:
    """Write words as a list in parentheses."""
    return f"({', '.join(repr(str(word)) for word in words)})"
