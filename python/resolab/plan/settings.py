"""Tables of a plan with numbers and switches: declared once, as fields with their bounds, then read and described.

For: limits, instrument, resolver, queries, the design, when to stop; reading any such field of a section, and its JSON
Schema.

`analysis` declares its table by the same means.

Not for: levels of factors (`choices`), or the whole schema (`schema`).
"""

from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, get_args, get_type_hints

from resolab.basics.records import PathBackend
from resolab.plan.section import PlanSection

HIGHEST_BLOCKS = 100_000


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """Bounds of a number: a whole number is at least `low`, another is above `low`; both are at most `high`."""

    low: float
    high: float
    note: str = ""
    """The description shown by editors."""


@dataclass(frozen=True, slots=True)
class ChoiceOf:
    """Words of a closed vocabulary, for a single choice."""

    words: tuple[StrEnum, ...]


@dataclass(frozen=True, slots=True)
class WordOf:
    """A word of an open vocabulary, with the known words; other code checks the word."""

    known: tuple[StrEnum, ...]


@dataclass(frozen=True, slots=True)
class SubsetOf:
    """Words of a closed vocabulary, for a list of choices."""

    words: tuple[StrEnum, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for giving up a load and for flagging a trial."""

    page_timeout_s: Annotated[float, NumberBounds(0, 600)] = 30.0
    lateness_p99_ms: Annotated[float, NumberBounds(0, 1000)] = 0.5


@dataclass(frozen=True, slots=True)
class Instrument:
    """The settings of the instrument itself."""

    keep_awake: bool = True
    failure_screenshots: bool = False
    """True when the dataset keeps a picture of every failed load."""
    netlog: bool = False
    """True when the dataset keeps Chromium's logs of its network stack, one per browser process."""
    pcap: bool = False
    """True when the dataset keeps every packet of a trial."""
    key_log: bool = False
    """True when the dataset keeps the TLS secrets of a trial's connections."""
    paths: Annotated[int, NumberBounds(1, 16, "On which trials run at a time.")] = 1
    """Emulated paths for simultaneous trials of a block, each path with its own edge, stub and browsers."""
    backend: Annotated[PathBackend, ChoiceOf((PathBackend.TUN, PathBackend.PACKET))] = PathBackend.TUN
    """The backend between the hosts and the link model (docs/method/backends.md)."""


@dataclass(frozen=True, slots=True)
class ResolverSettings:
    """The settings of the resolver."""

    miss_delay_ms: Annotated[float, NumberBounds(0, 10_000)] = 40.0
    """The extra time of an uncached answer, beyond the time of a cached answer."""


@dataclass(frozen=True, slots=True)
class EdgeSettings:
    """The sending parameters of the servers behind the path."""

    quic_initial_window_bytes: Annotated[int, NumberBounds(2_400, 1 << 24)] = 12_000
    """Bytes in flight on a new QUIC connection before the first acknowledgement (RFC 9002 section 7.2)."""


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """The queries of our own client in every trial, beside the cold exchange of each transport."""

    warm_count: Annotated[int, NumberBounds(0, 100)] = 0
    """Further names of the page, queried in sequence over the connections of the cold exchanges."""


class Unit(StrEnum):
    """The sampled unit of a plan, and so the meaning of a block."""

    BLOCK = "block"
    """Times: a block loads every page under every condition."""
    PAGE = "page"
    """Pages: a block loads one page under every condition."""


@dataclass(frozen=True, slots=True)
class Design:
    """The layout of the trials."""

    unit: Annotated[Unit, ChoiceOf(tuple(Unit))] = Unit.BLOCK


class PageCertificates(StrEnum):
    """The names of a page on a shared certificate."""

    RECORDED = "recorded"
    """Names with a shared certificate in the page's model."""
    SITE = "site"
    """Names of one site: a wildcard below the registrable domain."""


class PageDistances(StrEnum):
    """The distance of a page's servers beyond the access link."""

    RECORDED = "recorded"
    """The distances recorded in the page."""
    NONE = "none"
    """All servers at the link's end: every server takes the same round trip."""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """The serving of the plan's pages."""

    certificates: Annotated[PageCertificates, ChoiceOf(tuple(PageCertificates))] = PageCertificates.RECORDED
    distances: Annotated[PageDistances, ChoiceOf(tuple(PageDistances))] = PageDistances.RECORDED


class StopRule(StrEnum):
    """The rule for the end of a campaign."""

    FIXED_WIDTH = "fixed_width"
    """Every interval is as narrow as asked; all conditions run until then."""
    CONFIDENCE_SEQUENCE = "confidence_sequence"
    """Each comparison is decided by its own confidence sequence. Conditions without an open comparison are loaded no
    more."""
    EXPECTATIONS = "expectations"
    """Each expectation is decided by the confidence sequence of its comparison. Conditions without an open expectation
    are loaded no more."""


class DecisionCriterion(StrEnum):
    """The criterion for deciding a comparison, applied to its confidence sequence."""

    DIFFERENCE = "difference"
    """The comparison's interval excludes 0."""
    EQUIVALENCE = "equivalence"
    """The interval lies within the plan's equivalence margin."""
    WIDTH = "width"
    """The interval is as narrow as requested."""


SEQUENCE_MIN_BLOCKS = 8
"""The smallest number of blocks with an interval of a confidence sequence."""


@dataclass(frozen=True, slots=True)
class StopSettings:
    """The end of a campaign; a fixed-width rule has exactly one width, any other at most one."""

    ci_width_ms: Annotated[
        float | None, NumberBounds(0, 600_000, "Full width of the interval of a paired difference.")
    ] = None
    ci_width_ratio: Annotated[float | None, NumberBounds(0, 10, "Full width of the interval of a relative change.")] = (
        None
    )
    # Below two blocks there is no interval.
    min_blocks: Annotated[int, NumberBounds(2, HIGHEST_BLOCKS)] = 12
    """Fewer cost the intervals part of their level (docs/method/statistics.md)."""
    check_every_blocks: Annotated[int, NumberBounds(1, HIGHEST_BLOCKS)] = 1
    rule: Annotated[StopRule, ChoiceOf(tuple(StopRule))] = StopRule.FIXED_WIDTH
    decided_by: Annotated[tuple[DecisionCriterion, ...], SubsetOf(tuple(DecisionCriterion))] = ()
    """Empty: by every criterion with a number in the plan, and by excluding 0."""

    @property
    def drops_conditions(self) -> bool:
        """Return True when conditions without an open comparison are loaded no more."""
        return self.rule is not StopRule.FIXED_WIDTH

    def is_due(self, blocks: int) -> bool:
        """Return True when an interim analysis is due after `blocks` whole blocks."""
        beyond = blocks - self.min_blocks
        return beyond >= 0 and beyond % self.check_every_blocks == 0

    def count_looks(self, blocks: int) -> int:
        """Return the number of interim analyses in a run of `blocks` blocks; the last block always has an analysis."""
        return sum(self.is_due(one) for one in range(1, blocks)) + (blocks > 0)


class _Settings(Protocol):
    """Any dataclass with settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Table = TypeVar("Table", bound=_Settings)


def read_table(section: PlanSection, table: type[Table]) -> Table:
    """Read a table of settings; missing keys have their default."""
    values = {one.name: read_value(section, table, one.name) for one in fields(table)}
    section.finish()
    return table(**values)


def read_stop(section: PlanSection) -> StopSettings:
    """Read when a campaign has seen enough."""
    has_least = "min_blocks" in section
    stop = read_table(section, StopSettings)
    widths = (stop.ci_width_ms, stop.ci_width_ratio)
    has_width = any(one is not None for one in widths)
    if stop.rule is StopRule.FIXED_WIDTH:
        if stop.decided_by:
            section.fail("decided_by", f"is for rule = {StopRule.CONFIDENCE_SEQUENCE.value!r}")
        if None not in widths or not has_width:
            section.fail("", "needs exactly one of ci_width_ms and ci_width_ratio")
        return stop
    if stop.rule is StopRule.EXPECTATIONS:
        if stop.decided_by or has_width:
            section.fail("", f"with rule = {StopRule.EXPECTATIONS.value!r} takes no decided_by and no width")
        return stop if has_least else replace(stop, min_blocks=SEQUENCE_MIN_BLOCKS)
    if None not in widths:
        section.fail("", "takes one of ci_width_ms and ci_width_ratio, not both")
    if has_width and stop.decided_by and DecisionCriterion.WIDTH not in stop.decided_by:
        section.fail("decided_by", f"lacks {DecisionCriterion.WIDTH.value!r}, of which there is a number")
    if DecisionCriterion.WIDTH in stop.decided_by and not has_width:
        section.fail("decided_by", f"{DecisionCriterion.WIDTH.value!r} needs one of ci_width_ms and ci_width_ratio")
    return stop if has_least else replace(stop, min_blocks=SEQUENCE_MIN_BLOCKS)


def read_value(section: PlanSection, table: type, key: str) -> Any:
    """Read one setting, with the declaration of its field."""
    kind, bounds = _read_declaration(table, key)
    default: Any = next(one.default for one in fields(table) if one.name == key)
    if isinstance(bounds, ChoiceOf):
        given = section.take_optional_word(key, [word.value for word in bounds.words])
        return default if given is None else type(bounds.words[0])(given)
    if isinstance(bounds, WordOf | SubsetOf):
        return _read_words(section, key, bounds, default)
    if kind is bool:
        return section.flag(key, default=default)
    if kind is int:
        fallback = {} if default is MISSING else {"default": default}
        return section.integer(key, low=int(bounds.low), high=int(bounds.high), **fallback)
    if default is None:
        return section.optional_number(key, above=bounds.low, high=bounds.high)
    return section.number(key, above=bounds.low, high=bounds.high, default=default)


def _read_words(section: PlanSection, key: str, bounds: WordOf | SubsetOf, default: Any) -> Any:
    if isinstance(bounds, WordOf):
        section.allow(key)
        return section.text(key) if key in section else default
    chosen = section.optional_levels(key, [word.value for word in bounds.words], None)
    return default if chosen is None else tuple(type(bounds.words[0])(word) for word in chosen)


def describe_setting(table: type, key: str) -> dict[str, Any]:
    """Describe one setting by the declaration of its field."""
    kind, bounds = _read_declaration(table, key)
    if isinstance(bounds, ChoiceOf):
        return {"enum": [word.value for word in bounds.words]}
    if isinstance(bounds, WordOf):
        return {"anyOf": [{"enum": [word.value for word in bounds.known]}, {"type": "string"}]}
    if isinstance(bounds, SubsetOf):
        words = {"enum": [word.value for word in bounds.words]}
        return {"type": "array", "minItems": 1, "uniqueItems": True, "items": words}
    if kind is bool:
        return {"type": "boolean"}
    note = {"description": bounds.note} if bounds.note else {}
    if kind is int:
        return {"type": "integer", "minimum": int(bounds.low), "maximum": int(bounds.high), **note}
    return {"type": "number", "exclusiveMinimum": bounds.low, "maximum": bounds.high, **note}


def _read_declaration(table: type, key: str) -> tuple[type, NumberBounds | ChoiceOf | WordOf | SubsetOf]:
    """Return a setting's type, `None` left out, and its bounds; for a switch the bounds are unused."""
    hint = get_type_hints(table, include_extras=True)[key]
    if hint is bool:
        return bool, NumberBounds(0, 1)
    kind, bounds = get_args(hint)
    return next(iter(get_args(kind)), kind), bounds
