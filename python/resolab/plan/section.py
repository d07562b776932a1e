"""One table of a plan file, handing out keys by type.

For: messages with file, key and allowed values. Not for: the meaning of keys.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import suggest_word

MISSING = object()
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""The pattern for names in a plan: names become parts of condition identifiers, joined by dots."""
Bounds = tuple[float, float]


class PlanSection:
    """A TOML table with a memory of the requested keys, for reporting unknown keys."""

    def __init__(self, source: str, table: Mapping[str, object], name: str = "") -> None:
        self.source = source
        self.name = name
        self._table = table
        self._known: list[str] = []

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the one-line error of a key; with an empty key, of the whole table."""
        path = ".".join(part for part in (self.name, key) if part)
        raise ConfigurationError(f"{self.source}: {path}: {problem}")

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def text(self, key: str) -> str:
        """Take a non-empty string."""
        value = self._take(key)
        if not isinstance(value, str) or not value.strip():
            self.fail(key, f"must be a text, not {value!r}")
        return value

    def texts(self, key: str) -> list[str]:
        """Take a list of non-empty strings, at least one; strings may repeat."""
        value = self._take(key)
        if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
            self.fail(key, f"must be a list of texts, not {value!r}")
        return list(value)

    def integer(self, key: str, *, low: int, high: int, default: object = MISSING) -> int:
        """Take a whole number within [low, high]; required without a default."""
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(key, f"must be a whole number from {low} to {high}, not {value!r}")
        return value

    def number(self, key: str, *, above: float, high: float, default: float) -> float:
        """Take a number within (above, high]."""
        value = self._take(key, default)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not above < value <= high:
            self.fail(key, f"must be a number above {above:g} and at most {high:g}, not {value!r}")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Take true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {value!r}")
        return value

    def optional_number(self, key: str, *, above: float, high: float) -> float | None:
        """Take a number within (above, high], or `None` when the key is absent."""
        if key in self._table:
            return self.number(key, above=above, high=high, default=high)
        self._known.append(key)
        return None

    def take_optional_word(self, key: str, allowed: Sequence[str], bounds: Bounds | None = None) -> str | None:
        """Take a word of a closed list, or `None` when the key is absent; with bounds, a number as its word."""
        if key not in self._table:
            self._known.append(key)
            return None
        value = self._spell_number(key, self._take(key), bounds)
        if not isinstance(value, str) or value not in allowed:
            self.fail(key, f"unknown level {value!r}; allowed: {_join_words(allowed)}{suggest_word(value, allowed)}")
        return value

    def levels(self, key: str, allowed: Sequence[str] | None, bounds: Bounds | None = None) -> tuple[str, ...]:
        """Take the levels of a factor: at least one level, no repetition, only words of the closed list if given.

        With bounds the levels are numbers within [low, high], returned as words.
        """
        value = self._take(key)
        hint = f"; allowed: {_join_words(allowed)}" if allowed is not None else ""
        if not isinstance(value, list):
            self.fail(key, f"must be a list of levels, not {value!r}{hint}")
        if not value:
            self.fail(key, f"has no level; give at least one{hint}")
        words = [self._spell_number(key, level, bounds) for level in value]
        for level in words:
            if not isinstance(level, str) or (allowed is not None and level not in allowed):
                self.fail(key, f"unknown level {level!r}{hint}{suggest_word(level, allowed or ())}")
        if len(set(words)) < len(words):
            self.fail(key, "names a level twice; name each once")
        return tuple(str(word) for word in words)

    def optional_levels(
        self, key: str, allowed: Sequence[str] | None, bounds: Bounds | None = None
    ) -> tuple[str, ...] | None:
        """Take the levels of a factor, or `None` when the key is absent."""
        if key in self._table:
            return self.levels(key, allowed, bounds)
        self._known.append(key)
        return None

    def _spell_number(self, key: str, value: object, bounds: Bounds | None) -> object:
        """Turn a number within bounds into a word; whole bounds ask for a whole number."""
        if bounds is None:
            return value
        low, high = bounds
        if isinstance(low, int) and isinstance(value, float):
            self.fail(key, f"must hold whole numbers from {low} to {high}, not {value!r}")
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            self.fail(key, f"must hold numbers from {low:g} to {high:g}, not {value!r}")
        return str(value) if isinstance(low, int) else f"{value:g}"

    def is_list(self, key: str) -> bool:
        """Return True when a key exists and holds a list."""
        return isinstance(self._table.get(key), list)

    def take_word(self, key: str, allowed: Sequence[str]) -> str:
        """Take a required word of a closed list."""
        value = self._take(key)
        if value not in allowed:
            self.fail(key, f"must be one of {_join_words(allowed)}, not {value!r}")
        return str(value)

    def values(self, key: str) -> Mapping[str, object]:
        """Take an optional table with keys and values checked by other code."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            self.fail(key, f"must be a table, not {value!r}")
        return value

    def allow(self, *keys: str) -> None:
        """Register optional keys as known."""
        self._known += [key for key in keys if key not in self._known]

    def tables(self, key: str) -> "list[PlanSection]":
        """Take an optional array of tables."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
            self.fail(key, f"must be tables under [[{key}]], not {value!r}")
        return [PlanSection(self.source, table, f"{key}[{number}]") for number, table in enumerate(value)]

    def section(self, key: str, *, required: bool = True) -> "PlanSection":
        """Take a table; an absent optional table is empty."""
        value = self._take(key, MISSING if required else {})
        if not isinstance(value, dict):
            self.fail(key, f"must be a table, not {value!r}")
        return PlanSection(self.source, value, ".".join(part for part in (self.name, key) if part))

    def finish(self) -> None:
        """Fail if the table holds an unrequested key."""
        for key in self._table:
            if key not in self._known:
                self.fail(key, f"unknown key; allowed: {_join_words(self._known)}{suggest_word(key, self._known)}")

    def _take(self, key: str, default: object = MISSING) -> object:
        self._known.append(key)
        value = self._table.get(key, default)
        if value is MISSING:
            similar = difflib.get_close_matches(key, self._table, n=1)
            self.fail(key, f"is missing; {similar[0]!r} is no key: is it misspelt?" if similar else "is missing")
        return value


def _join_words(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words)) or "none"
