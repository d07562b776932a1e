"""A page's own account of its load: W3C Navigation, Resource and Paint Timing, Largest Contentful Paint.

For: the script for the page after its load event, and its answer as `PageTimings` and `ResourceRecord`s. Not for: the
moment of running the script (`page`) or the network stack's account (`network_log`).

Zero in these interfaces means "did not happen" or "withheld from another origin" (Resource Timing, section 4.5). Such a
zero becomes `None`. Largest contentful paint is the last candidate known two frames after load event and first paint.
"""

from typing import Any

from resolab.basics.records import ResourceRecord
from resolab.browser.result import PageTimings

BUFFER_SCRIPT = "performance.setResourceTimingBufferSize(10000)"
"""Run before the page's own scripts: the buffer holds 250 entries otherwise."""

PAINT_WAIT_MS = 500
"""The longest wait for the first paint, for a page without any paint at its load event."""

COLLECT_SCRIPT = """
(async () => {
  const paints = {};
  let largest = null;
  let painted;
  const firstPaint = new Promise(resolve => { painted = resolve; });
  const observe = (type, handle) => {
    const observer = new PerformanceObserver(list => list.getEntries().forEach(handle));
    observer.observe({type, buffered: true});
    return observer;
  };
  const onPaint = entry => {
    paints[entry.name] = entry.startTime;
    if (entry.name === 'first-contentful-paint') painted();
  };
  const onLargest = entry => { largest = entry.startTime; };
  const paintObserver = observe('paint', onPaint);
  const largestObserver = observe('largest-contentful-paint', onLargest);
  const pause = limit => new Promise(resolve => setTimeout(resolve, limit));
  const frame = () => Promise.race([new Promise(resolve => requestAnimationFrame(resolve)), pause(100)]);
  if (WAIT > 0) {
    await Promise.race([firstPaint, pause(WAIT)]);
    await frame();
    await frame();
    await pause(0);
  }
  paintObserver.takeRecords().forEach(onPaint);
  largestObserver.takeRecords().forEach(onLargest);
  const entries = type => performance.getEntriesByType(type).map(entry => entry.toJSON());
  return {
    timeOrigin: performance.timeOrigin,
    navigation: entries('navigation')[0] || null,
    resources: entries('resource'),
    fcp: paints['first-contentful-paint'] ?? null,
    lcp: largest,
  };
})()
"""


def collect_script(*, wait_for_paint: bool) -> str:
    """Build the expression to evaluate; its run time is bounded."""
    return COLLECT_SCRIPT.replace("WAIT", str(PAINT_WAIT_MS if wait_for_paint else 0))


def page_timings(account: dict[str, Any]) -> PageTimings | None:
    """Read the timings of the document; `None` when the page has no navigation entry."""
    entry = account.get("navigation")
    if not entry:
        return None
    resources = account.get("resources", [])
    sizes = [item.get("transferSize", 0) for item in (entry, *resources)]
    return PageTimings(
        navigation_start_unix_ms=float(account["timeOrigin"]),
        next_hop_protocol=entry.get("nextHopProtocol") or None,
        fetch_start_ms=float(entry["fetchStart"]),
        dom_interactive_ms=_read_instant(entry, "domInteractive"),
        dom_content_loaded_ms=_read_instant(entry, "domContentLoadedEventStart"),
        plt_ms=_read_instant(entry, "loadEventStart"),
        fcp_ms=_read_instant(account, "fcp"),
        lcp_ms=_read_instant(account, "lcp"),
        transfer_size_bytes=sum(sizes),
        request_count=len(sizes),
        **_phases(entry),
    )


def resource_records(account: dict[str, Any]) -> list[ResourceRecord]:
    """Make a record each of the document and its resources."""
    document = account.get("navigation")
    entries = [*([document] if document else []), *account.get("resources", [])]
    return [_resource_record(entry) for entry in entries]


def _resource_record(entry: dict[str, Any]) -> ResourceRecord:
    return ResourceRecord(
        url=entry["name"],
        initiator_type=entry["initiatorType"],
        next_hop_protocol=entry.get("nextHopProtocol") or None,
        start_ms=float(entry["startTime"]),
        transfer_size_bytes=_size(entry, "transferSize"),
        encoded_body_bytes=_size(entry, "encodedBodySize"),
        status=entry.get("responseStatus") or None,
        content_type=entry.get("contentType") or None,
        **_phases(entry),
    )


def _phases(entry: dict[str, Any]) -> dict[str, float | None]:
    return {
        "domain_lookup_start_ms": _read_instant(entry, "domainLookupStart"),
        "domain_lookup_end_ms": _read_instant(entry, "domainLookupEnd"),
        "connect_start_ms": _read_instant(entry, "connectStart"),
        "secure_connection_start_ms": _read_instant(entry, "secureConnectionStart"),
        "connect_end_ms": _read_instant(entry, "connectEnd"),
        "request_start_ms": _read_instant(entry, "requestStart"),
        "response_start_ms": _read_instant(entry, "responseStart"),
        "response_end_ms": _read_instant(entry, "responseEnd"),
    }


def _read_instant(entry: dict[str, Any], name: str) -> float | None:
    value = entry.get(name)
    return float(value) if value else None


def _size(entry: dict[str, Any], name: str) -> int | None:
    # Sizes are withheld together with the phases; a true 0 (cached, empty) still has its phases.
    if not entry.get("requestStart") and not entry.get(name):
        return None
    return int(entry[name])
