"""Connections to the fleet's server: TLS with certificates on both sides, reconnecting without a time limit.

For: a common way to connect for agents and the operator, and errors in a single line. Not for: the requests over the
connection (`transfer`, `operations`).
"""

import asyncio
import contextlib
import logging
import random
import ssl
import tempfile
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import nats.errors
from nats.aio.client import Client, Server
from nats.js.client import JetStreamContext

from resolab.basics.errors import ConfigurationError, MachineError, ResolabError
from resolab.extras.fleet.invitation import Invitation
from resolab.extras.fleet.server.config import AGENT_API, API, OPERATOR_INBOX, PING_INTERVAL_S, format_inbox
from resolab.extras.fleet.server.folder import ServerFolder

OnProblem = Callable[[str], None]
CONNECT_TIMEOUT_S = 10
CLOSE_TIMEOUT_S = 5.0
RECONNECT_S = (1.0, 30.0)
"""The shortest and longest pause between attempts, in s; each pause is drawn from the upper half."""
_CLOCK_CODES = (9, 10)
"""OpenSSL's error numbers for a certificate not yet valid, or no longer valid."""
_NAME_CODES = (62, 64)
"""OpenSSL's error numbers for another name or another address."""


class _FirstTryError(Exception):
    """An error of the first attempt, carried out of a client otherwise retrying for ever."""


class FleetClient(Client):
    """A client living until closed by its user, with the prefix of its JetStream requests."""

    def __init__(self, url: str, api: str, on_problem: OnProblem) -> None:
        super().__init__()
        self._url, self._api, self._on_problem = url, api, on_problem
        self._connected_once = False
        self._last_problem: str | None = None

    def jetstream(self, **opts: Any) -> JetStreamContext:
        """Return JetStream with this client's prefix."""
        return super().jetstream(**{"prefix": self._api, **opts})

    async def begin(self, **options: Any) -> None:
        """Connect at the first attempt or raise the reason; afterwards reconnect after every loss."""
        try:
            await self.connect(
                self._url,
                error_cb=self._note_failure,
                reconnected_cb=self._note_reconnection,
                connect_timeout=CONNECT_TIMEOUT_S,
                max_reconnect_attempts=-1,
                reconnect_to_server_handler=_next_try,
                ping_interval=PING_INTERVAL_S,
                max_outstanding_pings=2,
                tls_handshake_first=True,
                **options,
            )
        except BaseException as error:
            # Nothing to wait for: of a handshake that failed, nats-py would await an end that is never told.
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]
            self._status = Client.CLOSED
            if isinstance(error, _FirstTryError) and error.__cause__ is not None:
                raise describe_error(error.__cause__, self._url) from error.__cause__
            raise
        self._connected_once = True

    async def close(self) -> None:
        """Close the connection, with a time limit.

        During a reconnection nats-py may wait here for ever, or write to a closed connection.
        """
        with contextlib.suppress(TimeoutError, OSError, AttributeError):
            await asyncio.wait_for(super().close(), CLOSE_TIMEOUT_S)

    async def _note_failure(self, error: Exception) -> None:
        if not self._connected_once:
            raise _FirstTryError from error
        problem = str(describe_error(error, self._url))
        if problem != self._last_problem:
            self._on_problem(problem)
        self._last_problem = problem

    async def _note_reconnection(self) -> None:
        self._last_problem = None
        self._on_problem(f"the fleet's server at {self._url} is reached again")

    async def _process_err(self, err_msg: str) -> None:
        """Treat an error from the server as a lost connection; the client's default is to end for good."""
        error = nats.errors.Error(f"nats: {err_msg}")
        await self._note_failure(error)
        if "permissions violation" not in err_msg.lower():
            await self._process_op_err(error)


def _next_try(servers: list[Server], _info: dict[str, Any]) -> tuple[Server | None, float]:
    least, most = RECONNECT_S
    pause_s = min(most, least * 2 ** min(servers[0].reconnects, 10))
    return None, pause_s * random.uniform(0.5, 1.0)


async def connect(
    url: str,
    credential: str,
    authority: str,
    inbox_prefix: str,
    name: str,
    *,
    on_problem: OnProblem,
    api: str = API,
) -> Client:
    """Connect with a credential to a server certified by this authority.

    An error of the first attempt is raised: `MachineError` when another attempt may help, `ConfigurationError` when
    only another credential would. Later problems go to `on_problem`, each once until the server is reached again.
    """
    logging.getLogger("asyncio").addFilter(_drop_tls_messages)
    client = FleetClient(url, api, on_problem)
    await client.begin(tls=_tls(credential, authority), inbox_prefix=inbox_prefix, name=name)
    return client


async def connect_agent(invitation: Invitation, on_problem: OnProblem, *, wait: bool = False) -> Client:
    """Connect as an agent; with `wait`, try an unreachable server until reached."""
    inbox, tries = format_inbox(invitation.vantage), 0
    who = (invitation.url, invitation.credential, invitation.authority, inbox, invitation.vantage)
    while True:
        try:
            return await connect(*who, on_problem=on_problem, api=AGENT_API)
        except MachineError as error:
            if not wait:
                raise
            if not tries:
                on_problem(str(error))
            tries += 1
            await asyncio.sleep(min(RECONNECT_S[1], RECONNECT_S[0] * 2 ** min(tries, 10)) * random.uniform(0.5, 1.0))


async def connect_operator(folder: ServerFolder, on_problem: OnProblem) -> Client:
    """Connect as the fleet's operator."""
    who = (folder.operator_url, folder.operator_credential(), folder.read_authority(), OPERATOR_INBOX, "operator")
    return await connect(*who, on_problem=on_problem)


def _tls(credential: str, authority: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=authority)
        # OpenSSL reads keys from files alone; this one is the owner's alone, and gone at once.
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(credential)
            file.flush()
            context.load_cert_chain(file.name)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigurationError(f"could not use the credential: {error}; ask for a new invitation") from error
    return context


def describe_error(error: BaseException, url: str) -> ResolabError:
    """Return the error as a line with the problem and advice."""
    if isinstance(error, ssl.SSLError):
        return _describe_tls_error(error, url)
    text = str(error) or type(error).__name__
    if "authorization violation" in text.lower():
        return ConfigurationError(
            f"could not take part in the fleet at {url}: the credential was withdrawn or replaced; "
            "ask for a new invitation"
        )
    if "permissions violation" in text.lower():
        return ConfigurationError(f"the fleet's server at {url} refused: {text.removeprefix('nats: ')}")
    if isinstance(error, TimeoutError):
        text = f"no answer within {CONNECT_TIMEOUT_S} s"
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror
    hint = "is `resolab fleet serve` running there, and is its port open?"
    return MachineError(f"could not reach the fleet's server at {url}: {text.removeprefix('nats: ')}; {hint}")


def _describe_tls_error(error: ssl.SSLError, url: str) -> ResolabError:
    if isinstance(error, ssl.SSLCertVerificationError):
        host = urlsplit(url).hostname
        what, hint = "its certificate is of another authority than the invitation's", "ask for a new invitation"
        if error.verify_code in _NAME_CODES:
            what, hint = f"its certificate is not for {host}", f"have it served with --name {host}"
        elif error.verify_code in _CLOCK_CODES:
            what, hint = "its certificate is not valid now", "set this machine's clock, or renew the fleet"
        return ConfigurationError(f"could not trust the fleet's server at {url}: {what}; {hint}")
    if "ALERT" in (error.reason or ""):
        return ConfigurationError(
            f"could not take part in the fleet at {url}: its server refused the credential: it is of another fleet; "
            "ask for a new invitation"
        )
    what = (error.reason or str(error)).replace("_", " ").lower()
    return MachineError(
        f"could not speak to the fleet's server at {url}: {what}; is this the address of `resolab fleet serve`?"
    )


def _drop_tls_messages(record: logging.LogRecord) -> bool:
    """Drop asyncio's messages at the end of nats-py's TLS connections."""
    return "eof_received() has no effect when using ssl" not in record.getMessage()
