"""The section of cold DNS exchanges against the closed form.

For: emulated networks, with known round-trip times. Not for: look-ups on the live network.
"""

from resolab.report.parts.figures import exchange_drawing
from resolab.report.parts.tables import exchange_table
from resolab.report.sections.blocks import show_drawing
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone

_EXCHANGES = Part("Cold DNS exchanges", ("queries",), ("dns_exchange",), "dns")


def _build(reading: Reading) -> SectionContent:
    missing = note_missing(reading, _EXCHANGES)
    if missing:
        return SectionContent(missing)
    drawing = show_drawing(exchange_drawing(reading.findings))
    return SectionContent([drawing, exchange_table(reading.findings), Paragraph(_note(reading), Tone.NOTE)])


def _note(reading: Reading) -> str:
    missed = any(one.resolver_cache == "miss" for one in reading.findings.exchanges)
    delay_ms = reading.plan.resolver.miss_delay_ms
    waited = f" On a cache miss it holds the {round(delay_ms, 1)} ms that the resolver waits, too." if missed else ""
    return (
        "Closed form: T = k x RTT + bytes x 8 / rate + c. The column c is T - k x RTT, so it still holds the time the "
        "bytes take on the link: small at high rates, 12.3 ms for each padded QUIC datagram of the client at 0.842 "
        f"Mbit/s.{waited}"
    )


SECTION = Section(
    id="dns",
    title="Cold DNS exchange",
    link="DNS exchange",
    applies=lambda reading: not reading.is_live and reading.plan.study is None,
    build=_build,
)
