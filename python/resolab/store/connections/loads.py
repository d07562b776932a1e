"""The connections of each measured load as the edge saw them, and a gateway's reasons for its connections.

For: one statement and its rows. Not for: summing up (`report.connections.loads`), or a connection's client (`hellos`).

A connection counts for the names of its requests, regardless of the name at its opening. The resolver's connection
counts if used by pages. A request counts if received in the window of the measured load.
"""

import msgspec

from resolab.basics.records import MEASURED_LABEL

_REASONS = ", ".join(
    f"count(*) FILTER (connection_reason = '{one}') AS {one}_requests_count"
    for one in ("own_name", "address", "origin", "certificate")
)
LOAD_CONNECTIONS = f"""
WITH windows AS (
    SELECT p.trial_id, p.window_start_ns AS since_ns, p.window_end_ns AS until_ns
    FROM path_summaries AS p JOIN page_loads AS l USING (trial_id)
    WHERE p.label = '{MEASURED_LABEL}' AND l.measured AND l.failure IS NULL
), asked AS (
    SELECT r.trial_id, r.connection_id, split_part(r.authority, ':', 1) AS name
    FROM edge_requests AS r JOIN windows AS w USING (trial_id)
    WHERE r.received_ns BETWEEN w.since_ns AND w.until_ns
), names AS (
    SELECT DISTINCT trial_id, name FROM asked
), used AS (
    SELECT trial_id, connection_id, count(DISTINCT name) AS names_count, count(*) AS requests_count
    FROM asked GROUP BY ALL
), modes AS (
    SELECT trial_id, connection_id, any_value(handshake_mode) AS handshake_mode, any_value(server_name) AS server_name
    FROM connections GROUP BY ALL
), shared AS (
    SELECT a.trial_id, count(*) FILTER (m.server_name <> a.name) AS shared_requests_count
    FROM asked AS a JOIN modes AS m USING (trial_id, connection_id)
    GROUP BY a.trial_id
), of_used AS (
    SELECT u.trial_id, sum(u.requests_count)::BIGINT AS requests_count, count(*) AS connections_count,
           count(*) FILTER (m.handshake_mode = 'full') AS full_count,
           count(*) FILTER (m.handshake_mode = 'resumed') AS resumed_count,
           count(*) FILTER (m.handshake_mode = 'zero_rtt') AS zero_rtt_count,
           count(*) FILTER (u.names_count > 1) AS of_several_names_count
    FROM used AS u LEFT JOIN modes AS m USING (trial_id, connection_id)
    GROUP BY u.trial_id
), unused AS (
    SELECT c.trial_id, count(DISTINCT c.connection_id) AS unused_count
    FROM connections AS c JOIN windows AS w USING (trial_id)
    JOIN names AS n ON n.trial_id = c.trial_id AND n.name = c.server_name
    WHERE c.accepted_ns BETWEEN w.since_ns AND w.until_ns AND c.queries_count = 0
          AND NOT EXISTS (SELECT 1 FROM used AS u WHERE u.trial_id = c.trial_id AND u.connection_id = c.connection_id)
    GROUP BY c.trial_id
), passed AS (
    SELECT g.trial_id, {_REASONS}
    FROM gateway_requests AS g JOIN windows AS w USING (trial_id)
    WHERE g.received_ns BETWEEN w.since_ns AND w.until_ns
    GROUP BY g.trial_id
), guessed AS (
    SELECT s.trial_id, any_value(s.speculation) AS speculation, any_value(s.discarded_because) AS discarded_because,
           sum(s.discarded_body_bytes)::BIGINT AS discarded_body_bytes
    FROM gateway_speculations AS s JOIN windows AS w USING (trial_id)
    WHERE s.query_ns BETWEEN w.since_ns AND w.until_ns
    GROUP BY s.trial_id
)
SELECT trial_id, t.condition, (SELECT count(*) FROM names AS n WHERE n.trial_id = o.trial_id) AS names_count,
       o.* EXCLUDE (trial_id), coalesce(u.unused_count, 0) AS unused_count, c.shared_requests_count,
       p.* EXCLUDE (trial_id), g.* EXCLUDE (trial_id)
FROM of_used AS o JOIN trials AS t USING (trial_id)
LEFT JOIN shared AS c USING (trial_id)
LEFT JOIN unused AS u USING (trial_id)
LEFT JOIN passed AS p USING (trial_id)
LEFT JOIN guessed AS g USING (trial_id)
ORDER BY t.block, t.position
"""  # noqa: S608 - constants of this file


TABLES_OF_LOAD_CONNECTIONS = (
    "path_summaries",
    "edge_requests",
    "connections",
    "gateway_requests",
    "gateway_speculations",
)
"""The tables of the statement, besides those of every dataset."""


class LoadConnectionsRow(msgspec.Struct, kw_only=True, frozen=True):
    """One successful measured load, and the connections of its requests."""

    trial_id: str
    condition: str
    names_count: int
    """Number of names with requests."""
    requests_count: int
    connections_count: int
    """Number of connections with at least one request."""
    full_count: int
    """Number among these with this handshake mode; 0 when the edge wrote no connection."""
    resumed_count: int
    zero_rtt_count: int
    of_several_names_count: int
    """Number among these with requests for more than one name."""
    unused_count: int
    """Number of connections opened for one of the names and never used."""
    shared_requests_count: int | None
    """Requests on a connection opened for another name; `None` when the edge wrote no connection."""
    own_name_requests_count: int | None
    """Requests of a gateway by the reason for their connection; `None` without a gateway."""
    address_requests_count: int | None
    origin_requests_count: int | None
    certificate_requests_count: int | None
    speculation: str | None
    """The outcome of the document's request in the query's flight; `None` when the condition has no such request."""
    discarded_because: str | None
    discarded_body_bytes: int | None
