"""Arguments of `resolab page`. Not for: the actions themselves (modules of this folder)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import read_output_place

_GENERATED_HOSTS_MAX = 300
"""The maximum number of hosts, above the hosts of any recorded page."""


def add_page(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its actions, stored in `action`."""
    page = commands.add_parser("page", help="make a page that plans can load, of your files or of a recorded load")
    actions = page.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    _add_new(actions)
    _add_import(actions)
    _add_record(actions)
    _add_show(actions)
    _add_critical_path(actions)
    _add_generate(actions)
    _add_clone(actions)
    _add_check(actions)
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
    new.add_argument(
        "--requests", type=_parse_count, metavar="N", help="requests of a whole load, instead of loading it"
    )


def _add_import(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    imported = actions.add_parser(
        "import",
        help="make page models of recorded loads (HAR files)",
        description="Read recordings of page loads and keep what the pages were made of, without names, URLs, heads, "
        "bodies or cookies: requests, sizes, hosts, who discovered whom and when. Says what each recording does not "
        "tell. Files may be packed by gzip. Shape: docs/formats/page-model.md.",
        epilog="example: resolab page import www.example.har.gz -o pages/",
    )
    imported.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a HAR file of any maker, or a log of the DevTools protocol; - is standard input",
    )
    imported.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PLACE",
        help="file or, for several, folder; - is standard output (default: here)",
    )
    imported.add_argument("--name", help="name of the page (default: the file's, without its endings)")
    imported.add_argument("--keep-names", action="store_true", help="keep the hosts' names in the model")
    imported.add_argument(
        "--netlog",
        type=Path,
        metavar="FILE",
        help="the log of Chromium's network stack of the same load (--log-net-log, chrome://net-export): connections, "
        "addresses and certificates the recording does not tell",
    )
    imported.add_argument("--force", action="store_true", help="write over models that are there")
    imported.add_argument("--json", action="store_true", help="facts and losses, one JSON object a file and line")


def _add_record(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    record = actions.add_parser(
        "record",
        help="make a page model of a page on the web, by loading it once",
        description="Load URL once in a stock browser of this machine and keep what the page is made of: requests, "
        "sizes, hosts, who discovered whom and when. No name, URL, head, cookie or body is written. Certificates are "
        "checked. How, and what it is not: docs/guides/record.md.",
        epilog="example: resolab page record https://www.example.org/ -o shop.page.json",
    )
    record.add_argument("url", metavar="URL", help="the page; without a scheme: https")
    record.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PLACE",
        help="file or folder; - is standard output (default: NAME.page.json)",
    )
    record.add_argument("--name", help="name of the page (default: the file's, else recorded)")
    record.add_argument(
        "--browser",
        choices=("chromium", "firefox"),
        default="chromium",
        help="chromium by default; Firefox names no scripts",
    )
    record.add_argument(
        "--quiet-after",
        type=_parse_seconds,
        default=4.0,
        metavar="SECONDS",
        help="go on after the load event until no request began or ended for so long (default: 4)",
    )
    record.add_argument(
        "--timeout", type=_parse_seconds, default=60.0, metavar="SECONDS", help="of it all (default: 60)"
    )
    record.add_argument("--ca", type=Path, metavar="FILE", help="a further authority (PEM) to trust")
    record.add_argument("--keep-names", action="store_true", help="keep the hosts' names in the model")
    record.add_argument("--force", action="store_true", help="write over a model that is there")
    record.add_argument("--json", action="store_true", help="facts and losses as one JSON object")


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
    show.add_argument(
        "-o", "--output", type=read_output_place, metavar="FILE", help="draw the waterfall (.svg, .pdf or .png)"
    )
    show.add_argument("--json", action="store_true", help="facts and losses as one JSON object")


def _add_generate(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    generated = actions.add_parser(
        "generate",
        help="make page models of pages nobody recorded, drawn from published distributions",
        description="Draw page models: requests, hosts, sites, bytes, depth, redirects and documents jointly, then who "
        "asks for what, from where and when. A page depends on the seed and its number alone: page 7 is the same "
        "whether 10 or 250 are made, on any machine. How, and beside real pages: docs/method/generated-pages.md.",
        epilog="example: resolab page generate --count 250 --seed 1 -o pages/",
    )
    generated.add_argument(
        "--count", type=_parse_count, default=1, metavar="N", help="pages, from number 1 (default: 1)"
    )
    generated.add_argument("--seed", type=_parse_seed, default=1, metavar="S", help="other pages for each (default: 1)")
    generated.add_argument("-o", "--output", type=read_output_place, metavar="FOLDER", help="where to (default: here)")
    generated.add_argument(
        "--hosts",
        type=_parse_hosts,
        metavar="N",
        help="host names of every page; all else as in pages that have as many",
    )
    generated.add_argument("--force", action="store_true", help="write over pages that are there")
    generated.add_argument("--json", action="store_true", help="facts, one JSON object a page and line")


def _add_critical_path(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    path = actions.add_parser(
        "critical-path",
        help="what loads of a dataset waited for: look-ups, handshakes, servers, the browser",
        description="Find the critical path of every measured load of the pages whose models are given: the chain of "
        "requests its load event waited for, divided into look-up, TCP, TLS or QUIC, round trip, server, transfer and "
        "the browser's own time. Prints medians for each arm, with the look-ups that blocked against all, and beside "
        "them the closed form. What it rests on: docs/method/critical-path.md.",
        epilog="example: resolab page critical-path results/run pages/*.page.json; with --trial b000-t001 link by link",
    )
    path.add_argument("dataset", type=Path, metavar="DATASET", help="folder of a run")
    path.add_argument("models", nargs="+", type=Path, metavar="FILE", help="the models of its pages")
    path.add_argument("--trial", metavar="TRIAL", help="one load, link by link")
    path.add_argument("--json", action="store_true", help="one JSON object an arm and line, or of the one load")


def _add_clone(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    clone = actions.add_parser(
        "clone",
        help="write the page that a model stands for as a folder",
        description="Write the clone of a page model: files without content that make a browser ask for what the page "
        "asked for, when and because of what it did, and a page.toml. Plans that name a model make it by themselves; "
        "this is for looking into it, or changing it. How it works: docs/method/clones.md.",
        epilog="example: resolab page clone www-example.page.json -o ./shop",
    )
    clone.add_argument("page", type=Path, metavar="FILE", help="a page model")
    clone.add_argument(
        "-o", "--output", type=read_output_place, metavar="FOLDER", help="where to (default: the page's name, here)"
    )
    clone.add_argument("--seed", type=int, default=1, help="of the bytes nobody looks at (default: 1)")
    clone.add_argument(
        "--protocols",
        choices=("plan", "recorded"),
        default="plan",
        help="HTTP versions of its hosts: all, so that a plan decides for the whole page (plan, the default), or none "
        "newer than the recording saw of each (recorded)",
    )


def _add_check(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = actions.add_parser(
        "check",
        help="load clones in browsers and say how faithfully they repeat their models",
        description="Load the clone of each page model behind an emulated link and listen: requests issued, too many, "
        "never asked for; hosts, redirects, bytes on the wire, depth, discoverers, order. Ends with 1 when a load fell "
        "short of what docs/method/clones.md asks. Takes as long as the pages took to load, and some seconds each.",
        epilog="example: resolab page check pages/corpus/*.page.json --browser chromium firefox --json",
    )
    check.add_argument("pages", nargs="+", metavar="PAGE", help="page models: files, or names of the corpus")
    check.add_argument(
        "--browser", nargs="+", choices=("chromium", "firefox"), default=["chromium"], help="default: chromium"
    )
    check.add_argument("--http-version", choices=("h1", "h2", "h3"), default="h2", help="of the clones (default: h2)")
    check.add_argument("--profile", default="fiber", metavar="NAME", help="access network (default: fiber)")
    check.add_argument("--loads", type=_parse_count, default=1, metavar="N", help="loads of each (default: 1)")
    check.add_argument("--json", action="store_true", help="one JSON object a load and line")


def _parse_seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)


def _parse_hosts(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _GENERATED_HOSTS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to {_GENERATED_HOSTS_MAX}")
    return int(text)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 to 3600")
    return seconds


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)
