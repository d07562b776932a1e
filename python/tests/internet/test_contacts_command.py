"""`resolab internet contacts`: a box's folder beside a plan, from the files to the exit code."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from live_dataset import make_live_dataset
from made_box import a_layout

from resolab.basics.records import EdgeRequestRecord, HttpVersion, InternetFlow
from resolab.cli.main import main
from resolab.extras.internet.contact_check.timed_counter import TimedContactCounter

SITE = a_layout().sites[0]
HOST = SITE.origins[0].host
SECOND_NS = 1_000_000_000
PLAN = f"""
name = "in-a-box"
question = "q?"
seed = 1
blocks = 1
[network]
kind = "live"
vantage_point = "box-home"
operator_url = "https://operator.test/study"
opt_out = "https://optout.example/opt-out.txt"
[network.caps]
loads_per_site_per_hour = 2
[sites]
urls = ["{SITE.url}"]
[resolvers.local]
doudp = "system"
[resolvers.knot]
dot = "tls://dns.knot.example"
[factors]
resolver = ["local", "knot"]
dns_transport = ["doudp", "dot"]
[baseline]
resolver = "local"
dns_transport = "doudp"
"""
LOCAL, KNOT, DEAF = "198.18.1.1", "198.18.3.1", "198.18.7.1"


class Kept:
    """A box's folder that grows."""

    def __init__(self, folder: Path):
        self.folder, self.now_ns = folder, 1_000 * SECOND_NS
        (folder / "box.json").write_bytes(msgspec.json.encode(a_layout(), enc_hook=str))
        self.opt_outs = folder / "opt-out.txt"
        self.opt_outs.write_text("")
        self.contacts = TimedContactCounter(a_layout(), self.opt_outs, lambda: self.now_ns)

    def sends(self, address, protocol="tcp", port=443):
        self.contacts.add_flows([
            InternetFlow(
                source_host="home", destination_address=address, protocol=protocol, destination_port=port,
                packets_count=10, total_bytes=1_000,
            )
        ])  # fmt: skip

    def asks(self, host, path):
        self.now_ns += SECOND_NS
        self.contacts.take(
            "web",
            EdgeRequestRecord(
                connection_id=1, http_version=HttpVersion.H2, peer_address="198.18.0.1:4000", received_ns=self.now_ns,
                in_early_data=False, method="GET", authority=host, path=path, status=200, body_bytes=0,
            ),
        )  # fmt: skip

    def loads(self, count):
        for _ in range(count):
            self.asks(HOST, "/0.html")

    def lists(self, text):
        self.now_ns += 10 * SECOND_NS
        self.opt_outs.write_text(text)
        changed_s = self.opt_outs.stat().st_mtime
        os.utime(self.opt_outs, (changed_s, changed_s))
        self.contacts.add_flows([])
        self.now_ns += 10 * SECOND_NS

    def write(self):
        self.contacts.write(self.folder / "contacts.json")


@pytest.fixture
def box(tmp_path):
    (tmp_path / "box").mkdir()
    made = Kept(tmp_path / "box")
    made.asks("optout.example", "/opt-out.txt")
    made.sends(SITE.origins[0].address)
    made.sends(KNOT, port=853)
    made.sends(LOCAL, "udp", 53)
    made.loads(2)
    return made


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return str(file)


def judged(box, plan, *more):
    box.write()
    return main(["internet", "contacts", plan, "--box", str(box.folder), *more])


def test_a_well_mannered_run_is_good(box, plan, capsys):
    assert judged(box, plan) == 0
    out = capsys.readouterr().out
    assert (
        "no contacts not named; no caps exceeded; no listed hosts contacted in spite of the list; batches begun: 1"
        in out
    )
    assert "named and never contacted, which is allowed" in out
    assert judged(box, plan, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["is_good"] is True
    loads = next(one for one in told["counted"] if one["whom"] == SITE.domain)
    assert (loads["of_hour"], loads["hourly_cap"], loads["kept"]) == (2, 2, "kept")


def test_a_load_above_the_plans_own_cap_fails(box, plan, capsys):
    box.loads(1)
    assert judged(box, plan) == 1
    out = capsys.readouterr().out
    assert "EXCEEDED" in out
    assert "1 cap exceeded" in out


def test_somebody_not_named_fails(box, plan, capsys):
    box.sends(DEAF, "udp", 53)
    assert judged(box, plan, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["named_as"]) for one in told["contacted"] if one["named_as"] != "named"] == [
        ("deaf", "not_named")
    ]


def test_a_listed_site_fails_only_after_its_batch(box, plan, capsys):
    box.lists(f"{SITE.domain}\n")
    box.asks(HOST, "/1.css")
    assert judged(box, plan) == 0
    box.asks("optout.example", "/opt-out.txt")
    assert judged(box, plan) == 0
    box.asks(HOST, "/1.css")
    assert judged(box, plan) == 1
    assert f"{SITE.domain}" in capsys.readouterr().out


def test_a_dataset_of_another_plan_is_refused(box, plan, tmp_path, capsys):
    dataset = make_live_dataset(tmp_path / "dataset", sites_count=1)
    assert judged(box, plan, "--dataset", str(dataset)) == 3
    assert "made-up-live" in capsys.readouterr().err


def test_a_dataset_tells_its_loads_and_batches(box, plan, tmp_path, capsys):
    dataset = make_live_dataset(tmp_path / "dataset", sites_count=1)
    Path(plan).write_text(PLAN.replace("in-a-box", "made-up-live"))
    assert judged(box, plan, "--dataset", str(dataset), "--json") == 0
    assert json.loads(capsys.readouterr().out)["dataset"]["loads"] == {"site00.example": 10}


@pytest.mark.parametrize(("text", "said"), [("name", "plan"), (None, "no live plan")])
def test_what_is_no_live_plan_is_refused(box, plan, text, said, capsys):
    file = "quick" if text is None else plan
    if text is not None:
        Path(plan).write_text(text)
    assert judged(box, file) == 3
    assert said in capsys.readouterr().err
