"""Which combinations browsers can do and which of those this version has built.

For: refusing a plan before it runs, with the right word: impossible, or not built yet. Not for: driving anything.
"""

from resolab.errors import ConfigurationError, UnsupportedError
from resolab.records import DnsTransport, HttpVersion, ResolverPath

# Chromium's own resolver: Do53 over UDP, DoH over h2, and DoH over h3 when told to force QUIC to the resolver.
# It falls back to TCP only after a truncated answer, and speaks neither DoT nor DoQ on a desktop.
NATIVE_POSSIBLE = (DnsTransport.DOUDP, DnsTransport.DOH, DnsTransport.DOH3)
NATIVE_BUILT = (DnsTransport.DOUDP, DnsTransport.DOH)
STUB_BUILT = tuple(DnsTransport)
HTTP_VERSIONS_BUILT = (HttpVersion.H3,)


def check_resolver_path(source: str, transport: DnsTransport, resolver_path: ResolverPath) -> None:
    """Fail when the browser cannot reach the transport this way, or this version cannot make it."""
    where = f"{source}: resolver_path.{transport}"
    if resolver_path is ResolverPath.STUB:
        if transport not in STUB_BUILT:
            built = ", ".join(STUB_BUILT)
            raise UnsupportedError(f"{where}: the stub does not speak {transport} in this version; it speaks {built}")
        return
    if transport not in NATIVE_POSSIBLE:
        raise ConfigurationError(f'{where}: chromium\'s own resolver cannot speak {transport}; use "stub"')
    if transport not in NATIVE_BUILT:
        raise UnsupportedError(f'{where}: "native" is not built for {transport} in this version; use "stub"')


def check_http_version(source: str, version: HttpVersion) -> None:
    """Fail when this version cannot load pages over an HTTP version."""
    if version not in HTTP_VERSIONS_BUILT:
        built = ", ".join(HTTP_VERSIONS_BUILT)
        raise UnsupportedError(f"{source}: factors.http_version: {version} is not built in this version; use {built}")
