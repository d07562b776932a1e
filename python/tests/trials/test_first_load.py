"""What a page's first load says is not there. The load itself is tests/runs/test_own_page.py's."""

from made_loads import HOST, SITE, edge_query

from resolab.basics.records import ResourceRecord
from resolab.trials.page_load.first_load import unknown_names


def test_names_that_no_host_of_the_page_has_are_told() -> None:
    records = [
        edge_query(qname=f"{HOST}.", rcode="NOERROR"),
        edge_query(qname="CDN.example.resolab.test.", rcode="NXDOMAIN"),
        edge_query(qname="api.example.com.", rcode="REFUSED"),
        # A type that the page's own name has not.
        edge_query(qname=f"{HOST}.", rcode="NXDOMAIN"),
        edge_query(qname="slow.resolab.test.", rcode="SERVFAIL"),
        # Names beyond the lab's the browser does not look up.
        *(
            ResourceRecord(url=url, initiator_type="img", start_ms=1.0)
            for url in (f"https://{HOST}/a.png", "https://WWW.example.com:8443/b.png", "data:image/gif;base64,")
        ),
    ]
    assert unknown_names(records, SITE) == {"cdn.example.resolab.test", "api.example.com", "www.example.com"}
