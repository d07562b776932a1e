"""Getting the opt-out list, anew for each batch, over https or from a file.

For: the rim. Not for: what is in it (`opt_out`). A list that cannot be had raises: its batch is not begun, and no
former list stands in.
"""

import http.client
import ssl
import urllib.request
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from resolab.errors import ConfigurationError, MachineError
from resolab.manners.opt_out import OptOut

FETCH_TIMEOUT_S = 20.0
MOST_BYTES = 16 * 1024 * 1024
STAYS_STOPPED = "nothing is contacted without it; see that it can be had, then go on"


def fetch_opt_out(source: str, *, user_agent: str, authority: Path | None = None) -> OptOut:
    """Get the list at an https URL or in a file; `authority` is a PEM file trusted besides the system's roots.

    Raises `ConfigurationError` for a source of another kind or a list that cannot be read as one, `MachineError` when
    it cannot be had.
    """
    if "://" not in source:
        return OptOut.read(_of_file(Path(source)), source=source)
    if urlsplit(source).scheme != "https":
        raise ConfigurationError(f"the opt-out list {source} must come over https or from a file: others can change it")
    request = urllib.request.Request(source, headers={"User-Agent": user_agent, "Cache-Control": "no-cache"})  # noqa: S310
    handlers = [urllib.request.HTTPSHandler(context=_trust(authority)), _OnlyHttps()]
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=FETCH_TIMEOUT_S) as answer:
            body = answer.read(MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise MachineError(f"could not fetch the opt-out list {source}: {error}; {STAYS_STOPPED}") from error
    return OptOut.read(_text(body, source), source=source)


def _of_file(file: Path) -> str:
    try:
        return _text(file.read_bytes(), str(file))
    except OSError as error:
        problem = error.strerror or error
        raise MachineError(f"could not read the opt-out list {file}: {problem}; {STAYS_STOPPED}") from error


def _text(body: bytes, source: str) -> str:
    if len(body) > MOST_BYTES:
        raise ConfigurationError(f"the opt-out list {source} is longer than {MOST_BYTES} bytes: it is no list")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"the opt-out list {source} is not UTF-8: {error.reason}") from error


def _trust(authority: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority is not None:
        try:
            context.load_verify_locations(cafile=authority)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(f"could not read the authority {authority}: {error}; give a PEM file") from error
    return context


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows redirects as long as they stay on https."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme != "https":
            raise OSError(f"it is redirected to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
