"""A vantage point's store of results, read by the fleet's operator: names, sizes, blocks, used storage.

For: all data stored by an agent, treated as a stranger's. Not for: the content of a block (`bundle`), permission to
write (`server.config`), quotas (`server.streams`).

Messages are requested singly and come back inside JSON. A header written by an agent therefore never reaches the
client; some headers would trigger an action there. An object is an object of JetStream's object store: a description,
and chunks under a separate name.
"""

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nats.aio.client import Client

from resolab.basics.errors import ConfigurationError, StorageError
from resolab.extras.fleet.job import Job, Number
from resolab.extras.fleet.results.bundle import LARGEST_BUNDLE_BYTES
from resolab.extras.fleet.server.config import API
from resolab.extras.fleet.transfer import TIMEOUT_S, UnreachableError, call_server, format_digest, format_store_name

SILENCE_S = 60.0
"""The time limit for a chunk of 128 KiB, in s, enough for the slowest line; a whole block has no limit."""
LEAST_CHUNK_BYTES = 32 * 1024
"""The minimum size of all chunks but an object's last, in bytes. Clients use chunks of 128 KiB; with tiny chunks,
fetching a block would never end."""
MOST_LISTED = 10_000
"""The maximum number of listed subjects, each of some kB at most; a list above 64 MB would end the connection."""
_NOT_FOUND = 404
_NUID = re.compile(r"[A-Za-z0-9]{1,64}")


class _Description(msgspec.Struct, frozen=True):
    """The used part of an object's description."""

    nuid: str
    """The name of its chunks."""
    size: Number
    digest: str
    deleted: bool = False

    def __post_init__(self) -> None:
        if not _NUID.fullmatch(self.nuid):
            raise ValueError("its chunks have no name")


class StoredMessage(msgspec.Struct, frozen=True):
    """A message of a stream, without its headers."""

    seq: int
    subject: str
    data: str = ""


class _Error(msgspec.Struct, frozen=True):
    code: int
    description: str = ""


class _Answer(msgspec.Struct, frozen=True):
    message: StoredMessage | None = None
    error: _Error | None = None


class _State(msgspec.Struct, frozen=True):
    bytes: int
    num_subjects: int = 0
    subjects: dict[str, int] | None = None


class _Config(msgspec.Struct, frozen=True):
    max_bytes: int = -1


class _Info(msgspec.Struct, frozen=True):
    state: _State
    config: _Config


@dataclass(frozen=True, slots=True)
class StoreUse:
    """The content of a store."""

    names: frozenset[str]
    """The names of the objects, whole or not; with too many objects for a list, only the wanted names."""
    size_bytes: int
    quota_bytes: int | None
    """The quota, in bytes; `None` without a quota."""
    chunks: Mapping[str, int]
    """The number of chunks, by their objects' chunk names; empty when there are too many names for a list."""


class ResultStore:
    """The store of a vantage point."""

    def __init__(self, client: Client, vantage: str) -> None:
        self._client, self._vantage = client, vantage
        self._store = format_store_name(vantage)
        self._stream = f"OBJ_{self._store}"
        self._js = client.jetstream(timeout=TIMEOUT_S)

    async def use(self, wanted: Collection[str] = ()) -> StoreUse:
        """Return the store's content; with too many objects for a list, only the wanted objects."""
        info = await self._info({})
        is_listed = info.state.num_subjects <= MOST_LISTED
        if is_listed:
            info = await self._info({"subjects_filter": f"$O.{self._store}.>"})
        names, chunks = set(), Counter[str]()
        for subject, count in (info.state.subjects or {}).items():
            kind, _, name = subject.removeprefix(f"$O.{self._store}.").partition(".")
            if kind == "M":
                names.add(object_name(name))
            else:
                chunks[name] += count
        if not is_listed:
            names = {name for name in wanted if await self._last(name) is not None}
        quota = info.config.max_bytes
        return StoreUse(frozenset(names), info.state.bytes, quota if quota > 0 else None, chunks)

    async def _info(self, which: Mapping[str, object]) -> _Info:
        """Return the store's state; the client's own call leaves out the number of subjects."""
        async with call_server(f"look into the results of {self._vantage}"):
            request = msgspec.json.encode(which)
            reply = await self._client.request(f"{API}.STREAM.INFO.{self._stream}", request, timeout=TIMEOUT_S)
            return msgspec.json.decode(reply.data, type=_Info)

    async def download(self, job: Job, file: Path) -> bool:
        """Write a block's bundle into a file; return False without a result.

        Raises `ConfigurationError` for an invalid result, `UnreachableError` when the server does not answer.
        """
        described = await self._describe_job(job)
        if described is None or described.deleted:
            return False
        if described.size > LARGEST_BUNDLE_BYTES:
            raise ConfigurationError(f"its result has {described.size} bytes, at most {LARGEST_BUNDLE_BYTES} travel")
        summed = hashlib.sha256()
        try:
            with file.open("wb") as stream:
                async for content in self._chunks(described):
                    summed.update(content)
                    stream.write(content)
        except OSError as error:
            raise StorageError(f"failed to write {file}: {error.strerror}; give --out a disk with room") from error
        if described.digest != format_digest(summed.hexdigest()):
            raise ConfigurationError("its result is damaged on the server: its sum is another")
        return True

    async def _chunks(self, described: _Description) -> AsyncIterator[bytes]:
        """Yield an object's chunks in order, up to the described size."""
        seq, left_bytes = 0, described.size
        while left_bytes > 0:
            chunk = await self._message({"seq": seq + 1, "next_by_subj": self._chunk_subject(described.nuid)})
            content = b"" if chunk is None else decode_content(chunk)
            if chunk is None or not min(left_bytes, LEAST_CHUNK_BYTES) <= len(content) <= left_bytes:
                raise ConfigurationError(
                    "its result is damaged on the server: its chunks are not what it is said to be"
                )
            yield content
            seq, left_bytes = chunk.seq, left_bytes - len(content)

    async def remove(self, job: Job) -> None:
        """Remove a block's result, so an agent can send the result again."""
        try:
            described = await self._describe_job(job)
        except ConfigurationError:
            described = None
        async with call_server(f"remove the result of {job.id}"):
            await self._js.purge_stream(self._stream, subject=self._description_subject(job.result))
            if described is not None:
                await self._purge_chunks(described.nuid)

    async def remove_chunks(self, names: Mapping[str, int]) -> None:
        """Remove chunks without an object."""
        async with call_server(f"remove chunks of {self._vantage}"):
            for name in names:
                await self._purge_chunks(name)

    async def list_chunks(self, names: frozenset[str]) -> set[str]:
        """Return the chunk names of the objects with these names."""
        found = set()
        for name in names - {""}:
            message = await self._last(name)
            described = None if message is None else _description(message)
            if described is not None and not described.deleted:
                found.add(described.nuid)
        return found

    async def _purge_chunks(self, name: str) -> None:
        await self._js.purge_stream(self._stream, subject=self._chunk_subject(name))

    def _chunk_subject(self, name: str) -> str:
        return f"$O.{self._store}.C.{name}"

    def _description_subject(self, name: str) -> str:
        return f"$O.{self._store}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"

    async def _describe_job(self, job: Job) -> _Description | None:
        message = await self._last(job.result)
        if message is None:
            return None
        described = _description(message)
        if described is None:
            raise ConfigurationError("its result is damaged on the server: nobody can read its description")
        return described

    async def _last(self, name: str) -> StoredMessage | None:
        """Return an object's description."""
        return await self._message({"last_by_subj": self._description_subject(name)})

    async def _message(self, which: Mapping[str, object]) -> StoredMessage | None:
        return await read_message(self._client, self._stream, which)


async def read_message(client: Client, stream: str, which: Mapping[str, object]) -> StoredMessage | None:
    """Return a message of a stream; `None` without a match."""
    async with call_server(f"read from {stream}"):
        request = msgspec.json.encode(which)
        reply = await client.request(f"{API}.STREAM.MSG.GET.{stream}", request, timeout=SILENCE_S)
        answer = msgspec.json.decode(reply.data, type=_Answer)
    if answer.error is not None and answer.error.code != _NOT_FOUND:
        raise UnreachableError(f"could not read from {stream}: {answer.error.description}")
    return answer.message


def decode_content(message: StoredMessage) -> bytes:
    """Decode a message's content from base64."""
    return base64.b64decode(message.data)


def _description(message: StoredMessage) -> _Description | None:
    try:
        return msgspec.json.decode(decode_content(message), type=_Description)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return None


def object_name(encoded: str) -> str:
    """Return an object's name from the end of its description's subject; empty for an invalid name."""
    try:
        return base64.b64decode(encoded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
