"""A browser's load as records of the trial's file. Pure. Not for: judging; what happened is handed in."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from resolab.browser import PageLoad, PageTimings
from resolab.plan import Condition
from resolab.records import ConnectionState, HandshakeMode, PageLoadRecord, QueryPurpose, QueryRecord, look_up_ms
from resolab.testbed.judgement import Judged


@dataclass(frozen=True, slots=True)
class Loader:
    """Who loaded: the same for every load of a trial."""

    browser: str
    browser_version: str
    condition: Condition


def page_load_record(
    load: PageLoad, judged: Judged, loader: Loader, *, plt_sum_ms: float | None = None
) -> PageLoadRecord:
    """Make the record of one navigation."""
    timings = msgspec.structs.asdict(load.timings or PageTimings())
    states = judged.states
    return PageLoadRecord(
        url=load.url,
        browser=loader.browser,
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
    """Return when the last response ended that came before the load event."""
    end_ms = load.timings.plt_ms if load.timings is not None else None
    if end_ms is None:
        return None
    ends = (one.response_end_ms for one in load.resources)
    return max((one for one in ends if one is not None and one <= end_ms), default=None)


def plt_sum_ms(load: PageLoad, exchanges: Iterable[QueryRecord], condition: Condition) -> float | None:
    """Add the trial's separately measured cold exchange to the load without its look-up (Sengupta et al., TNSM 2024).

    `None` where one of them is missing: of a good load whose exchange failed the sum is not known but that it is more
    than the exchange's time limit adds. `None`, too, where the look-up's connection was to be warm or its handshake
    resumed, or where the resolver may not have the answer: the exchange is always of a cold connection with a full
    handshake, and of an answer that is there. The sum stands beside `plt_ms`, which
    has the look-up inside, and is no load time anybody has seen: what the look-up's delay changes later in the load is
    not in it.
    """
    timings = load.timings
    exchange = next((query for query in exchanges if _is_cold_exchange(query, condition)), None)
    if not _is_asked_alike(condition) or load.failure is not None or timings is None or timings.plt_ms is None:
        return None
    if exchange is None or exchange.failure is not None:
        return None
    looked_up_ms = look_up_ms(
        condition.browser, timings.fetch_start_ms, timings.domain_lookup_start_ms, timings.domain_lookup_end_ms
    )
    if looked_up_ms is None or exchange.query_response_time_ns is None:
        return None
    return timings.plt_ms - looked_up_ms + exchange.query_response_time_ns / 1e6


def _is_asked_alike(condition: Condition) -> bool:
    """Whether the load's look-up is what the exchange is."""
    cold = condition.dns_connection_state is ConnectionState.COLD
    full = condition.requested_dns_handshake_mode is HandshakeMode.FULL
    return cold and full and not condition.resolver_miss_ratio


def _is_cold_exchange(query: QueryRecord, condition: Condition) -> bool:
    """Whether it is one of the transport; the first of them was the cold one, whatever was asked after it."""
    return query.dns_transport is condition.dns_transport and query.purpose is QueryPurpose.MEASURED


def _name(file: Path | None) -> str | None:
    # The folder of screenshots is the dataset's: its name and the file's are the path inside it.
    return None if file is None else f"{file.parent.name}/{file.name}"
