"""The queries for people, a row each. Not for: many queries of a resolver (`summary`)."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from resolab.basics.protocols import WITHOUT_CONNECTION
from resolab.basics.records import Failure, QueryRecord
from resolab.basics.wording import clean
from resolab.cli.query.bar import bar, list_phases
from resolab.cli.query.layout import TEXT_MOST, TableColumn, add_legend, lay_out
from resolab.cli.query.words import handshake, ms, plain
from resolab.extras.queries import Split, timeline, wire_exchange_ns

CUT_ANSWERS = 6


def list_table(records: Sequence[QueryRecord], width: int) -> RenderableType:
    """Return the table with a row for each query."""
    splits = [timeline(record) for record in records]
    times = [_compute_taken_ns(record) or 0 for record in records]

    def column(title: str, cell: Callable[[QueryRecord], Text], *, right: bool = False, rank: int = 0) -> TableColumn:
        return TableColumn(title, [cell(record) for record in records], right, rank)

    columns = [
        column("name", lambda one: plain(one.qname)),
        column("type", lambda one: plain(one.qtype if one.qclass is None else f"{one.qclass} {one.qtype}")),
        column("rcode", _rcode),
        column("answer", lambda one: Text("below" if _is_long(one) else "\n".join(answers(one)))),
        column("TTL", lambda one: Text("" if one.ttl_s is None else f"{one.ttl_s} s"), right=True, rank=3),
        column("resolver", lambda one: plain(one.resolver)),
        column("transport", lambda one: Text(one.dns_transport.value), rank=2),
        column("handshake", lambda one: Text(handshake(one)), rank=1),
        column("time ms", _time, right=True),
        column("wire ms", lambda one: Text(ms(wire_exchange_ns(one))), right=True, rank=4),
        column("note", _notes),
    ]
    longest = max(times)

    def draw(split: Split) -> Callable[[int], Text]:
        return lambda room: bar(split, longest, room, unit_ms=1e-6)

    table = lay_out(columns, [draw(split) for split in splits], width)
    body = add_legend(table, list_phases(splits), wire=any(wire_exchange_ns(one) is not None for one in records))
    return Group(body, *_long_answers(records), *_details(records))


def _is_long(record: QueryRecord) -> bool:
    """Return True when an answer would need the table's room for the bar."""
    return any(len(line) > TEXT_MOST for line in answers(record))


def _long_answers(records: Sequence[QueryRecord]) -> list[Text]:
    """Return the answers too long for the table, each once with its resolvers."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for record in filter(_is_long, records):
        for line in answers(record):
            found.setdefault((record.qname, record.qtype, line), []).append(record.resolver)
    return [
        Text.assemble("\n", (f"{clean(qname)} {clean(qtype)}", "bold"), f" {line}", (f"  ({_whom(resolvers)})", "dim"))
        for (qname, qtype, line), resolvers in found.items()
    ]


def _whom(resolvers: Sequence[str]) -> str:
    asked = list(dict.fromkeys(map(clean, resolvers)))
    return ", ".join(asked) if len(asked) < 3 else f"{len(asked)} resolvers"


def _rcode(record: QueryRecord) -> Text:
    style = "" if record.rcode in {None, "NOERROR"} else "yellow"
    return Text(record.rcode or "", style)


def _compute_taken_ns(record: QueryRecord) -> int | None:
    """Return the time until the answer, in ns; for an error response, which is no measured time, until the error."""
    if record.query_response_time_ns is None and record.rcode is not None:
        return record.query_exchange_end_ns
    return record.query_response_time_ns


def _time(record: QueryRecord) -> Text:
    return Text(ms(_compute_taken_ns(record)), "yellow" if record.query_response_time_ns is None else "")


def answers(record: QueryRecord) -> list[str]:
    """Return the addresses, in order, and all other answers."""
    if record.answer_count is None:
        return []
    given = every_answer(record)[:CUT_ANSWERS]
    more = record.answer_count - len(given)
    return [*given, *([f"and {more} more"] if more > 0 and given else [])] or [f"{more} records" if more else "none"]


def every_answer(record: QueryRecord) -> list[str]:
    """Return all kept answers, without the queried type."""
    return [*sorted(record.addresses), *(clean(one).removeprefix(f"{record.qtype} ") for one in record.answers)]


def _notes(record: QueryRecord) -> Text:
    notes = []
    if record.failure is not None and record.failure is not Failure.DNS_RCODE:
        notes.append((record.failure.value, "red"))
    if record.dns_transport in WITHOUT_CONNECTION and record.tcp_connect_start_ns is not None:
        notes.append(("truncated, then over TCP", "yellow"))
    if record.attempt_count > 1:
        notes.append((f"sent {record.attempt_count} times", "yellow"))
    if record.certificate_checked is False:
        notes.append(("certificate not checked", "yellow"))
    if record.authentic_data:
        notes.append(("validated (AD)", "green"))
    if record.name_server_identifier is not None:
        notes.append((f"NSID {clean(record.name_server_identifier)}", ""))
    return Text("\n").join(Text(note, style) for note, style in notes)


def _details(records: Sequence[QueryRecord]) -> list[Text]:
    """Return the reasons for failed queries, ours and the resolver's extended errors, each once per resolver."""
    found = [
        f"{record.resolver}: {record.failure.value}: {record.failure_detail}"
        for record in records
        if record.failure is not None and record.failure_detail not in {None, record.rcode}
    ]
    told = [
        f"{record.resolver}: extended error of {record.qname} {record.qtype}: {error}"
        for record in records
        for error in record.extended_dns_errors
    ]
    lines = [*((line, "red") for line in dict.fromkeys(found)), *((line, "yellow") for line in dict.fromkeys(told))]
    return [Text(clean(line), style) for line, style in lines]
