"""`resolab query` takes its words as users of dig and kdig write them."""

import re
import shlex
from pathlib import Path

import pytest

from resolab.basics.errors import UsageError
from resolab.basics.protocols.record_types import RECORD_TYPES
from resolab.cli.main import _options
from resolab.cli.query.dig_words import QueryWords, read_words

ROOT = Path(__file__).parents[4]


def asked(line: str) -> QueryWords:
    return read_words(_options(["query", *shlex.split(line)]))


@pytest.mark.parametrize(
    ("line", "names", "types", "resolvers"),
    [
        ("example.com", ["example.com"], [], []),
        ("example.com A AAAA", ["example.com"], ["A", "AAAA"], []),
        ("https example.com @192.0.2.1", ["example.com"], ["HTTPS"], ["192.0.2.1"]),
        ("@192.0.2.1 example.com -t TXT mx", ["example.com"], ["TXT", "MX"], ["192.0.2.1"]),
        ("example.com @192.0.2.1#5353 @::1#53", ["example.com"], [], ["udp://192.0.2.1:5353", "udp://[::1]:53"]),
        ("example.com LOC uri TYPE65280 zonemd", ["example.com"], ["LOC", "URI", "TYPE65280", "ZONEMD"], []),
        ("fe80.example @fe80::1%lo", ["fe80.example"], [], ["fe80::1%lo"]),
        ("mx", ["mx"], [], []),
        ("mx ns", ["mx"], ["NS"], []),
        ("-r tls://a.example -- -a.test", ["-a.test"], [], ["tls://a.example"]),
        ("b.test AAAA -- -x.test mx @a +short --", ["b.test", "-x.test", "mx", "@a", "+short", "--"], ["AAAA"], []),
        ("mx -- a.test", ["a.test"], ["MX"], []),
        ("a.example b.example", ["a.example", "b.example"], [], []),
        ("-x 192.0.2.7", ["7.2.0.192.in-addr.arpa"], ["PTR"], []),
        ("-x 2001:db8::1 SOA", [f"1.{'0.' * 23}8.b.d.0.1.0.0.2.ip6.arpa"], ["SOA"], []),
        ("example.com -p 5300 @192.0.2.1 @::1", ["example.com"], [], ["udp://192.0.2.1:5300", "udp://[::1]:5300"]),
    ],
)
def test_words_are_understood(line: str, names: list[str], types: list[str], resolvers: list[str]) -> None:
    assert asked(line) == QueryWords(names, types, resolvers)


@pytest.mark.parametrize(
    ("line", "names", "types", "record_class"),
    [
        ("id.server CH TXT", ["id.server"], ["TXT"], "CH"),
        ("ch txt id.server", ["id.server"], ["TXT"], "CH"),
        ("example.com IN A", ["example.com"], ["A"], "IN"),
        ("example.com CLASS32 TYPE1", ["example.com"], ["TYPE1"], "CLASS32"),
        ("ch", ["ch"], [], None),
        ("ch hs txt", ["ch"], ["TXT"], "HS"),
        ("example.com --class hs", ["example.com"], [], "HS"),
    ],
)
def test_a_class_is_a_word_beside_a_name(
    line: str, names: list[str], types: list[str], record_class: str | None
) -> None:
    assert asked(line) == QueryWords(names, types, [], record_class=record_class)


def test_every_type_that_resolab_core_knows_is_a_word() -> None:
    table = (ROOT / "crates/dns/src/presentation/numbers.rs").read_text().partition("TYPE_NAMES")[2].partition("];")[0]
    assert set(re.findall(r'\(\d[\d_]*, "([^"]+)"\)', " ".join(table.split()))) == RECORD_TYPES


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("example.com CH HS", "CH and HS are two classes"),
        ("example.com +tls @192.0.2.1", "tls is written -r tls://ADDRESS here"),
        ("example.com +bufsize=4096", "bufsize=4096 is written --edns-payload BYTES here"),
        ("example.com +trace", "trace is not taken; of dig's words with a plus"),
        ("-x example.com", "-x takes an IP address, and 'example.com' is none"),
        ("-x 192.0.2.7 example.com", "ask in two commands"),
        ("example.com @192.0.2.1#0", "a port from 1 to 65535 goes behind #"),
        ("example.com -p 53", "name one with @ADDRESS"),
        ("example.com -p 53 -r tls://192.0.2.1", "-p goes with addresses; write tls://192.0.2.1 with its port"),
    ],
)
def test_what_cannot_be_meant_is_refused(line: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        asked(line)


def test_short_is_taken_anywhere_and_no_name() -> None:
    for line in ("+short example.com", "example.com A +short", "example.com +short @192.0.2.1"):
        found = asked(line)
        assert (found.names, found.short) == (["example.com"], True)
    assert not asked("example.com").short
