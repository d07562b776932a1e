"""The common parts of a trial's loads in every browser: timed parts, and the load impossible to measure.

For: the bookkeeping around warm-up and measured load. Not for: their order and steps, defined by each browser.
"""

import time

from resolab.basics.records import INSTRUMENT_FAILURES, PageFailure
from resolab.browser.result import LoadRequest, PageLoad


class WarmUpFailedError(Exception):
    """The browser failed in the warm-up, so no load can be measured."""

    def __init__(self, warmup: PageLoad) -> None:
        super().__init__()
        self.warmup = warmup


class Stopwatch:
    """A clock of the time since its creation or its last lap."""

    def __init__(self) -> None:
        self._since_s = time.monotonic()

    def lap_ms(self) -> float:
        """Time since the last lap."""
        now_s = time.monotonic()
        passed_ms, self._since_s = (now_s - self._since_s) * 1000, now_s
        return passed_ms


def compute_time_beyond_load_ms(passed_ms: float, load: PageLoad) -> float:
    """Return the time beyond the page load time, in ms.

    The result is 0 for a load without a page load time: the load's limit is not a cost of the driver.
    """
    plt_ms = load.timings.plt_ms if load.timings is not None else None
    return 0.0 if plt_ms is None else max(0.0, passed_ms - plt_ms)


def not_measured(request: LoadRequest, failure: PageFailure, detail: str) -> PageLoad:
    """Return the measured load of a request for a trial ended before the load."""
    return PageLoad(
        url=request.url, measured=True, limit_ms=request.timeout_s * 1000, failure=failure, failure_detail=detail
    )


def check_warmup(warmup: PageLoad) -> None:
    """End the trial if the browser failed. After a failure of the network or the page, measure all the same.

    Leaving out the latter would leave out the worst of a slow network. A load after such a warm-up may lack its ticket;
    the handshake's mode in the record shows this.
    """
    if warmup.failure in INSTRUMENT_FAILURES:
        raise WarmUpFailedError(warmup)


def build_unmeasured(request: LoadRequest, warmup: PageLoad) -> PageLoad:
    """Return the measured load of a request with a browser failure in its warm-up."""
    failure = warmup.failure or PageFailure.DRIVER
    return not_measured(request, failure, f"in the warm-up load: {warmup.failure_detail}")
