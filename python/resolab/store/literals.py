"""Words as SQL literals, for statements over closed vocabularies.

For: lists behind `IN`. Not for: values a user gave; those are parameters.
"""

from collections.abc import Iterable


def literal(word: str) -> str:
    """Write a word."""
    return "'" + word.replace("'", "''") + "'"


def literal_list(words: Iterable[str]) -> str:
    """Write words as a list in parentheses."""
    return f"({', '.join(repr(str(word)) for word in words)})"
