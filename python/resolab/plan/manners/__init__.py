"""The duties of a measurement towards contacted hosts: caps, opt-out, user agent, stop signs.

For: the rules, which no plan or option switches off, and the ledger enforcing the rules across runs. Any code about to
contact a stranger calls `my_turn` first. Not for: contacting hosts, except the opt-out list's server.

Rules and reasons: docs/method/manners.md.
"""

from resolab.plan.manners.caps import HARD_CAPS, QUERIES_PER_LOAD, Caps
from resolab.plan.manners.contacts import (
    PINGS_PER_LOAD,
    UNKNOWN_BEFOREHAND,
    Contact,
    ContactReason,
    PlannedContacts,
    contacts,
    names_contacted,
)
from resolab.plan.manners.ledger import Ledger, LedgerNote, state_folder
from resolab.plan.manners.operator import check_operator, user_agent_suffix
from resolab.plan.manners.opt_out import NOBODY, OptOut
from resolab.plan.manners.opt_out_fetch import fetch_opt_out
from resolab.plan.manners.refusals import ContactRefusal, RefusalReason, refuse_opted_out
from resolab.plan.manners.resolvers import (
    DOH_PATH,
    SYSTEM,
    ResolverEndpoint,
    plain_resolver_url,
    resolver_endpoint,
    resolver_host,
)
from resolab.plan.manners.sites import find_site, plain_url, read_host
from resolab.plan.manners.stop import (
    REFUSED,
    StopReason,
    StopSign,
    retry_after_s,
    stop_sign_of_hosts,
    stop_sign_of_load,
    stop_sign_of_query,
)
from resolab.plan.manners.turn import Turn, my_turn, pause

__all__ = [
    "DOH_PATH",
    "HARD_CAPS",
    "NOBODY",
    "PINGS_PER_LOAD",
    "QUERIES_PER_LOAD",
    "REFUSED",
    "SYSTEM",
    "UNKNOWN_BEFOREHAND",
    "Caps",
    "Contact",
    "ContactReason",
    "ContactRefusal",
    "Ledger",
    "LedgerNote",
    "OptOut",
    "PlannedContacts",
    "RefusalReason",
    "ResolverEndpoint",
    "StopReason",
    "StopSign",
    "Turn",
    "check_operator",
    "contacts",
    "fetch_opt_out",
    "find_site",
    "my_turn",
    "names_contacted",
    "pause",
    "plain_resolver_url",
    "plain_url",
    "read_host",
    "refuse_opted_out",
    "resolver_endpoint",
    "resolver_host",
    "retry_after_s",
    "state_folder",
    "stop_sign_of_hosts",
    "stop_sign_of_load",
    "stop_sign_of_query",
    "user_agent_suffix",
]
