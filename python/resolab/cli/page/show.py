"""`resolab page show`: a page model as a summary, a tree, a waterfall or a drawing.

For: printing. Not for: counting (`resolab.pages.facts`) or reading recordings (`resolab.extras.recordings`).
"""

import argparse
import json
from pathlib import Path

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from resolab.basics.errors import ConfigurationError
from resolab.cli.console import Console
from resolab.cli.page.import_recordings import build_json, losses_in_words, make_page_name, summarise_page
from resolab.extras.recordings import import_page
from resolab.pages.facts import INFERRED_BELOW, count_facts
from resolab.pages.file import ENDING, read_model
from resolab.pages.model import PageModel, Resource
from resolab.pages.path import load_estimate

_DRAWN = (".svg", ".pdf", ".png")


def run(options: argparse.Namespace) -> int:
    """Show a single page."""
    file: Path = options.page
    model = read_model(file) if file.name.endswith(ENDING) else import_page(file, make_page_name(file))
    if options.json:
        print(json.dumps({"page": model.name, **build_json(model)}))
        return 0
    console = Console(highlight=False)
    if options.tree:
        console.print(tree(model), soft_wrap=True)
    elif options.waterfall:
        from resolab.report import terminal_waterfall, waterfall_of_page

        console.print(terminal_waterfall(waterfall_of_page(model), console.width), soft_wrap=True)
    else:
        _summary(console, model)
    if options.output is not None:
        _draw(model, options.output)
        console.print(f"drawn: {options.output}", markup=False, soft_wrap=True)
    return 0


def _summary(console: Console, model: PageModel) -> None:
    console.print(f"{model.name}: {summarise_page(model)}", markup=False, soft_wrap=True)
    facts = count_facts(model)
    if facts.evidence_ratio < INFERRED_BELOW:
        console.print("  who discovered whom is mostly inferred: it says what could have been", style="yellow")
    kinds = Table(box=None, pad_edge=False)
    for heading in ("kind", "requests", "kB on the wire"):
        kinds.add_column(heading, justify="left" if heading == "kind" else "right")
    for kind, count in facts.requests_by_kind.items():
        kinds.add_row(kind, f"{count:,}", f"{facts.bytes_by_kind[kind] / 1e3:,.1f}")
    console.print(kinds)
    console.print(f"{facts.single_request_hosts_count} of {facts.hosts_count} hosts served a single request")
    lookups = load_estimate(model)
    counted = f"{lookups.blocking_lookups_count} of {lookups.lookups_count} look-ups on its longest chain, estimated"
    console.print(f"{counted} (docs/method/critical-path.md)")
    for loss in losses_in_words(model):
        console.print(f"not told: {loss}", style="dim", markup=False, soft_wrap=True)


def tree(model: PageModel) -> Tree:
    """Build the tree of discoverers, with the start of each request."""
    root = Tree(_label(model, 0))
    branches = {0: root}
    for place, one in enumerate(model.resources):
        if one.parent is not None:
            branches[place] = branches[one.parent].add(_label(model, place))
    return root


def _label(model: PageModel, place: int) -> Text:
    one = model.resources[place]
    host = model.hosts[one.host]
    text = Text(f"{place} {one.kind.value} ")
    text.append(host.name or f"h{one.host}.s{host.site}", style="cyan")
    text.append(f" {one.wire_bytes / 1e3:,.1f} kB {_format_end(one)}", style="dim")
    text.append(f" {one.discovery.value} at {one.start_ms:,.0f} ms", style="dim" if one.parent is None else "")
    return text


def _format_end(one: Resource) -> str:
    return str(one.status) if one.status else "failed"


def _draw(model: PageModel, output: Path) -> None:
    from resolab.report import draw_load, waterfall_of_page
    from resolab.report.plots import save_file

    if output.suffix not in _DRAWN:
        raise ConfigurationError(f"failed to draw into {output}: {output.suffix} is none of {', '.join(_DRAWN)}")
    save_file(draw_load(waterfall_of_page(model)), output)
