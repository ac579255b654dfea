# SPDX-License-Identifier: BSD-2-Clause
"""Cases of one's own, written with Scapy: copy the file, and run it against a device.

roceproof test examples/scapy_cases/my_cases.py --target model
"""

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.volatile import RandShort

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import case
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import flip_end, set_udp
from roceproof.conformance.wire.scapy import AETH, BTH, RETH, corrupted, refresh, resealed
from roceproof.verbs.work import Op

ASKS = [Capability.REQUESTER, Capability.RC, Capability.WRITE]
ANSWERS = [Capability.RESPONDER, Capability.RC, Capability.MEMORY]


@case("OPC-01", "RETH-02", needs=ASKS)
def test_a_short_message_is_one_packet(bench: Bench) -> None:
    """What is expected says only what matters here."""
    qp = bench.connect()
    message = qp.post(Op.WRITE, b"hello")
    qp.expect(IP(flags="DF") / UDP() / BTH(opcode="WRITE ONLY", psn=0) / RETH(length=5) / b"hello")
    qp.send(BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(msn=1))
    qp.completes(message)


@case("ICRC-12", "BTH-05", needs=ASKS)
def test_damaged_acknowledgements_complete_nothing(bench: Bench) -> None:
    """One is damaged behind the ICRC's back, one is wrong but sealed."""
    qp = bench.connect()
    message = qp.post(Op.WRITE, 8)
    qp.expect(BTH(opcode="WRITE ONLY"))
    ack = qp.crafted(BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(msn=1))
    version_one = set_udp(9, b"\x41")
    qp.ignores(message, corrupted(ack, flip_end(1)), resealed(ack, version_one))


@case("NAK-01", needs=ANSWERS, breaks=OUT_OF_SEQUENCE)
def test_a_request_ahead_draws_one_nak(bench: Bench) -> None:
    """The port is another one for each seed."""
    qp = bench.connect()
    qp.send(UDP(sport=RandShort()) / BTH(opcode="WRITE ONLY", psn=5, ackreq=1) / RETH())
    qp.expect(BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(syndrome=0x60))
    qp.expect_silence()


@case("ICRC-14", needs=[*ANSWERS, Capability.READ])
def test_a_changed_frame_is_good_once_it_is_derived_anew(bench: Bench) -> None:
    """A whole frame, changed in place: dropped as it is, taken after `refresh`."""
    qp = bench.connect()
    region = qp.region()
    header = RETH(address=region.addr, rkey=region.rkey)
    frame = qp.crafted(BTH(opcode="WRITE ONLY", psn=1, ackreq=1) / header / b"first")
    frame[RETH].address += 8
    qp.drops(frame, fence=0)
    bench.send(refresh(frame))
    qp.expect(BTH(opcode="ACKNOWLEDGE", psn=1) / AETH(msn=2))
    assert region.read(8, 5) == b"first"


@case("LIVE-01")
def test_a_broadcast_makes_no_difference(bench: Bench) -> None:
    """What begins with Ether goes out as it is; addresses left unset are those of the bench."""
    bench.send(Ether(dst="ff:ff:ff:ff:ff:ff") / ARP(op="is-at", pdst="0.0.0.0"))
    bench.settle()
    assert not bench.sniff(lfilter=lambda packet: BTH in packet)
