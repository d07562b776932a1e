"""`resolab query` on recorded queries: what it asks resolab-core for, and what a person or a program gets to see."""

import json
import os
import signal
import stat
import subprocess
import sys

import pytest
from recorded_queries import DEAD, DOQ, DOT, FILE, NAMES, RESOLVERS, UDP

from resolab.cli.main import main


@pytest.fixture
def core(tmp_path, monkeypatch):
    """A resolab-core that writes down its arguments and answers with what was recorded."""
    binary, typed = tmp_path / "resolab-core", tmp_path / "arguments"
    monkeypatch.setenv("RESOLAB_CORE", str(binary))
    monkeypatch.setenv("COLUMNS", "200")

    def answer(records=FILE, stderr="", code=0, ending=""):
        binary.write_text(
            f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {typed}\ncat {records}\nprintf '%s' '{stderr}' >&2\n"
            f"{ending}\nexit {code}\n"
        )
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        return lambda: typed.read_text().splitlines()

    return answer


def query(*more, names=NAMES, resolvers=RESOLVERS):
    return main(["query", *names, *(word for one in resolvers for word in ("-r", one)), *more])


def first_round(tmp_path):
    """The records of each resolver's first round."""
    seen, lines = set(), []
    for line in FILE.read_text().splitlines():
        record = json.loads(line)
        key = (record.get("resolver"), record.get("qname"), record.get("purpose"))
        if key not in seen:
            seen.add(key)
            lines.append(line)
    file = tmp_path / "first.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


def row(output, *words):
    """The one line with these words, without the spaces between columns."""
    (found,) = [line for line in output.splitlines() if all(word in line for word in words)]
    return found.split()


def test_what_is_typed_is_what_resolab_core_is_told(core, capsys):
    typed = core()
    code = query(
        "--count", "5", "--handshake", "zero_rtt", "--connection", "warm", "--timeout-ms", "900", "-t", "HTTPS",
        "--pin", "sha256/a", "--pin", "sha256/b", "--insecure", "--cookie", "--ecs", "off", "--interval-ms", "3",
        "--doh-method", "get", "--edns-payload", "512", "--padding", "64", "--resolve", "a=1.2.3.4", "--ca", "ca.pem",
        "--retry", "none", "--bootstrap", "inside", "--idle-timeout-ms", "70", "--dnssec", "--tcp-fast-open", "--together",
        "--nsid",
    )  # fmt: skip
    assert code == 0
    expected = ["query", *(f"--resolver={one}" for one in RESOLVERS), "--count=5", "--timeout-ms=900"]
    expected += ["--connection=warm", "--type=HTTPS", "--seed=1", "--interval-ms=3", "--handshake=zero_rtt"]
    expected += ["--doh-method=get", "--ca=ca.pem", "--pin=sha256/a", "--pin=sha256/b", "--insecure"]
    expected += ["--resolve=a=1.2.3.4", "--edns-payload=512", "--padding=64", "--ecs=off", "--cookie", "--", *NAMES]
    expected += [
        "--retry=none",
        "--bootstrap=inside",
        "--idle-timeout-ms=70",
        "--dnssec",
        "--tcp-fast-open",
        "--together",
        "--nsid",
    ]
    assert sorted(typed()) == sorted(expected)
    assert typed()[-3:] == ["--", *NAMES]
    capsys.readouterr()


def test_a_single_round_is_in_the_order_given_and_at_is_a_resolver(core, tmp_path, capsys):
    typed = core(first_round(tmp_path))
    assert main(["query", NAMES[0], "@127.7.7.7:5353", "-r", DOT]) == 0
    assert typed()[1:3] == ["--resolver=127.7.7.7:5353", f"--resolver={DOT}"]
    assert not [argument for argument in typed() if argument.startswith("--seed")]
    assert main(["query", NAMES[0], "-r", DOT, "--seed", "7"]) == 0
    assert "--seed=7" in typed()
    capsys.readouterr()


def test_inside_a_path_it_is_entered(core, capsys):
    typed = core()
    assert query("--path", "4711", "--host", "server") == 0
    assert typed()[:5] == ["enter", "--path", "4711", "--host", "server"]
    assert "query" in typed()
    capsys.readouterr()


def test_one_round_is_a_row_a_query(core, tmp_path, capsys):
    core(first_round(tmp_path))
    assert query() == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert "\x1b" not in output
    assert [line.split()[0] for line in lines[1:9]] == [f"{name}." for _ in RESOLVERS for name in sorted(NAMES)]
    assert row(output, NAMES[0], UDP)[:7] == [f"{NAMES[0]}.", "A", "NOERROR", "192.0.2.7", "300", "s", UDP]
    assert row(output, NAMES[1], DOT)[2:4] == ["NXDOMAIN", "none"]
    assert "zero_rtt" in row(output, NAMES[0], DOQ)
    assert set(row(output, NAMES[0], DOQ)[-1]) <= set("qx-")
    assert row(output, NAMES[0], DEAD)[-1] == "query_refused"
    assert f"{DEAD}: query_refused: Connection refused (os error 111)" in lines
    assert any(line.startswith("phases:") and "quic_handshake" in line for line in lines)


def test_many_rounds_are_a_row_a_resolver_with_differences(core, capsys):
    core()
    assert query("--count", "6") == 0
    output = capsys.readouterr().out
    assert f"{NAMES[0]}. A: NOERROR 192.0.2.7  (3 of 4 resolvers)" in output
    resolvers = [line.split()[0] for line in output.splitlines() if line.startswith(("udp://", "tls://", "quic://"))]
    assert resolvers[:4] == RESOLVERS
    header = row(output, "median ms")
    assert {"p10", "p90", "min", "max", "difference", "phases"} <= set(header)
    assert "[" not in " ".join(row(output, UDP))
    difference = " ".join(row(output, DOQ))
    assert "+" in difference
    assert "[" in difference
    assert row(output, DEAD, "doudp")[1:4] == ["doudp", "12", "12"]
    assert f"{DEAD}: 12 x query_refused (Connection refused (os error 111))" in output
    assert "95% interval" in output


def test_json_is_every_record_as_it_came(core, capsys):
    core()
    assert query("--count", "6", "--json") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    written = [one for one in told if one["record"] != "query_summary"]
    assert told[: len(written)] == written
    recorded = [json.loads(line) for line in FILE.read_text().splitlines()]
    without_null = [{key: value for key, value in one.items() if value is not None} for one in written]
    assert [one["record"] for one in written] == [one["record"] for one in recorded]
    for one, other in zip(without_null, recorded, strict=True):
        assert {**one, **other} == one


def test_json_ends_with_a_summary_of_each_resolver(core, capsys):
    core()
    assert query("--count", "6", "--json") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {one["resolver"]: one for one in told if one["record"] == "query_summary"}
    assert [*found] == RESOLVERS
    assert found[DEAD]["failures"] == {"query_refused": 12}
    assert found[DEAD]["median_ms"] is None
    udp, doq = found[UDP], found[DOQ]
    assert udp["min_ms"] <= udp["p10_ms"] <= udp["median_ms"] <= udp["p90_ms"] <= udp["max_ms"]
    assert (udp["difference_ms"], doq["difference_pairs_count"]) == (None, 12)
    assert doq["difference_ci_low_ms"] <= doq["difference_ms"] <= doq["difference_ci_high_ms"]


@pytest.mark.parametrize(
    ("limits", "code", "says"),
    [
        (["failed>0"], 1, f"{DEAD}: failed>0"),
        (["failed>12", "median<0ms"], 0, ""),
        (["median<1us"], 0, ""),
        (["p90>1us"], 1, f"{UDP}: p90>1us"),
        (["failed>99.9%"], 1, f"{DEAD}: failed>99.9%"),
        (["p99>5ms"], 2, "give one of failed, median, p10, p90, min, max"),
        (["p90>5"], 2, "p90 is a time in us, ms or s"),
        (["failed>5ms"], 2, "failed is a number of queries, or their share in %"),
    ],
)
def test_limits_decide_the_exit_code_and_name_who_is_beyond(core, capsys, limits, code, says):
    core()
    words = [word for one in limits for word in ("--fail", one)]
    resolvers = RESOLVERS if "median<1us" not in limits else [UDP]
    assert query("--count", "6", *words, resolvers=resolvers) == code
    error = capsys.readouterr().err
    assert says in error
    assert ("resolab: " in error) is bool(code)


@pytest.mark.parametrize("width", [30, 60, 80, 120, 200])
def test_numbers_are_whole_and_lines_fit_at_any_width(core, tmp_path, monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for records, more in ((FILE, ["--count", "6"]), (first_round(tmp_path), [])):
        core(records)
        assert query(*more) == 0
        output = capsys.readouterr().out
        assert max(map(len, output.splitlines())) <= width
        assert "192.0.2.7" in output


def test_kernel_stamps_are_shown_beside_the_response_time(core, tmp_path, capsys):
    file = tmp_path / "stamped.jsonl"
    lines = []
    for line in first_round(tmp_path).read_text().splitlines():
        record = json.loads(line)
        if record.get("resolver") == UDP:
            record |= {"kernel_transmit_ns": 1_000, "kernel_receive_ns": 43_000}
        lines.append(json.dumps(record))
    file.write_text("\n".join(lines) + "\n")
    core(file)
    assert query() == 0
    output = capsys.readouterr().out
    assert "wire ms" in output.splitlines()[0]
    assert "0.042" in row(output, NAMES[0], UDP)
    assert "0.042" not in row(output, NAMES[0], DOT)
    assert "kernel's stamps" in output


def test_words_from_the_network_do_not_command_the_terminal(core, tmp_path, capsys):
    file = tmp_path / "hostile.jsonl"
    lines = [json.loads(line) for line in first_round(tmp_path).read_text().splitlines()]
    for record in lines:
        if record.get("failure"):
            record["failure_detail"] = "\x1b[2J[red]gone[/red]"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    core(file)
    assert query() == 0
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "[red]gone[/red]" in output


@pytest.mark.parametrize(("code", "exits"), [(2, 2), (3, 3), (4, 4), (101, 70)])
def test_what_resolab_core_refuses_is_one_line(core, tmp_path, capsys, code, exits):
    empty = tmp_path / "empty"
    empty.write_text("")
    core(empty, stderr="resolab-core: failed to read resolver foo://1: no transport is called foo\n", code=code)
    assert query() == exits
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "no transport is called foo" in captured.err


def test_an_argument_resolab_core_does_not_take_is_one_line(core, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.write_text("")
    core(empty, stderr="error: invalid value 0 for --padding\n\nFor more information, try --help.\n", code=2)
    assert query("--padding", "0") == 2
    assert "invalid value 0 for --padding" in capsys.readouterr().err


def test_warnings_are_passed_on(core, tmp_path, capsys):
    core(first_round(tmp_path), stderr="resolab-core: warning: --insecure: anybody may be answering\n")
    assert query("--insecure") == 0
    assert capsys.readouterr().err == "resolab: warning: --insecure: anybody may be answering\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["@192.0.2.1"], "NAME"),
        (["a.test", "-r", "192.0.2.1", "-r", "192.0.2.1:53"], "twice"),
        (["a.test", "--path", "1"], "-r"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(core, capsys, arguments, words):
    core()
    assert main(["query", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


@pytest.mark.parametrize("arguments", [["a", "--count", "0"], ["a", "--timeout-ms", "x"], ["a", "--connection", "hot"]])
def test_numbers_and_choices_are_checked(arguments):
    with pytest.raises(SystemExit) as refusal:
        main(["query", *arguments])
    assert refusal.value.code == 2


def test_a_reader_that_goes_away_ends_it_and_is_no_error(core, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(FILE.read_text() * 50)
    core(many)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        os._exit(query("--count", "6", "--json"))
    os.close(reading)
    os.close(writing)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


STARTED_BY = {
    "a terminal": [],
    # As a shell does with what it runs in the background: an interrupt is ignored from the start.
    "a script": ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh"],
}


@pytest.mark.parametrize(
    ("started_by", "number", "shown"),
    [("a terminal", signal.SIGINT, []), ("a script", signal.SIGINT, []), ("a terminal", signal.SIGTERM, ["--json"])],
)
def test_interrupted_once_it_shows_what_it_has_and_leaves_nothing(core, tmp_path, started_by, number, shown):
    pid = tmp_path / "pid"
    # What is said on standard error a second after the records comes when they have been taken in.
    ending = f"echo $$ > {pid}; sleep 1; echo 'resolab-core: warning: all there' >&2; exec sleep 60"
    core(first_round(tmp_path), ending=ending)
    command = [sys.executable, "-m", "resolab", "query", *NAMES, "-r", UDP, "-r", DOT, *shown]
    asking = subprocess.Popen(
        [*STARTED_BY[started_by], *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with asking:
        assert "all there" in asking.stderr.readline()
        # A terminal interrupts all of them, a script only the one it knows.
        (os.killpg if started_by == "a terminal" else os.kill)(asking.pid, number)
        # Without an end by the interrupt it would be 0, or resolab-core's, after a minute.
        output, errors = asking.communicate(timeout=600)
    assert asking.returncode == 130
    assert errors == ""
    assert "192.0.2.7" in output
    assert UDP in output
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_answers_that_are_no_addresses_are_shown_and_long_ones_folded(core, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    record = next(json.loads(line) for line in FILE.read_text().splitlines() if '"NOERROR"' in line and UDP in line)
    texts = [f"MX 10 mail{number}.a.test." for number in range(7)]
    record |= {"addresses": [], "answers": [*texts, "TXT " + "x" * 252], "answer_count": 20}
    file = tmp_path / "mail.jsonl"
    file.write_text(json.dumps(record) + "\n")
    core(file)
    assert query(resolvers=[UDP]) == 0
    output = capsys.readouterr().out
    assert "MX 10 mail5.a.test." in output
    assert "mail6" not in output
    assert "and 14 more" in output
    record |= {"answers": ["TXT " + "x" * 252], "answer_count": 1}
    file.write_text(json.dumps(record) + "\n")
    assert query(resolvers=[UDP]) == 0
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 120
    assert output.count("x") >= 252


def test_what_the_server_says_of_itself_and_of_the_answer_is_shown(core, tmp_path, capsys):
    lines = []
    for line in first_round(tmp_path).read_text().splitlines():
        record = json.loads(line)
        if record.get("resolver") == UDP:
            record |= {"authentic_data": True, "name_server_identifier": "ns1.fra", "certificate_checked": None}
        if record.get("resolver") == DOT:
            record |= {"certificate_checked": False, "extended_dns_errors": ["6 DNSSEC Bogus: no \u001b[31msignature"]}
        lines.append(json.dumps(record))
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(lines) + "\n")
    core(file)
    assert query() == 0
    output = capsys.readouterr().out
    assert "validated (AD)" in " ".join(row(output, NAMES[0], UDP))
    assert "NSID ns1.fra" in output
    assert (
        f"{DOT}: extended error of {NAMES[0]}. A: 6 DNSSEC Bogus: no \N{REPLACEMENT CHARACTER}[31msignature" in output
    )
    assert "certificate not checked" not in " ".join(row(output, NAMES[0], UDP))
    assert "certificate not checked" in output


def test_a_long_answer_stands_below_and_leaves_the_bar_its_room(core, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    core(first_round(tmp_path))
    assert query() == 0
    short = row(capsys.readouterr().out, NAMES[0], DOQ)[-1]
    text = 'HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.7 ' + "ech=" + "A" * 90
    lines = []
    for line in first_round(tmp_path).read_text().splitlines():
        record = json.loads(line)
        if record.get("answer_count"):
            record |= {"qtype": "HTTPS", "addresses": [], "answers": [text]}
        lines.append(json.dumps(record))
    file = tmp_path / "https.jsonl"
    file.write_text("\n".join(lines) + "\n")
    core(file)
    assert query() == 0
    output = capsys.readouterr().out
    found = row(output, NAMES[0], DOQ)
    assert "below" in found
    assert len(found[-1]) >= len(short) > 10, "the longest query's bar fills its column"
    assert output.count("ech=") == 1, "once for all who gave it"


def test_short_is_every_answer_once_and_failures_go_elsewhere(core, tmp_path, capsys):
    core(first_round(tmp_path))
    assert query("+short") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["192.0.2.7"]
    assert f"resolab: {DEAD}: query_refused" in captured.err
    assert query("+short", "--json") == 2


def test_an_error_code_has_the_time_until_it_came(core, capsys, tmp_path):
    first = next(
        record
        for record in map(json.loads, FILE.read_text().splitlines())
        if record["record"] == "query" and record["purpose"] == "measured" and record["query_exchange_end_ns"]
    )
    failed = first | {
        "rcode": "SERVFAIL", "failure": "dns_rcode", "query_response_time_ns": None, "query_exchange_end_ns": 12_345_000
    }  # fmt: skip
    file = tmp_path / "servfail.jsonl"
    file.write_text(json.dumps(failed) + "\n")
    core(file)
    assert query("--count", "1") == 0
    assert "12.35" in row(capsys.readouterr().out, "SERVFAIL")
