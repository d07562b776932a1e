"""Stop a campaign by signal: the first lets trials in flight end, the second abandons trials.

Not for: SIGKILL (`store`).
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """The request to stop a campaign, set by a signal."""

    def __init__(self) -> None:
        self.requested = False

    @contextmanager
    def on_signals(self, say: Callable[[str], None], *, several: bool) -> Iterator[None]:
        """Listen to SIGINT and SIGTERM while the block runs, in the entering task."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if self.requested and task is not None:
                task.cancel()
                return
            self.requested = True
            trials = "the trials in flight end; once more to abandon them"
            say(f"stopping when {trials if several else 'this trial ends; once more to abandon it'}")

        for number in SIGNALS:
            loop.add_signal_handler(number, stop)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
