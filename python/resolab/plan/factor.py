"""One factor of a plan: levels, words in plans and for people, and the conditions with a meaningful level.

For: the declaration in a field of `Condition`, and its consequences. Not for: the list of factors (`condition`).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum, StrEnum, auto
from types import NoneType
from typing import Any, Protocol, get_args, get_type_hints

from resolab.basics.records import TrialKind


class ConditionLevels(Protocol):
    """A condition, or a table's row with a condition's levels; input for deciding about other factors' levels."""

    @property
    def dns_transport(self) -> str: ...  # noqa: D102
    @property
    def http_version(self) -> str: ...  # noqa: D102
    @property
    def resolver_path(self) -> str: ...  # noqa: D102
    @property
    def dns_connection_state(self) -> str | None: ...  # noqa: D102
    @property
    def connection_sharing(self) -> str | None: ...  # noqa: D102


def _everywhere(_: ConditionLevels) -> bool:
    return True


class FactorSubject(Enum):
    """The part of a trial described by a factor; the part decides about pooling over the factor's levels.

    A new factor describes the look-up unless declared otherwise, so no table pools its levels unnoticed.
    """

    PAGE = auto()
    """The page and its fetching: alike within every pair of loads."""
    NETWORK = auto()
    """The access link and its profile."""
    RESOLVER = auto()
    """The queried resolver, also for our own client's queries beside the load."""
    CLIENT = auto()
    """The program for queries and loads."""
    LOOK_UP = auto()
    """The method of looking names up, with its effect on the page's connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorOptions:
    """The facts about a factor beyond a field's name, type and default; a field with `FactorOptions` is a factor."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels for people, by the plan's word; with any label, every level has a label."""
    absent_word: str | None = None
    """The plan's word for the level `None`."""
    stock_names: tuple[str, ...] = ()
    """The names known to every plan, for levels that are names; a plan's tables may declare further names."""
    bounds: tuple[float, float] | None = None
    """Lowest and highest level, where levels are numbers; as words they have six digits."""
    applies: Callable[[ConditionLevels], bool] = _everywhere
    """Returns True when another level would change anything; if not, the level has no meaning."""
    subject: FactorSubject = FactorSubject.LOOK_UP
    """The part of a trial described by the factor."""
    of_transport: bool = False
    """True when a plan sets the factor for each transport, in a separate table, outside the factors."""
    kinds: frozenset[TrialKind] = frozenset({TrialKind.PAGE_LOAD})
    """The kinds of trial with this factor; in trials of other kinds the factor has no meaning."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor with the declarations of its field."""

    name: str
    kind: Any
    """Type of the levels: an enum of words, a number, or text where any name will do."""
    default: Any
    """The only level in plans without this factor; `MISSING`: every plan names the factor."""
    about: FactorOptions

    @property
    def is_optional(self) -> bool:
        """Return True when a plan may omit the factor."""
        return self.default is not MISSING

    def belongs_to(self, kind: TrialKind) -> bool:
        """Return True when trials of a kind have the factor."""
        return kind in self.about.kinds

    @property
    def words(self) -> tuple[str, ...] | None:
        """Return the list of levels, without a plan's own names; `None` for other names and numbers."""
        if not issubclass(self.kind, StrEnum):
            return self.about.stock_names or None
        absent = self.about.absent_word
        return (*([absent] if absent else []), *(str(level) for level in self.kind))

    def parse_level(self, word: str) -> Any:
        """Turn a plan's word into the level a condition has."""
        return None if word == self.about.absent_word else self.kind(word)

    def format_level(self, level: object) -> str:
        """Turn a condition's level into the plan's word."""
        if level is None and self.about.absent_word is not None:
            return self.about.absent_word
        return f"{level:g}" if isinstance(level, float) else str(level)


def read_factors(condition: type) -> dict[str, Factor]:
    """Read the declarations of a condition's fields, in their order."""
    hints = get_type_hints(condition, include_extras=True)
    return {
        one.name: Factor(one.name, _kind(get_args(hints[one.name])[0]), one.default, about)
        for one in fields(condition)
        for about in get_args(hints[one.name])[1:]
        if isinstance(about, FactorOptions)
    }


def _kind(hint: Any) -> Any:
    """Return the type of the levels other than `None`."""
    return next((one for one in get_args(hint) if one is not NoneType), hint)
