"""Emptying the HTTP cache while keeping the advertisements of HTTP/3.

For: a load with HTTP/3 found by Alt-Svc and a cold cache. Not for: every other load, with its cache cleared alone.

With the HTTP cache Chromium forgets the alternative services, too. This module restores them with a HEAD request to
each origin of the warm-up, over the open connection and past the cache.
"""

import json
from urllib.parse import urlsplit

from resolab.browser.chromium.cdp import Session
from resolab.browser.remote import CallError
from resolab.browser.result import PageLoad

LEARN_TIMEOUT_S = 10.0
_LEARN = """
Promise.all(URLS.map(url => fetch(url, {method: 'HEAD', cache: 'no-store', mode: 'no-cors', redirect: 'manual'})))
  .then(() => true)
"""


async def clear_http_cache(session: Session, warmup: PageLoad) -> None:
    """Clear the cache from the warm-up's tab, then send HEAD requests to the warm-up's origins."""
    await session.call("Network.clearBrowserCache")
    tree = await session.call("Page.getFrameTree")
    world = await session.call("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    params = {
        "expression": _LEARN.replace("URLS", json.dumps(urls_by_origin(warmup))),
        "contextId": world["executionContextId"],
        "awaitPromise": True,
        "returnByValue": True,
    }
    answer = await session.call("Runtime.evaluate", params, timeout_s=LEARN_TIMEOUT_S)
    if "exceptionDetails" in answer:
        raise CallError("Runtime.evaluate", f"the warm-up's origins: {answer['exceptionDetails'].get('text')}")


def urls_by_origin(warmup: PageLoad) -> list[str]:
    """Pick one URL of each contacted origin, the document's first."""
    urls: dict[str, str] = {}
    for url in (warmup.url, *(resource.url for resource in warmup.resources)):
        parts = urlsplit(url)
        if parts.scheme == "https":
            urls.setdefault(parts.netloc, url)
    return list(urls.values())
