"""Whom live mode trusts: the system's authorities, and a further one if `RESOLAB_AUTHORITY` names its file.

For: the file browsers are given, the bundle our own clients are given, and the digest that goes into records. Not for:
switching any check off; there is no way to.
"""

import hashlib
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from resolab.errors import ConfigurationError

VARIABLE = "RESOLAB_AUTHORITY"
BUNDLE = "authorities.pem"
_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep all they trust in one file."""


@dataclass(frozen=True, slots=True)
class Authority:
    """A further authority."""

    file: Path
    """What browsers add to their own."""
    bundle: Path
    """It and the system's, for programs that are told all they trust."""
    sha256: str


def further_authority(folder: Path) -> Authority | None:
    """Read the authority that the environment names, and write the bundle into a folder; None: the system's alone."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    file = Path(given)
    try:
        content = file.read_bytes()
        ssl.create_default_context(cadata=content.decode("ascii"))
    except (OSError, UnicodeDecodeError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"could not read the authority {VARIABLE}={given}: {error}; give a PEM file"
        ) from error
    bundle = folder / BUNDLE
    bundle.write_bytes(b"\n".join([*_systems(), content]))
    return Authority(file.resolve(), bundle, hashlib.sha256(content).hexdigest())


def _systems() -> list[bytes]:
    given = os.environ.get("SSL_CERT_FILE")
    place = next((Path(one) for one in (*([given] if given else []), *_PLACES) if Path(one).is_file()), None)
    return [] if place is None else [place.read_bytes()]
