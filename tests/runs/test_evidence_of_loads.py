"""Real loads as evidence: tshark decrypts what browsers, stub and client sent, by the keys inside the capture."""

import json
import shlex
import shutil
import subprocess
from types import SimpleNamespace

import pytest
from lab import finished, resolab

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
PLAN = """
name = "evidence"
question = "What crossed the link?"
seed = 7
blocks = 1
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doh", "doq"]
http_version = ["h2", "h3"]
requested_handshake_mode = ["full"]
browser = ["chromium", "firefox"]
[resolver_path]
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doh"
http_version = "h2"
[instrument]
pcap = true
key_log = true
netlog = true
[[exclude]]
dns_transport = ["doq"]
http_version = ["h2"]
[[exclude]]
dns_transport = ["doh"]
http_version = ["h3"]
"""
PAGE = "example.resolab.test"


def shown(trial, condition, field, *, of_load=False):
    """Values of a field in the packets a display filter leaves, read as the printed line reads them."""
    _, packets, *decode_as, _, since = shlex.split(trial.told["wireshark"])
    condition = f"{condition} and {since}" if of_load else condition
    command = ["tshark", "-r", packets, *decode_as, "-Y", condition, "-T", "fields", "-e", field]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [line for line in ended.stdout.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def trials(tmp_path_factory, privileged):
    """Each trial by browser and transport, laid out."""
    folder = tmp_path_factory.mktemp("evidence")
    (folder / "plan.toml").write_text(PLAN)
    ended = resolab("run", folder / "plan.toml", "--out", folder / "out")
    assert ended.returncode == 0, ended.stderr
    found = {}
    for file in finished(folder / "out"):
        head = json.loads(file.read_text().splitlines()[0])
        said = resolab("evidence", folder / "out", head["trial_id"], "--json")
        assert said.returncode == 0, said.stderr
        told = json.loads(said.stdout)
        pieces = {one["name"]: folder / "out" / "evidence" / head["trial_id"] / one["name"] for one in told["pieces"]}
        found[head["browser"], head["dns_transport"]] = SimpleNamespace(head=head, told=told, pieces=pieces)
    assert len(found) == 4
    return found


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("transport", ["doh", "doq"])
def test_names_and_pages_can_be_read_in_the_packets(trials, browser, transport):
    if shutil.which("tshark") is None:
        pytest.skip("NO TSHARK: whether captures can be decrypted is not seen here")
    trial = trials[browser, transport]
    # resolab's client asked over both before the load; the load itself by its own way.
    for way in ("http2 and tcp.port == 443", "quic and udp.port == 853"):
        assert any(PAGE in name for name in shown(trial, f"dns and {way}", "dns.qry.name")), way
    way = "http2" if transport == "doh" else "quic"
    assert any(PAGE in name for name in shown(trial, f"dns and {way}", "dns.qry.name", of_load=True))
    if transport == "doh":  # pages by h2
        paths = ",".join(shown(trial, "http2.headers.path", "http2.headers.path", of_load=True)).split(",")
        assert "/" in paths
    else:
        assert shown(trial, "http3.frame_type", "http3.frame_type", of_load=True)


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_every_part_of_the_load_is_in_the_trace(trials, browser):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol

    trial = trials[browser, "doq"]
    trace = protocol.Trace.FromString(trial.pieces["trace.pftrace"].read_bytes())
    tracks = [one.track_descriptor for one in trace.packet if one.HasField("track_descriptor")]
    assert [one.name for one in tracks if not one.parent_uuid] == [browser, "resolab's client", "stub", "link", "edge"]
    stamps = {}
    for one in trace.packet:
        if one.HasField("track_event") and one.track_event.name:
            stamps.setdefault(one.track_event.name, []).append(one.timestamp)
    # The edge has the document's request after the browser sent it, and before its load event.
    asked = [at for name, ats in stamps.items() if name.startswith(PAGE) for at in ats]
    assert stamps["measured load"][0] < max(asked) < max(stamps["load event"])
    assert any(one.name == "packets under way up" for one in tracks)


def test_the_browsers_own_log_is_of_the_trial(trials):
    log = json.loads(trials["chromium", "doh"].pieces["netlog.json"].read_text())
    times = [int(event["time"]) for event in log["events"]]
    began_ms = trials["chromium", "doh"].head["monotonic_ns"] // 10**6
    assert times
    assert began_ms <= min(times)
    assert max(times) < began_ms + 60_000
    assert any(PAGE in json.dumps(event.get("params", "")) for event in log["events"])
    assert "netlog.json" not in trials["firefox", "doh"].pieces
    assert trials["firefox", "doh"].told["lacks"] == []
