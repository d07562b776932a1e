"""Put a dataset's tables and the words of its report into a folder of its own.

For: `scripts/publish`. Not for: running a plan, or the prose about the dataset (`scripts/quote`).
"""

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType

from publishing.figures import keep_numbers, made_alike, numbers_of
from publishing.page import without_figures
from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.report import make_report
from resolab.report.sections.missing import AS_PUBLISHED
from resolab.store.folder import FIGURES, PAGE, REPORT, TRIALS
from resolab.store.published import shorten_places, write_published


def main() -> int:
    """Publish; print one line for an error."""
    parser = argparse.ArgumentParser(prog="scripts/publish", description=__doc__)
    parser.add_argument("dataset", type=Path, help="a dataset with a report")
    parser.add_argument("folder", type=Path, help="the published folder; an older one of the name is replaced")
    options = parser.parse_args()
    for one in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(one, _interrupt)  # As Ctrl-C: the unfinished folder is removed.
    try:
        _check(options.dataset, options.folder)
        publish(options.dataset, options.folder)
    except ResolabError as error:
        print(f"publish: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _check(dataset: Path, folder: Path) -> None:
    example = "scripts/publish runs/NAME docs/results/NAME"
    if not (dataset / REPORT / PAGE).is_file() or not (dataset / TRIALS).is_dir():
        raise ConfigurationError(f"{dataset} is no dataset with a report; give such a dataset: {example}")
    # The folder is replaced: it must be neither other files nor a dataset with its trials.
    if folder.exists() and (not (folder / "manifest.json").is_file() or (folder / TRIALS).is_dir()):
        raise ConfigurationError(f"{folder} is no published dataset; give a folder of its own: {example}")


def publish(dataset: Path, folder: Path) -> None:
    """Write the folder under another name, compare its report with the dataset's, then replace the old folder."""
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_published(dataset, fresh)
        report = dataset / REPORT
        with tempfile.TemporaryDirectory() as scratch:
            again = make_report(fresh, Path(scratch) / REPORT).page.parent
            alike = made_alike(report / FIGURES, again / FIGURES)
        others = [one.name for one in numbers_of(report / FIGURES) if one.name not in alike]
        if others:
            problem = f"the published tables do not give {others[0]} of its report"
            hint = f"make the report anew: resolab report {dataset}"
            raise ConfigurationError(f"failed to publish {dataset}: {problem}; {hint}")
        keep_numbers(report / FIGURES, alike, fresh / FIGURES)
        page = shorten_places((report / PAGE).read_text("utf-8"), dataset)
        page = without_figures(page, f"resolab report {folder}")
        (fresh / AS_PUBLISHED).write_text(page, "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
