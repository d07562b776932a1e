"""A page of more names than one network has addresses, as a client in the path meets it: near and far names, shared
addresses and certificates, answers of its own; and that it goes when another page comes.
"""

import asyncio
import json
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from resolab.basics.records import DnsTransport, HandshakeMode, HttpVersion, ResolverPath
from resolab.lab import engine, layout
from resolab.lab.distance import longest_rtt_ms, move_page
from resolab.lab.edge_state import AppliedEdgeState
from resolab.lab.sites import assign_sites
from resolab.plan import Condition, Corpus

pytestmark = [pytest.mark.privileged, pytest.mark.slow]
NAMES_COUNT, FAR_MS, LATE_MS, ROUNDS = 300, 400, 190, 5
FIRST, SHARING, OTHER_SHARING, LAST = (f"h{number}.s{number}-big.test" for number in (0, 3, 4, NAMES_COUNT - 1))
CONDITION = Condition(
    page="big", profile="ideal", dns_transport=DnsTransport.DOUDP, http_version=HttpVersion.H1,
    requested_handshake_mode=HandshakeMode.FULL, resolver_path=ResolverPath.NATIVE,
)  # fmt: skip
VISIT = """
import json, socket, ssl, sys, time
host, path, ca_file = sys.argv[1:]
address = socket.getaddrinfo(host, 443, socket.AF_INET, socket.SOCK_STREAM)[0][4]
began = time.monotonic()
connection = socket.create_connection(address, 5)
connect_ms = (time.monotonic() - began) * 1000
context = ssl.create_default_context(cafile=ca_file)
connection = context.wrap_socket(connection, server_hostname=host)
connection.sendall(f"GET {path} HTTP/1.1\\r\\nhost: {host}\\r\\nconnection: close\\r\\n\\r\\n".encode())
head = connection.makefile("rb").read().partition(b"\\r\\n\\r\\n")[0].decode().splitlines()
names = sorted(name for _, name in connection.getpeercert()["subjectAltName"])
fields = dict(line.lower().split(": ", 1) for line in head[1:])
print(json.dumps([address[0], connect_ms, int(head[0].split()[1]), names, fields]))
"""


def write_pages(folder):
    for page, count in (("big", NAMES_COUNT), ("other", 1)):
        hosts = [f"h{number}.s{number}-{page}.test" for number in range(count)]
        files, none = folder / page / "files", folder / page / "none"
        files.mkdir(parents=True)
        none.mkdir()
        (files / "1.html").write_text("<p>")
        answers = f'response = [{{ path = "/0.html", status = 302, location = "https://{hosts[-1]}/1.html" }}]'
        (folder / page / "answers.toml").write_text(answers)
        lines = [f'host = "{hosts[0]}"', 'folder = "none"', 'path = "/0.html"', "request_count = 2", "[hosts]"]
        lines += [f'"{host}" = "files"' for host in hosts[1:]]
        lines += [f'[serving."{hosts[0]}"]', 'settings = "answers.toml"']
        if page == "big":
            lines += [f'[serving."{LAST}"]', f"extra_rtt_ms = {FAR_MS}"]
            for host in (SHARING, OTHER_SHARING):
                lines += [f'[serving."{host}"]', "address_group = 1", "certificate = 1"]
        (folder / page / "page.toml").write_text("\n".join(lines))
    return Corpus.from_project({page: folder / page for page in ("big", "other")})


class Lab:
    def __init__(self, path, edge):
        self.path, self.ca_file = path, edge.ready.ca_file

    async def visit(self, host, path="/1.html"):
        """Address, milliseconds to connect, status, names on the certificate and fields of the answer."""
        prefix = engine.enter_prefix(self.path.ready.pid, "client", nameserver=layout.RESOLVER_ADDRESS)
        command = [*prefix, "python3", "-c", VISIT, host, path, self.ca_file]
        rounds = []
        for _ in range(ROUNDS):
            ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stderr
            rounds.append(json.loads(ended.stdout))
        return {**dict(zip(("address", "_", "status", "names", "fields"), rounds[0], strict=True)),
                "connect_ms": statistics.median(one[1] for one in rounds)}  # fmt: skip

    async def answers(self, *names):
        """Response code of each, and how many addresses."""
        resolver = layout.resolver(DnsTransport.DOUDP, Path(self.ca_file))
        asked = await engine.run_queries(self.path.ready.pid, [resolver], names)
        return [(one.rcode, len(one.addresses)) for one in asked]


async def scenario(folder):
    corpus = write_pages(folder)
    sites = assign_sites(corpus, ("big", "other"))
    config = folder / "edge.toml"
    config.write_text(layout.edge_configuration(folder / "ca", list(sites.values())))
    ignore = lambda _record: None  # noqa: E731
    path = await engine.Path.start(corpus.profile_file("ideal"), seed=1, keep_awake=False, on_record=ignore)
    programs = [path]
    try:
        edge = await engine.Edge.start(path.ready.pid, config, on_record=ignore)
        programs.append(edge)
        in_force, lab = AppliedEdgeState(edge, sites), Lab(path, edge)
        profile = move_page(corpus.profile("ideal"), sites["big"])
        await path.set_profile(profile, 1)
        await in_force.put(CONDITION)
        found = {"first": await lab.visit(FIRST, "/0.html"), "longest_rtt_ms": longest_rtt_ms(profile)}
        found |= {host: await lab.visit(host) for host in (SHARING, OTHER_SHARING, LAST)}
        absent = ("nothing.s7-big.test", "s7-big.test", "a.elsewhere.test")
        found["there"] = await lab.answers(FIRST, LAST, "h0.s0-other.test", *absent)
        await in_force.put(replace(CONDITION, page="other"))
        found["gone"] = await lab.answers(FIRST, LAST, "h0.s0-other.test")
        await in_force.put(CONDITION)
        found["again"] = await lab.visit(SHARING)
        return found
    finally:
        for program in reversed(programs):
            await program.close()


@pytest.fixture(scope="module")
def found(privileged, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "RESIDENT_NAMES_LIMIT", NAMES_COUNT)
        return asyncio.run(scenario(tmp_path_factory.mktemp("lab")))


def test_a_name_beyond_the_first_network_is_there_and_as_far_as_its_page_says(found):
    assert (found[LAST]["address"], found[LAST]["status"]) == ("10.77.2.46", 200)
    more_ms = found[LAST]["connect_ms"] - found[SHARING]["connect_ms"]
    assert FAR_MS - LATE_MS < more_ms < FAR_MS + LATE_MS
    assert found["longest_rtt_ms"] == pytest.approx(FAR_MS, abs=1)


def test_names_share_an_address_and_a_certificate_where_their_page_says_so(found):
    both = [found[SHARING], found[OTHER_SHARING]]
    assert {one["address"] for one in both} == {"10.77.1.4"}
    assert [one["names"] for one in both] == [sorted([SHARING, OTHER_SHARING])] * 2
    assert found[LAST]["names"] == [LAST]


def test_a_name_without_files_answers_what_its_settings_say(found):
    assert found["first"]["status"] == 302
    assert found["first"]["fields"]["location"] == f"https://{LAST}/1.html"


def test_names_below_a_pages_domains_are_there_or_told_not_to_be(found):
    there, none = ("NOERROR", 1), ("NXDOMAIN", 0)
    assert found["there"] == [there, there, none, none, ("NOERROR", 0), ("REFUSED", 0)]


def test_pages_of_too_many_names_come_and_go(found):
    # What was removed is a name no more, and none below it is left.
    assert found["gone"] == [("NXDOMAIN", 0), ("NXDOMAIN", 0), ("NOERROR", 1)]
    assert found["again"]["names"] == found[SHARING]["names"]
