"""The messages of a fleet: a run, its jobs, and an agent's state.

For: shapes and their names on the wire, checked at every reading. Not for: sending.

A job is a block at a vantage point, without code and without paths. Its plan is text, with sites, or with pages and
profiles of every copy of resolab.
"""

import enum
import re
from typing import Annotated, Any, TypeVar

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.plan.live.vantage import VANTAGE
from resolab.plan.settings import HIGHEST_BLOCKS
from resolab.store.manifest import ProcessStart

RUN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
LONGEST_PLAN = 256 * 1024
"""The maximum size of a plan's text, in bytes; longer text is no plan, and a message has to hold the plan."""

LARGEST_NUMBER = 2**63 - 1
Number = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_NUMBER)]
"""A number from another machine, with a limit; JSON itself has no largest number."""

_Any = TypeVar("_Any")


class RunState(enum.StrEnum):
    """The state of a run according to its operator."""

    OPEN = "open"
    STOPPED = "stopped"
    FETCHED = "fetched"


class Job(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A block at a vantage point."""

    run: str
    vantage: str
    block: int

    def __post_init__(self) -> None:
        """Reject names leading out of a folder or a subject."""
        check_run(self.run)
        check_vantage(self.vantage)
        if not 0 <= self.block < HIGHEST_BLOCKS:
            raise ValueError(f"block {self.block} is out of range")

    @property
    def id(self) -> str:
        """Return the job's unique name; a second message with this name is a duplicate."""
        return f"{self.run}.{self.vantage}.{self.block}"

    @property
    def subject(self) -> str:
        """Return the subject of the job's queue."""
        return f"jobs.{self.run}.{self.vantage}"

    @property
    def result(self) -> str:
        """Return the name of the result in the vantage point's store."""
        return f"{self.run}.{self.block}"


class FleetRun(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A plan given to a fleet."""

    id: str
    plan_name: str
    plan_text: str
    seed: int
    blocks: int
    """The number of blocks at each vantage point."""
    ground: ProcessStart
    """The provenance required at every vantage point: code, pages and browsers at the run's start."""
    vantages: list[str]
    created_unix_ns: int
    state: RunState = RunState.OPEN

    def __post_init__(self) -> None:
        """Reject names of files, and text too long for a plan."""
        check_run(self.id)
        for vantage in self.vantages:
            check_vantage(vantage)
        if len(self.plan_text.encode()) > LONGEST_PLAN:
            raise ValueError("its plan is longer than 256 KiB")
        if not 1 <= self.blocks <= HIGHEST_BLOCKS:
            raise ValueError(f"{self.blocks} blocks are out of range")

    def jobs(self) -> list[Job]:
        """List the jobs block by block, so at any end all vantage points have done about the same number."""
        return [Job(run=self.id, vantage=one, block=block) for block in range(self.blocks) for one in self.vantages]


class AgentState(msgspec.Struct, kw_only=True, frozen=True):
    """The last state reported by an agent; its clock is not compared with other clocks."""

    vantage: str
    unix_ns: Number
    versions: dict[str, str]
    doing: str
    """The activity in a word or two: waiting, running, refusing."""
    run: str | None = None
    block: Number | None = None
    problem: str | None = None
    """The last problem, in a line."""
    blocks_done_count: Number = 0
    """The number of finished blocks since the agent's start."""


def check_vantage(name: str) -> str:
    """Return a vantage point's name; raise `ValueError` for an invalid name."""
    if not VANTAGE.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a vantage point: small letters, digits, - and _, at most 40")
    return name


def check_run(name: str) -> str:
    """Return a run's name; raise `ValueError` for an invalid name."""
    if not RUN.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a run")
    return name


def encode(one: msgspec.Struct) -> bytes:
    """Encode a message for sending."""
    return msgspec.json.encode(one)


def decode(content: bytes, kind: type[_Any], *, what: str) -> _Any:
    """Decode a received message."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        raise ConfigurationError(f"could not read {what}: {error}; it is not carried out") from error


def as_dict(one: msgspec.Struct) -> dict[str, Any]:
    """Return a message as a dictionary, for machines."""
    return dict(msgspec.to_builtins(one))
