"""The words of `resolab query`, written in the style of dig and kdig.

For: @RESOLVER, record types and a class among the names, +short, -x and -p. Not for: asking, or settings without words.
"""

import argparse
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.basics.errors import UsageError
from resolab.basics.protocols import is_class, is_record_type


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a query, sorted by kind."""

    names: list[str]
    types: list[str]
    resolvers: list[str]
    short: bool = False
    """True when only the answers are printed, each on a line."""
    record_class: str | None = None
    """The record class; `None`: IN."""


PLUS = {
    "+short": "", "+tcp": "-r tcp://ADDRESS", "+tls": "-r tls://ADDRESS", "+https": "-r https://HOST/dns-query",
    "+quic": "-r quic://ADDRESS", "+dnssec": "--dnssec", "+subnet": "--ecs ADDRESS/LENGTH", "+cookie": "--cookie",
    "+bufsize": "--edns-payload BYTES", "+padding": "--padding BYTES", "+timeout": "--timeout-ms N",
    "+tries": "--udp-try-count N", "+retry": "--udp-try-count N", "+time": "--timeout-ms N",
}  # fmt: skip
"""The plus words of dig and kdig, with our equivalent options; empty: the same word."""


def read_words(options: argparse.Namespace) -> QueryWords:
    """Sort the words; a word impossible as a name among the others is a type. After `--` all words are names."""
    pluses = [word for word in options.names if word.startswith("+")]
    _check_pluses(pluses)
    words = [word for word in options.names if not word.startswith(("@", "+"))]
    resolvers = [_read_port(word[1:]) for word in options.names if word.startswith("@")] + options.resolvers
    types = [] if options.type is None else options.type.split(",")
    pointers = [_pointer(address) for address in options.reverse]
    names = [word for word in words if not (is_record_type(word) or is_class(word))]
    plain_names: Sequence[str] = options.plain_names
    if not (names or pointers or plain_names):
        # A name that is also a type's, such as `mx`, stands first.
        names, words = words[:1], words[1:]
    types += [word.upper() for word in words if is_record_type(word)]
    record_class = _read_class(options, [word.upper() for word in words if is_class(word)])
    if pointers and not types:
        if names or plain_names:
            raise UsageError("-x asks for PTR records and NAME for A records: ask in two commands, or give -t")
        types = ["PTR"]
    return QueryWords(
        [*names, *plain_names, *pointers], types, _add_port(resolvers, options.port), bool(pluses), record_class
    )


def _read_class(options: argparse.Namespace, words: Sequence[str]) -> str | None:
    typed = [*words, *([] if options.record_class is None else [options.record_class.upper()])]
    if len(set(typed)) > 1:
        raise UsageError(f"{' and '.join(dict.fromkeys(typed))} are two classes: ask for one, in two commands for both")
    return typed[0] if typed else None


def _check_pluses(pluses: Sequence[str]) -> None:
    for word in pluses:
        known = PLUS.get(word.partition("=")[0])
        if known is None:
            raise UsageError(
                f"{word} is not taken; of dig's words with a plus +short is, the others are options: --help"
            )
        if known:
            raise UsageError(f"{word} is written {known} here")


def _pointer(address: str) -> str:
    try:
        return ipaddress.ip_address(address).reverse_pointer
    except ValueError:
        raise UsageError(f"-x takes an IP address, and {address!r} is none") from None


def _read_port(resolver: str) -> str:
    """Read a port after `#`, as written by dnsmasq and unbound; other text stays unchanged."""
    address, sign, port = resolver.partition("#")
    if not sign or "://" in resolver:
        return resolver
    if not (port.isdecimal() and 0 < int(port) < 65_536):
        raise UsageError(f"@{resolver}: a port from 1 to 65535 goes behind #")
    return _add_port([address], int(port))[0]


def _add_port(resolvers: Sequence[str], port: int | None) -> list[str]:
    """Add the port to plain addresses; raises `UsageError` for names and URLs."""
    if port is None:
        return list(resolvers)
    if not resolvers:
        raise UsageError("-p is the port of a resolver: name one with @ADDRESS")
    found = []
    for resolver in resolvers:
        try:
            address = ipaddress.ip_address(resolver)
        except ValueError:
            raise UsageError(
                f"-p goes with addresses; write {resolver} with its port, such as udp://HOST:{port}"
            ) from None
        found.append(f"udp://[{address}]:{port}" if address.version == 6 else f"udp://{address}:{port}")
    return found
