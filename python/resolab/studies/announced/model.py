"""The wait for a document's names, by kind of announcement: the closed form.

For: `max(0, names known - document there)`, both counted from the query for the document's own name. Pure. Not for: the
bytes of messages.
"""

from dataclasses import dataclass

TCP_TLS_ROUND_TRIPS = 2
"""The round trips of a connection to the document's own server, before the request."""
SEPARATE, SHARED = "separate", "shared"


@dataclass(frozen=True, slots=True)
class DocumentCase:
    """A document with its names."""

    announcement: str
    mode: str
    """The connection of the document: its own, or the resolver's."""
    server_time_ms: float
    """The server's time before the document."""
    name_delay_ms: float
    """The delay before the answer to each name: the resolver's time to find the name."""

    @property
    def is_possible(self) -> bool:
        """Return True when the case is possible: only the resolver's own connection may push the resolver's answers."""
        return self.announcement != "server_push" or self.mode == SHARED


def document_ms(case: DocumentCase, rtt_ms: float) -> float:
    """Compute the arrival time of the document."""
    connect = TCP_TLS_ROUND_TRIPS if case.mode == SEPARATE else 0
    return (2 + connect) * rtt_ms + case.server_time_ms


def names_ms(case: DocumentCase, rtt_ms: float) -> float:
    """Compute the time of knowing the names."""
    document = document_ms(case, rtt_ms)
    asked = {
        # In the document.
        "document": document,
        # As soon as the request is there, without the server's time.
        "early_hints": document - case.server_time_ms,
        # With the address of the document's own name.
        "https_record": rtt_ms,
        # Pushed answers leave when the request is there: as if asked half a round trip before, and nobody has to.
        "server_push": document - case.server_time_ms - rtt_ms,
    }
    return asked[case.announcement] + rtt_ms + case.name_delay_ms


def wait_ms(case: DocumentCase, rtt_ms: float) -> float:
    """Compute the wait for names after the document's arrival."""
    return max(0.0, names_ms(case, rtt_ms) - document_ms(case, rtt_ms))
