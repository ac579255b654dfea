# SPDX-License-Identifier: BSD-2-Clause
"""When a message of the demonstration is due, in the device's cycles, and what was seen last."""

from pathlib import Path

from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.review.caption import packet_name
from roceproof.conformance.wire.codec import parse
from roceproof.dpi import Manifest, QpConfig, Service
from roceproof.dpi.session.deadline import Due, Overdue
from roceproof.dpi.session.simulation import Simulation
from roceproof.dpi.session.streams import told_streams
from roceproof.verbs.limits import ANSWER_CYCLES

ACK_TIMEOUT = 13
"""33.6 ms of simulated time, seconds of the receiver's."""
_SLACK = 4
"""A timer may take so many times its value."""
_GENEROUS = 16
_CONFIGURATIONS = 2  # among the streams of a port
_TAG = b"\x81\x00"
_KINDS = {
    b"\x08\x06": "ARP",
    b"\x08\x00": "IPv4 without RoCEv2",
    b"\x86\xdd": "IPv6 without RoCEv2",
}


def due_completion(
    config: QpConfig, device: Manifest, *, clock_ps: int, what: str, packets: int
) -> Due:
    """The completion of a message of so many packets."""
    answer = device.limits.answer_cycles or ANSWER_CYCLES
    tries = 1 + (config.retry_count if device.capabilities.retransmission else 0)
    frames = _GENEROUS * (packets + 1) * tries
    what = f"completion of {what}"
    if config.service is not Service.RC:
        return Due(what=what, cycles=answer, frames=frames, why="nobody answers it")
    timer = 1000 * (ack_timeout_ns(max(config.ack_timeout, ACK_TIMEOUT)) or 0) // clock_ps
    return Due(
        what=what,
        cycles=answer + _SLACK * timer,
        frames=frames,
        why=f"{_SLACK} times an ACK timeout of {timer:,} cycles, and {answer:,} to answer",
    )


def wait_until_configured(simulation: Simulation, device: Manifest, *, taken: int) -> None:
    """Until the device has taken so many configurations: before, nobody may send to them."""
    start, answer = simulation.statistics().cycle, device.limits.answer_cycles or ANSWER_CYCLES
    while (now := simulation.statistics()).ports[0].streams[_CONFIGURATIONS].beats < taken:
        if now.cycle - start > answer:
            told = [f"no configuration was taken in {now.cycle - start:,} cycles"]
            told += told_streams(now.ports[0].streams, now.cycle)
            raise Overdue("\n".join(told), log=simulation.log)


def told_last_frames(capture: Path) -> str:
    """The last frame in each direction, from what has been captured so far."""
    last = {record.flow: record for record in read(capture)} if capture.exists() else {}
    told = [
        f"{word} at {last[flow].time_ns / 1000:,.3f} us, {told_frame(last[flow].frame)}"
        for flow, word in ((Flow.OUTBOUND, "sent"), (Flow.INBOUND, "received"))
        if flow in last
    ]
    return f"last frames: {'; '.join(told)}" if told else "no frame was seen"


def told_frame(frame: bytes) -> str:
    """A frame in a few words."""
    packet = parse(frame)
    if packet is None:
        return f"{len(frame)} bytes, {_kind_of(frame)}"
    name = packet_name(packet.bth.opcode, packet.aeth.syndrome if packet.aeth else None)
    return f"{name} with PSN {packet.bth.psn:#x}, {len(frame)} bytes"


def _kind_of(frame: bytes) -> str:
    """What a frame without RoCEv2 carries, behind a VLAN tag if there is one."""
    tagged = frame[12:14] == _TAG
    kind = frame[16:18] if tagged else frame[12:14]
    words = _KINDS.get(kind, f"EtherType 0x{kind.hex()}")
    return f"{words} behind a VLAN tag" if tagged else words
