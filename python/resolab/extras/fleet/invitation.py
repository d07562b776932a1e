"""Invitations: a file with everything needed by an agent to take part.

For: making, reading and withdrawing invitations. Not for: the connection (`connection`), reloading a running server
(`server.reload_server`).
"""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.toml_text import key_lines
from resolab.extras.fleet.job import check_vantage
from resolab.extras.fleet.server.config import agent_name
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.plan.live.settings import LAB

SUFFIX = ".invitation.toml"


class Invitation(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The secret data given to a vantage point."""

    vantage: str
    url: str
    authority: str
    """The authority's certificate in PEM, for checking the server."""
    credential: str
    """The agent's certificate and key in PEM, for identifying the agent."""

    def __post_init__(self) -> None:
        """Reject a name pointing to another file or subject, and a connection without encryption."""
        check_vantage(self.vantage)
        if not self.url.startswith("tls://"):
            raise ValueError(f"url {self.url!r} does not begin with tls://")


def invite(folder: ServerFolder, vantage: str) -> Path:
    """Admit a vantage point and write its invitation; an earlier invitation becomes void.

    The caller makes the server reload.
    """
    try:
        check_vantage(vantage)
    except ValueError as error:
        raise ConfigurationError(f"could not invite {vantage}: {error}") from error
    if vantage == LAB:
        raise ConfigurationError(f"could not invite {LAB}: it marks what is emulated; give the place a name of its own")
    if not folder.address.port:
        raise ConfigurationError(f"could not invite {vantage}: the server has no port yet; start it first")
    member = folder.admit(vantage)
    name = agent_name(vantage, member.credential_number)
    invitation = Invitation(
        vantage=vantage,
        url=folder.url,
        authority=folder.read_authority(),
        credential=folder.authority().client_credential(name, datetime.now(UTC)),
    )
    return folder.write_secret(vantage + SUFFIX, _toml(invitation))


def withdraw(folder: ServerFolder, vantage: str) -> None:
    """Void a vantage point's credential; the caller reloads the server, which also ends the agent's connection."""
    folder.withdraw(vantage)
    (folder.path / (vantage + SUFFIX)).unlink(missing_ok=True)


def read_invitation(file: Path) -> Invitation:
    """Read an invitation's file."""
    try:
        return msgspec.convert(tomllib.loads(file.read_text("utf-8-sig")), Invitation)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise ConfigurationError(f"could not read invitation {file}: {reason}; ask for a new one") from error


def _toml(invitation: Invitation) -> str:
    return "\n".join(
        [
            f"# Lets whoever has it take part in a fleet as {invitation.vantage}. A secret.",
            *key_lines(msgspec.structs.asdict(invitation)),
            "",
        ]
    )
