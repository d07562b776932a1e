"""Groups of the key exchange: what is read, what is refused, and that the defaults are every group there is."""

import pytest
from test_plan_load import TEXT

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import KeyExchangeGroup
from resolab.plan import KeyExchange, parse_plan
from resolab.plan.schema import plan_schema

BARE = TEXT[: TEXT.index("[limits]")]


def read(lines: str) -> KeyExchange:
    return parse_plan(f"{BARE}[key_exchange]\n{lines}", "p", None).key_exchange


def test_groups_are_lists_whose_order_counts_and_all_of_them_by_default() -> None:
    assert parse_plan(BARE, "p", None).key_exchange == KeyExchange() == read("")
    assert KeyExchange().client[:2] == (KeyExchangeGroup.X25519MLKEM768, KeyExchangeGroup.X25519)
    given = read('client = ["secp256r1", "x25519"]')
    assert given.client == (KeyExchangeGroup.SECP256R1, KeyExchangeGroup.X25519)
    assert given.edge == tuple(KeyExchangeGroup)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('client = ["p384"]', r"key_exchange.client: unknown level 'p384'"),
        ("edge = []", "key_exchange.edge: has no level"),
        ('browser = ["x25519"]', "key_exchange.browser: unknown key"),
        ('client = ["x25519"]\nedge = ["secp384r1"]', "key_exchange: client and edge have no group in common"),
    ],
)
def test_what_cannot_be_is_refused(lines: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read(lines)


def test_the_schema_has_the_same_words() -> None:
    keys = plan_schema()["properties"]["key_exchange"]["properties"]
    words = [group.value for group in KeyExchangeGroup]
    assert {key: one["items"]["enum"] for key, one in keys.items()} == {"client": words, "edge": words}
