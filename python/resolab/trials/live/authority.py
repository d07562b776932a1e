"""The trusted authorities of live mode: the system's, and a further authority from the file in `RESOLAB_AUTHORITY`.

For: the file given to browsers, the bundle given to our own clients, and the digest for records. Not for: switching off
any check; no setting does this.
"""

import hashlib
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ConfigurationError

VARIABLE = "RESOLAB_AUTHORITY"
BUNDLE = "authorities.pem"
_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""The files used by systems for all trusted authorities."""


@dataclass(frozen=True, slots=True)
class FurtherAuthority:
    """A further authority beside the system's."""

    file: Path
    """The file added to the browsers' own authorities."""
    bundle: Path
    """The bundle of this authority and the system's, for programs with a single list of authorities."""
    sha256: str


def further_authority(folder: Path) -> FurtherAuthority | None:
    """Read the authority named by the environment, and write the bundle into a folder.

    Return `None` when only the system's authorities are trusted. Raises `ConfigurationError` for an unreadable file.
    """
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
    return FurtherAuthority(file.resolve(), bundle, hashlib.sha256(content).hexdigest())


def _systems() -> list[bytes]:
    given = os.environ.get("SSL_CERT_FILE")
    place = next((Path(one) for one in (*([given] if given else []), *_PLACES) if Path(one).is_file()), None)
    return [] if place is None else [place.read_bytes()]
