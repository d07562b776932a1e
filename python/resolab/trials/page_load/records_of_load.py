"""Make the records of a browser's load, from given judgements. Pure. Not for: judging."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from resolab.basics.records import ConnectionState, HandshakeMode, PageLoadRecord, QueryPurpose, QueryRecord, look_up_ms
from resolab.browser import PageLoad, PageTimings
from resolab.plan import Condition
from resolab.trials.page_load.judgement import LoadJudgement


@dataclass(frozen=True, slots=True)
class LoadContext:
    """The browser's version and the condition of a load: the same for every load of a trial."""

    browser_version: str
    condition: Condition


def page_load_record(
    load: PageLoad, judged: LoadJudgement, loader: LoadContext, *, plt_sum_ms: float | None = None
) -> PageLoadRecord:
    """Make the record of a single navigation."""
    timings = msgspec.structs.asdict(load.timings or PageTimings())
    states = judged.states
    return PageLoadRecord(
        url=load.url,
        browser=loader.condition.browser,
        browser_kind=loader.condition.own_browser_kind,
        browser_version=loader.browser_version,
        measured=load.measured,
        requested_handshake_mode=loader.condition.requested_handshake_mode,
        handshake_mode=judged.handshake_mode,
        failure=judged.failure,
        failure_detail=judged.detail or load.failure_detail,
        limit_ms=load.limit_ms,
        dns_handshake_mode=judged.lookup.handshake_mode,
        dns_connection_state=judged.lookup.connection_state,
        dns_failure=judged.dns_failure,
        foreign_names=judged.foreign_names,
        last_byte_ms=last_byte_ms(load),
        plt_sum_ms=plt_sum_ms,
        dns_cache_state=states.dns_cache,
        http_cache_state=states.http_cache,
        socket_state=states.sockets,
        ticket_state=states.tickets,
        console_errors=load.console_errors,
        screenshot_file=_name(load.screenshot_file),
        **{name: value for name, value in timings.items() if name in PageLoadRecord.__struct_fields__},
    )


def last_byte_ms(load: PageLoad) -> float | None:
    """Return the end of the last response before the load event, in ms."""
    end_ms = load.timings.plt_ms if load.timings is not None else None
    if end_ms is None:
        return None
    ends = (one.response_end_ms for one in load.resources)
    return max((one for one in ends if one is not None and one <= end_ms), default=None)


def plt_sum_ms(load: PageLoad, exchanges: Iterable[QueryRecord], condition: Condition) -> float | None:
    """Return the load time without its look-up plus the trial's cold exchange (Sengupta et al., TNSM 2024).

    Return `None` when either is missing: for a good load with a failed exchange, the sum is only known to be above the
    load plus the exchange's time limit. Return `None`, too, for a look-up with a warm connection or a resumed
    handshake, or with a possible cache miss. The exchange always has a cold connection, a full handshake and a cached
    answer. The sum stands beside `plt_ms`, with the look-up inside, and is not an observed load time: the sum leaves
    out later effects of the look-up's delay.
    """
    timings = load.timings
    exchange = next((query for query in exchanges if _is_cold_exchange(query, condition)), None)
    if not _is_asked_alike(condition) or load.failure is not None or timings is None or timings.plt_ms is None:
        return None
    if exchange is None or exchange.failure is not None:
        return None
    looked_up_ms = look_up_ms(
        condition.browser_kind, timings.fetch_start_ms, timings.domain_lookup_start_ms, timings.domain_lookup_end_ms
    )
    if looked_up_ms is None or exchange.query_response_time_ns is None:
        return None
    return timings.plt_ms - looked_up_ms + exchange.query_response_time_ns / 1e6


def _is_asked_alike(condition: Condition) -> bool:
    """Return True when the load's look-up has the same settings as the exchange."""
    cold = condition.dns_connection_state is ConnectionState.COLD
    full = condition.requested_dns_handshake_mode is HandshakeMode.FULL
    return cold and full and not condition.resolver_miss_ratio


def _is_cold_exchange(query: QueryRecord, condition: Condition) -> bool:
    """Return True for an exchange over the condition's transport; the first of these exchanges was cold."""
    return query.dns_transport is condition.dns_transport and query.purpose is QueryPurpose.MEASURED


def _name(file: Path | None) -> str | None:
    # The folder of screenshots is the dataset's: its name and the file's are the path inside it.
    return None if file is None else f"{file.parent.name}/{file.name}"
