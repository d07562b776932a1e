"""Tables of a plan that set numbers and switches: limits, instrument, resolver, queries, and when to stop.

For: reading them. Not for: levels of factors (`choices`).
"""

from resolab.plan.model import Instrument, Limits, Queries, ResolverSettings, Stop
from resolab.plan.section import Section

HIGHEST_BLOCKS = 100_000
MOST_WARM_QUERIES = 100
MOST_PATHS = 16
FEWEST_BLOCKS = 2
"""Below two blocks there is no interval."""


def limits_in(section: Section) -> Limits:
    """Read when a load is given up, and when a trial is flagged."""
    default = Limits()
    limits = Limits(
        page_timeout_s=section.number("page_timeout_s", above=0, high=600, default=default.page_timeout_s),
        lateness_p99_ms=section.number("lateness_p99_ms", above=0, high=1000, default=default.lateness_p99_ms),
    )
    section.finish()
    return limits


def instrument_in(section: Section) -> Instrument:
    """Read how the instrument is set."""
    default = Instrument()
    instrument = Instrument(
        keep_awake=section.flag("keep_awake", default=default.keep_awake),
        failure_screenshots=section.flag("failure_screenshots", default=default.failure_screenshots),
        netlog=section.flag("netlog", default=default.netlog),
        paths=section.integer("paths", low=1, high=MOST_PATHS, default=default.paths),
    )
    section.finish()
    return instrument


def resolver_in(section: Section) -> ResolverSettings:
    """Read how the resolver behaves."""
    default = ResolverSettings()
    resolver = ResolverSettings(
        miss_delay_ms=section.number("miss_delay_ms", above=0, high=10_000, default=default.miss_delay_ms),
    )
    section.finish()
    return resolver


def queries_in(section: Section) -> Queries:
    """Read what our own client asks."""
    default = Queries()
    queries = Queries(
        warm_count=section.integer("warm_count", low=0, high=MOST_WARM_QUERIES, default=default.warm_count)
    )
    section.finish()
    return queries


def stop_in(section: Section) -> Stop:
    """Read when a campaign has seen enough."""
    default = Stop()
    stop = Stop(
        ci_width_ms=section.optional_number("ci_width_ms", above=0, high=600_000),
        ci_width_ratio=section.optional_number("ci_width_ratio", above=0, high=10),
        min_blocks=section.integer("min_blocks", low=FEWEST_BLOCKS, high=HIGHEST_BLOCKS, default=default.min_blocks),
        check_every_blocks=section.integer(
            "check_every_blocks", low=1, high=HIGHEST_BLOCKS, default=default.check_every_blocks
        ),
    )
    section.finish()
    if (stop.ci_width_ms is None) == (stop.ci_width_ratio is None):
        section.fail("", "needs exactly one of ci_width_ms and ci_width_ratio")
    return stop
