"""The fleet's folder: its authority, its address, who is invited, and the server's configuration made of them.

For: one layout, files written whole and for their owner alone. Not for: invitations (`invitation`), the running server
(`server`).

    ca.pem, ca-key.pem    the fleet's authority
    server.pem            the server's certificate and key
    operator.pem          those of the one who runs the fleet
    address.json          where it listens, and by which names agents reach it
    agents.json           who was invited, and whose credential was withdrawn
    storage.json          how much agents may put there, where that was ever said
    nats.conf, storage/   of nats-server
    shared.conf           instead, where a NATS server of somebody else's is used: what that includes
"""

import contextlib
import fcntl
import ipaddress
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from resolab.errors import ConfigurationError
from resolab.fleet.authority import OPERATOR, Authority, make_authority
from resolab.fleet.server_config import PORTS_FOLDER, agent_name, nats_conf, shared_conf
from resolab.store.files import machine_errors, write_whole

_Kind = TypeVar("_Kind")


class Address(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Where the server listens, and how it is reached."""

    url: str
    """For agents."""
    listen: str
    port: int
    """0: the kernel gives one at the first start, which is kept."""
    names: list[str]
    elsewhere: bool = False
    """Whether a NATS server is used that somebody else runs, instead of one that `fleet serve` starts."""


DEFAULT_QUOTA_BYTES, DEFAULT_RESERVE_BYTES = 16 * 10**9, 10**9


class Storage(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """How much of the server's disk agents may take."""

    quota_bytes: int = DEFAULT_QUOTA_BYTES
    """The results of each."""
    reserve_bytes: int = DEFAULT_RESERVE_BYTES
    """What stays free: below it no result is taken."""


class Member(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A vantage point that was invited."""

    vantage: str
    credential_number: int
    """Every invitation has a new one; only the last is good."""
    invited_unix_ns: int
    withdrawn_unix_ns: int | None = None


class ServerFolder:
    """The folder of one fleet's server."""

    def __init__(self, path: Path, address: Address) -> None:
        self.path = path
        self.address = address

    @classmethod
    def create(cls, path: Path, listen: str, port: int, names: Sequence[str]) -> Self:
        """Make a fleet: a new authority, nobody invited; agents reach it by the first of `names`."""
        return cls._make(path.resolve(), _address(listen, port, names))

    @classmethod
    def create_elsewhere(cls, path: Path, url: str) -> Self:
        """Make a fleet whose agents meet at a NATS server that somebody else runs."""
        host, port = _host_and_port(url)
        address = Address(url=_url(host, port), listen=host, port=port, names=[host], elsewhere=True)
        return cls._make(path.resolve(), address)

    @classmethod
    def _make(cls, path: Path, address: Address) -> Self:
        with machine_errors(f"make {path}"):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.chmod(0o700)
        folder = cls(path, address)
        if folder._file("ca.pem").exists():
            raise ConfigurationError(f"could not make a fleet in {path}: there is one; open it, or give another folder")
        now = datetime.now(UTC)
        authority = make_authority(now)
        folder._write("ca-key.pem", authority.key)
        folder._write("operator.pem", authority.client_credential(OPERATOR, now))
        folder._write("agents.json", "[]")
        folder._write_address(authority, now)
        # The authority comes last: a folder that has it has all.
        folder._write("ca.pem", authority.certificate)
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a fleet that was made before."""
        path = path.resolve()
        if not (path / "ca.pem").exists():
            raise ConfigurationError(f"could not find a fleet in {path}; `resolab fleet serve` makes one")
        return cls(path, _read(path / "address.json", Address))

    def at(self, listen: str | None = None, port: int | None = None, names: Sequence[str] | None = None) -> Self:
        """Have it listen or be reached elsewhere from its next start on; invitations given out keep their address."""
        old = self.address
        if old.elsewhere:
            raise ConfigurationError(f"could not move the fleet of {self.path}: its server is {old.url}, run by others")
        listen_at = listen or old.listen
        if names is None or not names:
            names = [listen_at] if old.names == [old.listen] else old.names
        address = _address(listen_at, old.port if port is None else port, names)
        moved = type(self)(self.path, address)
        moved._write_address(moved.authority(), datetime.now(UTC))
        return moved

    @property
    def url(self) -> str:
        """Where agents reach the server."""
        return self.address.url

    @property
    def operator_url(self) -> str:
        """Where this machine reaches it."""
        return _url(_local(self.address.listen), self.address.port)

    @property
    def config_file(self) -> Path:
        """What nats-server is started with, or includes where somebody else starts it."""
        return self._file("shared.conf" if self.address.elsewhere else "nats.conf")

    def trusted(self) -> str:
        """Give the authority's certificate."""
        return self._text("ca.pem")

    def authority(self) -> Authority:
        """Give the authority with its key."""
        return Authority(self._text("ca.pem"), self._text("ca-key.pem"))

    def operator_credential(self) -> str:
        """Give the credential of the one who runs the fleet."""
        return self._text("operator.pem")

    def members(self) -> list[Member]:
        """List everybody who was ever invited, the first first."""
        return _read(self._file("agents.json"), list[Member])

    def invited(self) -> list[str]:
        """List the vantage points that may take part now."""
        return [one.vantage for one in self.members() if one.withdrawn_unix_ns is None]

    def storage(self) -> Storage:
        """Say how much agents may take."""
        file = self._file("storage.json")
        return _read(file, Storage) if file.exists() else Storage()

    def set_storage(self, storage: Storage) -> None:
        """Keep how much agents may take, from the server's next start on."""
        self._write("storage.json", msgspec.json.encode(storage).decode())

    def admit(self, vantage: str) -> Member:
        """Let a vantage point take part with a new credential; one it had is void."""
        with self._alone():
            members = {one.vantage: one for one in self.members()}
            number = members[vantage].credential_number + 1 if vantage in members else 1
            member = Member(vantage=vantage, credential_number=number, invited_unix_ns=time.time_ns())
            self._write_members({**members, vantage: member})
        return member

    def withdraw(self, vantage: str) -> None:
        """Let a vantage point take part no more."""
        with self._alone():
            members = {one.vantage: one for one in self.members()}
            if vantage not in members or members[vantage].withdrawn_unix_ns is not None:
                there = ", ".join(self.invited()) or "nobody is"
                raise ConfigurationError(f"could not withdraw {vantage}: it is not invited; invited: {there}")
            gone = msgspec.structs.replace(members[vantage], withdrawn_unix_ns=time.time_ns())
            self._write_members({**members, vantage: gone})

    def keep_port(self, port: int) -> None:
        """Note the port that the kernel gave, so that the server has it again after every start."""
        self.address = _address(self.address.listen, port, self.address.names)
        self._write("address.json", msgspec.json.encode(self.address).decode())
        self.write_config()

    def write_config(self) -> None:
        """Write nats-server's configuration of all that the folder says."""
        now_in = [one for one in self.members() if one.withdrawn_unix_ns is None]
        holders = {agent_name(one.vantage, one.credential_number): one.vantage for one in now_in}
        if self.address.elsewhere:
            self._write("shared.conf", shared_conf(self.path, holders=holders))
            return
        port = self.address.port or -1
        self._write("nats.conf", nats_conf(self.path, listen=self.address.listen, port=port, holders=holders))

    def write_secret(self, name: str, text: str) -> Path:
        """Write a file beside the others, for the owner alone."""
        return self._write(name, text)

    def _write_members(self, members: dict[str, Member]) -> None:
        self._write("agents.json", msgspec.json.format(msgspec.json.encode(list(members.values()))).decode())
        self.write_config()

    def _write_address(self, authority: Authority, now: datetime) -> None:
        for name in () if self.address.elsewhere else ("storage", PORTS_FOLDER):
            self._file(name).mkdir(exist_ok=True, mode=0o700)
        self._write("server.pem", authority.server_credential(_reached_by(self.address), now))
        self._write("address.json", msgspec.json.encode(self.address).decode())
        self.write_config()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other resolab changes who is invited."""
        with self._file("agents.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _file(self, name: str) -> Path:
        return self.path / name

    def _text(self, name: str) -> str:
        try:
            return self._file(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"could not read {self._file(name)}: {error}; is it a fleet's folder?") from error

    def _write(self, name: str, text: str) -> Path:
        file, content = self._file(name), text.encode()
        # A server starts on a full disk, too: what is there already is not written again.
        if not file.exists() or file.read_bytes() != content:
            # The folder lets nobody else in, so the moment before the mode is set is nobody's.
            write_whole(file, content)
            file.chmod(0o600)
        return file


def _address(listen: str, port: int, names: Sequence[str]) -> Address:
    names = list(names) or [listen]
    if _is_any(names[0]):
        raise ConfigurationError(
            f"could not make a fleet's server: agents cannot reach it at {names[0]}; give a name or address with --name"
        )
    return Address(url=_url(names[0], port), listen=listen, port=port, names=names)


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "tls" or not host or not port:
        raise ConfigurationError(f"could not use {url}: a fleet's server is written tls://NAME:PORT")
    return host, port


def _reached_by(address: Address) -> list[str]:
    """List the names and addresses that its certificate must have, each once."""
    return list(dict.fromkeys([*(one for one in address.names if not _is_any(one)), _local(address.listen)]))


def _local(listen: str) -> str:
    if not _is_any(listen):
        return listen
    return "::1" if ":" in listen else "127.0.0.1"


def _is_any(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def _url(host: str, port: int) -> str:
    return f"tls://[{host}]:{port}" if ":" in host else f"tls://{host}:{port}"


def _read(file: Path, kind: type[_Kind]) -> _Kind:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"could not read {file}: {error}; is it a fleet's folder?") from error
