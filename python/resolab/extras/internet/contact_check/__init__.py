"""Compare a box's received contacts with the announced contacts: a dry run's list, the caps, the opt-out list.

For: `resolab internet contacts`, the proof of live mode's manners from the contacted hosts' side. All but
`timed_counter` and `reader` is pure. Not for: the rules themselves (`manners`), or the measuring program.
"""

from resolab.extras.internet.contact_check.judgement import ContactJudgement, hold
from resolab.extras.internet.contact_check.reader import DatasetContacts, read_contacts, read_dataset_contacts
from resolab.extras.internet.contact_check.timed_counter import count_from_now

__all__ = ["ContactJudgement", "DatasetContacts", "count_from_now", "hold", "read_contacts", "read_dataset_contacts"]
