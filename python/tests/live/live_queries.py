"""Made-up queries of our own client."""

from resolab.basics.records import Bootstrap, ConnectionState, DnsTransport, QueryPurpose, QueryRecord


def query(
    at_s: float,
    ttl_s: int | None,
    *,
    qname: str = "a.test.",
    qtype: str = "A",
    negative: int | None = None,
    rcode: str | None = "NOERROR",
    transport: str = "doudp",
) -> QueryRecord:
    return QueryRecord(
        resolver="udp://198.18.8.1:53", dns_transport=DnsTransport(transport), qname=qname, qtype=qtype,
        purpose=QueryPurpose.MEASURED, sequence=0, time_origin_ns=round(at_s * 1e9), connection=ConnectionState.WARM,
        query_exchange_end_ns=1_000_000, query_bytes=40, bootstrap=Bootstrap.GIVEN, attempt_count=1, rcode=rcode, addresses=[], ttl_s=ttl_s,
        negative_ttl_s=negative,
    )  # fmt: skip
