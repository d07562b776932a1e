"""`resolab internet contacts`: a box's received contacts beside announced and allowed contacts, as tables or JSON.

For: the output for people and programs. Not for: the comparison (`resolab.extras.internet.contact_check`).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.campaign.live_expectation import estimate_live_run
from resolab.cli.internet.show import print_json, print_table
from resolab.cli.visit.dry_run import WORDS
from resolab.extras.internet import read_layout
from resolab.extras.internet.contact_check import (
    ContactJudgement,
    DatasetContacts,
    hold,
    read_contacts,
    read_dataset_contacts,
)
from resolab.extras.internet.contact_check.contact_counts import ContactCount
from resolab.extras.internet.contact_check.named_addresses import ContactedAddress
from resolab.extras.internet.contact_check.opt_outs import OptedOutHost
from resolab.extras.internet.failures import OPT_OUT_URL
from resolab.extras.internet.layout import LOCAL
from resolab.plan import Plan, load_plan
from resolab.plan.manners import HARD_CAPS

EXIT_BAD = 1
_NAMED = {"named": "yes", "of_page": "of a page that is", "not_named": "NO"}
_KEPT = {"kept": "kept", "exceeded": "EXCEEDED", "not_shown": "not shown"}
_PROTOCOLS = {"1": "icmp"}
_SECOND_NS = 1e9


def contacts(options: argparse.Namespace) -> int:
    """Compare the contacts and print the tables."""
    plan = _live_plan(options.plan)
    told = None if options.dataset is None else read_dataset_contacts(options.dataset, plan)
    if told is not None:
        plan = _live_plan(options.plan, seed=told.seed, blocks=told.blocks)
    held = _judge_contacts(plan, options.box, told)
    if options.json:
        print_json(_build_json(held, told))
    else:
        _print(held, told)
        if plan.live is not None and plan.live.opt_out != OPT_OUT_URL:
            print(f"\nthe plan's opt-out list is not the box's, {OPT_OUT_URL}: nobody is listed by its own")
    return 0 if held.is_good else EXIT_BAD


def _live_plan(file: Path, *, seed: int | None = None, blocks: int | None = None) -> Plan:
    plan = load_plan(file, seed=seed, blocks=blocks)
    if plan.live is None:
        raise ConfigurationError(f"could not hold a box against {file}: it is no live plan and contacts nobody")
    return plan


def _judge_contacts(plan: Plan, box: Path, told: DatasetContacts | None) -> ContactJudgement:
    layout, seen = read_layout(box), read_contacts(box)
    assert plan.live is not None
    # At home in the box the machine's own name server is the near resolver.
    named = estimate_live_run(plan, layout.resolver(LOCAL).address).contacts
    batches_ns = told.batches_ns if told is not None and not seen.opt_out_fetches_ns else None
    return hold(layout, seen, named, HARD_CAPS.lower(plan.live.caps), batches_ns=batches_ns)


def _build_json(held: ContactJudgement, told: DatasetContacts | None) -> dict[str, object]:
    of_dataset = None if told is None else {"loads": told.loads, "left_alone": told.left_alone}
    counted = [msgspec.to_builtins(one) | {"kept": one.kept.value} for one in held.counted]
    whole: dict[str, object] = msgspec.to_builtins(held)
    return whole | {"counted": counted, "is_good": held.is_good, "dataset": of_dataset}


def _print(held: ContactJudgement, told: DatasetContacts | None) -> None:
    print_table(
        ["contacted", "address", "port", "over", "packets", "for", "named"], [_contact_cells(o) for o in held.contacted]
    )
    if held.never_contacted:
        print("\nnamed and never contacted, which is allowed:")
        print_table(
            ["what", "host", "port"],
            [[WORDS[one.reason], one.host, _text(one.port)] for one in held.never_contacted],
        )
    print()
    of_dataset = [] if told is None else ["loads told", "left alone"]
    titles = ["what", "of whom", "in all", "a minute", "an hour", "cap", "a day", "cap", "packets an hour", "verdict"]
    print_table([*titles, *of_dataset], [[*_count_cells(one), *_list_dataset_cells(one, told)] for one in held.counted])
    if held.listed:
        print()
        print_table(
            ["on the opt-out list", "host", "listed at s", "next batch", "last contact", "obeyed"],
            [_list_opt_out_cells(one, held.counted_from_ns) for one in held.listed],
        )
    print(f"\n{_summary(held)}")


def _contact_cells(one: ContactedAddress) -> list[str]:
    over = _PROTOCOLS.get(one.protocol, one.protocol)
    reasons = ", ".join(WORDS[reason] for reason in one.reasons)
    packets = str(one.packets_count)
    return [one.name or "", one.address, _text(one.port), over, packets, reasons, _NAMED[one.named_as]]


def _count_cells(one: ContactCount) -> list[str]:
    numbers = [one.total_count, one.of_minute, one.of_hour, one.hourly_cap, one.of_day, one.daily_cap]
    packets = str(one.packets_of_hour) if one.packets_of_hour else ""
    return [one.what, one.whom, *map(_text, numbers), packets, _KEPT[one.kept]]


def _list_dataset_cells(one: ContactCount, told: DatasetContacts | None) -> list[str]:
    if told is None:
        return []
    if one.what != "loads":
        return ["", ""]
    return [str(of.get(one.whom, 0)) if one.whom in of else "" for of in (told.loads, told.left_alone)]


def _list_opt_out_cells(one: OptedOutHost, from_ns: int) -> list[str]:
    instants = (one.since_ns, one.batch_ns, one.last_contact_ns)
    told = ["" if at_ns is None else f"{(at_ns - from_ns) / _SECOND_NS:.1f}" for at_ns in instants]
    return [one.domain, one.host, told[0], told[1] or "none", told[2] or "never", "yes" if one.obeyed else "NO"]


def _summary(held: ContactJudgement) -> str:
    parts = [
        f"{_those(held.not_named, 'contact', 'contacts')} not named",
        f"{_those(held.exceeded, 'cap', 'caps')} exceeded",
        f"{_those(held.disobeyed, 'listed host', 'listed hosts')} contacted in spite of the list",
    ]
    if held.not_shown:
        parts.append(f"{_those(held.not_shown, 'cap', 'caps')} not shown: packets are no queries")
    return f"{'; '.join(parts)}; batches begun: {held.batches_count}"


def _those(found: Sequence[object], one: str, several: str) -> str:
    return f"{len(found) or 'no'} {one if len(found) == 1 else several}"


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
