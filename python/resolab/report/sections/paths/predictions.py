"""The predicted lookups of a trial's load, from the page's structure and the trial's condition.

For: the closed form beside critical paths: the resolver's distance, its recursive lookups, the handshakes of the page's
connections, the distance of its servers. Not for: the closed form itself (`pages.path.estimate`).
"""

from collections.abc import Set as AbstractSet

from resolab.basics.protocols import page_handshake_round_trips
from resolab.basics.records import AnswerPush, ResolverCache, TrialRecord
from resolab.lab.cache_misses import draw_missed_names
from resolab.pages.clone.names import host_name
from resolab.pages.model import PageModel
from resolab.pages.path import AnnouncementMode, LookupPrediction, predict_lookups, set_distances
from resolab.plan import Plan, access_rtt_ms
from resolab.plan.settings import PageDistances
from resolab.store import Manifest, trial_id


class LookupPredictor:
    """Predictions for the trials of a dataset, computed once for equal trials."""

    def __init__(self, manifest: Manifest, plan: Plan) -> None:
        self._manifest, self._plan = manifest, plan
        self._access_ms = {link.name: access_rtt_ms(link) for link in manifest.profiles}
        self._known: dict[tuple[str, str, AbstractSet[int]], LookupPrediction] = {}

    def predict(self, model: PageModel, trial: TrialRecord) -> LookupPrediction:
        """Predict the lookups of a trial's load."""
        misses = self._misses(model, trial)
        key = (trial.page, trial.condition, misses)
        if key not in self._known:
            self._known[key] = self._predict_lookups(model, trial, misses)
        return self._known[key]

    def _predict_lookups(self, model: PageModel, trial: TrialRecord, misses: AbstractSet[int]) -> LookupPrediction:
        access_ms = self._access_ms.get(trial.profile, 0.0)
        apart = self._plan.pages.distances is PageDistances.RECORDED
        assert trial.http_version is not None  # Of a page load.
        assert trial.requested_handshake_mode is not None
        return predict_lookups(
            set_distances(model, access_ms, apart=apart),
            dns_transport=trial.dns_transport,
            resolver_rtt_ms=access_ms + trial.resolver_extra_rtt_ms,
            handshake_mode=trial.requested_dns_handshake_mode,
            connection_state=trial.dns_connection_state,
            connect_round_trips=page_handshake_round_trips(trial.http_version, trial.requested_handshake_mode),
            announced=AnnouncementMode.WITH_FIRST
            if trial.answer_push is AnswerPush.PAGE_NAMES
            else AnnouncementMode.NOT,
            recursion_ms=self._plan.resolver.miss_delay_ms,
            misses=misses,
        )

    def _misses(self, model: PageModel, trial: TrialRecord) -> AbstractSet[int]:
        """Return the positions of hosts with names missing from the resolver's cache: all hosts, or the drawn hosts."""
        places = range(len(model.hosts))
        if trial.resolver_cache is ResolverCache.MISS:
            return frozenset(places)
        seed, name = self._find_draw(trial)
        names = [host_name(model, host) for host in places]
        missed = draw_missed_names(names, seed, name, ratio=trial.resolver_miss_ratio)
        return frozenset(place for place in places if names[place] in missed)

    def _find_draw(self, trial: TrialRecord) -> tuple[int, str]:
        """Return the seed of the trial's original run, and the trial's name in this run."""
        for one in self._manifest.merged_from:
            if one.first_block <= trial.block < one.first_block + one.blocks:
                return one.seed, trial_id(trial.block - one.first_block, trial.position)
        return self._manifest.seed, trial.trial_id
