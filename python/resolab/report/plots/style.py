"""The common style of all figures: sizes, fonts, and colours differing in lightness and dash as well as in hue.

For: everything shared by several figures. Not for: their content.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from resolab.basics.records import DnsTransport, HandshakeMode

_RC: Any = {
    # A figure without a layout engine stays as it was laid out, whatever the user's own settings.
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    # Names and URLs are not ours: a dollar sign in them begins no formula. No text of ours is one.
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "hatch.color": "#555555",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "svg.fonttype": "path",
    # The same figure gives the same file.
    "svg.hashsalt": "resolab",
    "pdf.fonttype": 42,
}
# Okabe and Ito's palette, safe for colour-blind readers, with blue darker and grey lighter than theirs: in grey print
# the transports lie apart, and no two that are alike in lightness are alike in dash.
BLACK, GREY, PINK, VERMILION, ORANGE, BLUE, SKY = (
    "#000000", "#b0b0b0", "#cc79a7", "#d55e00", "#e69f00", "#004c80", "#56b4e9",
)  # fmt: skip
BAND = "#d9d9d9"
"""Areas behind or between marks: an equivalence band, a wait."""
TRANSPORT_COLOURS: Mapping[str, str] = {
    DnsTransport.DOUDP: BLACK,
    DnsTransport.DOTCP: GREY,
    DnsTransport.DOT: PINK,
    DnsTransport.DOH: VERMILION,
    DnsTransport.DOH3: ORANGE,
    DnsTransport.DOQ: BLUE,
}
TRANSPORT_DASHES: Mapping[str, Any] = {
    DnsTransport.DOUDP: "-",
    DnsTransport.DOTCP: (0, (1, 1)),
    DnsTransport.DOT: (0, (4, 1.2, 1, 1.2)),
    DnsTransport.DOH: (0, (3.5, 1.5)),
    DnsTransport.DOH3: (0, (11, 1.5)),
    DnsTransport.DOQ: (0, (6, 1.2, 1, 1.2, 1, 1.2)),
}
# The page's handshake with early data: a lighter hue of the transport's, so that with its wider, unbroken line it is
# told from the full one in grey, too.
ZERO_RTT_COLOURS: Mapping[str, str] = {
    DnsTransport.DOUDP: "#8c8c8c",
    DnsTransport.DOTCP: "#dadada",
    DnsTransport.DOT: "#e9c4d8",
    DnsTransport.DOH: "#f5ab73",
    DnsTransport.DOH3: "#f4d58a",
    DnsTransport.DOQ: "#56b4e9",
}
ZERO_RTT_LINE_WIDTH = 3.0
# Where resolvers stand beside each other colour is theirs and the dash alone the transport's: the same palette, each
# apart from its neighbours in lightness, too. The first is for the machine's own resolver.
RESOLVER_COLOURS: Sequence[str] = (
    "#000000",
    "#d55e00",
    "#56b4e9",
    "#004c80",
    "#e69f00",
    "#cc79a7",
    "#009e73",
    "#8c8c8c",
)
HANDSHAKE_MARKERS: Mapping[str, str | None] = {
    HandshakeMode.FULL: None,
    HandshakeMode.RESUMED: "s",
    HandshakeMode.ZERO_RTT: "o",
}
# From a neutral 0 to blue (less, faster) and to red (more, slower): lightness falls steadily both ways, and what is
# drawn in it carries its sign in print, which grey does not.
DIVERGING = "RdBu_r"


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and save in the shared style, leaving matplotlib's global settings unchanged."""
    with mpl.rc_context(_RC):
        yield


def new_figure(width_inch: float, height_inch: float) -> Figure:
    """Make an independent figure, outside pyplot's global list of figures."""
    figure = Figure(figsize=(width_inch, height_inch))
    figure.set_layout_engine("constrained", h_pad=0.08, w_pad=0.06)
    return figure
