"""A dataset into findings.

For: one place that reads all named queries. Not for: presenting.
"""

from dataclasses import replace

from resolab.errors import ConfigurationError
from resolab.plan import parse_plan
from resolab.report.findings.comparisons import aa_results, comparison_results, noise_of
from resolab.report.findings.exchanges import exchange_results
from resolab.report.findings.findings import Findings
from resolab.report.findings.page_loads import condition_results
from resolab.report.findings.plt_sums import plt_sum_results
from resolab.store import Dataset, read_calibrations


def analyse(dataset: Dataset) -> Findings:
    """Compute everything the report shows; the same dataset always gives the same numbers."""
    manifest = dataset.manifest
    # Pages and profiles may have left the project since; the dataset has what it needs of them.
    plan = replace(
        parse_plan(manifest.plan_text, str(dataset.folder / "plan.toml"), corpus=None),
        seed=manifest.seed,
        blocks=manifest.blocks,
    )
    rtt_ms = {link.name: link.up.one_way_delay_ms + link.down.one_way_delay_ms for link in manifest.profiles}
    missing = [name for name in plan.factors.profile if name not in rtt_ms]
    if missing:
        problem = f"manifest.json holds no profile {missing[0]!r}, which its plan names"
        raise ConfigurationError(f"failed to read dataset {dataset.folder}: {problem}; restore the manifest")
    loads = dataset.measured_loads()
    unknown = {load.condition for load in loads} - {condition.id for condition in plan.conditions()}
    if unknown:
        problem = f"its plan has no condition {min(unknown)}, of which it has trials"
        raise ConfigurationError(f"failed to read dataset {dataset.folder}: {problem}; restore manifest and trials")
    copies = aa_results(plan, loads)
    return Findings(
        manifest=manifest,
        plan=plan,
        conditions=condition_results(plan, loads, rtt_ms),
        exchanges=exchange_results(plan, dataset, rtt_ms),
        failures=dataset.failures(),
        flags=dataset.flags(),
        handshakes=dataset.handshakes(),
        lateness=dataset.lateness(),
        browsers=dataset.browsers(),
        trials_count=len(loads),
        calibrations=read_calibrations(dataset.folder),
        plt_sums=plt_sum_results(plan, loads),
        comparisons=comparison_results(plan, loads),
        aa=copies,
        noise=noise_of(copies),
        varying=plan.varying(),
    )
