# SPDX-License-Identifier: BSD-2-Clause
"""What a device may choose in a packet beside its prediction, and what else differs, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from roceproof.conformance.suite.expect.length_fields import wrong_lengths
from roceproof.conformance.suite.expect.wrong_bytes import wrong_bytes
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.notation import Mismatch, data_shown, got, name_of, with_owner
from roceproof.conformance.suite.reporting.failure import is_aside, rule_of
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.frame_edits import layout_of, say_length, without_udp_checksum
from roceproof.conformance.wire.icrc import Judgement, check, compute_at
from roceproof.conformance.wire.opcodes import OPCODES, Family, Transport
from roceproof.verbs.addresses import Host


def is_as_wanted(frame: bytes, wanted: bytes) -> bool:
    """Whether it is the packet wanted, with what a device may choose in it."""
    if frame == wanted or (frame := without_udp_checksum(frame)) == wanted:
        return True
    return frame == _as_chosen(wanted, frame)


def differences(
    frame: bytes, wanted: bytes, beginnings: Mapping[bytes, int] | None = None
) -> tuple[str, list[str]]:
    """What was wanted and what came, field by field, and the rules that are broken.

    `beginnings` are the first bytes of all work, with its number.

    An ICRC that fits its own packet is not broken, though it differs where another field does.
    Where only what the headers say of the packet's length is wrong, that alone is. Of a packet of
    another kind the opcode comes first, and what else differs but the ICRC breaks nothing.
    """
    frame = without_udp_checksum(frame)
    wanted = _as_chosen(wanted, frame)
    have, want = parse(frame), parse(wanted)
    if have is None or want is None:
        return f"want  {wanted.hex()}\ngot   {frame.hex()}", []
    flow = _flow(want)
    wrong = _only_lengths(frame, have, want) or _mismatches(have, want)
    if not wrong and frame != wanted:
        wrong = [wrong_bytes(wanted, frame)]
    fits = check(frame).judgement is Judgement.OK
    wrong.sort(key=lambda each: each.field != "opcode")
    wrong = [with_owner(each, have.payload, beginnings or {}) for each in wrong]
    accused = [each for each in wrong if not (fits and each.field == "icrc")]
    lines = [f"want  {got(want, flow)}", f"got   {got(have, flow)}"]
    lines += [f"      {each.field}: want {each.want}, got {each.got}" for each in accused or wrong]
    if accused and accused[0].field == "opcode":
        accused = [each for each in accused if each.field in ("opcode", "icrc")]
    return "\n".join(lines), [rule for each in accused if (rule := rule_of(each)) is not None]


def differs_aside(frame: bytes, wanted: bytes, own: Collection[str]) -> bool:
    """Whether only fields that are the same in all packets are wrong, and the ICRC covers them."""
    frame = without_udp_checksum(frame)
    have, want = parse(frame), parse(_as_chosen(wanted, frame))
    if have is None or want is None or check(frame).judgement is not Judgement.OK:
        return False
    wrong = [each for each in _mismatches(have, want) if each.field != "icrc"]
    return bool(wrong) and all(is_aside(each, own) for each in wrong)


def _as_chosen(wanted: bytes, frame: bytes) -> bytes:
    """The packet wanted, with the AckReq of the one that came where that is the device's choice.

    It may ask before the end of a message; what its data answer need not ask at all (ACK-02).
    """
    have, want = parse(frame), parse(wanted)
    if have is None or want is None or have.bth.opcode != want.bth.opcode:
        return wanted
    row, asks = OPCODES.get(want.bth.opcode), have.bth.ack_req
    if row is None or row.transport is not Transport.RC or asks == want.bth.ack_req:
        return wanted
    if not asks and row.family not in (Family.READ, Family.ATOMIC):
        return wanted
    return build(replace(want, bth=replace(want.bth, ack_req=asks)))


def _mismatches(have: Packet, want: Packet) -> list[Mismatch]:
    flow = _flow(want)
    mine, theirs = flow.fields_of(want), flow.fields_of(have)
    mine |= _rest(want) | {"opcode": name_of(want, flow)}
    theirs |= _rest(have) | {"opcode": name_of(have, flow)}
    return [
        Mismatch(name, _shown(name, mine.get(name)), _shown(name, theirs.get(name)))
        for name in dict.fromkeys((*mine, *theirs))
        if mine.get(name) != theirs.get(name)
    ]


def _only_lengths(frame: bytes, have: Packet, want: Packet) -> list[Mismatch]:
    """The said lengths that are wrong, if all else is right, the ICRC over them too."""
    lengths = wrong_lengths(have, want.udp_length)
    if not lengths:
        return []
    mended = bytearray(frame)
    say_length(want.udp_length)(mended)
    layout, packet = layout_of(mended), parse(bytes(mended))
    if packet is None or compute_at(frame, layout) != packet.icrc:
        return []
    rest = {each.field for each in _mismatches(packet, want)}
    return lengths if rest <= {"icrc"} else []


def _rest(packet: Packet) -> dict[str, object]:
    return {
        "icrc": packet.icrc,
        "pad bytes": packet.pad,
        "frame pad": len(packet.trailer),
        "trailer": packet.trailer.strip(b"\0"),
        "udp_length": packet.udp_length,
        "udp_checksum": packet.udp_checksum,
    }


def _shown(name: str, value: object) -> str:
    if name == "psn":
        return f"{value:+}"
    if isinstance(value, bytes):
        return data_shown(value)
    return f"{value:#x}" if isinstance(value, int) and value > 9 else str(value)


def _flow(packet: Packet) -> FlowCodec:
    return FlowCodec(
        src=Host(packet.src_mac, packet.ip.src),
        dst=Host(packet.dst_mac, packet.ip.dst),
        dest_qpn=packet.bth.dest_qpn,
        service=packet.bth.opcode >> 5,
    )
