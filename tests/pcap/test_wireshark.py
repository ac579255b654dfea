# SPDX-License-Identifier: BSD-2-Clause
"""The Wireshark plugin in a real tshark: verdicts, flows, findings, hostile frames."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP, IPOption
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.scapy import BTH, GRH

from .wireshark_traffic import capture, corrupted, fields, read, send, tshark

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

VECTORS = [
    bytes.fromhex(vector["frame"])
    for vector in json.loads((REPOSITORY / "conformance/vectors/icrc.json").read_text())
]
LINK_RAW_IP = 101


def ethernet(**given: int) -> Ether:
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", **given)


ENVELOPES = {
    "plain": lambda: ethernet() / IP(src="10.0.0.1", dst="10.0.0.2"),
    "tag": lambda: ethernet() / Dot1Q(vlan=5) / IP(src="10.0.0.1", dst="10.0.0.2"),
    "tags": lambda: ethernet() / Dot1AD(vlan=5) / Dot1Q(vlan=6) / IPv6(src="fe80::1", fl=77),
    "old tags": lambda: ethernet(type=0x9100) / Dot1Q(vlan=6) / IP(src="10.0.0.1", tos=3),
    "options": lambda: ethernet() / IP(src="10.0.0.1", options=[IPOption(b"\x94\4\0\0")]),
    "ipv6": lambda: ethernet() / IPv6(src="fe80::1", dst="fe80::2", tc=9, hlim=4),
}
RULES = dict.fromkeys(ENVELOPES, "ICRC-02") | {"tags": "ICRC-03", "ipv6": "ICRC-03"}


def test_every_vector_is_right_and_every_corrupted_one_wrong(tmp_path: Path) -> None:
    good = capture(tmp_path / "good.pcapng", VECTORS)
    rows = fields(good, "icrc", "icrc.computed", home=tmp_path)
    checked = [icrc.check(data) for data in VECTORS]
    assert rows == [
        ["ok", f"0x{verdict.computed.hex()}"] for verdict in checked if verdict.computed
    ]

    bad = []
    for data in VECTORS:
        end = locate(data).end  # type: ignore[union-attr]
        bad.append(corrupted(data[:end]) + data[end:])
    path = capture(tmp_path / "bad.pcapng", [*bad, *VECTORS])
    only = ["-Y", 'roceproof.icrc == "bad"']
    rows = fields(path, "icrc", "finding", home=tmp_path, options=only)
    rules = ["ICRC-03" if data[12:14] == b"\x86\xdd" else "ICRC-02" for data in VECTORS]
    assert [(verdict, found.split(",")[0]) for verdict, found in rows] == [
        ("bad", rule) for rule in rules
    ]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", ENVELOPES)
def test_the_verdict_holds_in_every_envelope_and_for_odd_lengths(name: str, tmp_path: Path) -> None:
    frames = []
    for size in range(9):
        data = bytes(ENVELOPES[name]() / UDP(sport=0xC0DE) / BTH(opcode=4, psn=size) / bytes(size))
        frames += [data, data + b"\xaa" * 7, corrupted(data)]
    rows = fields(capture(tmp_path / "x.pcapng", frames), "icrc", "finding", home=tmp_path)
    assert rows == [["ok", ""], ["ok", ""], ["bad", RULES[name]]] * 9


def test_rocev1_is_checked_over_its_grh(tmp_path: Path) -> None:
    head = ethernet() / GRH(sgid="fe80::1", dgid="fe80::2", tclass=5, flowlabel=6, hoplmt=9)
    data = bytes(head / BTH(opcode=0x24, psn=9) / b"abcde")
    tagged = bytes(ethernet() / Dot1Q(vlan=3) / GRH() / BTH(opcode=4))
    path = capture(tmp_path / "v1.pcapng", [data, tagged, data + bytes(9), corrupted(data)])
    rows = fields(path, "icrc", "finding", home=tmp_path)
    assert rows == [["ok", ""], ["ok", ""], ["ok", "PSN-18"], ["bad", "ICRC-05"]]


def test_a_cut_or_contradictory_packet_is_unchecked(tmp_path: Path) -> None:
    whole = send(7, payload=bytes(100))
    contradictory = whole[:38] + (60).to_bytes(2, "big") + whole[40:]
    fragment = whole[:20] + b"\x20\0" + whole[22:]
    path = capture(tmp_path / "cut.pcapng", [whole, contradictory, fragment], cut=80)
    assert fields(path, "icrc", "psn.relative", home=tmp_path)[0] == ["unchecked", "0"]
    path = capture(tmp_path / "whole.pcapng", [contradictory, fragment, whole])
    verdicts = fields(path, "icrc", "icrc.computed", "finding", home=tmp_path)
    assert verdicts[:2] == [["unchecked", "", ""]] * 2
    assert verdicts[2][0] == "ok"


def test_frames_that_are_not_roce_get_no_field(tmp_path: Path) -> None:
    other = bytes(ethernet() / IP() / UDP(sport=1, dport=4790) / bytes(40))
    path = capture(tmp_path / "other.pcapng", [other, send(0)])
    assert tshark("-r", str(path), "-Y", "roceproof", home=tmp_path).count("\n") == 1


def test_hostile_frames_raise_no_lua_error_and_keep_their_verdict(tmp_path: Path) -> None:
    rng = random.Random(1)
    seeds = [*VECTORS, bytes(ethernet() / GRH() / BTH(opcode=4) / b"abcde"), read(0, 1 << 31)]
    frames = []
    for _ in range(400):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(12, len(data))] = rng.choice((0, 0xFF, rng.randrange(256)))
        frames.append(bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data))
    frames += [data[:size] for data in seeds for size in range(1, len(data))]
    path = capture(tmp_path / "hostile.pcapng", frames)
    assert tshark("-r", str(path), "-Y", "_ws.lua.error", home=tmp_path) == ""
    rows = fields(path, "icrc", home=tmp_path)
    assert len(rows) == len(frames)
    for data, (verdict,) in zip(frames, rows, strict=True):
        judged = icrc.check(data).judgement
        if judged in (icrc.Judgement.OK, icrc.Judgement.BAD):
            assert verdict == judged.value, data.hex()
        elif data[12:14] != b"\x89\x15":
            assert verdict in ("", "unchecked"), data.hex()


def test_comments_of_the_checker_become_findings_and_go_before_our_own(tmp_path: Path) -> None:
    comments = [
        "roceproof: ICRC-02 must: expected one, found another\n"
        "roceproof: BTH-03 info: MigReq changed",
        "somebody else wrote this\nroceproof: no rule",
        "",
    ]
    frames = [corrupted(send(0)), send(1), corrupted(send(2))]
    path = capture(tmp_path / "noted.pcapng", frames, comments=comments)
    names = ("finding", "finding.severity", "finding.text")
    rows = fields(path, *names, home=tmp_path)
    text = "expected one, found another,MigReq changed"
    assert rows[0] == ["ICRC-02,BTH-03", "must,info", text]
    assert rows[1] == ["", "", ""]
    assert rows[2][:2] == ["ICRC-02", "must"]
    wanted = 'roceproof.finding == "BTH-03"'
    assert len(fields(path, "icrc", home=tmp_path, options=["-Y", wanted])) == 1
    experts = tshark("-r", str(path), "-q", "-z", "expert", home=tmp_path)
    assert "BTH-03: MigReq changed" in experts and "ICRC-02: expected one" in experts


def test_a_comment_on_a_frame_that_is_not_roce_is_shown_too(tmp_path: Path) -> None:
    other = bytes(ethernet() / IP() / UDP(sport=1, dport=4790) / bytes(40))
    comments = ["roceproof: UDP-01 must: port 4791 expected, 4790 found"]
    path = capture(tmp_path / "port.pcapng", [other], comments=comments)
    assert fields(path, "finding", "icrc", home=tmp_path) == [["UDP-01", ""]]


def test_bytes_that_are_not_ethernet_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "raw.pcap"
    wrpcap(str(path), [Raw(send(0))], linktype=LINK_RAW_IP)
    assert fields(path, "icrc", home=tmp_path) == [[""]]
