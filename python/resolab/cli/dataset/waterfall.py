"""`resolab waterfall`: page loads of a dataset, request by request.

For: the destination of a drawing. Not for: choosing a load or drawing (`resolab.report`).
"""

import argparse
from pathlib import Path
from typing import Any

from resolab.basics.errors import ConfigurationError, MachineError

DRAWINGS = (".svg", ".pdf", ".png")
PAGE = ".html"
SUFFIXES = (*DRAWINGS, PAGE)


def run(options: argparse.Namespace) -> int:
    """Print the requested loads; draw the loads if requested."""
    from resolab.cli.console import Console
    from resolab.report import terminal_waterfall, waterfalls

    chosen = waterfalls(options.dataset, options.load)
    if not chosen:
        raise ConfigurationError(f"failed to draw loads of {options.dataset}: none has ended; name a TRIAL")
    if options.output is not None and options.output.suffix in DRAWINGS and len(chosen) > 1:
        problem = f"{len(chosen)} loads do not fit into one file; name a TRIAL or CONDITION, or give a folder or .html"
        raise ConfigurationError(f"failed to draw into {options.output}: {problem}")
    if options.output is not None and options.output.suffix not in {"", *SUFFIXES} and not options.output.is_dir():
        problem = (
            f"{options.output.suffix} is none of {', '.join(SUFFIXES)}; a folder's name has no suffix, or is there"
        )
        raise ConfigurationError(f"failed to draw into {options.output}: {problem}")
    console = Console(highlight=False)
    for one in chosen:
        console.print(terminal_waterfall(one, console.width), soft_wrap=True)
        console.print()
    if options.output is not None:
        for file in _draw(chosen, options.output, options.dataset):
            console.print(f"drawn: {file}", markup=False, soft_wrap=True)
    return 0


def _draw(chosen: Any, output: Path, dataset: Path) -> list[Path]:
    from resolab.report import draw_load, waterfall_html
    from resolab.report.plots import save_drawing, save_file
    from resolab.store import load_manifest

    try:
        if output.suffix == PAGE:
            output.write_text(waterfall_html(chosen, load_manifest(dataset).dataset_id), "utf-8")
            return [output]
        drawings = [draw_load(one) for one in chosen]
        if output.suffix in SUFFIXES:
            save_file(drawings[0], output)
            return [output]
        for drawing in drawings:
            save_drawing(drawing, output)
    except OSError as error:
        problem = f"{error.strerror or error}; give another place with -o"
        raise MachineError(f"failed to write the drawing {output}: {problem}") from error
    return [output / f"{drawing.name}.svg" for drawing in drawings]
