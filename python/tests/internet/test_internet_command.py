"""`resolab internet` where it starts nothing: what a box has, its truth, its failures, and what it refuses."""

import json

import pytest

from resolab.cli.main import main

PAGE = ("--page", "calibre-2020-07")


def test_show_gives_addresses_as_they_are_typed(capsys):
    assert main(["internet", "show", "--json", *PAGE]) == 0
    told = json.loads(capsys.readouterr().out)
    by_name = {one["name"]: one for one in told["resolvers"]}
    assert by_name["quick"]["addresses"] == {
        "doudp": "198.18.6.1",
        "dotcp": "tcp://198.18.6.1",
        "dot": "tls://dns.quick.example",
        "doh": "https://dns.quick.example/dns-query",
        "doh3": "h3://dns.quick.example/dns-query",
        "doq": "quic://dns.quick.example",
    }
    assert next(one["page"] for one in told["sites"]) == "calibre-2020-07"
    assert main(["internet", "show", *PAGE]) == 0
    assert "https://h0.s0-calibre-2020-07.test/0.html" in capsys.readouterr().out


def test_truth_is_of_the_names_and_the_resolver_asked_for(capsys):
    assert main(["internet", "truth", "h0.s0-calibre-2020-07.test", "-r", "local", "--json", *PAGE]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["resolver"] for row in rows} == {"local"}
    hits = {(row["dns_transport"], row["connection"]): row["total_ms"] for row in rows if row["knowledge"] == "answer"}
    assert hits == {("doudp", "cold"): 5, ("dotcp", "cold"): 10, ("dotcp", "warm"): 5}


def test_every_failure_says_how_it_shows(capsys):
    assert main(["internet", "failures", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"dead-site", "lame-zone", "servfail-zone", "too-many", "drops-doq"} <= {
        one["name"] for one in told["failures"]
    }
    assert all(one["shows_as"] for one in told["failures"])
    assert told["opt_out"] == "https://optout.example/opt-out.txt"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "needs a command"),
        (["run", "--as-user", "no-such-user", "--", "true"], "no user"),
        (["truth", "-r", "nobody"], "there are"),
        (["check"], "--queries"),
        (["check", "somewhere"], "--box"),
    ],
)
def test_what_means_nothing_is_refused_before_anything_starts(words, said, capsys):
    assert main(["internet", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_in_use_is_refused(tmp_path, capsys):
    (tmp_path / "something").write_text("")
    assert main(["internet", "up", "--folder", str(tmp_path), *PAGE]) == 2
    assert "not empty" in capsys.readouterr().err
