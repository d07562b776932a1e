"""The text of nats.conf, read by nats-server itself."""

import subprocess
from pathlib import Path

from resolab.extras.fleet.server.config import agent_name, agent_publishes, format_inbox, nats_conf
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.process import find_program


def conf(*vantages: str, listen: str = "127.0.0.1", folder: Path = Path("/f")) -> str:
    return nats_conf(folder, listen=listen, port=4222, holders={agent_name(one, 1): one for one in vantages})


def test_nats_server_takes_it(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path / 'a "strange" $folder', "127.0.0.1", 4222, [])
    for name in ("fra", "syd-2_x", "0"):
        folder.admit(name)
    told = subprocess.run(
        [find_program(), "-t", "-c", folder.config_file], capture_output=True, text=True, check=False, timeout=60
    )
    assert told.returncode == 0, told.stderr
    assert "is valid" in told.stderr + told.stdout


def test_it_listens_where_it_is_told_and_is_watched_from_this_machine_alone() -> None:
    text = conf(listen="192.0.2.7")
    assert 'host: "192.0.2.7"' in text
    assert 'http: "127.0.0.1:-1"' in text
    assert "0.0.0.0" not in text


def test_nothing_is_said_without_tls_and_a_certificate() -> None:
    text = conf("fra")
    assert "verify_and_map: true" in text
    assert "handshake_first: true" in text
    assert "no_auth_user" not in text
    assert "password" not in text


def test_what_an_agent_may_publish_names_it_or_is_a_reading_of_runs() -> None:
    readings = {
        "FLEET.API.STREAM.INFO.KV_runs",
        "FLEET.API.DIRECT.GET.KV_runs.$KV.runs.*",
        "FLEET.API.STREAM.INFO.KV_agents",
    }
    own = [one for one in agent_publishes("fra") if one not in readings]
    assert all("fra" in one.replace("-", ".").split(".") for one in own), own
    assert not any(word in one for one in agent_publishes("fra") for word in ("DELETE", "CREATE", "UPDATE", "jobs."))


def test_two_agents_share_no_subject_but_readings_and_no_inbox() -> None:
    shared = set(agent_publishes("fra")) & set(agent_publishes("fra-2"))
    assert all("INFO.KV_" in one or "DIRECT.GET.KV_runs" in one for one in shared)
    assert not f"{format_inbox('fra-2')}.".startswith(f"{format_inbox('fra')}.")
    assert format_inbox("operator") != "_INBOX"


def test_without_agents_there_is_the_operator_alone() -> None:
    text = conf()
    assert text.count("user:") == 1
    assert 'user: "operator.fleet"' in text
    assert conf("fra").count("user:") == 2
