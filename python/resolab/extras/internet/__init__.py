"""The internet in a box: namespaces with real servers and known correct results, for checking live mode.

For: a whole small internet (root, top domains, zones, recursive resolvers, sites) on one machine, and the true times of
its look-ups. Not for: the forwarding of packets (`crates/link`), live mode itself (`live`).
"""

from resolab.extras.internet.box import Box
from resolab.extras.internet.check import TruthCheck
from resolab.extras.internet.check import check as check_look_ups
from resolab.extras.internet.folder import box_folder, folders_below, new_folder_below, read_layout
from resolab.extras.internet.home import run_at_home
from resolab.extras.internet.layout import BoxLayout, BoxResolver, BoxSite
from resolab.extras.internet.layout_builder import compose
from resolab.extras.internet.look_up_rounds import LookUpBatch, errands, run_errand
from resolab.extras.internet.recursion import RecursionLog, read_recursion
from resolab.extras.internet.truth import LookUpTruth, ResolverKnowledge, truth

__all__ = [
    "Box",
    "BoxLayout",
    "BoxResolver",
    "BoxSite",
    "LookUpBatch",
    "LookUpTruth",
    "RecursionLog",
    "ResolverKnowledge",
    "TruthCheck",
    "box_folder",
    "check_look_ups",
    "compose",
    "errands",
    "folders_below",
    "new_folder_below",
    "read_layout",
    "read_recursion",
    "run_at_home",
    "run_errand",
    "truth",
]
