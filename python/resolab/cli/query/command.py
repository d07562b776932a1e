"""`resolab query`: ask resolvers for names, and show the phases' times.

For: joining the queries and the output for people and programs. Not for: either of these.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from resolab.basics.errors import UsageError
from resolab.basics.records import QueryPurpose, QueryRecord, Record
from resolab.cli.console import Console
from resolab.cli.query.arguments import core_arguments, count_expected_queries
from resolab.cli.query.dig_words import read_words
from resolab.cli.query.progress import QueryProgressLine
from resolab.extras.queries import (
    RESOLV_CONF,
    Arm,
    ask,
    format_recorded_name,
    group_arms,
    select_measured,
    system_resolver,
)
from resolab.extras.queries.limits import Limit, limit, list_exceeded

if TYPE_CHECKING:
    from resolab.extras.queries.summary import ArmSummary

EXIT_BEYOND, EXIT_INTERRUPTED = 1, 130
PIPED_WIDTH = 160
START_S = 30.0


def run(options: argparse.Namespace) -> int:
    """Ask, then show; results from before an interruption are shown, too."""
    notes = Console(stderr=True)
    limits = [limit(text) for text in options.fail]
    names, resolvers = _choose_targets(options, notes)
    records: list[QueryRecord] = []
    code = 0
    expected = count_expected_queries(options, resolvers, names)
    try:
        with QueryProgressLine(expected, notes) as progress:

            def take(record: Record) -> None:
                if options.json:
                    print(msgspec.json.encode(record).decode(), flush=True)
                if isinstance(record, QueryRecord):
                    records.append(record)
                    if record.purpose is QueryPurpose.MEASURED:
                        progress.take(record)

            arguments = core_arguments(options, resolvers, names)
            # Each query may need another one for its ticket.
            within_s = START_S + expected * (2 * options.timeout_ms + (options.interval_ms or 0)) / 1e3
            inside = None if options.path is None else (options.path, options.host)
            asking = ask(arguments, inside=inside, on_record=take, on_note=_say(notes), within_s=within_s)
            code = EXIT_INTERRUPTED if asyncio.run(asking) else 0
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    told = _show_results(select_measured(records), resolvers, options, limits, notes)
    return code or told


def _show_results(
    records: Sequence[QueryRecord],
    resolvers: Sequence[str],
    options: argparse.Namespace,
    limits: Sequence[Limit],
    notes: Console,
) -> int:
    """Show the results in the requested form; report values beyond a limit."""
    if not options.json:
        _show(records, resolvers, options)
    if not records or not (options.json or limits):
        return 0
    summed = _summarise(records, resolvers, options)
    if options.json:
        from resolab.extras.queries.summary import as_json

        for one in summed:
            print(json.dumps(as_json(one)), flush=True)
    beyond = list_exceeded(limits, summed)
    for line in beyond:
        _say(notes)(line)
    return EXIT_BEYOND if beyond else 0


def _summarise(
    records: Sequence[QueryRecord], resolvers: Sequence[str], options: argparse.Namespace
) -> "list[ArmSummary]":
    from resolab.extras.queries.summary import summaries

    arms = group_arms(records, resolvers, keeps_connections=options.connection == "warm")
    return summaries(arms, timeout_ms=options.timeout_ms)


def _choose_targets(options: argparse.Namespace, notes: Console) -> tuple[list[str], list[str]]:
    """Return names and resolvers, the system's when no resolver is given."""
    asked = read_words(options)
    options.type, options.short = ",".join(asked.types) or None, asked.short
    options.record_class = asked.record_class
    if asked.short and options.json:
        raise UsageError("+short is for people and --json for programs: give one of them")
    if not asked.names:
        raise UsageError("nothing to ask for: give a NAME beside the resolver")
    resolvers = asked.resolvers
    if not resolvers:
        if options.path is not None:
            raise UsageError("inside a path there is no system resolver: name one with -r, such as -r udp://10.77.0.1")
        resolvers = [system_resolver()]
        _say(notes)(f"no -r: asking the system's resolver, {resolvers[0]} ({RESOLV_CONF})")
    twice = [
        one
        for one in resolvers
        if [format_recorded_name(other) for other in resolvers].count(format_recorded_name(one)) > 1
    ]
    if twice:
        raise UsageError(f"{twice[0]} is given twice as a resolver: give each once, and --count for more queries")
    return asked.names, resolvers


def _show(records: Sequence[QueryRecord], resolvers: Sequence[str], options: argparse.Namespace) -> None:
    if not records:
        return
    if options.short:
        _print_short(records)
        return
    piped = not sys.stdout.isatty()
    console = Console(width=PIPED_WIDTH if piped and "COLUMNS" not in os.environ else None, highlight=False)
    arms = group_arms(records, resolvers, keeps_connections=options.connection == "warm")
    if _is_one_round(arms):
        from resolab.cli.query.list import list_table

        shown = list_table([record for arm in arms for record in arm.records.values()], console.width)
    else:
        from resolab.cli.query.summary import summary_table
        from resolab.extras.queries.summary import summaries

        shown = summary_table(summaries(arms, timeout_ms=options.timeout_ms), console.width)
    console.print(shown)


def _print_short(records: Sequence[QueryRecord]) -> None:
    """Print the answers, each once; failures go to standard error."""
    from resolab.cli.query.list import every_answer

    for line in dict.fromkeys(answer for record in records for answer in every_answer(record)):
        print(line)
    sys.stdout.flush()
    notes = _say(Console(stderr=True))
    for one in dict.fromkeys(f"{one.resolver}: {one.failure.value}" for one in records if one.failure is not None):
        notes(one)


def _is_one_round(arms: Sequence[Arm]) -> bool:
    return all(position == 0 for arm in arms for _, _, position in arm.records)


def _say(notes: Console) -> Callable[[str], None]:
    def say(line: str) -> None:
        notes.print(f"resolab: {line}", markup=False, highlight=False, soft_wrap=True)

    return say
