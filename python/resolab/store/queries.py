"""The SQL statements for all questions about the tables.

For: statements with a name. Not for: running statements (`dataset`).
"""

from dataclasses import fields

from resolab.basics.protocols import WITHOUT_HANDSHAKE, ExchangeSizes
from resolab.plan.factors import QUERY_FACTORS
from resolab.store.literals import literal_list
from resolab.store.outcomes import EXCHANGE_FAILED, RESPONSE_TIME, fetch_times_as_sql, times_as_sql

MEASURED_LOADS = f"""
SELECT t.trial_id, t.block, t.condition, t.page, t.profile, t.dns_transport, t.http_version,
       t.requested_handshake_mode, t.resolver_path, l.trial_id IS NOT NULL AS loaded,
       l.handshake_mode, l.limit_ms, l.failure, {EXCHANGE_FAILED}, t.flags, {times_as_sql("l")},
       t.dns_connection_state AS requested_dns_connection_state, t.requested_dns_handshake_mode, t.monotonic_ns,
       l.dns_connection_state, l.dns_handshake_mode
FROM trials AS t
LEFT JOIN (SELECT * FROM page_loads WHERE measured) AS l USING (trial_id)
ORDER BY t.block, t.position
"""  # noqa: S608 - columns of `outcomes`

# A trial's exchange as a row like a load's: its time is the last response's, its handshake the first query's.
MEASURED_EXCHANGES = f"""
WITH exchanges AS (
    SELECT trial_id, max(query_response_time_ns) / 1e6 AS response_time_ms, max(limit_ns) / 1e6 AS limit_ms,
           arg_min(failure, sequence) FILTER (failure IS NOT NULL) AS failure,
           arg_min(handshake_mode, sequence) AS handshake_mode, arg_min(connection, sequence) AS connection
    FROM queries WHERE purpose = 'measured' GROUP BY trial_id
)
SELECT t.trial_id, t.block, t.condition, t.page, t.profile, t.dns_transport, '' AS http_version,
       t.requested_dns_handshake_mode AS requested_handshake_mode, '' AS resolver_path,
       e.trial_id IS NOT NULL AS loaded,
       coalesce(e.handshake_mode, t.requested_dns_handshake_mode) AS handshake_mode, e.limit_ms, e.failure, t.flags,
       struct_pack({RESPONSE_TIME.name} := CASE WHEN e.failure IS NULL THEN e.response_time_ms END) AS times_ms,
       t.dns_connection_state AS requested_dns_connection_state, t.requested_dns_handshake_mode, t.monotonic_ns,
       e.connection AS dns_connection_state, e.handshake_mode AS dns_handshake_mode
FROM trials AS t LEFT JOIN exchanges AS e USING (trial_id)
ORDER BY t.block, t.position
"""  # noqa: S608 - names of `outcomes`

# A trial's fetch as a row like a load's; its handshake is its first connection's.
MEASURED_FETCHES = f"""
SELECT t.trial_id, t.block, t.condition, t.page, t.profile, t.dns_transport, '' AS http_version,
       t.requested_dns_handshake_mode AS requested_handshake_mode, '' AS resolver_path,
       f.trial_id IS NOT NULL AS loaded,
       coalesce(f.connections[1]->>'handshake_mode', t.requested_dns_handshake_mode) AS handshake_mode,
       f.limit_ns / 1e6 AS limit_ms, f.failure, t.flags, {fetch_times_as_sql("f")} AS times_ms,
       t.dns_connection_state AS requested_dns_connection_state, t.requested_dns_handshake_mode, t.monotonic_ns,
       t.dns_connection_state, f.connections[1]->>'handshake_mode' AS dns_handshake_mode
FROM trials AS t LEFT JOIN (SELECT * FROM fetches WHERE purpose = 'measured') AS f USING (trial_id)
ORDER BY t.block, t.position
"""  # noqa: S608 - names of `outcomes`

# A trial of a study as a row like a load's: its times are the study's values with a limit; the study itself flags a
# handshake other than requested.
MEASURED_STUDIES = """
WITH times AS (
    SELECT v.trial_id, max(v.limit_ms) AS limit_ms, any_value(v.failure) AS failure,
           map(list(t.study || '.' || regexp_replace(v.name, '_ms$', '') ORDER BY v.name),
               list(CASE WHEN v.failure IS NULL THEN v.value END ORDER BY v.name)) AS times_ms
    FROM study_values AS v JOIN trials AS t USING (trial_id)
    WHERE v.limit_ms IS NOT NULL
    GROUP BY v.trial_id
)
SELECT t.trial_id, t.block, t.condition, t.page, t.profile, t.dns_transport, '' AS http_version,
       t.requested_dns_handshake_mode AS requested_handshake_mode, '' AS resolver_path,
       v.trial_id IS NOT NULL AS loaded,
       CASE WHEN NOT list_contains(t.flags, 'dns_handshake_mismatch') THEN t.requested_dns_handshake_mode END
           AS handshake_mode,
       v.limit_ms, v.failure, t.flags, coalesce(v.times_ms, map([], [])) AS times_ms,
       t.dns_connection_state AS requested_dns_connection_state, t.requested_dns_handshake_mode, t.monotonic_ns,
       NULL AS dns_connection_state, NULL AS dns_handshake_mode
FROM trials AS t LEFT JOIN times AS v USING (trial_id)
ORDER BY t.block, t.position
"""

# A load's document starts at 0; a request on a connection that was there has no look-up and no set-up.
SETTLED_CONDITIONS = """
WITH loads AS (
    SELECT trial_id, count(DISTINCT split_part(url, '/', 3)) AS hosts_count,
           bool_or(
               start_ms > 0 AND (domain_lookup_end_ms > domain_lookup_start_ms OR connect_end_ms > connect_start_ms)
           ) AS sets_up_late
    FROM requests GROUP BY trial_id
)
SELECT t.condition FROM loads AS l JOIN trials AS t USING (trial_id)
GROUP BY t.condition HAVING max(l.hosts_count) = 1 AND NOT bool_or(coalesce(l.sets_up_late, false))
ORDER BY t.condition
"""

TRIAL_SECONDS = """
SELECT condition, avg(end_monotonic_ns - monotonic_ns) / 1e9 AS seconds FROM trials GROUP BY condition
"""

# A query without a connection (DoUDP) has nothing to be warm; what was asked for where there is no handshake is
# called full, so that every row has a mode.
# Counted no further than asked: whether there are more needs no pass over all of them.
COLD_EXCHANGES_COUNT = """
SELECT count(*) AS count FROM (
    SELECT 1 FROM queries WHERE purpose = 'measured' AND coalesce(connection, 'cold') = 'cold' LIMIT ?
)
"""

_COLD_EXCHANGES = """
SELECT q.trial_id, t.block, {levels}, q.dns_transport,
       coalesce(q.requested_handshake_mode, 'full') AS requested_handshake_mode,
       q.handshake_mode, q.query_response_time_ns, q.failure
FROM queries AS q JOIN trials AS t USING (trial_id)
WHERE q.purpose = 'measured' AND coalesce(q.connection, 'cold') = 'cold'
ORDER BY t.block, t.position, q.sequence
"""
COLD_EXCHANGES = _COLD_EXCHANGES.format(levels=", ".join(f"t.{factor}" for factor in QUERY_FACTORS))

# The sizes of a condition's cold exchanges with the requested handshake: medians, as recorded by our client. A trial
# with several queries has a response time of all of them, and no row.
EXCHANGE_SIZES = """
SELECT t.condition, {sizes}
FROM queries AS q JOIN trials AS t USING (trial_id)
WHERE t.kind = 'exchange' AND q.purpose = 'measured' AND coalesce(q.connection, 'cold') = 'cold' AND q.failure IS NULL
      AND coalesce(q.handshake_mode = q.requested_handshake_mode, true)
GROUP BY t.condition HAVING count(*) = count(DISTINCT t.trial_id)
""".format(sizes=", ".join(f"quantile_disc(q.{one.name}, 0.5) AS {one.name}" for one in fields(ExchangeSizes)))

# A connection that failed tells why a load failed; beside a load that succeeded it is a spare that the browser opened
# and dropped (Chromium opens two to a DoH server and keeps one). Those stand in the connections table only.
FAILURES = """
WITH exchange_trials AS (
    SELECT trial_id FROM trials WHERE kind = 'exchange'
), study_trials AS (
    SELECT trial_id, study FROM trials WHERE kind = 'study'
), failures AS (
    SELECT CASE WHEN measured THEN 'page load' ELSE 'warm-up load' END AS kind,
           trial_id, failure, failure_detail
    FROM page_loads WHERE failure IS NOT NULL
    UNION ALL
    SELECT 'page load', trial_id, 'no_measured_load', NULL
    FROM trials WHERE kind = 'page_load' AND trial_id NOT IN (SELECT trial_id FROM page_loads WHERE measured)
    UNION ALL
    SELECT 'exchange', trial_id, arg_min(failure, sequence), arg_min(failure_detail, sequence)
    FROM queries WHERE failure IS NOT NULL AND purpose = 'measured' AND trial_id IN (FROM exchange_trials)
    GROUP BY trial_id
    UNION ALL
    SELECT 'exchange', trial_id, 'no_measured_load', NULL
    FROM exchange_trials WHERE trial_id NOT IN (SELECT trial_id FROM queries WHERE purpose = 'measured')
    UNION ALL
    SELECT 'fetch', trial_id, failure, failure_detail
    FROM fetches WHERE failure IS NOT NULL AND purpose = 'measured'
    UNION ALL
    SELECT 'fetch', trial_id, 'no_measured_load', NULL
    FROM trials WHERE kind = 'fetch' AND trial_id NOT IN (SELECT trial_id FROM fetches WHERE purpose = 'measured')
    UNION ALL
    SELECT 'trial of ' || study, trial_id, any_value(failure), any_value(failure_detail)
    FROM study_values JOIN study_trials USING (trial_id) WHERE failure IS NOT NULL
    GROUP BY trial_id, study
    UNION ALL
    SELECT 'trial of ' || study, trial_id, 'no_measured_load', NULL
    FROM study_trials WHERE trial_id NOT IN (SELECT trial_id FROM study_values)
    UNION ALL
    SELECT purpose || ' query over ' || dns_transport, trial_id, failure, failure_detail
    FROM queries
    WHERE failure IS NOT NULL
          AND NOT (
              purpose = 'measured' AND trial_id IN (FROM exchange_trials UNION ALL SELECT trial_id FROM study_trials)
          )
    UNION ALL
    SELECT protocol || ' connection at the edge', trial_id, failure, failure_detail
    FROM connections
    WHERE failure IS NOT NULL AND trial_id IN (SELECT trial_id FROM page_loads WHERE failure IS NOT NULL)
)
SELECT failures.kind, failure, t.condition, count(*) AS count, any_value(failure_detail) AS detail
FROM failures JOIN trials AS t USING (trial_id)
GROUP BY ALL
ORDER BY failures.kind, count DESC, failure, t.condition
"""

FLAGS = """
SELECT flag, condition, count(*) AS count
FROM (SELECT condition, unnest(flags) AS flag FROM trials)
GROUP BY ALL
ORDER BY flag, condition
"""

# Only what can have a handshake counts: DoUDP and DoTCP queries ask for none, nor does a look-up over an open
# connection, nor a query on a connection that was open before; and before format 1.5 nobody saw the look-up's
# connection. Our client's exchanges know no browser.
_HANDSHAKES = """
WITH loads AS (
    SELECT t.browser, t.http_version, t.h3_discovery, t.dns_transport, t.resolver_path, t.requested_handshake_mode,
           t.dns_connection_state AS requested_dns_connection_state, t.requested_dns_handshake_mode, l.handshake_mode,
           l.dns_connection_state, l.dns_handshake_mode
    FROM page_loads AS l JOIN trials AS t USING (trial_id)
    WHERE l.measured
)
SELECT 'page load' AS kind, browser, http_version, h3_discovery, dns_transport, resolver_path,
       requested_handshake_mode, handshake_mode, count(*) AS count
FROM loads
GROUP BY ALL
UNION ALL
SELECT 'page look-up', browser, NULL, NULL, dns_transport, resolver_path,
       requested_dns_handshake_mode, dns_handshake_mode, count(*)
FROM loads
WHERE dns_connection_state IS NOT NULL AND requested_dns_connection_state = 'cold'
      AND dns_transport NOT IN {without_handshake}
GROUP BY ALL
UNION ALL
SELECT 'connection of the page look-up', browser, NULL, NULL, dns_transport, resolver_path,
       requested_dns_connection_state, dns_connection_state, count(*)
FROM loads
WHERE dns_connection_state IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT 'cold DNS exchange', NULL, NULL, NULL, q.dns_transport, NULL, q.requested_handshake_mode, q.handshake_mode,
       count(*)
FROM queries AS q JOIN trials USING (trial_id)
WHERE q.purpose = 'measured' AND q.requested_handshake_mode IS NOT NULL AND coalesce(q.connection, 'cold') = 'cold'
GROUP BY ALL
ORDER BY kind DESC, browser, http_version, h3_discovery, dns_transport, resolver_path, requested_handshake_mode,
         handshake_mode
"""

HANDSHAKES = _HANDSHAKES.format(without_handshake=literal_list(WITHOUT_HANDSHAKE))

# Quantiles of windows cannot be merged into quantiles of the whole, so the median and the worst of them are given.
LATENESS = """
WITH directions AS (
    SELECT trial_id, up_packets_out_count AS packets, up_lateness_p50_ns AS p50, up_lateness_p99_ns AS p99,
           up_lateness_max_ns AS most, up_dropped_device_count AS device, up_dropped_queue_count AS queue,
           up_dropped_loss_count AS loss, up_dropped_codel_count AS codel, up_dropped_policer_count AS policer,
           up_dropped_outage_count AS outage
    FROM path_summaries
    UNION ALL
    SELECT trial_id, down_packets_out_count, down_lateness_p50_ns, down_lateness_p99_ns,
           down_lateness_max_ns, down_dropped_device_count, down_dropped_queue_count, down_dropped_loss_count,
           down_dropped_codel_count, down_dropped_policer_count, down_dropped_outage_count
    FROM path_summaries
)
SELECT t.profile, coalesce(t.browser, 'none') AS browser, count(*) AS windows_count,
       sum(packets)::BIGINT AS packets_count,
       median(p50) AS lateness_p50_median_ns, median(p99) AS lateness_p99_median_ns,
       max(p99) AS lateness_p99_worst_ns, max(most) AS lateness_max_ns,
       sum(device)::BIGINT AS dropped_device_count, sum(queue)::BIGINT AS dropped_queue_count,
       sum(loss)::BIGINT AS dropped_loss_count, sum(codel)::BIGINT AS dropped_codel_count,
       sum(policer)::BIGINT AS dropped_policer_count, sum(outage)::BIGINT AS dropped_outage_count
FROM directions JOIN trials AS t USING (trial_id)
GROUP BY t.profile, t.browser
ORDER BY t.profile, t.browser
"""

BROWSERS = """
SELECT browser, browser_version, count(*) AS loads_count
FROM page_loads GROUP BY ALL ORDER BY browser, browser_version
"""
