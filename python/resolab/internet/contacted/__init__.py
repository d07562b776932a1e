"""What a box's servers got, held against what was told beforehand: whom a dry run named, the caps, the opt-out list.

For: `resolab internet contacts`, the proof that live mode keeps its manners, from the side of those it contacts. All
but `timed` and `reading` is pure. Not for: the rules themselves (`manners`), or whoever measures.
"""

from resolab.internet.contacted.judging import Held, hold
from resolab.internet.contacted.reading import DatasetTold, read_contacts, told_by_dataset
from resolab.internet.contacted.timed import count_from_now

__all__ = ["DatasetTold", "Held", "count_from_now", "hold", "read_contacts", "told_by_dataset"]
