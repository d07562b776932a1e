"""What travels in a fleet: a run, its jobs, and what an agent says of itself.

For: shapes and their names on the wire, checked whenever something is read. Not for: sending them.

A job is one block at one vantage point. It carries no code and no path: its plan is text, of sites or of pages and
profiles that every copy of resolab has.
"""

import enum
import re
from typing import Annotated, Any, TypeVar

import msgspec

from resolab.errors import ConfigurationError
from resolab.plan.live.vantage import VANTAGE
from resolab.plan.settings import HIGHEST_BLOCKS
from resolab.store.manifest import RunStart

RUN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
LONGEST_PLAN = 256 * 1024
"""Bytes of a plan's text; what is longer is no plan, and one message has to hold it."""

LARGEST_NUMBER = 2**63 - 1
Number = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_NUMBER)]
"""What another machine says; JSON itself knows no largest number."""

_Any = TypeVar("_Any")


class RunState(enum.StrEnum):
    """How a run stands with the one who began it."""

    OPEN = "open"
    STOPPED = "stopped"
    FETCHED = "fetched"


class Job(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One block at one vantage point."""

    run: str
    vantage: str
    block: int

    def __post_init__(self) -> None:
        """Refuse what could lead out of a folder or a subject."""
        check_run(self.run)
        check_vantage(self.vantage)
        if not 0 <= self.block < HIGHEST_BLOCKS:
            raise ValueError(f"block {self.block} is out of range")

    @property
    def id(self) -> str:
        """Name it once for all: what has this name twice is a duplicate."""
        return f"{self.run}.{self.vantage}.{self.block}"

    @property
    def subject(self) -> str:
        """Where it is queued."""
        return f"jobs.{self.run}.{self.vantage}"

    @property
    def result(self) -> str:
        """Name its result in the store of its vantage point."""
        return f"{self.run}.{self.block}"


class Run(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A plan given to a fleet."""

    id: str
    plan_name: str
    plan_text: str
    seed: int
    blocks: int
    """At each vantage point."""
    ground: RunStart
    """What trials must stand on at every vantage point: code, pages and browsers of who began the run."""
    vantages: list[str]
    created_unix_ns: int
    state: RunState = RunState.OPEN

    def __post_init__(self) -> None:
        """Refuse what names a file, or is no plan."""
        check_run(self.id)
        for vantage in self.vantages:
            check_vantage(vantage)
        if len(self.plan_text.encode()) > LONGEST_PLAN:
            raise ValueError("its plan is longer than 256 KiB")
        if not 1 <= self.blocks <= HIGHEST_BLOCKS:
            raise ValueError(f"{self.blocks} blocks are out of range")

    def jobs(self) -> list[Job]:
        """List its jobs block by block, so that whenever it ends the vantage points have come about as far."""
        return [Job(run=self.id, vantage=one, block=block) for block in range(self.blocks) for one in self.vantages]


class AgentState(msgspec.Struct, kw_only=True, frozen=True):
    """What an agent last said of itself; its clock is its own and is compared with no other."""

    vantage: str
    unix_ns: Number
    versions: dict[str, str]
    doing: str
    """In a word or two: waiting, running, refusing."""
    run: str | None = None
    block: Number | None = None
    problem: str | None = None
    """The last thing that went wrong, in a line."""
    blocks_done_count: Number = 0
    """Since it was started."""


def check_vantage(name: str) -> str:
    """Give a vantage point's name back, or refuse it."""
    if not VANTAGE.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a vantage point: small letters, digits, - and _, at most 40")
    return name


def check_run(name: str) -> str:
    """Give a run's name back, or refuse it."""
    if not RUN.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a run")
    return name


def encode(one: msgspec.Struct) -> bytes:
    """Write it as it travels."""
    return msgspec.json.encode(one)


def decode(content: bytes, kind: type[_Any], *, what: str) -> _Any:
    """Read what has travelled."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        raise ConfigurationError(f"could not read {what}: {error}; it is not carried out") from error


def as_dict(one: msgspec.Struct) -> dict[str, Any]:
    """Give it to machines."""
    return dict(msgspec.to_builtins(one))
