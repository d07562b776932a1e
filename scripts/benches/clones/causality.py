"""Changes with a predicted delay of a page, or without, each measured: page after page, resumable.

For: `scripts/bench clones --causality`: the choice of pages and the sequence. Not for: single steps (`changes`,
`trials`, `effects`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from rich.console import Console

from benches.clones import trials
from benches.clones.changes import ChangedModel, change_models
from benches.clones.effects import effects_of
from benches.clones.lines import add_lines, read_lines
from benches.common.progress import Progress, duration
from resolab.basics.errors import ResolabError
from resolab.extras.fidelity.bars import EVIDENCE_RATIO
from resolab.pages.facts import evidence_ratio
from resolab.pages.file import read_model
from resolab.pages.model import PageModel
from resolab.pages.path import lab_load_ms, move_to_lab
from resolab.plan import Corpus

LOAD_MOST_MS = 6_000.0
PAGES_COUNT = 10
START_S = 10.0
TRIAL_S = 2.5
"""The time of a trial beside its two loads, the warm-up's and the measured load."""

Say = Callable[[str], None]


def choose_pages(models: Mapping[str, PageModel], count: int = PAGES_COUNT) -> list[str]:
    """Choose pages with a short load time and a known graph, pages with the fewest requests first."""
    fit = [
        (len(one.resources), name)
        for name, one in models.items()
        if one.load_ms is not None and one.load_ms < LOAD_MOST_MS and evidence_ratio(one.resources) >= EVIDENCE_RATIO
    ]
    return [name for _, name in sorted(fit)[:count]]


def measure(
    files: Sequence[Path], out: Path, program: str, say: Say, *,
    blocks: int, server_ms: float, run_ms: float, seed: int, keep: Path | None,
) -> int:  # fmt: skip
    """Measure the pages missing in the file; return the number of failed pages."""
    profile = Corpus.from_project().profile(trials.PROFILE)
    there = {line.get("page") for line in read_lines(out)}
    models = [model for file in files if (model := read_model(file)).name not in there]
    if len(models) < len(files):
        say(f"{len(files) - len(models)} of {len(files)} pages stand in {out} already")
    changes = [change_models(one, profile, server_ms=server_ms, run_ms=run_ms) for one in models]
    if unchanged := [one.name for one, of_one in zip(models, changes, strict=True) if len(of_one) == 1]:
        say(f"nothing to change in {', '.join(unchanged)}: no such host or script on the longest path")
    models = [one for one in models if one.name not in unchanged]
    changes = [of_one for of_one in changes if len(of_one) > 1]
    foreseen = [foreseen_s(one, of_one, blocks) for one, of_one in zip(models, changes, strict=True)]
    say(
        f"{len(models)} pages, {sum(map(len, changes))} models, {blocks} loads of each; about {duration(sum(foreseen))}"
    )
    steps, notes, missed = Progress(sum(foreseen), program), Console(stderr=True), 0
    try:
        for number, (model, of_one) in enumerate(zip(models, changes, strict=True), start=1):
            told = ", ".join(f"{one.what} ({one.predicted_ms:+.0f} ms)" for one in of_one[1:])
            steps.step(f"[{number}/{len(models)}] {model.name}: {told}", foreseen[number - 1])
            try:
                times = trials.measure(model.name, of_one, blocks, seed, keep, notes)
            except ResolabError as error:
                missed += 1
                say(f"{model.name}: {error}")
                continue
            graph_ms = lab_load_ms(move_to_lab(model, profile), profile)
            effects = effects_of(model.name, of_one, times, graph_ms)
            add_lines(out, [msgspec.to_builtins(one) for one in effects])
    finally:
        steps.end()
    return missed


def foreseen_s(model: PageModel, changed: Sequence[ChangedModel], blocks: int) -> float:
    """Estimate the duration of a page's trials."""
    return START_S + blocks * len(changed) * (TRIAL_S + 2 * (model.load_ms or LOAD_MOST_MS) / 1000)
