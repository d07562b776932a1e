"""Manage the remaining trials of a campaign, as decided by the stopping rule after each block.

For: interim analyses in time, and removing conditions not needed by any open comparison; the same after a resume.
Not for: the rules, running trials.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from resolab.basics.records import Record
from resolab.campaign.decisions import ConfidenceSequenceRule
from resolab.campaign.expectation_rule import ExpectationRule
from resolab.campaign.interim_analysis import InterimAnalysis, StoppingRule
from resolab.campaign.manifests import CampaignStatus
from resolab.campaign.margins import margins_ms
from resolab.campaign.precision import FixedWidthRule
from resolab.campaign.schedule import PlannedTrial, block_schedule, format_block, list_remaining, schedule, whole_blocks
from resolab.plan import Plan, StopRule, pool_pages, trials_a_block
from resolab.store import Manifest, read_trial
from resolab.store.outcomes import find_outcome


class RemainingTrials:
    """The schedule of a campaign, shortened by the decisions of the finished blocks."""

    def __init__(
        self, plan: Plan, manifest: Manifest, finished: Mapping[str, Path], *, block: int | None = None
    ) -> None:
        """Add the trials of earlier processes, and repeat their interim analyses.

        With `block`, only this block is run, without interim analyses: other blocks may be anywhere.
        """
        self._cap, self._block_size, self._block = manifest.blocks, trials_a_block(plan), block
        self._rule = _choose_rule(pool_pages(plan), manifest) if block is None else None
        self._stop = plan.stop
        self._drops = plan.stop is not None and plan.stop.drops_conditions
        seed = manifest.seed
        self.planned = schedule(plan, seed, self._cap) if block is None else block_schedule(plan, seed, block)
        self.last: InterimAnalysis | None = None
        if self._rule is not None:
            self._recall(self._rule, finished)
        self.left = list_remaining(self.planned, finished.keys())
        """The trials to run, in order; the loop running trials removes entries from this list."""

    @property
    def is_enough(self) -> bool:
        """Return True when the last interim analysis left no question open."""
        return self.last is not None and self.last.reached

    def take_in(self, trial: PlannedTrial, records: Iterable[Record]) -> None:
        """Add a trial just finished."""
        if self._rule is not None:
            self._rule.add(trial.compared_as, trial.block, records)

    def block_ended(self, blocks: int) -> InterimAnalysis | None:
        """Analyse when due, and always at the end; afterwards only the needed trials are left."""
        if self._rule is None or self._stop is None or not (self._stop.is_due(blocks) or blocks == self._cap):
            return None
        self.last = self._rule.look(blocks)
        self.planned = _select_remaining(self.planned, self.last)
        return self.last

    def drop(self, look: InterimAnalysis) -> None:
        """Remove the dropped conditions from the trials to run, in place: the loop running trials holds the list."""
        self.left[:] = _select_remaining(self.left, look)

    def estimate_trials(self, look: InterimAnalysis) -> int:
        """Return the expected number of trials at the end; with dropped conditions, the maximum."""
        if look.loaded is not None:
            return len(self.planned)
        assert self._rule is not None  # It has looked.
        return self._rule.estimate_blocks(look, self._cap) * self._block_size

    def progress(self, finished: Collection[str]) -> CampaignStatus:
        """Return the progress of the whole campaign, by the finished trials."""
        if self._block is None:
            there = frozenset(finished)
            blocks_count = whole_blocks(self.planned, there)
            all_done = all(one.trial_id in there for one in self.planned)
        else:
            # Counted, for ordering every block anew would take longer than running one.
            sizes = Counter(format_block(one) for one in finished)
            blocks_count = sum(size >= self._block_size for size in sizes.values())
            all_done = blocks_count == self._cap
        return CampaignStatus(trials_count=len(finished), blocks_count=blocks_count, all_done=all_done, look=self.last)

    @property
    def text(self) -> str | None:
        """Return the result of the last interim analysis in a line."""
        return None if self._rule is None or self.last is None else self._rule.text(self.last)

    def _recall(self, rule: StoppingRule, finished: Mapping[str, Path]) -> None:
        blocks = [list(trials) for _, trials in groupby(self.planned, key=lambda one: one.block)]
        whole = 0
        for number, trials in enumerate(blocks):
            # Trials of conditions that had been dropped by then are neither there nor missed.
            needed = [one for one in trials if self.last is None or _is_loaded(one, self.last)]
            there = [one for one in needed if one.trial_id in finished]
            for one in there:
                rule.add(one.compared_as, one.block, read_trial(finished[one.trial_id]))
            if self.is_enough or len(there) < len(needed):
                continue
            if number == whole:
                whole += 1
                if self._drops:
                    self.block_ended(whole)
        # A rule that drops nothing needs only the look it made last.
        if not self._drops:
            for count in range(whole, 0, -1):
                if self.block_ended(count) is not None:
                    break


def _choose_rule(plan: Plan, manifest: Manifest) -> StoppingRule | None:
    if plan.stop is None:
        return None
    if plan.stop.rule is StopRule.EXPECTATIONS:
        return ExpectationRule(plan)
    outcome = find_outcome(plan.analysis.primary)
    if plan.stop.drops_conditions:
        return ConfidenceSequenceRule(plan, plan.stop, margins_ms(plan, manifest.profiles), outcome)
    return FixedWidthRule(plan, plan.stop, manifest.seed, outcome)


def _select_remaining(trials: Sequence[PlannedTrial], look: InterimAnalysis) -> list[PlannedTrial]:
    return [one for one in trials if one.block < look.blocks or _is_loaded(one, look)]


def _is_loaded(trial: PlannedTrial, look: InterimAnalysis) -> bool:
    return look.loaded is None or trial.compared_as in look.loaded
