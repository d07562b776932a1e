"""A page's models, unchanged and changed, as the pages of a plan run like by `resolab run`; its load times.

For: files of models, the plan, the campaign and the values by block. Not for: the changes (`changes`), or their
evaluation (`effects`).
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benches.clones.changes import ChangedModel, ModelChange
from resolab.campaign import resume_campaign, run_campaign
from resolab.pages.clone.clone_cache import find_or_make_clone
from resolab.pages.file import ENDING, model_text
from resolab.plan import Plan, load_plan
from resolab.store import build_tables, open_dataset

PROFILE = "fiber"
PLT = "plt"
PLAN = """
name = "{name}"
question = "What does one change of a page change in its load time?"
seed = {seed}
blocks = {blocks}
[factors]
page = {pages}
profile = ["{profile}"]
dns_transport = ["doudp"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
browser = ["chromium"]
[resolver_path]
doudp = "native"
[baseline]
dns_transport = "doudp"
"""
Times = dict[ModelChange, dict[int, float | None]]
"""The page load time by change and block; `None` for a failed load."""


def measure(
    page: str, changed: Sequence[ChangedModel], blocks: int, seed: int, keep: Path | None, notes: Console
) -> Times:
    """Run the plan of a page; the dataset stays in `keep`, if given, and an unfinished dataset is resumed."""
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        folder = Path(scratch) if keep is None else keep / page
        folder.mkdir(parents=True, exist_ok=True)
        files = [write_model(one, folder) for one in changed]
        try:
            plan = write_plan(page, files, blocks, seed, folder)
            dataset = folder / "dataset"
            is_begun = (dataset / "manifest.json").exists()
            outcome = resume_campaign(dataset, notes) if is_begun else run_campaign(plan, dataset, notes)
            if outcome.interrupted:
                raise KeyboardInterrupt
            return read_times(dataset, changed)
        finally:
            for file in files:
                shutil.rmtree(find_or_make_clone(file).parent, ignore_errors=True)


def write_model(one: ChangedModel, folder: Path) -> Path:
    """Write a changed model to a file with the model's name."""
    file = folder / f"{one.model.name}{ENDING}"
    file.write_text(model_text(one.model), "utf-8")
    return file


def write_plan(page: str, files: Sequence[Path], blocks: int, seed: int, folder: Path) -> Plan:
    """Write the plan beside its models, and load the plan like a run."""
    pages = [f"./{file.name}" for file in files]
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(name=page, seed=seed, blocks=blocks, pages=pages, profile=PROFILE), "utf-8")
    return load_plan(plan)


def read_times(dataset: Path, changed: Sequence[ChangedModel]) -> Times:
    """Read every measured load's page load time."""
    changes = {one.model.name: one.change for one in changed}
    times: Times = {one.change: {} for one in changed}
    build_tables(dataset)
    with open_dataset(dataset) as tables:
        for load in tables.measured_loads():
            times[changes[load.page]][load.block] = None if load.failure else load.times_ms[PLT]
    return times
