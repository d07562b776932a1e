"""Choose the action of `resolab page`. Not for: the action itself."""

import argparse
import json


def run(options: argparse.Namespace) -> int:
    """Run the chosen action."""
    return _ACTIONS[options.action](options)


def _new(options: argparse.Namespace) -> int:
    from resolab.cli.page import new

    return new.run(options.folder, path=options.path, requests_count=options.requests)


def _import(options: argparse.Namespace) -> int:
    from resolab.cli.page import import_recordings

    return import_recordings.run(options)


def _record(options: argparse.Namespace) -> int:
    from resolab.cli.page import record

    return record.run(options)


def _show(options: argparse.Namespace) -> int:
    from resolab.cli.page import show

    return show.run(options)


def _generate(options: argparse.Namespace) -> int:
    from resolab.cli.page import generate

    return generate.run(options)


def _critical_path(options: argparse.Namespace) -> int:
    from resolab.cli.page import critical_path

    return critical_path.run(options)


def _clone(options: argparse.Namespace) -> int:
    from resolab.cli.page import clone

    return clone.run(options)


def _check(options: argparse.Namespace) -> int:
    from resolab.cli.page import check

    return check.run(options)


def _list(options: argparse.Namespace) -> int:
    from resolab.cli import listing

    return listing.run("pages", as_json=options.json)


def _schema(_options: argparse.Namespace) -> int:
    from resolab.pages.schema import page_schema

    print(json.dumps(page_schema(), indent=2))
    return 0


_ACTIONS = {
    "new": _new,
    "import": _import,
    "record": _record,
    "show": _show,
    "critical-path": _critical_path,
    "list": _list,
    "schema": _schema,
    "generate": _generate,
    "clone": _clone,
    "check": _check,
}
