"""The text of nats.conf: the fleet server's address, and the permissions of each credential's holder. Pure.

For: TLS with certificates on both sides, JetStream's storage, a list of subjects per agent. Not for: files
(`folder`), the process (`server`).

An agent may: take and acknowledge jobs of its own consumer, read single runs, write its own state and its own results.
The server rejects everything else, even from a compromised machine.

Lists of subjects alone are not enough. A client with access to any JetStream request chooses the reply subject, and the
server would publish the reply there, even into another agent's queue. So each agent has its own account. Replies stay
within the account, and each subject exported to the fleet's account is listed here.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from resolab.extras.fleet.server.authority import OPERATOR
from resolab.extras.fleet.transfer import AGENTS, JOBS, RUNS, format_store_name

MAX_PAYLOAD_BYTES = 1 << 20
"""The maximum message size, in bytes: a run with the longest plan fits; results come in chunks of 128 KiB."""
MAX_FILE_STORE_BYTES = 1 << 50
"""The maximum file storage, in bytes, so large as to leave the limit to the disk. The server's default is a share of
the free space at its start, without its own files."""
MAX_MEMORY_STORE_BYTES = 256 << 20
PING_INTERVAL_S = 20
"""The interval of pings, in s; an agent without an answer is known to be gone after three intervals."""
PORTS_FOLDER = "ports"
"""The folder for the server's file with the ports given by the kernel."""
OPERATOR_INBOX = "_INBOX"
FLEET_ACCOUNT = "FLEET"
API, AGENT_API = "$JS.API", "FLEET.API"
"""The prefixes of JetStream's requests: the fleet's, and the agents'. At an agent, `$JS.API` is its own account's,
without streams."""


def format_inbox(vantage: str) -> str:
    """Return the prefix of reply subjects of an agent; no other agent's prefix begins with this prefix and a dot."""
    return f"_INBOX_{vantage}"


def agent_name(vantage: str, credential_number: int) -> str:
    """Return the holder's name in a vantage point's credential; a new credential has a new name, the old is void."""
    number = "" if credential_number == 1 else f".{credential_number}"
    return f"{vantage}{number}.agent.fleet"


def build_account(vantage: str) -> str:
    """Return the account of a vantage point's agent."""
    return f"AGENT_{vantage}"


def agent_publishes(vantage: str) -> list[str]:
    """List the subjects allowed for an agent's publications; requests to JetStream are publications, too."""
    return [_translate_subject(one) for one in _list_permissions(vantage)]


def _translate_subject(subject: str) -> str:
    return AGENT_API + subject.removeprefix(API) if subject.startswith(API) else subject


def _list_permissions(vantage: str) -> list[str]:
    """List an agent's permissions in the fleet's account, by the subjects of the account."""
    results = format_store_name(vantage)
    return [
        f"{API}.CONSUMER.INFO.{JOBS}.{vantage}",
        f"{API}.CONSUMER.MSG.NEXT.{JOBS}.{vantage}",
        f"$JS.ACK.{JOBS}.{vantage}.>",
        f"{API}.STREAM.INFO.KV_{RUNS}",
        f"{API}.DIRECT.GET.KV_{RUNS}.$KV.{RUNS}.*",
        f"{API}.STREAM.INFO.KV_{AGENTS}",
        f"$KV.{AGENTS}.{vantage}",
        f"{API}.STREAM.INFO.OBJ_{results}",
        f"{API}.STREAM.MSG.GET.OBJ_{results}",
        f"{API}.STREAM.PURGE.OBJ_{results}",
        f"$O.{results}.C.*",
        f"$O.{results}.M.*",
    ]


def build_shared_conf(folder: Path, *, holders: Mapping[str, str]) -> str:
    """Write the fleet's part of an external server's configuration, which includes this file.

    TLS is included, since permissions depend on certificates; storage, ports and clusters are the external server's
    own.
    """
    lines = [
        "# Written by resolab; to be included in nats-server's configuration, and read anew after each change.",
        *_block("tls", _tls(folder)),
        *_block("accounts", _accounts(holders)),
    ]
    return "\n".join(lines) + "\n"


def _accounts(holders: Mapping[str, str]) -> list[str]:
    accounts = _block(FLEET_ACCOUNT, _fleet_account(holders.values()))
    for name, vantage in holders.items():
        accounts += _block(_quote(build_account(vantage)), _agent_account(name, vantage))
    return accounts


def nats_conf(folder: Path, *, listen: str, port: int, holders: Mapping[str, str]) -> str:
    """Write the configuration for a server folder; `holders` maps names in credentials to their vantage points."""
    lines = [
        "# Written by resolab; what is changed by hand is lost with the next invitation.",
        'server_name: "resolab-fleet"',
        f"host: {_quote(listen)}",
        f"port: {port}",
        'http: "127.0.0.1:-1"',
        f"ports_file_dir: {_quote(str(folder / PORTS_FOLDER))}",
        f"pid_file: {_quote(str(folder / 'nats-server.pid'))}",
        f"log_file: {_quote(str(folder / 'nats-server.log'))}",
        f"logfile_size_limit: {10 << 20}",
        "logfile_max_num: 3",
        f"max_payload: {MAX_PAYLOAD_BYTES}",
        f'ping_interval: "{PING_INTERVAL_S}s"',
        "ping_max: 2",
        *_block("jetstream", _jetstream(folder)),
        *_block("tls", _tls(folder)),
        *_block("authorization", ["timeout: 10"]),
        *_block("accounts", _accounts(holders)),
    ]
    return "\n".join(lines) + "\n"


def _jetstream(folder: Path) -> list[str]:
    return [
        f"store_dir: {_quote(str(folder / 'storage'))}",
        f"max_file_store: {MAX_FILE_STORE_BYTES}",
        f"max_memory_store: {MAX_MEMORY_STORE_BYTES}",
        # An agent deletes its bundle when the server says that it has it: then it must be on the disk.
        "sync_interval: always",
    ]


def _tls(folder: Path) -> list[str]:
    return [
        f"cert_file: {_quote(str(folder / 'server.pem'))}",
        f"key_file: {_quote(str(folder / 'server.pem'))}",
        f"ca_file: {_quote(str(folder / 'ca.pem'))}",
        "verify_and_map: true",
        # Nothing is said in the clear: a greeting in the clear could be forged to leave TLS out.
        "handshake_first: true",
        "timeout: 10",
    ]


def _fleet_account(vantages: Iterable[str]) -> list[str]:
    """Configure the account with the streams: the operator's, with the requests allowed for each agent's account."""
    exports = [_export(vantage, subject) for vantage in vantages for subject in _list_permissions(vantage)]
    return ["jetstream: enabled", f"users: [{{ user: {_quote(OPERATOR)} }}]", *_list_lines("exports", exports)]


def _export(vantage: str, subject: str) -> str:
    # A request for a job is answered more than once: by the job, or by the word that there is none.
    kind = ', response_type: "Stream"' if ".MSG.NEXT." in subject else ""
    return f"{{ service: {_quote(subject)}, accounts: [{_quote(build_account(vantage))}]{kind} }}"


def _agent_account(name: str, vantage: str) -> list[str]:
    """Configure an agent's account: no streams, no subjects of other agents, only the fleet account's replies."""
    publish, subscribe = _list(agent_publishes(vantage)), _list([f"{format_inbox(vantage)}.>"])
    allowed = f"publish: {{ allow: {publish} }}, subscribe: {{ allow: {subscribe} }}"
    user = f"{{ user: {_quote(name)}, permissions: {{ {allowed} }} }}"
    return [f"users: [{user}]", *_list_lines("imports", map(_import, _list_permissions(vantage)))]


def _import(subject: str) -> str:
    service = f"{{ account: {FLEET_ACCOUNT}, subject: {_quote(subject)} }}"
    return f"{{ service: {service}, to: {_quote(_translate_subject(subject))} }}"


def _list_lines(name: str, entries: Iterable[str]) -> list[str]:
    return [f"{name}: [", *(f"  {one}" for one in entries), "]"]


def _block(name: str, lines: Iterable[str]) -> list[str]:
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_quote, values))}]"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
