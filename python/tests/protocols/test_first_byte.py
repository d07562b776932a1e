"""The captured bytes up to a page's first byte.

For: what must hold of any such capture. Not for: the numbers, which `scripts/bench browsers --flights` measures.
"""

import pytest

from resolab.basics.protocols import first_byte_bytes

TRANSPORTS = ("doudp", "dotcp", "dot", "doh", "doh3", "doq")
PAGES = (("h2", "full"), ("h3", "full"), ("h3", "resumed"), ("h3", "zero_rtt"))


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_every_way_of_both_browsers_has_its_bytes_and_encryption_takes_more(browser: str) -> None:
    for version, mode in PAGES:
        plain = first_byte_bytes(browser, "stub-doudp", version, mode)
        assert plain is not None
        for transport in TRANSPORTS:
            found = first_byte_bytes(browser, f"stub-{transport}", version, mode)
            assert found is not None
            assert found.up >= plain.up
        for transport in ("doudp", "doh", "doh3"):
            assert first_byte_bytes(browser, f"native-{transport}", version, mode) is not None


def test_early_data_saves_the_clients_padded_acknowledgements() -> None:
    for browser in ("chromium", "firefox"):
        full, early = (first_byte_bytes(browser, "native-doudp", "h3", mode) for mode in ("full", "zero_rtt"))
        assert full is not None
        assert early is not None
        assert full.up - early.up > 1_000


def test_what_was_not_captured_is_none() -> None:
    assert first_byte_bytes("chromium", "native-doudp", "h1", "full") is None
    assert first_byte_bytes("chromium", "native-doq", "h3", "full") is None
    assert first_byte_bytes("netscape", "native-doudp", "h2", "full") is None
