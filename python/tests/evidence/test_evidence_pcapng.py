"""Captures are read with both stamps, cut to the client's end, and given their keys where readers look for them."""

import struct

import pytest
from made_packets import pcapng as made

from resolab.extras.evidence import pcapng

KEYS = b"CLIENT_RANDOM 00 11\n"
CAPTURE = made([("up", 1_000, 6_000, b"query"), ("up", 6_500, None, b"lost"), ("down", 7_000, 12_000, b"answer")])


def test_every_packet_has_its_stamps_on_the_records_clock() -> None:
    found = [(one.up, one.entered, one.at_ns, one.packet, one.comment) for one in pcapng.stamps(CAPTURE)]
    assert found == [
        (True, True, 1_000, b"query", None),
        (True, False, 6_000, b"query", None),
        (True, True, 6_500, b"lost", "dropped: loss"),
        (False, True, 7_000, b"answer", None),
        (False, False, 12_000, b"answer", None),
    ]


def test_at_the_clients_end_each_packet_stands_once() -> None:
    found = [(one.packet, one.entered) for one in pcapng.stamps(pcapng.keep_client_packets(CAPTURE))]
    assert found == [(b"query", True), (b"lost", True), (b"answer", False)]


def test_keys_stand_behind_the_header_and_nothing_else_changes() -> None:
    blocks = list(pcapng.blocks(pcapng.insert_secrets(CAPTURE, KEYS)))
    assert [kind for kind, _ in blocks][:2] == [pcapng.SECTION_HEADER, pcapng.DECRYPTION_SECRETS]
    secrets = blocks.pop(1)[1]
    kind, length, of_what, key_bytes = struct.unpack_from("=IIII", secrets)
    assert (kind, length, of_what, key_bytes) == (10, len(secrets), 0x544C534B, len(KEYS))
    assert secrets[16 : 16 + len(KEYS)] == KEYS
    assert secrets[-4:] == secrets[4:8]
    assert b"".join(block for _, block in blocks) == CAPTURE
    assert pcapng.insert_secrets(CAPTURE, b"") == CAPTURE


def test_what_a_crash_cut_off_is_left_out_and_nonsense_is_refused() -> None:
    assert len(list(pcapng.blocks(CAPTURE))) - 1 == len(list(pcapng.blocks(CAPTURE[:-3])))
    with pytest.raises(ValueError, match="0 bytes long"):
        list(pcapng.blocks(CAPTURE + bytes(12)))
    with pytest.raises(ValueError, match="does not say which clock"):
        list(pcapng.stamps(CAPTURE.replace(b"1700000000000000000", b"of another machine.")))
    without_header = CAPTURE[struct.unpack_from("=I", CAPTURE, 4)[0] :]
    with pytest.raises(ValueError, match="section header"):
        pcapng.insert_secrets(without_header, KEYS)
