"""Arguments of `resolab page`. Not for: what its actions do (modules of this folder)."""

import argparse
from pathlib import Path


def add_page(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its actions; `action` says which."""
    page = commands.add_parser("page", help="make a page that plans can load, of your files or of a recorded load")
    actions = page.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    _add_new(actions)
    _add_import(actions)
    _add_show(actions)
    listed = actions.add_parser("list", help="the pages that come along; the same as `resolab list pages`")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    actions.add_parser("schema", help="print the JSON Schema of page models")
    return page


def _add_new(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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


def _add_import(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    imported = actions.add_parser(
        "import",
        help="make page models of recorded loads (HAR files)",
        description="Read recordings of page loads and keep what the pages were made of, without names, URLs, heads, "
        "bodies or cookies: requests, sizes, hosts, who discovered whom and when. Says what each recording does not "
        "tell. Files may be packed by gzip. Shape: docs/formats/page-model.md.",
        epilog="example: resolab page import www.example.har.gz -o pages/",
    )
    imported.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a HAR file of any maker")
    imported.add_argument(
        "-o", "--output", type=Path, metavar="PLACE", help="file or, for several, folder (default: here)"
    )
    imported.add_argument("--name", help="name of the page (default: the file's, without its endings)")
    imported.add_argument("--keep-names", action="store_true", help="keep the hosts' names in the model")
    imported.add_argument("--force", action="store_true", help="write over models that are there")
    imported.add_argument("--json", action="store_true", help="facts and losses, one JSON object a file and line")


def _add_show(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    show = actions.add_parser(
        "show",
        help="what a page model or recording is made of",
        description="Sum a page model up: requests and bytes by kind, hosts, sites, depth, and what its recording did "
        "not tell. A recording is shown as `page import` would read it.",
    )
    show.add_argument("page", type=Path, metavar="FILE", help="a page model, or a recording")
    show.add_argument("--tree", action="store_true", help="who discovered whom")
    show.add_argument("--waterfall", action="store_true", help="when each request began and how long it took")
    show.add_argument("-o", "--output", type=Path, metavar="FILE", help="draw the waterfall (.svg, .pdf or .png)")
    show.add_argument("--json", action="store_true", help="facts and losses as one JSON object")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)
