"""A block as a single file: packed after the run, and unpacked only when equal to the order.

For: `pack`, `unpack`. Not for: the order (`order_check`), joining blocks (`assemble`), sending files (`transfer`).

A bundle is a tar file, compressed by gzip: `manifest.json`, the block's trials, then the files named there (browsers'
logs, captures, keys, pictures). The same files give the same bytes. The reader is a few lines of code for plain files
only, so other contents of tar files, and a general reader's reaction to them, never matter.
"""

import gzip
import hashlib
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.results.order_check import ExpectedBlock, check_ordered, files_named, refuse
from resolab.store import Manifest, load_manifest, machine_errors, read_trial, trial_id
from resolab.store.artifacts import KEPT_FILE
from resolab.store.files import sync_folder
from resolab.store.folder import MANIFEST, TRIALS
from resolab.store.trials import SUFFIX

LARGEST_BYTES = 2 * 1024**3
"""The maximum size of all files of a block, unpacked, in bytes."""
LARGEST_BUNDLE_BYTES = LARGEST_BYTES + LARGEST_BYTES // 64
"""The maximum size of a bundle, in bytes: content not compressible by gzip grows by less."""
LARGEST_MANIFEST_BYTES = 16 * 1024**2
LARGEST_TRIAL_BYTES = 256 * 1024**2
"""The maximum size of a trial, in bytes: a trial is read line by line, and a line may be all of the trial."""
FILES_A_TRIAL_COUNT = 8
"""The maximum number of files per trial, more than possible: capture, keys, log, and a picture for each load."""
_TRIAL_FILE = re.compile(rf"{TRIALS}/b\d{{3,}}-t\d{{3,}}{re.escape(SUFFIX)}")
_CHUNK_BYTES = 1024**2
_LEVEL = 6
_PADDING_BYTES = tarfile.RECORDSIZE
"""The maximum padding behind a tar file's last member, in bytes."""
_OPEN_MODE, _PRIVATE_MODE = 0o644, 0o600


@dataclass(frozen=True, slots=True)
class BundleDigest:
    """The digest and size of a bundle."""

    sha256: str
    size_bytes: int


def pack(dataset: Path, block: int, file: Path) -> BundleDigest:
    """Write a block of a dataset into a single file, whole or not at all."""
    names = _block_files(dataset, block)
    partial = file.with_name(file.name + ".partial")
    with machine_errors(f"write {file}"):
        try:
            with partial.open("wb") as stream:
                _write(dataset, names, stream)
                stream.flush()
                os.fsync(stream.fileno())
            packed = BundleDigest(compute_sha256(partial), partial.stat().st_size)
            partial.replace(file)
            sync_folder(file.parent)
        finally:
            partial.unlink(missing_ok=True)
    return packed


def compute_sha256(file: Path) -> str:
    """Return the SHA-256 of a bundle."""
    with machine_errors(f"read {file}"), file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unpack(file: Path, folder: Path, expected: ExpectedBlock) -> Manifest:
    """Unpack a bundle equal to the order into a new folder; leave no file of a rejected bundle."""
    with machine_errors(f"unpack {file}"):
        folder.mkdir(parents=True)
        try:
            names = _extract(file, folder, at_most=1 + (1 + FILES_A_TRIAL_COUNT) * len(expected.trials))
            check_ordered(folder, names, expected)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return load_manifest(folder)


def _block_files(dataset: Path, block: int) -> list[str]:
    """Return a block's file names, in the order of a bundle."""
    manifest = load_manifest(dataset)
    trials_count = manifest.trials_planned_count // manifest.blocks
    trials = [f"{TRIALS}/{trial_id(block, position)}{SUFFIX}" for position in range(trials_count)]
    missing = next((one for one in trials if not (dataset / one).is_file()), None)
    if missing is not None or block >= manifest.blocks:
        problem = f"{missing or f'block {block}'} is not there"
        raise ConfigurationError(
            f"could not pack block {block} of {dataset}: {problem}; run the block to its end first"
        )
    # A picture or a log may have got lost with its browser; the trial is whole without.
    named = {name for one in trials for name in files_named(read_trial(dataset / one)) if (dataset / name).is_file()}
    names = [MANIFEST, *trials, *sorted(named)]
    size_bytes = sum((dataset / one).stat().st_size for one in names)
    if size_bytes > LARGEST_BYTES:
        problem = f"it has {size_bytes / 1024**3:.1f} GiB, at most {LARGEST_BYTES / 1024**3:.0f} travel"
        raise ConfigurationError(f"could not pack block {block} of {dataset}: {problem}; keep less, e.g. no captures")
    return names


def _write(dataset: Path, names: list[str], stream: IO[bytes]) -> None:
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name in names:
            info = tarfile.TarInfo(name)
            info.mode = _choose_mode(name)
            with (dataset / name).open("rb") as content:
                info.size = os.fstat(content.fileno()).st_size
                tar.addfile(info, content)


def _choose_mode(name: str) -> int:
    """Return the mode of a file; keys are readable for their owner only, here as in the dataset."""
    return _PRIVATE_MODE if name.startswith("key_logs/") else _OPEN_MODE


def _extract(file: Path, folder: Path, *, at_most: int) -> list[str]:
    """Write the plain files of a bundle, inside the folder and within the limits; return their names."""
    names: list[str] = []
    left_bytes = LARGEST_BYTES
    try:
        with gzip.open(file, "rb") as stream:
            for name, size_bytes in _members(stream):
                if name in names or len(names) == at_most:
                    refuse(f"it holds {name} twice" if name in names else f"it holds more than {at_most} files")
                if size_bytes > min(left_bytes, _find_limit(name)):
                    refuse(f"with {name} it is larger than is allowed")
                left_bytes -= size_bytes
                names.append(name)
                _copy(stream, folder / name, size_bytes, _choose_mode(name))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        refuse(f"its file is cut or damaged ({error})")
    return names


def _members(stream: gzip.GzipFile) -> Iterator[tuple[str, int]]:
    """Yield name and size of each member; the caller reads each content before the next member."""
    while (header := stream.read(tarfile.BLOCKSIZE)) != bytes(tarfile.BLOCKSIZE):
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            refuse(f"its file is cut or no tar file ({error})")
        if info.type != tarfile.REGTYPE or info.size < 0:
            refuse(f"it holds {info.name!a}, which is no plain file")
        if not (info.name == MANIFEST or _TRIAL_FILE.fullmatch(info.name) or KEPT_FILE.fullmatch(info.name)):
            refuse(f"it holds {info.name!a}, which is no file of a block")
        yield info.name, info.size
    rest = stream.read(_PADDING_BYTES + 1)
    if len(rest) > _PADDING_BYTES or rest.strip(b"\0"):
        refuse("something stands behind its last file")


def _find_limit(name: str) -> int:
    if name == MANIFEST:
        return LARGEST_MANIFEST_BYTES
    return LARGEST_TRIAL_BYTES if name.startswith(f"{TRIALS}/") else LARGEST_BYTES


def _copy(stream: gzip.GzipFile, target: Path, size_bytes: int, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode, exist_ok=False)
    with target.open("wb") as file:
        for begin in range(0, size_bytes, _CHUNK_BYTES):
            chunk = stream.read(min(_CHUNK_BYTES, size_bytes - begin))
            if not chunk:
                refuse("its file is cut")
            file.write(chunk)
    stream.read(-size_bytes % tarfile.BLOCKSIZE)
