"""One testbed with one condition for the tests that disturb a load in its middle."""

import asyncio
import contextlib
import time

from resolab.basics.records import PageLoadRecord, PathSummaryRecord
from resolab.lab.artifacts import KeptFolders
from resolab.plan import Corpus, parse_plan
from resolab.trials.page_load.runner import PageLoadRunner

LIMIT_S = 8.0
"""Above the 5 s after which the C library asks a name server again that is gone: Firefox waits for that."""
PLAN = """
name = "disturbed"
question = "What becomes of a load whose part fails?"
seed = 1
blocks = 1
[factors]
page = ["example"]
profile = ["4g"]
dns_transport = ["{dns_transport}"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
browser = ["{browser}"]
[resolver_path]
{dns_transport} = "{resolver_path}"
[baseline]
dns_transport = "{dns_transport}"
[limits]
page_timeout_s = {limit_s}
"""


@contextlib.asynccontextmanager
async def one_condition(browser, resolver_path, screenshot_folder=None, *, dns_transport="doudp"):
    """A testbed and its condition."""
    corpus = Corpus.from_project()
    text = PLAN.format(browser=browser, resolver_path=resolver_path, limit_s=LIMIT_S, dns_transport=dns_transport)
    plan = parse_plan(text, "disturbed", corpus)
    (condition,) = plan.conditions()
    async with PageLoadRunner(
        plan, corpus, plan.seed, kept=KeptFolders(screenshot_folder=screenshot_folder)
    ) as testbed:
        yield testbed, condition


def measured(result):
    return next(r for r in result.records if isinstance(r, PageLoadRecord) and r.measured)


async def begin_trial(testbed, condition):
    testbed.lab.records.clear()
    return asyncio.create_task(testbed.run_trial(condition, "b000-t000"))


async def measured_load_begins(testbed):
    """Wait until the warm-up is over and nothing of the measured load was asked yet."""
    await _until(lambda: bool(_after_warmup(testbed)))


def _after_warmup(testbed):
    records = testbed.lab.records
    labels = [r.label if isinstance(r, PathSummaryRecord) else None for r in records]
    return records[labels.index("before_measured") :] if "before_measured" in labels else []


async def _until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.002)
