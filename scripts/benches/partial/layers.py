"""The purpose of each byte on the way: packets as read by tshark, with the keys of their connections.

For: bytes by layer, of each connection and direction. Not for: the expected bytes (`expected_bytes`).

tshark is an independent dissector: no author of our clients decides about its frames and records.
"""

import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from pathlib import Path
from xml.etree import ElementTree as ET

from benches.dns.flights import UnclearError
from benches.dns.path_capture import Crossing
from resolab.basics.errors import ResolabError
from resolab.extras.evidence import pcapng

SERVER_PORTS = {53, 443, 853}
DECODE_AS = ("-d", "udp.port==853,quic", "-d", "tcp.port==853,tls", "-d", "tcp.port==443,tls")
RECORD_HEADER_BYTES, SEALED_RECORD_BYTES = 5, 5 + 1 + 16
"""The overhead of a TLS record, and of a protected record with its content type and tag (RFC 8446 section 5.2)."""
HANDSHAKE, APPLICATION_DATA = "22", "23"
STREAM_HEADER = ("quic.frame_type", "quic.stream.stream_id", "quic.stream.offset", "quic.stream.length")
LIMIT_S = 120


@dataclass
class Layers:
    """The bytes of a connection in one direction, by purpose. Each byte is in one field."""

    packet_count: int = 0
    packet_headers: int = 0
    """The headers of IP, UDP and TCP, including acknowledgements of TCP."""
    protection: int = 0
    """TLS: headers and tags of records, alerts, compatibility's change of cipher. QUIC: headers and tags of packets."""
    handshake: int = 0
    """The handshake messages of TLS, including tickets."""
    control: int = 0
    """QUIC's frames other than CRYPTO, STREAM and PADDING, and the headers of these three."""
    padding: int = 0
    """The PADDING frames of QUIC."""
    application: int = 0
    """DNS messages with their framing: lengths, HTTP."""

    @property
    def total(self) -> int:
        """The sum of IP bytes."""
        return sum(getattr(self, one.name) for one in fields(self) if one.name != "packet_count")

    def __add__(self, other: "Layers") -> "Layers":
        return Layers(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


Flow = tuple[int, int]
"""The protocol and the client's port."""
Directions = tuple[Layers, Layers]
"""The layers down and up, indexed by `bool(up)`."""
Packet = Mapping[str, list[ET.Element]]
"""The protocols of a packet, by name."""


def read(capture: Path, key_log: Path) -> Mapping[Flow, Directions]:
    """Dissect a path's capture; leave out a flow with any unreadable packet."""
    keys = key_log.read_bytes() if key_log.exists() else b""
    readable = capture.with_suffix(".readable.pcapng")
    readable.write_bytes(pcapng.insert_secrets(pcapng.keep_client_packets(capture.read_bytes()), keys))
    command = ["tshark", "-r", str(readable), *DECODE_AS, "-T", "pdml"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=True)
    except FileNotFoundError:
        raise ResolabError("there is no tshark: install Debian's package `tshark`") from None
    finally:
        readable.unlink()
    return sum_by_flow(done.stdout)


def sum_by_flow(pdml: bytes) -> Mapping[Flow, Directions]:
    """Add up tshark's output for each packet (`-T pdml`)."""
    flows: dict[Flow, Directions] = defaultdict(lambda: (Layers(), Layers()))
    payload: dict[tuple[Flow, bool], int] = defaultdict(int)
    unclear: set[Flow] = set()
    for packet in _packets(pdml):
        where = _flow_of(packet)
        if where is None:
            continue
        flow, up = where
        try:
            payload[where] += _add(packet, flows[flow][up])
        except UnclearError:
            unclear.add(flow)
    # Records that end in a later packet are counted there: only in the end it is known whether all were.
    unclear |= {flow for (flow, up), carried in payload.items() if carried != _below_packets(flows[flow][up])}
    return {flow: layers for flow, layers in flows.items() if flow not in unclear}


def sum_flows(flows: AbstractSet[Flow], taken_apart: Mapping[Flow, Directions]) -> Directions | None:
    """Add up the flows of an exchange; return `None` without flows, or with an unreadable flow."""
    if not flows or flows - taken_apart.keys():
        return None
    down, up = (sum((taken_apart[flow][way] for flow in flows), Layers()) for way in (False, True))
    return down, up


def count_messages(crossings: Sequence[Crossing]) -> Directions:
    """Return the layers of packets with only a DNS message as payload."""

    def layers(*, up: bool) -> Layers:
        here = [one for one in crossings if one.up == up]
        application = sum(one.payload_bytes for one in here)
        return Layers(len(here), sum(one.ip_bytes for one in here) - application, application=application)

    return layers(up=False), layers(up=True)


def _below_packets(layers: Layers) -> int:
    return layers.total - layers.packet_headers


def _packets(pdml: bytes) -> Iterator[Packet]:
    for packet in ET.fromstring(pdml).iter("packet"):
        found = defaultdict[str, list[ET.Element]](list)
        for proto in packet.iter("proto"):
            found[proto.get("name", "")].append(proto)
        yield found


def _flow_of(packet: Packet) -> tuple[Flow, bool] | None:
    """Return the flow of a packet, and True when going up; None for foreign packets and error reports."""
    transports = [*packet["udp"], *packet["tcp"]]
    if "icmp" in packet or len(transports) != 1:
        return None
    name = transports[0].get("name", "")
    source, destination = (_number(transports[0], f"{name}.{side}") for side in ("srcport", "dstport"))
    protocol = {"tcp": 6, "udp": 17}[name]
    if destination in SERVER_PORTS:
        return (protocol, source), True
    return ((protocol, destination), False) if source in SERVER_PORTS else None


def _add(packet: Packet, layers: Layers) -> int:
    """Add a packet's bytes; return the bytes behind its headers."""
    ip_bytes = _number(packet["ip"][0], "ip.len")
    payload = _number(packet["tcp"][0], "tcp.len") if packet["tcp"] else _number(packet["udp"][0], "udp.length") - 8
    layers.packet_count += 1
    layers.packet_headers += ip_bytes - payload
    if packet["quic"]:
        for one in packet["quic"]:
            _add_quic(one, layers)
    elif packet["tls"]:
        for record in (each for proto in packet["tls"] for each in _find_fields(proto, "tls.record")):
            _add_record(record, layers)
    elif not _is_encrypted(packet):
        layers.application += payload
    return payload


def _is_encrypted(packet: Packet) -> bool:
    """Return True for a packet of an encrypted connection: tshark does not show the segment of a record as a record."""
    transport = (packet["tcp"] or packet["udp"])[0]
    name = transport.get("name", "")
    return 53 not in (_number(transport, f"{name}.{side}") for side in ("srcport", "dstport"))


def _add_record(record: ET.Element, layers: Layers) -> None:
    size = int(record.get("size", "0"))
    kinds = [one.get("show") for one in _find_fields(record, "tls.record.content_type")]
    is_sealed = bool(list(_find_fields(record, "tls.record.opaque_type")))
    if kinds == [APPLICATION_DATA] and not is_sealed:
        raise UnclearError("a record that could not be decrypted")
    overhead = SEALED_RECORD_BYTES if is_sealed else RECORD_HEADER_BYTES
    inner = size - overhead
    if kinds == [HANDSHAKE]:
        layers.handshake += inner
    elif kinds == [APPLICATION_DATA]:
        layers.application += inner
    else:
        overhead += inner
    layers.protection += overhead


def _add_quic(packet: ET.Element, layers: Layers) -> None:
    size = int(packet.get("size", "0"))
    frames = list(_find_fields(packet, "quic.frame"))
    if not frames:
        raise UnclearError("a packet that could not be decrypted")
    framed = 0
    for frame in frames:
        frame_bytes = int(frame.get("size", "0"))
        crypto, stream = (_sizes(frame, name) for name in ("quic.crypto.crypto_data", "quic.stream_data"))
        if stream:
            # tshark 4.0 gives a frame a size of 1 whose stream's message goes on in another one.
            frame_bytes = stream + sum(_sizes(frame, name) for name in STREAM_HEADER)
        framed += frame_bytes
        if frame.get("showname", "").startswith("PADDING"):
            layers.padding += frame_bytes
            continue
        layers.handshake += crypto
        layers.application += stream
        layers.control += frame_bytes - crypto - stream
    layers.protection += size - framed


def _sizes(element: ET.Element, name: str) -> int:
    return sum(int(one.get("size", "0")) for one in _find_fields(element, name))


def _find_fields(element: ET.Element, name: str) -> Iterator[ET.Element]:
    return (one for one in element.iter("field") if one.get("name") == name)


def _number(element: ET.Element, name: str) -> int:
    return int(next(_find_fields(element, name)).get("show", ""))
