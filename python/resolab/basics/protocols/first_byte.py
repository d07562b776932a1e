"""The bytes crossing the link before a page's first byte, by browser, resolver path and handshake.

For: the bytes of the closed form T = k x RTT + bytes x 8 / rate of page loads. Not for: exchanges of resolab's own
client (`scripts/bench dns` measures their bytes together with their times), or page weights.

The values are measured, not derived: `scripts/bench browsers --flights --profile dsl`. They are IP bytes on the
critical path of loads of the example page, with a cold lookup and a full handshake with the resolver. Each is a median
of three to five loads (docs/method/accuracy.md). On the slowest access profile, acknowledgements delay other packets
for as long as they can. On faster profiles a kilobyte takes 0.1 ms or less. Hellos are as in docs/method/hellos.md,
with X25519MLKEM768. A browser's second connection to a DoH server counts when other packets waited for its bytes.
"""

from collections.abc import Mapping
from typing import NamedTuple

from resolab.basics.records import BrowserKind


class PathBytes(NamedTuple):
    """IP bytes on a critical path."""

    up: int
    down: int


_PAGES = (("h2", "full"), ("h3", "full"), ("h3", "resumed"), ("h3", "zero_rtt"))
"""HTTP version and handshake of the page's connection; the tuples below, bytes up and down, follow this order."""
_BYTES: Mapping[str, Mapping[str, tuple[tuple[int, int], ...]]] = {
    BrowserKind.CHROMIUM: {
        "native-doudp": ((3193, 3549), (4466, 4062), (4466, 4062), (3298, 1639)),
        "native-doh": ((6430, 6121), (7648, 7281), (7668, 6635), (6497, 4070)),
        "native-doh3": ((7421, 6577), (8749, 7091), (8719, 7091), (7554, 4528)),
        "stub-doudp": ((3152, 3561), (4488, 4073), (4488, 4073), (3321, 1510)),
        "stub-dotcp": ((3402, 3646), (4704, 4159), (4704, 4159), (3537, 1647)),
        "stub-dot": ((5427, 6046), (6666, 6559), (6665, 6561), (5498, 3996)),
        "stub-doh": ((5578, 6069), (6850, 6584), (6851, 6582), (5685, 4020)),
        "stub-doh3": ((8501, 6678), (9804, 7251), (9745, 7191), (8635, 4628)),
        "stub-doq": ((8461, 6622), (9698, 7135), (9697, 7195), (8532, 4572)),
    },
    BrowserKind.FIREFOX: {
        "native-doudp": ((2879, 3548), (5788, 4288), (5148, 4553), (3002, 1504)),
        "native-doh": ((5614, 6093), (10609, 5416), (9979, 7099), (7942, 2683)),
        "native-doh3": ((8028, 5453), (11421, 6619), (10787, 8302), (8627, 3885)),
        "stub-doudp": ((2527, 2211), (5806, 4299), (5169, 4564), (3010, 147)),
        "stub-dotcp": ((3078, 3698), (6020, 4195), (5385, 4461), (3226, 1519)),
        "stub-dot": ((4526, 4697), (7985, 6595), (7348, 7050), (5186, 2633)),
        "stub-doh": ((4789, 4885), (8166, 5392), (7527, 5657), (5370, 2658)),
        "stub-doh3": ((8093, 6733), (11127, 5999), (10485, 7682), (8327, 3265)),
        "stub-doq": ((8016, 6679), (11008, 6003), (10386, 7626), (8234, 4437)),
    },
}


def first_byte_bytes(browser: str, way: str, http_version: str, handshake_mode: str) -> PathBytes | None:
    """Return the bytes up to a page's first byte; `way` is resolver path and transport, e.g. `native-doh`.

    Return `None` for combinations without a capture, for example pages over HTTP/1.1.
    """
    cells = _BYTES.get(browser, {}).get(way)
    page = (http_version, handshake_mode)
    return PathBytes(*cells[_PAGES.index(page)]) if cells is not None and page in _PAGES else None
