# SPDX-License-Identifier: BSD-2-Clause
"""The one notation for packets wanted and packets got, and how the two are compared."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.header_displacement import DISPLACED, displacing_header
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.notation import first_difference
from roceproof.conformance.wire.opcodes import OPCODES, Transport
from roceproof.conformance.wire.psn import PSN_MODULUS

_ORDER = (
    *("psn", "a", "se", "va", "rkey", "dmalen", "imm", "inv", "swap", "compare"),
    *("syndrome", "msn", "original", "qkey", "src_qpn", "payload", "pad"),
)
_ABSENT = "absent"
_HEX = frozenset(
    [
        "va",
        "rkey",
        "imm",
        "inv",
        "swap",
        "compare",
        "original",
        "qpn",
        "src_qpn",
        "qkey",
        "pkey",
        "fragment",
        "sport",
    ]
)
_QUIET = {"a": 0, "se": 0, "pad": 0, "payload": b""}
"""What is not shown of a packet got, unless the case asked."""
_DIGEST = 4
"""Bytes of a payload that are shown."""
BEGINNING = 4
"""Bytes of a payload that tell whose it is."""
_WHETHER = {True: ("none", "one"), False: ("one", "none")}


_REQUESTS = ("SEND", "WRITE")
_RULES_OF_LENGTH = {"FIRST": "MTU-01", "MIDDLE": "MTU-02", "LAST": "MTU-03", "ONLY": "MTU-04"}
_RULES_OF_PAD = {"FIRST": "PAD-04", "MIDDLE": "PAD-04"}


class Mismatch(NamedTuple):
    """One field that is not as it should be, in notation."""

    field: str
    want: str
    got: str
    rule: str = ""
    """The one that it breaks, where the field alone does not say."""


def with_owner(wrong: Mismatch, payload: bytes, beginnings: Mapping[bytes, int]) -> Mismatch:
    """The same, of a payload with the other work whose first bytes it has."""
    came = payload[:BEGINNING]
    if wrong.field != "payload" or f"[{came.hex()}" in wrong.want or came not in beginnings:
        return wrong
    return wrong._replace(got=f"{wrong.got} as work {beginnings[came]:#x} has")


def wanted(pattern: Pattern) -> str:
    """A pattern, with the fields that the case has said."""
    said = {name: pattern.said[name] for name in _sorted(pattern.said)}
    return " ".join((pattern.name, *(f"{k}={_shown(k, v)}" for k, v in said.items())))


def got(packet: Packet, flow: FlowCodec, pattern: Pattern | None = None) -> str:
    """A packet, with what matters of any packet and what the case asked for."""
    fields = flow.fields_of(packet)
    asked = pattern.said.keys() if pattern else frozenset[str]()
    names = [
        name
        for name in _sorted(fields)
        if name in asked or (name in _ORDER and fields[name] != _QUIET.get(name))
    ]
    words = [name_of(packet, flow), *(f"{k}={_shown(k, fields[k])}" for k in names)]
    if packet.fault is not None:
        words.append(f"({packet.fault})")
    return " ".join(words)


def name_of(packet: Packet, flow: FlowCodec) -> str:
    """The opcode's name; the service is only named if it is not the connection's."""
    value = packet.bth.opcode
    row = OPCODES.get(value)
    if row is None:
        return f"OPCODE_{value:02X}"
    if value == 0x11 and packet.aeth is not None:
        kind = packet.aeth.syndrome >> 5
        return {0: "ACK", 1: "RNR", 3: "NAK"}.get(kind, "ACKNOWLEDGE")
    name = row.name
    if row.is_response or (value >> 5 == flow.service and row.transport in (0, 1)):
        name = name.partition(" ")[2] if row.transport is not Transport.UD else name
    return name.replace(" ", "_")


def _rule_of_place(kind: str, field: str, both: list[bytes]) -> str:
    """The rule about a field of a packet at that place of its message, if there is one."""
    family, _, place = kind.partition("_")
    is_length = field == "payload" and len(both) > 1 and len(both[0]) != len(both[1])
    if family not in _REQUESTS or not (is_length or field == "pad"):
        return ""
    rules = _RULES_OF_LENGTH if is_length else _RULES_OF_PAD
    return rules.get(place.partition("_")[0], "")


def mismatches(
    pattern: Pattern, packet: Packet, flow: FlowCodec, *, in_front: bytes = b""
) -> list[Mismatch]:
    """What a packet has otherwise than the pattern says; the opcode first.

    Bytes of its message that belong in front of it are no header, though they displace as one.
    """
    found = []
    is_another = packet.bth.opcode != flow.opcode_of(pattern)
    if is_another:
        found.append(Mismatch("opcode", pattern.name, name_of(packet, flow)))
    fields = flow.fields_of(packet)
    wrong = [name for name, want in pattern.said.items() if not _fits(name, want, fields.get(name))]
    for name in _sorted(wrong):
        want, have = pattern.said[name], fields.get(name)
        both = [each for each in (want, have) if isinstance(each, bytes)]
        first = first_difference(*both) if len(both) > 1 else 0
        shown = _ABSENT if have is None else _shown(name, have, first)
        rule = "" if is_another else _rule_of_place(pattern.name, name, both)
        found.append(Mismatch(name, _shown(name, want, first), shown, rule))
    if any(each.field == "payload" or each.got == _ABSENT for each in found):
        header = displacing_header(pattern, packet, flow, in_front)
        if header is not None:
            others = [each for each in found if each.field not in DISPLACED]
            return [Mismatch(header, *_WHETHER[header.startswith("surplus")]), *others]
    return found


def _fits(name: str, want: Any, have: Any) -> bool:
    if name == "payload" and isinstance(want, int):
        return len(have) == want
    if name == "syndrome" and want == "ACK":
        return isinstance(have, int) and have >> 5 == 0
    if name == "syndrome" and want == "RNR":
        return isinstance(have, int) and have >> 5 == 1
    if isinstance(want, range):
        return have in want
    if isinstance(want, frozenset):
        return any(_fits(name, each, have) for each in want)
    if name == "psn":  # half of all PSNs away is ahead as well as behind
        return isinstance(have, int) and (want - have) % PSN_MODULUS == 0
    return bool(want == have)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda n: (_ORDER.index(n) if n in _ORDER else len(_ORDER), n))


def _shown(name: str, value: Any, first: int = 0) -> str:
    if isinstance(value, frozenset | range):
        return "|".join(_shown(name, each) for each in sorted(value, key=_numbers_first))
    if name == "psn" and isinstance(value, int):
        return f"{value:+d}"
    if name == "payload" and isinstance(value, bytes):
        return data_shown(value, first) if value else "0"
    if name == "syndrome" and isinstance(value, int):
        return f"{value:#04x}"
    if isinstance(value, bytes):
        return value.hex(":") if len(value) == 6 else ".".join(map(str, value))
    if isinstance(value, int) and name in _HEX:
        return f"{value:#x}"
    return str(value)


def data_shown(data: bytes, first: int = 0) -> str:
    """How many bytes, and some: the first ones, or those from the `first` that differs on."""
    start = first if first >= _DIGEST else 0
    digest = data[start:][:_DIGEST].hex() + (".." if data[start + _DIGEST :] else "")
    place = f" from {start} on" if start else ""
    return f"{len(data)}[{digest}{place}]"


def _numbers_first(value: int | str) -> tuple[bool, str, int]:
    return (True, value, 0) if isinstance(value, str) else (False, "", value)
