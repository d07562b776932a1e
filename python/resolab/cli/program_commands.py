"""The commands carried out by another program: `edge`, `stub` and others by resolab-core, `bench` by resolab-load.

For: replacing this process by the program, with all options; standard input, signals and exit codes are the program's
own, too. Not for: the work or the options of these commands.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from resolab.basics.installation import find_core, find_load, is_installed, project_root

if TYPE_CHECKING:
    import argparse

LOAD_COMMAND = "bench"
PROGRAM_COMMANDS = {
    LOAD_COMMAND: "put load on a resolver, in a closed or an open loop (docs/method/load.md)",
    "stub": "forward plain DNS over an encrypted transport (docs/guides/stub.md)",
    "edge": "serve DNS and pages (docs/formats/edge.md)",
    "path": "make two hosts joined by an emulated access link (docs/formats/profile.md)",
    "enter": "run a program in a path's host, or here with a resolver of its own (docs/guides/live-without-root.md)",
    "fetch": "fetch a name and a page on one connection or several (docs/method/coalescing.md)",
    "fetch-names": "fetch a document and the addresses of its names, announced or not (docs/method/announced-names.md)",
    "gateway": "load a browser's pages on connections of ours (docs/method/gateway.md)",
    "ping": "measure round trips to a resolver by ICMP, TCP or QUIC (docs/guides/live-without-root.md)",
    "relay": "make a host behind slirp4netns, whose port 53 is free (docs/guides/live-without-root.md)",
    "probe-questions": "find out what a resolver does with messages of several questions (docs/method/questions.md)",
    "probe": "measure a path with packets of its own (docs/method/calibration.md)",
}
"""The commands and texts in the list of commands. `query` and `internet` do more here; `schema` is for builders."""


def add_program_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add these commands to the list of commands."""
    for name, help_ in PROGRAM_COMMANDS.items():
        commands.add_parser(name, help=help_, add_help=False)


def is_program_command(arguments: Sequence[str]) -> bool:
    """Return True when another program carries out the command."""
    return bool(arguments) and arguments[0] in PROGRAM_COMMANDS


def become_program(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by the command's program; its usage names the command as typed."""
    if is_installed():
        # In a checkout it finds them from where it lies itself.
        os.environ.setdefault("RESOLAB_PROFILES", str(project_root() / "profiles"))
    command, *options = arguments
    if command == LOAD_COMMAND:
        os.execv(find_load(), [f"resolab {command}", *options])  # noqa: S606 - no shell is wanted
    os.execv(find_core(), ["resolab", *arguments])  # noqa: S606 - no shell is wanted
