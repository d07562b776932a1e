"""Notes needed by a reader beside each table of Hounsel et al.

For: words. Not for: numbers; the tables hold the numbers.
"""

STATUSES_NOTE = (
    "Measured loads by their five statuses. What their code did not look at is no failure there: a document with a "
    "status other than 2xx counts as successful. They dropped failed loads from their page load times; here a load the "
    "network failed stays as at least its limit."
)

NETWORKS_NOTE = (
    "Theirs: medians with Cloudflare's resolver (sections 4.3 and 4.4); the resolver's distance nearest to their "
    "ping stands for Frankfurt, or for Seoul. Ours keeps failed loads as bounds; another column drops them, as "
    "the paper did. Of six pages or more intervals are over pages, of fewer over blocks and for these pages only. "
    "The closed form counts the extra round trips of one cold look-up; a page's later names go over the open "
    "connection and cost what Do53 costs. Do53 waits 5 s for a lost packet (resolv.conf(5)), TCP a "
    "retransmission timeout, 1 s for its first packet and less afterwards (RFC 6298): DoT and DoH gain where "
    "look-ups are lost. With a share p of the loads waiting, the median is the (0.5 - p) / (1 - p) quantile of the "
    "pairs that do not wait, so that it moves long before half of them do; one exchange is counted for each name, lost "
    "with its query or its response, by the profile's own loss, not by what its queue drops: theirs was in one "
    "direction only. What emulation "
    "leaves out of theirs: live pages, resolvers whose answers differ by transport, three browsers on one link."
)

TABLE_1_NOTE = (
    "Theirs: Table 1 (Cloudflare, Frankfurt; nothing stands beside a resolver as far as Seoul's), live pages of which "
    "a fifth failed on the default network, too. Ours are the lab's own pages, so that only the network makes them "
    "fail: compare how shares change from network to network and from transport to transport, not their level. Cache "
    "hits and misses are pooled."
)

AMORTISATION_NOTE = (
    "Set-up is paid for when k queries on one connection, the first cold, have taken no longer than k Do53 queries: "
    "k = (cold - open) / (Do53 - open). To the same resolver at the same distance a query on an open connection "
    "takes one round trip, as Do53's does, and can at best tie: without loss set-up is never paid back, and a "
    "crossing at hundreds of queries is tenths of a millisecond over noise (see the interval of what a query "
    "saves). With loss Do53's mean holds the 5 s after each lost packet, and those pay set-up back; the medians "
    "know nothing of it. For the 23 of Hounsel et al. (ANRW 2019) each query over DoT must have been answered "
    "faster than over Do53, on these networks by what the column '23 would need' says: a resolver can do that, a "
    "transport cannot. Means count a failed query as its time limit."
)

FASTEST_NOTE = (
    "Theirs: about 150, 450 and 600 ms on 3G (section 4.3), which is 1, 3 and 4 round trips: their DoH client was "
    "given a host name and looked it up first."
)

FOLLOW_UP_NOTE = (
    "Theirs, later: medians of the same group's DoH measurements of 2021 (noise-lab) beside the ping. What is left "
    "after 3 round trips is the resolver's own work and the client's; here it is the instrument's, and the delay of "
    "a cache miss."
)
