"""Trust in the lab's authority, through the certificate database (NSS) read by both browsers.

For: one database with one authority. Not for: the database's path in each browser.
"""

import subprocess
from pathlib import Path

from resolab.basics.errors import ConfigurationError, MachineError

CERTUTIL_TIMEOUT_S = 20.0


def trust(ca_file: Path, database: Path) -> None:
    """Make a certificate database in the folder `database`, with this authority for servers."""
    if not ca_file.is_file():
        raise ConfigurationError(f"could not read the authority's certificate: {ca_file} is no file")
    _certutil(database, "-N", "--empty-password")
    _certutil(database, "-A", "-t", "C,,", "-n", "resolab", "-i", str(ca_file))


def _certutil(database: Path, *arguments: str) -> None:
    command = ["certutil", "-d", f"sql:{database}", *arguments]
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=CERTUTIL_TIMEOUT_S, start_new_session=True
        )
    except FileNotFoundError as error:
        raise MachineError("could not make the browser trust the lab: install certutil (libnss3-tools)") from error
    except subprocess.CalledProcessError as error:
        raise ConfigurationError(f"could not make the browser trust the lab: certutil said {error.stderr}") from error
    except subprocess.TimeoutExpired as error:
        raise MachineError("could not make the browser trust the lab: certutil did not end") from error
