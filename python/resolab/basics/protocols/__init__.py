"""Facts about the protocols: a table of the DNS transports, and the round trips of handshakes and queries.

For: facts of the standards, written once, for plans, testbed, store, figures and reports. Not for: the appearance of a
transport in figures (`plots.style`), or measured values.
"""

from resolab.basics.protocols.closed_form import (
    cold_exchange_round_trips,
    express_in_round_trips,
    lookup_round_trips,
    page_handshake_round_trips,
    remainder_ms,
    wire_time_ms,
)
from resolab.basics.protocols.cold_exchange import (
    ExchangeSizes,
    Flight,
    Packet,
    cold_exchange_flights,
    exchange_time_ms,
)
from resolab.basics.protocols.dns_transports import (
    DNS_TRANSPORTS,
    OVER_HTTP,
    OVER_TCP,
    WITHOUT_CONNECTION,
    WITHOUT_HANDSHAKE,
    WITHOUT_HTTP,
    Carrier,
    TransportFacts,
    find_facts,
    has_handshake,
    transport_label,
    transport_position,
)
from resolab.basics.protocols.first_byte import PathBytes, first_byte_bytes
from resolab.basics.protocols.record_types import is_class, is_record_type

__all__ = [
    "DNS_TRANSPORTS",
    "OVER_HTTP",
    "OVER_TCP",
    "WITHOUT_CONNECTION",
    "WITHOUT_HANDSHAKE",
    "WITHOUT_HTTP",
    "Carrier",
    "ExchangeSizes",
    "Flight",
    "Packet",
    "PathBytes",
    "TransportFacts",
    "cold_exchange_flights",
    "cold_exchange_round_trips",
    "exchange_time_ms",
    "express_in_round_trips",
    "find_facts",
    "first_byte_bytes",
    "has_handshake",
    "is_class",
    "is_record_type",
    "lookup_round_trips",
    "page_handshake_round_trips",
    "remainder_ms",
    "transport_label",
    "transport_position",
    "wire_time_ms",
]
