"""Load one page on the ground this process finds, by its stub, and print what became of it as JSON.

A program of its own, because who runs it and what that one may is what `test_live_access.py` varies. Arguments: URL,
authority (PEM), upstream of the stub.
"""

import asyncio
import json
import sys
from pathlib import Path

from resolab.basics.records import StubReadyRecord
from resolab.browser import BrowserSettings, Chromium, LoadRequest
from resolab.lab.engine import CoreProcess, find_core
from resolab.trials.live.network_access import open_access


async def load(url: str, authority: str, upstream: str) -> dict[str, object]:
    """Stand, start a stub, load."""
    async with open_access() as ground:
        command = [*ground.stub_prefix(), str(find_core()), "stub", "--listen", f"{ground.stub_address}:53"]
        command += [*ground.stub_arguments(), "--upstream", upstream, "--ca", authority]
        stub = await CoreProcess.start("the stub", command)
        browser = Chromium()
        try:
            await stub.first(StubReadyRecord, 15)
            settings = BrowserSettings(resolvable_names=("*",), ca_file=Path(authority), own_sandbox=ground.own_sandbox)
            await browser.start(ground.browser_prefix(ground.stub_address), settings)
            result = await browser.load(LoadRequest(url=url, timeout_s=20, warmup=False))
        finally:
            await browser.close()
            await stub.close()
        return {"way": ground.way, "failure": result.measured.failure, "missing": ground.missing}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(load(*sys.argv[1:]))))
