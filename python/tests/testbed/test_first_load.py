"""What a page's first load says is not there. The load itself is tests/test_own_page.py's."""

from made_loads import HOST, SITE, edge_query

from resolab.testbed.first_load import unknown_names


def test_names_that_no_host_of_the_page_has_are_told() -> None:
    records = [
        edge_query(qname=f"{HOST}.", rcode="NOERROR"),
        edge_query(qname="CDN.example.resolab.test.", rcode="NXDOMAIN"),
        edge_query(qname="www.example.com.", rcode="REFUSED"),
        # A type that the page's own name has not.
        edge_query(qname=f"{HOST}.", rcode="NXDOMAIN"),
        edge_query(qname="slow.resolab.test.", rcode="SERVFAIL"),
    ]
    assert unknown_names(records, SITE) == {"cdn.example.resolab.test", "www.example.com"}
