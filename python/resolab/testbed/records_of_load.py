"""A browser's load as records of the trial's file. Pure. Not for: judging; the handshake that happened is handed in."""

import msgspec

from resolab.browser import LoadResult, PageLoad, PageTimings
from resolab.records import HandshakeMode, PageLoadRecord, Record

BROWSER = "chromium"


def page_load_records(
    result: LoadResult,
    *,
    browser_version: str,
    requested: HandshakeMode,
    happened: HandshakeMode | None,
    warmup_happened: HandshakeMode | None,
) -> list[Record]:
    """Make the records of the warm-up, the measured load and its requests."""
    records: list[Record] = []
    if result.warmup is not None:
        records.append(_page_load(result.warmup, browser_version, requested, warmup_happened))
    records.append(_page_load(result.measured, browser_version, requested, happened))
    records.extend(result.measured.resources)
    return records


def _page_load(
    load: PageLoad, browser_version: str, requested: HandshakeMode, happened: HandshakeMode | None
) -> PageLoadRecord:
    timings = msgspec.structs.asdict(load.timings or PageTimings())
    return PageLoadRecord(
        url=load.url,
        browser=BROWSER,
        browser_version=browser_version,
        measured=load.measured,
        requested_handshake_mode=requested,
        handshake_mode=happened,
        failure=load.failure,
        failure_detail=load.failure_detail,
        limit_ms=load.limit_ms,
        **{name: value for name, value in timings.items() if name in PageLoadRecord.__struct_fields__},
    )
