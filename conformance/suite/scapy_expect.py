# SPDX-License-Identifier: BSD-2-Clause
"""A Scapy packet that a case expects, against a frame that came: only what it sets is compared.

Its layers must be there one above the other; what the frame has behind them does not matter.
A list or a range of values, Scapy's way of saying several packets, fits any of them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from scapy.base_classes import Gen, SetGen
from scapy.contrib import roce
from scapy.fields import FlagValue
from scapy.packet import NoPayload, Packet, Padding, Raw
from scapy.volatile import VolatileValue

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.reporting.failure import Incomplete
from roceproof.conformance.suite.scapy_send import wire_opcode
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.conformance.wire.scapy.dissection import dissected
from roceproof.conformance.wire.scapy.edits import is_frame

_SHOWN_BYTES = 4


def differences(wanted: Packet, frame: bytes, flow: FlowCodec) -> list[Mismatch]:
    """What a frame of this direction has otherwise than the packet says."""
    have = _first_like(wanted, dissected(frame))
    found: list[Mismatch] = []
    for layer in wanted.iterpayloads():
        have = _as(layer, have)
        if not isinstance(have, type(layer)):
            found.append(Mismatch(_name(layer), "present", _name(have)))
            break
        found += _differences(layer, have, flow, is_relative=not is_frame(wanted))
        have = have.payload
    return found


def described(wanted: Packet) -> str:
    """The packet with the fields that the case has set."""
    is_relative = not is_frame(wanted)
    return " / ".join(_described(layer, is_relative) for layer in wanted.iterpayloads())


def _name(layer: Packet) -> str:
    return "absent" if isinstance(layer, NoPayload) else type(layer).__name__


def _first_like(wanted: Packet, got: Packet) -> Packet:
    found = (layer for layer in got.iterpayloads() if isinstance(layer, type(wanted)))
    return next(found, NoPayload())


def _as(layer: Packet, have: Packet) -> Packet:
    """What came, in the layer's own form if it is made of what is payload to us."""
    if isinstance(layer, Raw):
        if isinstance(have, NoPayload | Padding):
            return Raw(b"")
        return have
    if type(have) is not Raw:
        return have
    try:
        return type(layer)(have.load)
    except Exception:  # the layer is the user's own, and the bytes are the device's
        return have


def _differences(
    layer: Packet, have: Packet, flow: FlowCodec, *, is_relative: bool
) -> Iterator[Mismatch]:
    for name, want in layer.fields.items():
        field = f"{_name(layer)}.{name}"
        if isinstance(want, VolatileValue):
            raise Incomplete(f"{field} is random; expect a value, or leave it unset")
        got = have.getfieldval(name)
        values = _values(layer, name, want)
        if is_relative and _is_psn(layer, name):
            start = flow.start_of(have.opcode)
            if got not in ((value + start) % PSN_MODULUS for value in values):
                yield Mismatch(field, _signed(want), _signed(distance(got, start)))
            continue
        if is_relative and isinstance(layer, roce.BTH) and name == "opcode":
            values = [wire_opcode(value, flow) for value in values]
        machine = _machine(layer, name, got)
        if all(_machine(layer, name, value) != machine for value in values):
            yield Mismatch(field, _shown(layer, name, want), _shown(have, name, got))


def _is_psn(layer: Packet, name: str) -> bool:
    return name == "psn" and isinstance(layer, roce.BTH)


def _values(layer: Packet, name: str, want: Any) -> Iterable[Any]:
    if layer.get_field(name).islist:
        return [want]
    return want if isinstance(want, Gen) else SetGen(want)


def _machine(layer: Packet, name: str, value: Any) -> Any:
    field = layer.get_field(name)
    if isinstance(value, list):
        return [bytes(each) if isinstance(each, Packet) else each for each in value]
    return field.i2m(layer, field.any2i(layer, value))


def _described(layer: Packet, is_relative: bool) -> str:
    words = []
    for name, value in layer.fields.items():
        text = _signed(value) if is_relative and _is_psn(layer, name) else None
        words.append(f"{name}={text or _shown(layer, name, value)}")
    return f"{_name(layer)}({' '.join(words)})"


def _signed(psn: Any) -> str:
    return f"{psn:+d}" if isinstance(psn, int) else str(psn)


def _shown(layer: Packet, name: str, value: Any) -> str:
    if isinstance(value, bytes):
        digest = value[:_SHOWN_BYTES].hex() + (".." if len(value) > _SHOWN_BYTES else "")
        return f"{len(value)}[{digest}]" if value else "0"
    if isinstance(value, FlagValue):
        return str(value) or "0"
    return str(layer.get_field(name).i2repr(layer, value))
