"""What one trial's loads have in common in every browser: parts timed, and the load that could not be measured.

For: the bookkeeping around warm-up and measured load. Not for: their order and steps, which are each browser's.
"""

import time

from resolab.browser.result import LoadRequest, PageLoad
from resolab.records import INSTRUMENT_FAILURES, PageFailure


class WarmUpFailedError(Exception):
    """The browser failed in the warm-up, so that nothing can be measured."""

    def __init__(self, warmup: PageLoad) -> None:
        super().__init__()
        self.warmup = warmup


class Stopwatch:
    """Time from its making, or the last lap."""

    def __init__(self) -> None:
        self._since_s = time.monotonic()

    def lap_ms(self) -> float:
        """Time since the last lap."""
        now_s = time.monotonic()
        passed_ms, self._since_s = (now_s - self._since_s) * 1000, now_s
        return passed_ms


def beyond_load_ms(passed_ms: float, load: PageLoad) -> float:
    """Time beyond the page load time; 0 for a load that had none: its limit is not a cost of the driver's."""
    plt_ms = load.timings.plt_ms if load.timings is not None else None
    return 0.0 if plt_ms is None else max(0.0, passed_ms - plt_ms)


def not_measured(request: LoadRequest, failure: PageFailure, detail: str) -> PageLoad:
    """Return the measured load of a request whose trial ended before it."""
    return PageLoad(
        url=request.url, measured=True, limit_ms=request.timeout_s * 1000, failure=failure, failure_detail=detail
    )


def check_warmup(warmup: PageLoad) -> None:
    """End the trial if the browser failed. What the network or the page failed in is no reason not to measure.

    Leaving those out would leave the worst of a slow network out. A load after such a warm-up may lack its ticket; the
    handshake that happened tells.
    """
    if warmup.failure in INSTRUMENT_FAILURES:
        raise WarmUpFailedError(warmup)


def not_measured_after(request: LoadRequest, warmup: PageLoad) -> PageLoad:
    """Return the measured load of a request in whose warm-up the browser failed."""
    failure = warmup.failure or PageFailure.DRIVER
    return not_measured(request, failure, f"in the warm-up load: {warmup.failure_detail}")
