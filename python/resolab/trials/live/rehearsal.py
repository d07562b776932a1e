"""A page of our own on loopback, loaded once by a new browser before any measured page.

For: the one-time work of a browser's first load, otherwise part of a measured time. Not for: traffic leaving the
machine; a browser without access to loopback skips the page.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_BODY = (
    b"<!doctype html><title>rehearsal</title><style>p { color: teal }</style><p id='p'>text</p>"
    b"<script>document.getElementById('p').textContent = 'ran'</script>"
)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
TIMEOUT_S = 10.0


@asynccontextmanager
async def rehearsal_url() -> AsyncIterator[str]:
    """Serve the page while the block runs."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_ANSWER % (len(_BODY), _BODY))
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()
