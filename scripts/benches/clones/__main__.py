"""Load clones of page models and compare the loads with the models: fidelity of every page, and causality.

For: `scripts/bench clones`, the figures of docs/method/clones.md.

--fidelity loads and observes every page in both browsers. The output has the number of pages within each bar, the
similarity of request orders, and the worst pages. --causality changes one thing in a model (server times of a host on
the longest path, of a host off the path, computing of a script on the path). Load times of each model are measured in
blocks like in a run. The output has their differences beside the prediction of the page's graph.

    scripts/bench clones --fidelity --out fidelity.jsonl
    scripts/bench clones --causality --out causality.jsonl
    scripts/bench clones --summary fidelity.jsonl

Both add to their file page by page and leave out pages already in the file. The server's 100 ms and the script's 50 ms
are effects visible with 8 blocks; the text below the table gives the number of blocks for 1 ms (--server-ms 0 --run-ms
1 --blocks N, another --out). Exit code 1 when a page could not be loaded, for any figures. Not for: work on a single
page (`resolab page check`).
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benches.clones import causality, loads
from benches.clones.effects import is_effect, table
from benches.clones.lines import read_lines
from benches.clones.summary import summary
from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.pages.file import ENDING, read_model
from resolab.plan import Corpus
from resolab.plan.browser_builds import STOCK_BROWSERS

PROGRAM = "bench clones"
CORPUS = "corpus/*"
INTERRUPTED = 130
MOST_MS = 10_000.0


def main() -> int:
    """Measure, or print a summary."""
    # Whatever was started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = _parser()
    options = parser.parse_args()
    if options.summary is None and options.out is None:
        parser.error("--fidelity and --causality need --out FILE")
    try:
        missed = 0 if options.summary else _measure(options)
        lines = read_lines(options.summary or options.out)
        if not lines:
            raise ConfigurationError(f"failed to sum up {options.summary or options.out}: nothing stands there")
        # Not by rich, which would fold rows.
        print(table(lines) if is_effect(lines[0]) else summary(lines))
    except ResolabError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        _say(f"stopped; what was measured stands in {options.out}, and the same command goes on")
        return INTERRUPTED
    return int(missed > 0)


def _measure(options: argparse.Namespace) -> int:
    if options.fidelity:
        files = files_of(options.pages or [CORPUS])
        return loads.measure(files, options.browser, options.loads, options.out, PROGRAM, _say)
    files = files_of(options.pages) if options.pages else _choose_files()
    return causality.measure(
        files, options.out, PROGRAM, _say,
        blocks=options.blocks, server_ms=options.server_ms, run_ms=options.run_ms, seed=options.seed, keep=options.keep,
    )  # fmt: skip


def files_of(words: Sequence[str]) -> list[Path]:
    """Find models by file, by name, or by a pattern below pages/; each once."""
    corpus = Corpus.from_project()
    found: list[Path] = []
    for word in words:
        if word.endswith(ENDING) and Path(word).is_file():
            found.append(Path(word))
        elif "/" in word or "*" in word:
            matching = sorted(file for file in (corpus.root / "pages").glob(word) if file.name.endswith(ENDING))
            if not matching:
                raise ConfigurationError(f"failed to find page models {word}: no file, and none below pages/")
            found += matching
        else:
            found.append(corpus.model_file(word))
    return list(dict.fromkeys(found))


def _choose_files() -> list[Path]:
    files = {read_model(file).name: file for file in files_of([CORPUS])}
    return [files[name] for name in causality.choose_pages({name: read_model(file) for name, file in files.items()})]


def _say(line: str) -> None:
    print(f"{PROGRAM}: {line}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/bench clones", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--fidelity", action="store_true", help="what of each model a load of its clone repeats")
    what.add_argument("--causality", action="store_true", help="changed models: load times beside the graph's")
    what.add_argument("--summary", type=Path, metavar="FILE", help="print what stands in a file of either")
    parser.add_argument(
        "--pages", nargs="+", metavar="PAGE",
        help=f"models: files, names, or patterns below pages/ (default: {CORPUS}; of --causality the "
        f"{causality.PAGES_COUNT} of these that load within {causality.LOAD_MOST_MS / 1000:g} s, have an evidence "
        "ratio of 0.6 or more, and the fewest requests)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON Lines; what stands there is not loaded again")
    browsers = list(STOCK_BROWSERS)
    parser.add_argument(
        "--browser", nargs="+", choices=browsers, default=browsers, help="of --fidelity (default: both)"
    )
    parser.add_argument("--loads", type=_count, default=2, metavar="N", help="of --fidelity (default: %(default)s)")
    parser.add_argument("--blocks", type=_count, default=8, metavar="N", help="of --causality (default: %(default)s)")
    parser.add_argument(
        "--server-ms", type=_more, default=100.0, metavar="MS", help="more; 0: no such change (default: %(default)g)"
    )
    parser.add_argument(
        "--run-ms", type=_more, default=50.0, metavar="MS", help="more; 0: no such change (default: %(default)g)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order in each block (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="datasets and models of --causality stay there")
    return parser


def _more(text: str) -> float:
    number = float(text)
    if not 0 <= number <= MOST_MS:
        raise argparse.ArgumentTypeError(f"from 0 to {MOST_MS:g}")
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
