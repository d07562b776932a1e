"""A trial's folder has what there is, says what there is not and how to have it, and shows the packets by one line."""

import json
import shlex
from pathlib import Path

import msgspec
import pytest
from made_packets import pcapng as made
from synthetic_dataset import make_dataset

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import TrialEndRecord
from resolab.cli.main import main
from resolab.extras.evidence import lay_out, pcapng
from resolab.store import find_finished_trials, read_trial

TRIAL = "b000-t000"
KEYS = b"CLIENT_RANDOM 00 11\n"
NETLOG = '{"constants": {},\n"events": [\n{"time":"1","type":1},\n{"time":"%s","type":2}],\n"polledData": {}}\n'


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("evidence") / "data set")


@pytest.fixture
def with_all(dataset: Path) -> Path:
    """The dataset as of a plan that keeps everything."""
    file = find_finished_trials(dataset)[TRIAL]
    records = [msgspec.to_builtins(one) for one in read_trial(file)]
    began_ns = records[0]["monotonic_ns"]
    names = {"capture_file": "captures/x.pcapng", "key_log_file": "key_logs/x.keys", "netlog_file": "netlogs/1.json"}
    records[-1] |= names
    summary = next(one for one in records if one["record"] == "path_summary")
    summary |= {"label": "measured", "window_start_ns": began_ns + 10**9}
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    for name, content in zip(
        names.values(),
        (made([("up", began_ns, began_ns + 5, b"packet")]), KEYS, (NETLOG % (began_ns // 10**6 + 1)).encode()),
        strict=True,
    ):
        (dataset / name).parent.mkdir(exist_ok=True)
        (dataset / name).write_bytes(content)
    return dataset


def test_a_trial_of_which_nothing_more_was_kept_has_what_its_records_make(dataset: Path, tmp_path: Path) -> None:
    evidence = lay_out(dataset, "b000-t001", tmp_path / "there")
    names = {"trial.jsonl", "load.har", "waterfall.svg", "trace.pftrace"}
    assert {one.name for one in evidence.pieces} == names
    assert {one.name for one in (tmp_path / "there").iterdir()} == {*names, "README.md"}
    assert all((tmp_path / "there" / name).stat().st_size for name in names)
    assert [lack.partition(":")[0] for lack in evidence.lacks] == ["packets.pcapng", "keys.log", "netlog.json"]
    assert "instrument.pcap = true" in evidence.lacks[0]
    assert evidence.wireshark is None


def test_packets_have_their_keys_inside_and_the_browsers_log_is_the_trials(with_all: Path) -> None:
    evidence = lay_out(with_all, TRIAL)
    assert evidence.folder == with_all / "evidence" / TRIAL
    assert not evidence.lacks
    kinds = [kind for kind, _ in pcapng.blocks((evidence.folder / "packets.pcapng").read_bytes())]
    assert kinds[1] == pcapng.DECRYPTION_SECRETS
    assert kinds.count(pcapng.ENHANCED_PACKET) == 1
    assert (evidence.folder / "keys.log").read_bytes() == KEYS
    assert all((evidence.folder / name).stat().st_mode & 0o077 == 0 for name in ("keys.log", "packets.pcapng"))
    events = json.loads((evidence.folder / "netlog.json").read_text())["events"]
    assert [one["type"] for one in events] == [2]
    # A second time makes them anew.
    assert lay_out(with_all, TRIAL) == evidence


def test_the_line_for_wireshark_begins_with_the_measured_load(with_all: Path) -> None:
    line = lay_out(with_all, TRIAL).wireshark
    assert line is not None
    program, file, *decode_as, flag, shown = shlex.split(line)
    assert decode_as == ["-d", "udp.port==853,quic"]
    assert (program, Path(file), flag) == ("wireshark", with_all / "evidence" / TRIAL / "packets.pcapng", "-Y")
    head = msgspec.to_builtins(next(iter(read_trial(find_finished_trials(with_all)[TRIAL]))))
    since_s = (head["wall_time_unix_ns"] + 10**9) / 1e9
    assert float(shown.removeprefix("frame.time_epoch >= ")) == pytest.approx(since_s, abs=1e-5)


def test_what_was_kept_and_is_gone_is_told_apart_from_what_never_was(with_all: Path) -> None:
    (with_all / "captures" / "x.pcapng").unlink()
    (lack,) = lay_out(with_all, TRIAL).lacks
    assert lack == "packets.pcapng: the trial names captures/x.pcapng, which is not in the dataset"


def test_the_command_says_what_is_there_and_what_is_not(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evidence", str(dataset), "b000-t002", "-o", str(tmp_path / "a")]) == 0
    said = capsys.readouterr().out
    assert "trace.pftrace" in said
    assert "not there: packets.pcapng: needs instrument.pcap = true" in said
    assert main(["evidence", str(dataset), "b000-t002", "-o", str(tmp_path / "a"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path / "a")
    assert {one["name"] for one in told["pieces"]} >= {"load.har", "trace.pftrace"}


def test_a_trial_that_is_not_there_is_refused_with_one_that_is(dataset: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no such finished trial; it has b000-t000, for example"):
        lay_out(dataset, "b999-t000")


def test_the_end_of_a_trial_from_before_has_no_files() -> None:
    end = TrialEndRecord(trial_id="x", monotonic_ns=1, flags=[])
    assert (end.capture_file, end.key_log_file, end.netlog_file) == (None, None, None)
