"""Arguments of `resolab page`. Not for: what it does (`page`)."""

import argparse
from pathlib import Path


def add_page(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its action."""
    page = commands.add_parser("page", help="make a page of your own that plans can load")
    actions = page.add_subparsers(title="actions", required=True, metavar="ACTION")
    new = actions.add_parser(
        "new",
        help="write the page.toml of a folder of files",
        description="Write FOLDER/page.toml, so that a plan can name the page by its path. The document's files lie in "
        "FOLDER/site, those of each further host name HOST.NAME.resolab.test in FOLDER/hosts/HOST. Without any files a "
        "document of one line is made. Then the page is loaded once in Chromium, to count its requests and to tell "
        "what of it is missing. Shape: docs/formats/page.md.",
        epilog='example: resolab page new ./shop, then page = ["./shop"] in a plan beside it',
    )
    new.add_argument("folder", type=Path, help="the page's folder; its name is the page's")
    new.add_argument("--path", default="/", help="path of the document (default: /, which is index.html)")
    new.add_argument("--requests", type=_count, metavar="N", help="requests of a whole load, instead of loading it")
    return page


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)
