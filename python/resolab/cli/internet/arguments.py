"""Arguments of `resolab internet`. Not for: the actions themselves (modules of this folder)."""

import argparse
from pathlib import Path


def add_internet(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its actions, stored in `action`."""
    internet = commands.add_parser(
        "internet",
        help="an internet in a box: real name servers, resolvers and sites in namespaces of this machine",
        description="Bring up a small internet on this machine: root, top domains and zones on nsd and knot, resolvers "
        "unbound, knot-resolver, BIND, dnsdist and resolab's own, sites of the page corpus, each at a distance of its "
        "own. Nothing of it reaches the real network, and all of it goes with this command (docs/guides/internet.md).",
    )
    actions = internet.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    up = actions.add_parser("up", help="bring it up and say what is there, until Ctrl-C")
    _add_box(up)
    _add_json(up)
    _add_run(actions)
    show = actions.add_parser("show", help="hosts, distances, resolvers and sites, without bringing it up")
    _add_layout(show)
    _add_json(show)
    _add_truth(actions)
    failures = actions.add_parser("failures", help="what goes wrong in it on purpose, and how that must show")
    _add_json(failures)
    _add_check(actions)
    _add_places(actions)
    _add_contacts(actions)
    return internet


def _add_run(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = actions.add_parser(
        "run",
        help="bring it up, run a command at home in it, and end both",
        description="Run COMMAND in the box's host `home`, whose name server is the box's near resolver. Its "
        "environment has RESOLAB_AUTHORITY, the authority that signed for every server, and RESOLAB_BOX, the box's "
        "folder. The exit code is COMMAND's.",
        epilog="example: resolab internet run -- resolab run plans/live-demo.toml",
    )
    _add_box(run)
    run.add_argument("--as-user", metavar="NAME", help="the user COMMAND runs as (as root; default: whoever runs this)")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")


def _add_truth(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    truth = actions.add_parser(
        "truth",
        help="what look-ups must take, in closed form",
        description="Print what a look-up takes by resolver, transport, connection and what the resolver knows: the "
        "answer, the zone's server, the top domain's, or the root's.",
    )
    truth.add_argument("qnames", nargs="*", metavar="NAME", help="names (default: one behind each zone server)")
    truth.add_argument("-r", "--resolver", metavar="NAME", help="of this resolver only")
    _add_layout(truth)
    _add_json(truth)


def _add_check(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = actions.add_parser(
        "check",
        help="hold measured look-ups against the truth",
        description="Compare a dataset's look-ups, or with --queries look-ups made for it, with the closed form, hits "
        "and misses apart. Hit or miss is told by what the authoritative servers were asked meanwhile. Exit code 1: a "
        "median lies farther off than 2 ms and 2 %%.",
    )
    check.add_argument("dataset", nargs="?", type=Path, help="folder of a dataset measured in a box")
    check.add_argument("--box", type=Path, metavar="FOLDER", help="folder of that box, as kept with `run --folder`")
    check.add_argument("--queries", action="store_true", help="bring a box up and ask in it, instead of a dataset")
    check.add_argument(
        "--names", type=int, default=5, metavar="N", help="with --queries: names for each kind of look-up (default: 5)"
    )
    _add_box(check)
    _add_json(check)


def _add_places(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    places = actions.add_parser(
        "places",
        help="hold differences between vantage points against the truth of their boxes",
        description="Compare, for each resolver, transport and connection, how much longer look-ups take from one "
        "place than from another with what the boxes say: of answers from the cache, whose truth is distance alone. "
        "Exit code 1: a difference lies farther off than 5 %% and 1 ms.",
        epilog="example: resolab internet places runs/places --boxes boxes",
    )
    places.add_argument("dataset", type=Path, metavar="DATASET", help="a dataset of several vantage points")
    places.add_argument(
        "--boxes",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="folder with the boxes' folders at any depth; a vantage point's is the one of the place of its name",
    )
    places.add_argument(
        "--reference", metavar="NAME", help="what others are compared with (default: frankfurt, or the first)"
    )
    _add_json(places)


def _add_contacts(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    contacts = actions.add_parser(
        "contacts",
        help="hold what the box's servers got against a plan's dry run, the caps and the opt-out list",
        description="Compare whom a live plan contacted in a box, told by those who were contacted, with whom `run "
        "--dry-run` named; the most each site and resolver got in a minute, an hour and a day with the caps in force; "
        "and who was on the opt-out list with when they were last contacted. Exit code 1: somebody was contacted that "
        "was not named, more than a cap allows, or in spite of the list.",
        epilog="example: resolab internet contacts plans/live-demo.toml --box box --dataset live-demo",
    )
    contacts.add_argument("plan", type=Path, metavar="PLAN", help="the live plan that was run in the box, and no other")
    contacts.add_argument("--box", type=Path, metavar="FOLDER", required=True, help="folder kept with `run --folder`")
    contacts.add_argument(
        "--dataset",
        type=Path,
        metavar="DATASET",
        help="what it left: its seed and blocks, and the loads it tells of",
    )
    _add_json(contacts)


def _add_box(action: argparse.ArgumentParser) -> None:
    _add_layout(action)
    kept = action.add_mutually_exclusive_group()
    kept.add_argument("--folder", type=Path, help="keep the box's folder here: logs, contacts.json, what was asked")
    kept.add_argument(
        "--boxes",
        type=Path,
        metavar="FOLDER",
        help="keep it in a new folder below this one, 1, 2 and so on: for what is run again and again",
    )
    action.add_argument("--seed", type=int, default=1, help="of loss, where hosts have any (default: 1)")
    action.add_argument(
        "--keep-awake", action="store_true", help="keep idle processors from halting: more exact, at full load"
    )


def _add_layout(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--page", action="append", metavar="PAGE", help="a page of the corpus to serve; several (default: 22 of them)"
    )
    action.add_argument(
        "--place",
        metavar="NAME",
        help="as seen from a vantage point of Hounsel et al.: frankfurt, seoul, ohio, california or sydney, as far "
        "from resolvers as published (default: as the box comes)",
    )


def _add_json(action: argparse.ArgumentParser) -> None:
    action.add_argument("--json", action="store_true", help="JSON instead of tables")
