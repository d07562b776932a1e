"""Fetch the opt-out list anew for each batch, over https or from a file.

For: input and output. Not for: the list's content (`opt_out`). An unavailable list raises: the batch does not begin,
and no earlier list is used instead.
"""

import http.client
import ssl
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.wording import clip_text
from resolab.plan.manners.opt_out import OptOut

FETCH_TIMEOUT_S = 20.0
"""The time limit of each wait for the list's server, in s."""
FETCH_WITHIN_S = 120.0
"""The time limit of the whole fetch, in s. A server sending a byte now and then cannot hold a measurement for ever."""
MOST_BYTES = 16 * 1024 * 1024
STAYS_STOPPED = "nothing is contacted without it; see that it can be had, then go on"


def fetch_opt_out(source: str, *, user_agent: str, authority: Path | None = None) -> OptOut:
    """Fetch the list at an https URL or read a file; `authority` is a PEM file trusted besides the system's roots.

    Raises `ConfigurationError` for another kind of source or an unreadable list, `MachineError` when the list is
    unavailable.
    """
    if "://" not in source:
        return OptOut.read(_read_file(Path(source)), source=source)
    if urlsplit(source).scheme != "https":
        raise ConfigurationError(f"the opt-out list {source} must come over https or from a file: others can change it")
    request = urllib.request.Request(source, headers={"User-Agent": user_agent, "Cache-Control": "no-cache"})  # noqa: S310
    handlers = [urllib.request.HTTPSHandler(context=_trust(authority)), _OnlyHttps()]

    def fetched() -> bytes:
        with urllib.request.build_opener(*handlers).open(request, timeout=FETCH_TIMEOUT_S) as answer:
            return bytes(answer.read(MOST_BYTES + 1))

    try:
        body = _call_within(FETCH_WITHIN_S, fetched)
    except (OSError, http.client.HTTPException) as error:
        problem = clip_text(str(error))
        raise MachineError(f"could not fetch the opt-out list {source}: {problem}; {STAYS_STOPPED}") from error
    return OptOut.read(_text(body, source), source=source)


def _call_within(limit_s: float, do: Callable[[], bytes]) -> bytes:
    """Return the result of a call, or raise `TimeoutError`; the call then ends by itself, or with the process."""
    given: list[bytes] = []
    raised: list[BaseException] = []

    def call() -> None:
        try:
            given.append(do())
        except BaseException as error:  # noqa: BLE001 -- it is raised where somebody waits for it.
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise TimeoutError(f"it did not come within {limit_s:g} s")
    if raised:
        raise raised[0]
    return given[0]


def _read_file(file: Path) -> str:
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
    """A redirect handler for redirects within https only."""

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
