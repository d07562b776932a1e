"""Make a live trial's records. Pure.

For: the records of a trial's file, from given results. Not for: judging (`client_side`, `cache_state`).
"""

from collections.abc import Sequence

import msgspec

from resolab.basics.records import (
    ConnectionState,
    HandshakeMode,
    PageFailure,
    PageLoadRecord,
    QueryRecord,
    ResourceRecord,
    TrialFlag,
)
from resolab.browser import LoadResult, PageLoad
from resolab.plan import Condition
from resolab.trials.live.cache_state import QueryHistory
from resolab.trials.live.client_side import LiveLoadJudgement
from resolab.trials.live.names import metadata_url
from resolab.trials.page_load.judgement import LoadJudgement, cold_states
from resolab.trials.page_load.lookup import PageLookup
from resolab.trials.page_load.records_of_load import LoadContext, page_load_record


def load_records(
    load: LoadResult, judged: LiveLoadJudgement, loader: LoadContext
) -> list[PageLoadRecord | ResourceRecord]:
    """Make the records of a load and its requests; URLs are without queries, and no page content is kept."""
    measured = load.measured
    told = LoadJudgement(
        request=None,
        handshake_mode=judged.handshake_mode,
        lookup=PageLookup(None, judged.dns_connection_state, judged.dns_handshake_mode),
        failure=measured.failure,
        dns_failure=judged.dns_failure,
        foreign_names=[],
        states=cold_states(),
    )
    record = page_load_record(measured, told, loader)
    record = msgspec.structs.replace(record, url=metadata_url(record.url), console_errors=[], screenshot_file=None)
    return [record, *(msgspec.structs.replace(one, url=metadata_url(one.url)) for one in measured.resources)]


def make_left_alone_record(url: str, condition: Condition, version: str, limit_ms: float, why: str) -> PageLoadRecord:
    """Make the record of a forbidden load."""
    return PageLoadRecord(
        url=metadata_url(url),
        browser=condition.browser,
        browser_version=version,
        measured=True,
        requested_handshake_mode=HandshakeMode.FULL,
        failure=PageFailure.LEFT_ALONE,
        failure_detail=why,
        limit_ms=limit_ms,
    )


def judge_queries(resolver: str, queries: Sequence[QueryRecord], asked: QueryHistory) -> list[QueryRecord]:
    """Set each query's cache state from earlier queries to the resolver, and add the query to `asked`."""
    told = []
    for query in sorted(queries, key=lambda one: one.time_origin_ns):
        told.append(msgspec.structs.replace(query, cache_state=asked.state(resolver, query)))
        asked.note(resolver, query)
    return told


def unknown_lines(load: PageLoad, judged: LiveLoadJudgement) -> list[str]:
    """Explain null values: a line for each column with null in spite of an event."""
    found = []
    if judged.handshake_mode is None and load.failure is None:
        found.append("handshake_mode: the browser does not tell")
    if load.failure is PageFailure.DNS and judged.dns_failure is None:
        found.append("dns_failure: neither log nor stub nor our own repeat of the query tells")
    found.append("capture_file: packets of the machine's own network are not kept")
    return found


def flag_look_up(judged: LiveLoadJudgement) -> list[TrialFlag]:
    """Return flags for a look-up unlike a fresh context's: not cold, or without a full handshake."""
    flags = []
    if judged.dns_connection_state is ConnectionState.WARM:
        flags.append(TrialFlag.DNS_CONNECTION_MISMATCH)
    if judged.dns_handshake_mode not in {None, HandshakeMode.FULL}:
        flags.append(TrialFlag.DNS_HANDSHAKE_MISMATCH)
    return flags
