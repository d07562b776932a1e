"""Arguments of `resolab fleet`. Not for: the actions themselves (modules of this folder)."""

import argparse
from pathlib import Path

DEFAULT_FOLDER = Path("fleet")


def add_fleet(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its actions, stored in `action`."""
    fleet = commands.add_parser(
        "fleet",
        help="one plan from many vantage points, whose agents dial out to one server",
        description="Run a plan from many machines: agents dial out to one server, take block after block, keep what "
        "they measured on their own disk and send it when they can (docs/guides/fleet.md).",
    )
    actions = fleet.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    _add_serve(actions)
    _add_membership(actions)
    _add_agent(actions)
    _add_run(actions)
    _add_of_a_run(actions)
    return fleet


def _add_serve(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = actions.add_parser(
        "serve",
        help="the server of a fleet, until Ctrl-C",
        description="Start the fleet's server with its storage in its folder; after every start it knows from there "
        "what it has to do. It listens on loopback unless told otherwise.",
        epilog="example: resolab fleet serve --listen 0.0.0.0 --name fleet.example.org",
    )
    _add_folder(serve)
    serve.add_argument(
        "--nats",
        metavar="URL",
        help="use a NATS server that somebody else runs, tls://NAME:PORT, which includes shared.conf of the folder; "
        "makes there what is needed, and ends",
    )
    serve.add_argument("--listen", metavar="ADDRESS", help="address to listen on (as before; at first 127.0.0.1)")
    serve.add_argument(
        "--port", type=int, metavar="PORT", help="TCP port (default: as before; at first 4222; 0: one that is free)"
    )
    serve.add_argument(
        "--name", action="append", metavar="NAME",
        help="name or address agents reach it by, the first is in invitations; may be repeated (default: --listen)",
    )  # fmt: skip
    serve.add_argument(
        "--quota-gb", type=float, metavar="GB", help="what each agent's results may take (as before; at first 16)"
    )
    serve.add_argument(
        "--reserve-gb", type=float, metavar="GB",
        help="what stays free on the server's disk, at most a tenth of it: below it no result is taken (as before; at "
        "first 1)",
    )  # fmt: skip


def _add_membership(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    invite = actions.add_parser(
        "invite",
        help="a credential for one agent, as a file",
        description="Write NAME.invitation.toml, all that an agent needs to take part; it is a secret. Inviting a name "
        "again makes a new credential, and the old one is worth nothing.",
    )
    invite.add_argument("vantage", metavar="NAME", help="the vantage point's name, a factor of the dataset")
    _add_folder(invite)
    invite.add_argument("--out", type=Path, metavar="FILE", help="where to put it (default: the fleet's folder)")
    withdraw = actions.add_parser("withdraw", help="let an agent take part no more")
    withdraw.add_argument("vantage", metavar="NAME", help="the vantage point's name")
    _add_folder(withdraw)


def _add_agent(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    agent = actions.add_parser(
        "agent",
        help="carry out a vantage point's blocks, until Ctrl-C",
        description="Dial out to the fleet's server and carry out block after block, within the limits of this "
        "machine's operator. Without a file of limits, plans of the lab alone are carried out: nothing is sent out.",
        epilog="example: resolab fleet agent --invitation fra.invitation.toml --limits limits.toml",
    )
    agent.add_argument("--invitation", type=Path, required=True, metavar="FILE", help="as `fleet invite` wrote it")
    agent.add_argument(
        "--limits", type=Path, metavar="FILE", help="what is allowed on this machine (docs/guides/fleet.md)"
    )
    agent.add_argument(
        "--spool",
        type=Path,
        metavar="FOLDER",
        help="where blocks are kept until the server has them (default: spool-NAME)",
    )
    agent.add_argument(
        "--inside",
        metavar="'COMMAND ...'",
        help="run blocks inside this command, which is put before the worker's: 'resolab internet run --place ohio --'",
    )
    agent.add_argument(
        "--turns",
        type=Path,
        metavar="FILE",
        help="take turns with the other agents of this machine that name the same file: one block at a time",
    )


def _add_run(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = actions.add_parser(
        "run",
        help="give a plan to the fleet",
        description="Queue a plan's blocks for every vantage point and return; the run's name is printed. "
        "A rule of the plan that stops early is not looked at: every vantage point runs all blocks.",
    )
    run.add_argument("plan", type=Path, metavar="PLAN", help="the plan's file")
    _add_folder(run)
    run.add_argument(
        "--vantage", action="append", metavar="NAME", help="only these vantage points (default: all invited)"
    )
    run.add_argument("--seed", type=int, help="instead of the plan's")
    run.add_argument("--blocks", type=int, help="at each vantage point, instead of the plan's")
    _add_json(run)


def _add_of_a_run(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    status = actions.add_parser("status", help="runs, agents, blocks done, what went wrong, and when it ends")
    _add_run_arguments(status)
    _add_json(status)
    status.add_argument("--wait", action="store_true", help="show the progress until the run is done")
    fetch = actions.add_parser(
        "fetch",
        help="one dataset of a run's results",
        description="Take every block that is there, check it against the plan, and make one dataset of as many blocks "
        "from each vantage point. It may be done before the run has ended, and again. Blocks that are refused or got "
        "lost are queued again.",
    )
    _add_run_arguments(fetch)
    fetch.add_argument("--vantage", action="append", metavar="NAME", help="only these vantage points (default: all)")
    fetch.add_argument("--out", type=Path, metavar="FOLDER", help="the new dataset (default: runs/RUN)")
    stop = actions.add_parser("stop", help="take what is left of a run out of the queues; what is running ends")
    _add_run_arguments(stop)


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="RUN", help="the run's name (default: the latest)")
    _add_folder(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fleet", type=Path, default=DEFAULT_FOLDER, metavar="FOLDER", help="the fleet's folder (default: fleet)"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON Lines for machines")
