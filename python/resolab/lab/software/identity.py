"""The identity of a plan's own software: version, hash of the program, and configuration, for the manifest.

For: naming the builds that were compared. Not for: running them (`rack`).
"""

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.servers.programs import search_program
from resolab.lab.software.host import list_user_options
from resolab.plan.software import Software
from resolab.store.manifest import SoftwareEntry

VERSION_TIMEOUT_S = 10.0
LONGEST_VERSION = 120


def describe_software(software: Mapping[str, Software]) -> dict[str, SoftwareEntry]:
    """Describe each software; a missing program is an error before the run."""
    return {name: _describe_one(one) for name, one in software.items()}


def _describe_one(software: Software) -> SoftwareEntry:
    program = _find_program(software)
    try:
        with Path(program).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MachineError(f"could not read {program}, of software {software.name}: {error.strerror}") from error
    return SoftwareEntry(
        program=program,
        program_sha256=digest,
        version=_read_version(program, software),
        template=software.template,
        cache=str(software.cache),
        transports=[str(one) for one in software.transports],
        command=list(software.command),
        configuration=software.configuration,
    )


def _find_program(software: Software) -> str:
    wanted = software.command[0]
    found = search_program(wanted)
    if found is None:
        remedy = "scripts/setup --interop installs it" if software.template else "give the path of a program"
        raise MachineError(f"software {software.name}: program {wanted} is not on this machine; {remedy}")
    return found


def _read_version(program: str, software: Software) -> str | None:
    """Return the first line of the program's words about its version, asked as an ordinary user."""
    if not software.version:
        return None
    user = ["setpriv", *list_user_options(), "--"] if os.geteuid() == 0 else []
    try:
        run = subprocess.run(
            [*user, program, *software.version],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [line.strip() for line in run.stdout.decode(errors="replace").splitlines() if line.strip()]
    return lines[0][:LONGEST_VERSION] if lines and run.returncode == 0 else None
