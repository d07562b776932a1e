"""One factor of a plan: its levels, their words in plans and for people, and where its level says anything.

For: what a field of `Condition` declares, and what follows from it. Not for: which factors there are (`condition`).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum, StrEnum, auto
from types import NoneType
from typing import Any, Protocol, get_args, get_type_hints


class HasLevels(Protocol):
    """A condition, or a row of a table that has the levels of one; what decides where other levels matter."""

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


def _everywhere(_: HasLevels) -> bool:
    return True


class Subject(Enum):
    """What of a trial a factor describes, which decides what may be pooled over its levels.

    A new factor describes the look-up unless it says otherwise, so that no table pools its levels unnoticed.
    """

    PAGE = auto()
    """The page and how it is fetched: alike within every pair of loads."""
    NETWORK = auto()
    """The access link."""
    RESOLVER = auto()
    """The resolver that is asked, also by our own client's queries beside the load."""
    CLIENT = auto()
    """The program that asks and loads."""
    LOOK_UP = auto()
    """How names are looked up, and what the page's connections owe to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a field's name, type and default do not say of its factor; a field that has it is a factor."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """What people read, by the plan's word; where there are any, each level has one."""
    absent_word: str | None = None
    """The plan's word for the level `None`."""
    bounds: tuple[float, float] | None = None
    """Lowest and highest level, where levels are numbers; as words they have six digits."""
    applies: Callable[[HasLevels], bool] = _everywhere
    """Whether another level would change anything; if not, the level says nothing."""
    subject: Subject = Subject.LOOK_UP
    """What of a trial it describes."""
    of_transport: bool = False
    """A plan gives it for each transport, in a table of its own, and not among the factors."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor as its field declares it."""

    name: str
    kind: Any
    """Type of the levels: an enum of words, a number, or text where any name will do."""
    default: Any
    """The only level in plans that do not name it; `MISSING`: every plan names it."""
    about: About

    @property
    def is_optional(self) -> bool:
        """Whether a plan may leave it out of its factors."""
        return self.default is not MISSING

    @property
    def words(self) -> tuple[str, ...] | None:
        """The closed list of its levels; `None` for names and numbers."""
        if not issubclass(self.kind, StrEnum):
            return None
        absent = self.about.absent_word
        return (*([absent] if absent else []), *(str(level) for level in self.kind))

    def level_of(self, word: str) -> Any:
        """Turn a plan's word into the level a condition has."""
        return None if word == self.about.absent_word else self.kind(word)

    def word_of(self, level: object) -> str:
        """Turn a condition's level into the plan's word."""
        if level is None and self.about.absent_word is not None:
            return self.about.absent_word
        return f"{level:g}" if isinstance(level, float) else str(level)


def factors_in(condition: type) -> dict[str, Factor]:
    """Read the declarations of a condition's fields, in their order."""
    hints = get_type_hints(condition, include_extras=True)
    return {
        one.name: Factor(one.name, _kind(get_args(hints[one.name])[0]), one.default, about)
        for one in fields(condition)
        for about in get_args(hints[one.name])[1:]
        if isinstance(about, About)
    }


def _kind(hint: Any) -> Any:
    """Name the type of the levels that are not `None`."""
    return next((one for one in get_args(hint) if one is not NoneType), hint)
