"""Certificates of servers of other makers, from the authority made by an edge.

For: a single authority for all servers, like a browser's single list of authorities. Not for: the edges' own
certificates. Needs openssl, installed with the servers.
"""

import asyncio
from pathlib import Path

from resolab.basics.errors import MachineError

DAYS = "365"


async def certify(ca_folder: Path, folder: Path, name: str, address: str) -> None:
    """Make `certificate.pem` and `key.pem` for a name and its address: ECDSA on P-256, the most common kind."""
    request, extensions = folder / "request.pem", folder / "extensions"
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(folder / "key.pem")]
    await _openssl("req", *key, "-subj", f"/CN={name}", "-out", str(request))
    extensions.write_text(
        f"subjectAltName=DNS:{name},IP:{address}\nbasicConstraints=critical,CA:FALSE\n"
        "keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
    )
    authority = ["-CA", str(ca_folder / "ca.pem"), "-CAkey", str(ca_folder / "ca-key.pem")]
    wanted = ["-extfile", str(extensions), "-days", DAYS, "-out", str(folder / "certificate.pem")]
    await _openssl("x509", "-req", "-in", str(request), *authority, *wanted)


async def _openssl(*arguments: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            "openssl", *arguments, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
    except OSError as error:
        raise MachineError(f"could not start openssl: {error.strerror}; scripts/setup --interop installs it") from error
    _, said = await process.communicate()
    if process.returncode != 0:
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise MachineError(f"openssl {arguments[0]} failed: {' '.join(last) or 'it said nothing'}")
