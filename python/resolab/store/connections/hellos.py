"""Hellos of all connections by client, as the edge saw them.

For: one statement and its rows. Not for: running the statement (`dataset`) or printing (`report.connections.hellos`).
"""

import msgspec

# Everything the edge saw is somebody's: connections to a name that takes queries are our client's if they were opened
# while one of its queries ran, else the stub's where the trial has one. All others are the browser's, or the gateway's
# where the trial has one.
HELLOS = """
WITH resolvers AS (
    SELECT DISTINCT trial_id, server_name FROM connections WHERE queries_count > 0
), asked AS (
    SELECT trial_id, time_origin_ns AS since_ns,
           time_origin_ns + coalesce(query_response_time_ns, 10000000000) AS until_ns
    FROM queries WHERE purpose = 'measured' AND connection = 'cold'
), seen AS (
    SELECT c.*, t.browser, t.resolver_path, r.trial_id IS NOT NULL AS to_resolver,
           EXISTS (SELECT 1 FROM asked AS a
                   WHERE a.trial_id = c.trial_id AND c.accepted_ns BETWEEN a.since_ns AND a.until_ns) AS while_asked
    FROM connections AS c JOIN trials AS t USING (trial_id)
    LEFT JOIN resolvers AS r ON r.trial_id = c.trial_id AND r.server_name IS NOT DISTINCT FROM c.server_name
    WHERE c.client_hello_bytes IS NOT NULL
), owned AS (
    SELECT *, CASE WHEN to_resolver AND while_asked THEN 'resolab client'
                   WHEN resolver_path = 'gateway' OR (to_resolver AND resolver_path = 'stub') THEN resolver_path
                   ELSE coalesce(browser, 'resolab client') END AS client,
           CASE WHEN to_resolver THEN 'resolver' ELSE 'page' END AS server
    FROM seen
)
SELECT client, server, coalesce(alpn, protocol) AS alpn, handshake_mode, key_exchange_group, hello_retry_request,
       count(*) AS connections_count, count(DISTINCT trial_id) AS trials_count,
       min(client_hello_bytes) AS client_hello_least_bytes, max(client_hello_bytes) AS client_hello_most_bytes,
       min(client_hello_packets_count) AS client_hello_packets_least_count,
       max(client_hello_packets_count) AS client_hello_packets_most_count,
       min(server_hello_bytes) AS server_hello_bytes, max(certificate_bytes) AS certificate_most_bytes,
       min(server_flight_packets_count) AS server_flight_packets_least_count,
       max(server_flight_packets_count) AS server_flight_packets_most_count
FROM owned
GROUP BY client, server, coalesce(alpn, protocol), handshake_mode, key_exchange_group, hello_retry_request
ORDER BY client NOT IN ('resolab client', 'stub', 'gateway'), client, server DESC, alpn,
         handshake_mode, key_exchange_group
"""


class HelloRow(msgspec.Struct, kw_only=True, frozen=True):
    """Connections of one kind of client with alike handshakes, and the range of their hellos."""

    client: str
    """`resolab client`, `stub`, `gateway` or the browser's name."""
    server: str
    """The role of the server: `resolver` or `page`."""
    alpn: str
    handshake_mode: str | None
    key_exchange_group: str | None
    hello_retry_request: bool | None
    connections_count: int
    trials_count: int
    client_hello_least_bytes: int
    client_hello_most_bytes: int
    client_hello_packets_least_count: int | None
    client_hello_packets_most_count: int | None
    server_hello_bytes: int | None
    certificate_most_bytes: int | None
    server_flight_packets_least_count: int | None
    server_flight_packets_most_count: int | None
