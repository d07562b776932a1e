"""Wait for the certificate authority made by the box's edges.

For: a single authority for the whole box. Not for: certificates signed by it (`servers.certificates`).
"""

import asyncio
import time
from pathlib import Path

from resolab.basics.errors import MachineError

AUTHORITY_TIMEOUT_S = 15.0
_LOOK_EVERY_S = 0.02


async def wait_for_authority(ca_folder: Path) -> None:
    """Wait until an edge has made the authority."""
    deadline = time.monotonic() + AUTHORITY_TIMEOUT_S
    while not (ca_folder / "ca.pem").exists():
        if time.monotonic() > deadline:
            raise MachineError(
                f"no certificate authority in {ca_folder} within {AUTHORITY_TIMEOUT_S:g} s: see web/output"
            )
        await asyncio.sleep(_LOOK_EVERY_S)
