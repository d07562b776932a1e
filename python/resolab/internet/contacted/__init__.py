"""Compare a box's received contacts with the announced contacts: a dry run's list, the caps, the opt-out list.

For: `resolab internet contacts`, the proof of live mode's manners from the contacted hosts' side. All but `timed` and
`reading` is pure. Not for: the rules themselves (`manners`), or the measuring program.
"""

from resolab.internet.contacted.judging import ContactJudgement, hold
from resolab.internet.contacted.reading import DatasetContacts, read_contacts, told_by_dataset
from resolab.internet.contacted.timed import count_from_now

__all__ = ["ContactJudgement", "DatasetContacts", "count_from_now", "hold", "read_contacts", "told_by_dataset"]
