"""The fleet's folder: its authority, its address, its members, and the server's configuration made from these.

For: a single layout, files written whole and readable for their owner only. Not for: invitations (`invitation`), the
running server (`server`).

    ca.pem, ca-key.pem    the fleet's authority.
    server.pem            the server's certificate and key.
    operator.pem          the operator's certificate and key.
    address.json          the server's listening address, and its names for agents.
    agents.json           the invited vantage points, with withdrawn credentials.
    storage.json          the agents' storage limits, if ever set.
    nats.conf, storage/   of nats-server.
    shared.conf           instead, with an external NATS server: the file included by its configuration.
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

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.server.authority import OPERATOR, FleetAuthority, make_authority
from resolab.extras.fleet.server.config import PORTS_FOLDER, agent_name, build_shared_conf, nats_conf
from resolab.store.files import machine_errors, write_whole

_Kind = TypeVar("_Kind")


class ServerAddress(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The server's listening address, and the names for reaching the server."""

    url: str
    """The server's URL for agents."""
    listen: str
    port: int
    """The port; 0: the kernel chooses a port at the first start, kept afterwards."""
    names: list[str]
    elsewhere: bool = False
    """True for an external NATS server, instead of a server started by `fleet serve`."""


DEFAULT_QUOTA_BYTES, DEFAULT_RESERVE_BYTES = 16 * 10**9, 10**9


class StorageLimits(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The agents' limits on the server's disk."""

    quota_bytes: int = DEFAULT_QUOTA_BYTES
    """The maximum size of each agent's results, in bytes."""
    reserve_bytes: int = DEFAULT_RESERVE_BYTES
    """The space to stay free, in bytes: with less free space no result is accepted."""


class Member(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """An invited vantage point."""

    vantage: str
    credential_number: int
    """The number of the credential; every invitation has a new number, and only the last is valid."""
    invited_unix_ns: int
    withdrawn_unix_ns: int | None = None


class ServerFolder:
    """The folder of a fleet's server."""

    def __init__(self, path: Path, address: ServerAddress) -> None:
        self.path = path
        self.address = address

    @classmethod
    def create(cls, path: Path, listen: str, port: int, names: Sequence[str]) -> Self:
        """Make a fleet with a new authority and no members; agents reach the server by the first of `names`."""
        return cls._make(path.resolve(), _address(listen, port, names))

    @classmethod
    def create_elsewhere(cls, path: Path, url: str) -> Self:
        """Make a fleet with an external NATS server."""
        host, port = _host_and_port(url)
        address = ServerAddress(url=_url(host, port), listen=host, port=port, names=[host], elsewhere=True)
        return cls._make(path.resolve(), address)

    @classmethod
    def _make(cls, path: Path, address: ServerAddress) -> Self:
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
        """Open the folder of an existing fleet."""
        path = path.resolve()
        if not (path / "ca.pem").exists():
            raise ConfigurationError(f"could not find a fleet in {path}; `resolab fleet serve` makes one")
        return cls(path, _read(path / "address.json", ServerAddress))

    def change_address(
        self, listen: str | None = None, port: int | None = None, names: Sequence[str] | None = None
    ) -> Self:
        """Change the server's address from its next start on; existing invitations keep their address."""
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
        """Return the server's URL for agents."""
        return self.address.url

    @property
    def operator_url(self) -> str:
        """Return the server's URL for this machine."""
        return _url(_local(self.address.listen), self.address.port)

    @property
    def config_file(self) -> Path:
        """Return the configuration file of nats-server, or the file included by an external server."""
        return self._file("shared.conf" if self.address.elsewhere else "nats.conf")

    def read_authority(self) -> str:
        """Return the authority's certificate."""
        return self._text("ca.pem")

    def authority(self) -> FleetAuthority:
        """Return the authority with its key."""
        return FleetAuthority(self._text("ca.pem"), self._text("ca-key.pem"))

    def operator_credential(self) -> str:
        """Return the operator's credential."""
        return self._text("operator.pem")

    def members(self) -> list[Member]:
        """List all vantage points ever invited, in order of invitation."""
        return _read(self._file("agents.json"), list[Member])

    def list_invited(self) -> list[str]:
        """List the currently invited vantage points."""
        return [one.vantage for one in self.members() if one.withdrawn_unix_ns is None]

    def storage(self) -> StorageLimits:
        """Return the agents' storage limits."""
        file = self._file("storage.json")
        return _read(file, StorageLimits) if file.exists() else StorageLimits()

    def set_storage(self, storage: StorageLimits) -> None:
        """Store the agents' storage limits, used from the server's next start on."""
        self._write("storage.json", msgspec.json.encode(storage).decode())

    def admit(self, vantage: str) -> Member:
        """Admit a vantage point with a new credential; an earlier credential becomes void."""
        with self._alone():
            members = {one.vantage: one for one in self.members()}
            number = members[vantage].credential_number + 1 if vantage in members else 1
            member = Member(vantage=vantage, credential_number=number, invited_unix_ns=time.time_ns())
            self._write_members({**members, vantage: member})
        return member

    def withdraw(self, vantage: str) -> None:
        """Exclude a vantage point from now on."""
        with self._alone():
            members = {one.vantage: one for one in self.members()}
            if vantage not in members or members[vantage].withdrawn_unix_ns is not None:
                there = ", ".join(self.list_invited()) or "nobody is"
                raise ConfigurationError(f"could not withdraw {vantage}: it is not invited; invited: {there}")
            gone = msgspec.structs.replace(members[vantage], withdrawn_unix_ns=time.time_ns())
            self._write_members({**members, vantage: gone})

    def keep_port(self, port: int) -> None:
        """Store the port chosen by the kernel, used again at every start."""
        self.address = _address(self.address.listen, port, self.address.names)
        self._write("address.json", msgspec.json.encode(self.address).decode())
        self.write_config()

    def write_config(self) -> None:
        """Write nats-server's configuration from the folder's files."""
        now_in = [one for one in self.members() if one.withdrawn_unix_ns is None]
        holders = {agent_name(one.vantage, one.credential_number): one.vantage for one in now_in}
        if self.address.elsewhere:
            self._write("shared.conf", build_shared_conf(self.path, holders=holders))
            return
        port = self.address.port or -1
        self._write("nats.conf", nats_conf(self.path, listen=self.address.listen, port=port, holders=holders))

    def write_secret(self, name: str, text: str) -> Path:
        """Write a file beside the others, readable for the owner only."""
        return self._write(name, text)

    def _write_members(self, members: dict[str, Member]) -> None:
        self._write("agents.json", msgspec.json.format(msgspec.json.encode(list(members.values()))).decode())
        self.write_config()

    def _write_address(self, authority: FleetAuthority, now: datetime) -> None:
        for name in () if self.address.elsewhere else ("storage", PORTS_FOLDER):
            self._file(name).mkdir(exist_ok=True, mode=0o700)
        self._write("server.pem", authority.server_credential(_list_server_names(self.address), now))
        self._write("address.json", msgspec.json.encode(self.address).decode())
        self.write_config()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other resolab changes the membership."""
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


def _address(listen: str, port: int, names: Sequence[str]) -> ServerAddress:
    names = list(names) or [listen]
    if _is_any(names[0]):
        raise ConfigurationError(
            f"could not make a fleet's server: agents cannot reach it at {names[0]}; give a name or address with --name"
        )
    return ServerAddress(url=_url(names[0], port), listen=listen, port=port, names=names)


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "tls" or not host or not port:
        raise ConfigurationError(f"could not use {url}: a fleet's server is written tls://NAME:PORT")
    return host, port


def _list_server_names(address: ServerAddress) -> list[str]:
    """List the names and addresses for the server's certificate, each once."""
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
