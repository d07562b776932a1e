"""`resolab visit`: load pages over resolvers, and name the fastest.

For: joining the loads and the output for people and programs. Not for: either of these.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind, DnsTransport
from resolab.basics.wording import clean
from resolab.campaign.progress import duration_text
from resolab.cli.console import Console
from resolab.cli.visit import objects
from resolab.cli.visit.progress import VisitProgress
from resolab.extras.visit import (
    PlannedVisitLoad,
    ResolverConfiguration,
    VisitExtent,
    VisitLoad,
    VisitRequest,
    choose_baseline,
    configurations,
    extent,
    order,
    page_url,
    summaries,
    visit_all,
    warn_of_few_pairs,
    write_plan,
)
from resolab.plan import Plan
from resolab.plan.manners import HARD_CAPS, Contact, PlannedContacts, check_operator, contacts, user_agent_suffix

EXIT_INTERRUPTED = 130
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
PIPED_WIDTH = 140


@dataclass(slots=True)
class _VisitState:
    """The planned visits and the results so far."""

    asked: VisitRequest
    plan: Plan
    extent: VisitExtent
    visits: list[PlannedVisitLoad]
    may_end_early: bool
    found: list[VisitLoad] = field(default_factory=list)

    @property
    def baseline(self) -> ResolverConfiguration:
        return choose_baseline(self.asked.compared)


def run(options: argparse.Namespace) -> int:
    """Load, then show; results from before an interruption or an error are shown, too."""
    notes = _say(Console(stderr=True))
    visiting = _prepare_visit(options)
    if options.dry_run:
        _dry_run(visiting, as_json=options.json)
        return 0
    _announce(visiting, notes)
    if options.json:
        _print_object(_build_announcement(visiting))
    code = 0
    try:
        code = EXIT_INTERRUPTED if asyncio.run(_load_until_end(_load(visiting, options))) else 0
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except ResolabError:
        _show(visiting, as_json=options.json)
        raise
    _show(visiting, as_json=options.json)
    return code


def _prepare_visit(options: argparse.Namespace) -> _VisitState:
    user_agent_suffix(options.operator)
    urls = list(dict.fromkeys(page_url(url) for url in options.urls))
    compared = configurations(options.resolvers, [DnsTransport(word) for word in options.transports])
    check_operator(options.operator, urls)
    asked = VisitRequest(
        urls=urls,
        compared=compared,
        browser=BrowserKind(options.browser),
        operator_url=options.operator,
        opt_out=options.opt_out,
        seed=options.seed,
        timeout_s=options.timeout_s,
    )
    found = extent(urls, len(compared), loads_count=options.loads, caps=HARD_CAPS)
    visits = order(urls, compared, loads_count=found.loads_count, seed=options.seed)
    return _VisitState(asked, write_plan(asked), found, visits, may_end_early=options.loads is None)


def _announce(visiting: _VisitState, notes: Callable[[str], None]) -> None:
    """Announce the number and duration of loads before the first, with a warning for too few loads."""
    found = visiting.extent
    notes(
        f"{found.total} loads (pages: {found.pages_count}, resolvers and transports: {found.configurations_count}, "
        f"{found.loads_count} each), about {duration_text(found.seconds)}"
    )
    if found.configurations_count > 1:
        warning = warn_of_few_pairs(found)
        if warning is not None:
            notes(warning)


async def _load_until_end(loading: Coroutine[None, None, None]) -> bool:
    """Load until the end or the first interrupt, then end browsers and stub; return True after an interrupt."""
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(loading)
    stop = [task.cancel]
    for number in INTERRUPTS:
        loop.add_signal_handler(number, lambda: stop.pop()() if stop else None)
    try:
        await task
    except asyncio.CancelledError:
        if stop:
            raise
        return True
    finally:
        for number in INTERRUPTS:
            loop.remove_signal_handler(number)
    return False


async def _load(visiting: _VisitState, options: argparse.Namespace) -> None:
    from resolab.extras.visit.live_loader import live_loader

    notes = Console(stderr=True)
    with VisitProgress(visiting.extent.total, notes) as progress:

        def take(one: VisitLoad) -> None:
            visiting.found.append(one)
            if options.json:
                _print_object(objects.load(one))
            progress.take(one)

        async with live_loader(visiting.plan, visiting.visits, har_folder=options.har, on_note=_say(notes)) as loader:
            progress.begin()
            await visit_all(
                visiting.visits, loader, visiting.extent, may_end_early=visiting.may_end_early, on_loaded=take
            )
    if len(visiting.found) < len(visiting.visits):
        _say(notes)(_why_ended(visiting))


def _why_ended(visiting: _VisitState) -> str:
    """Return the reason for fewer loads: some pages never loaded, or the time was over."""
    left = set(visiting.visits) - {one.visit for one in visiting.found}
    came = {one.visit.url for one in visiting.found if one.failure is None}
    lost = list(dict.fromkeys(one.url for one in visiting.visits if one in left and one.url not in came))
    told = f"{len(visiting.found)} loads"
    told += f"; none of {', '.join(lost)} came through, so there were no more" if lost else ""
    return told + ("; the time is over (--loads has it go on)" if any(one.url in came for one in left) else "")


def _show(visiting: _VisitState, *, as_json: bool) -> None:
    if not visiting.found:
        return
    found = summaries(visiting.asked.compared, visiting.found)
    if as_json:
        for one in found:
            _print_object(objects.summary(one))
        return
    from resolab.cli.visit.screen import screen

    with contextlib.suppress(BrokenPipeError):
        console = _console()
        console.print(screen(found, visiting.asked.urls, visiting.baseline, console.width))


def _dry_run(visiting: _VisitState, *, as_json: bool) -> None:
    listed = _contacts(visiting)
    if as_json:
        for one in listed:
            _print_object(objects.contact(one))
        return
    from resolab.cli.visit.dry_run import contact_list

    found = visiting.extent
    console = _console()
    console.print(contact_list(listed))
    console.print(f"{found.total} loads, one at a time, in about {duration_text(found.seconds)}", highlight=False)


def _contacts(visiting: _VisitState) -> list[Contact]:
    from resolab.extras.queries import system_resolver

    asked, loads = visiting.asked, visiting.extent.loads_count
    uses_names = any(not one.is_address for one in asked.compared)
    system = system_resolver() if uses_names else None
    each = loads * len(asked.urls)
    intended = PlannedContacts(
        urls=asked.urls,
        loads_of=dict.fromkeys(asked.urls, loads * len(asked.compared)),
        resolvers=[(one.url if one.host else system or "", each) for one in asked.compared],
        system_resolver=system,
        opt_out=asked.opt_out,
    )
    return contacts(intended, HARD_CAPS)


def _build_announcement(visiting: _VisitState) -> objects.Json:
    return objects.announce_visit(
        visiting.extent,
        seed=visiting.asked.seed,
        browser=visiting.asked.browser,
        baseline=visiting.baseline,
        pages=list(visiting.asked.urls),
    )


def _console() -> Console:
    piped = not sys.stdout.isatty()
    return Console(width=PIPED_WIDTH if piped and "COLUMNS" not in os.environ else None, highlight=False)


def _print_object(found: objects.Json) -> None:
    print(json.dumps(found), flush=True)


def _say(notes: Console) -> Callable[[str], None]:
    def say(line: str) -> None:
        notes.print(f"resolab: {clean(line)}", markup=False, highlight=False, soft_wrap=True)

    return say
