"""Check this machine for a fleet: the installed packages, and the server's admission.

For: `resolab doctor`. Not for: taking part (`agent`), the ability to measure (doctor's other lines).
"""

import asyncio
import importlib.metadata
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.installation import check_extra


def find_packages() -> str:
    """Return the installed packages of the extra as text; raises when missing."""
    check_extra("fleet")
    from resolab.extras.fleet.server.process import find_program  # noqa: PLC0415 - only where nats-py is there

    find_program()
    return f"nats-py {importlib.metadata.version('nats-py')} and nats-server are there"


def check_admission(file: Path) -> str:
    """Return an invitation's vantage point and server as text; raises without admission or an answer of the server."""
    find_packages()
    return asyncio.run(_check_admission(file))


async def _check_admission(file: Path) -> str:
    from resolab.extras.fleet.connection import connect_agent  # noqa: PLC0415 - only where nats-py is there
    from resolab.extras.fleet.invitation import read_invitation  # noqa: PLC0415
    from resolab.extras.fleet.transfer import AgentClient, UnreachableError  # noqa: PLC0415

    invitation = read_invitation(file)
    client = await connect_agent(invitation, lambda _problem: None)
    try:
        waiting = await AgentClient(client, invitation.vantage).count_waiting()
    except UnreachableError as error:
        raise MachineError(f"{error}; its server has no queue for {invitation.vantage}: start it again") from error
    finally:
        await client.close()
    return f"{invitation.url} lets {invitation.vantage} take part; {waiting} blocks wait for it"
