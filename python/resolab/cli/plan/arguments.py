"""Arguments of `resolab plan`. Not for: the command (`plan`), with imports too slow for `--help`."""

import argparse
from pathlib import Path

DEFAULTS = {
    "page": ["example"],
    "profile": ["4g"],
    "dns_transport": ["doudp", "doh"],
    "http_version": ["h3"],
    "requested_handshake_mode": ["full"],
}
"""The default levels of the factors named by every plan: the smallest plan with a question."""
FACTORS = (
    *DEFAULTS,
    "resolver_path",
    "browser",
    "h3_discovery",
    "name_resolution",
    "doh_method",
    "dns_connection_state",
    "requested_dns_handshake_mode",
    "resolver_extra_rtt_ms",
    "resolver_cache",
    "browser_preset",
    "connection_sharing",
    "speculation",
    "query_gathering",
    "answer_push",
    "resolver_miss_ratio",
    "idle_gap_ms",
    "names_count",
    "question_packing",
    "study_arm",
    "study_case",
    "resolver",
    "resolver_software",
)
"""The names of all factors, as in `resolab.plan.factors`; `--help` does not wait for this import."""


def add_plan(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its actions."""
    plan = commands.add_parser("plan", help="check a plan without running it; blocks and hours it needs")
    actions = plan.add_subparsers(title="actions", required=True, metavar="ACTION")
    check = actions.add_parser(
        "check",
        help="conditions, trials, expected duration and exclusions of a plan",
        description="Read a plan as `run` does and say what it would run. Nothing is started. Keys: "
        "docs/formats/plan.md.",
    )
    check.add_argument("plan", type=Path, help="the plan: a TOML file, or the name of one that comes along (quick)")
    check.add_argument("--seed", type=int, help="use this seed instead of the plan's")
    check.add_argument("--blocks", type=int, help="assume this many blocks instead of the plan's number")
    check.add_argument("--json", action="store_true", help="one JSON object, every condition with its levels")
    check.add_argument(
        "--from", "--pilot", dest="pilot", type=Path, metavar="DATASET",
        help="say what `plan power --from DATASET` does, too, and judge the margins of [[expect]] by its spread",
    )  # fmt: skip
    check.set_defaults(action="check")
    _add_power(actions)
    _add_new(actions)
    schema = actions.add_parser(
        "schema",
        help="JSON Schema of plan files, for editors",
        description="Print the JSON Schema of plan files (docs/formats/plan.md).",
    )
    schema.set_defaults(action="schema")
    return plan


def _add_power(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    power = actions.add_parser(
        "power",
        help="blocks and hours each comparison needs, by a pilot dataset",
        description="Say how many blocks each comparison of a plan needs until it is decided with a chance of 80 %, "
        "and how many hours that is, from the paired differences and seconds of a dataset that is there. Without any "
        "of the three numbers: for the pilot's own differences, and for the width and margin that the plan names. How: "
        "docs/method/statistics.md.",
    )
    power.add_argument("plan", type=Path, help="the plan: a TOML file, or the name of one that comes along (quick)")
    power.add_argument("--from", dest="pilot", type=Path, required=True, metavar="DATASET", help="the pilot's folder")
    power.add_argument("--effect-ms", type=float, help="for an interval without 0, if the difference is so large")
    power.add_argument("--width-ms", type=_positive, help="for an interval so wide")
    power.add_argument(
        "--margin-ms", type=_positive, help="for an interval within this of 0, if there is no difference"
    )
    power.add_argument("--most-blocks", type=_blocks, default=1000, help="look no further (default: %(default)d)")
    power.add_argument("--json", action="store_true", help="one JSON object")
    power.set_defaults(action="power")


def _add_new(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    new = actions.add_parser(
        "new",
        help="write a plan from the levels it is to compare",
        description="Write a commented plan: every needed key, what no browser can do excluded, the first levels as "
        "the baseline. Levels are separated by commas; `resolab list factors` has them all. "
        "Keys: docs/formats/plan.md.",
        epilog="example: resolab plan new shop.toml --page ./shop --profile 4g,dsl --dns-transport doudp,doh,doq",
    )
    new.add_argument("file", type=Path, help="the plan's file, whose name is the plan's")
    new.add_argument("--question", help="what it asks (default: made of the levels)")
    new.add_argument("--seed", type=int, default=1, help="seed of every random choice (default: %(default)d)")
    new.add_argument(
        "--blocks", type=int, help="how often every condition runs (default: 8; with a margin at most 150)"
    )
    new.add_argument(
        "--software", action="append", default=[], type=_software, metavar="NAME=TEMPLATE[:PROGRAM]",
        help="write [software.NAME], a resolver of your own, and compare it with the first of these; repeat",
    )  # fmt: skip
    for kind in ("not_slower_than", "equivalent_within", "faster_by"):
        new.add_argument(
            f"--{kind.replace('_', '-')}", dest=kind, type=_positive, metavar="MS",
            help=f"write [[expect]] of the kind {kind} with this margin, a check of the tail and of failures",
        )  # fmt: skip
    new.add_argument(
        "--kind", default="page_load", choices=("page_load", "exchange", "fetch"),
        help="the measured part of every trial (default: %(default)s); the others need no browser",
    )  # fmt: skip
    for factor in FACTORS:
        default = DEFAULTS.get(factor)
        new.add_argument(
            f"--{factor.replace('_', '-')}", dest=factor, type=_levels, default=None, metavar="LEVEL,...",
            help=None if default is None else f"(default: {','.join(default)})",
        )  # fmt: skip
    new.set_defaults(action="new")


def _software(text: str) -> tuple[str, str, str | None]:
    """Read NAME=TEMPLATE[:PROGRAM] as name, template and program."""
    name, _, rest = text.partition("=")
    template, _, program = rest.partition(":")
    if not name or not template:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=TEMPLATE or NAME=TEMPLATE:PROGRAM")
    return name, template, program or None


def _levels(text: str) -> list[str]:
    levels = [word.strip() for word in text.split(",")]
    if not all(levels):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty level")
    return levels


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return value


def _blocks(text: str) -> int:
    value = int(text)
    if not 6 <= value <= 100_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 6 to 100000, not {text}")
    return value
