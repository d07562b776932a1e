"""`resolab page clone`: the folder made from a page model, for reading or changing.

For: writing the folder to the user's path. Not for: the folder's content (`resolab.pages.clone`).
"""

import argparse
import tempfile
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.cli.console import Console
from resolab.pages.clone.folder import ProtocolSource, write_clone
from resolab.pages.file import read_model
from resolab.plan.section import NAME
from resolab.store import machine_errors


def run(options: argparse.Namespace) -> int:
    """Write the clone; print its size."""
    model = read_model(options.page)
    folder: Path = options.output or Path(model.name)
    if not NAME.fullmatch(folder.name):
        raise ConfigurationError(
            f"{folder.name!r} is no name of a page: use letters, digits, - and _; give one with -o"
        )
    if folder.exists():
        raise ConfigurationError(f"{folder} is there; remove it, or give another place with -o")
    with machine_errors(f"write {folder}"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: half a clone would stand in the way of the next attempt, and pass for a page.
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as making:
            made = Path(making) / folder.name
            made.mkdir()
            written = write_clone(model, made, seed=options.seed, protocols=ProtocolSource(options.protocols))
            made.rename(folder)
    beyond = written.wire_bytes / max(written.model_bytes, 1) - 1
    Console(highlight=False).print(
        f"{folder}: {written.requests_count:,} requests, {written.wire_bytes / 1e3:,.0f} kB of bodies "
        f"({beyond:+.1%} beside the model's); a plan names it by its path{_the_same(options)}",
        markup=False,
        soft_wrap=True,
    )
    return 0


def _the_same(options: argparse.Namespace) -> str:
    return ", or by the model's: the clone is the same" if options.protocols == ProtocolSource.PLAN else ""
