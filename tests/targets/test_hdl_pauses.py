# SPDX-License-Identifier: BSD-2-Clause
"""A device may ask its link for a pause; no case sees that. The echo device says what it hears."""

from __future__ import annotations

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.targets.hdl.allowance import Allowance
from roceproof.conformance.targets.hdl.device import HdlTarget
from roceproof.conformance.wire.mac_control import (
    LONGEST,
    global_pause,
    is_pause_of,
    priority_pause,
)
from roceproof.dpi import PortOptions, Simulation, load_manifest
from roceproof.verbs.addresses import Host

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
OTHER_MAC = bytes.fromhex("020000000b02")
ANSWER_NS = 20_000
PAUSES = [
    global_pause(LONGEST, src_mac=OWN.mac),
    global_pause(0, src_mac=OWN.mac),
    priority_pause({3: LONGEST}, src_mac=OWN.mac),
    priority_pause(dict.fromkeys(range(8), 0), src_mac=OWN.mac),
]


def say(target: HdlTarget, frame: bytes) -> None:
    """The echo device sends to where it heard this from, from its own address."""
    target.send(frame[6:12] + frame[:6] + frame[12:])


def changed(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


WRONG = [
    *(changed(pause, at) for pause in PAUSES[1:3] for at in (5, 13, 15, 59)),
    PAUSES[0] + b"\0",
]
"""To another address, of another type, opcode or pad, too long."""


@pytest.mark.sim
def test_pauses_of_the_device_are_no_frames_of_a_case_and_all_else_is() -> None:
    manifest = load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")
    with Simulation.start(manifest, data_width=64, ports=[PortOptions()]) as simulation:
        target = HdlTarget(simulation, 6400, host=OWN)
        for pause in PAUSES:
            say(target, pause)
        assert target.receive(ANSWER_NS) is None
        assert target.asides() == []
        assert simulation.statistics().ports[0].frames_out == len(PAUSES)
        for frame in WRONG:
            say(target, frame)
            arrival = target.receive(ANSWER_NS)
            assert arrival is not None
            assert arrival.frame == frame


@pytest.mark.sim
def test_pauses_without_end_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(Allowance, "come", lambda allowance, _: told.append(allowance.asides))
    manifest = load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")
    with Simulation.start(manifest, data_width=64, ports=[PortOptions()]) as simulation:
        target = HdlTarget(simulation, 6400, host=OWN)
        say(target, PAUSES[0])
        target.wait(ANSWER_NS)
    assert told[-1] == 1


def test_a_short_pause_or_another_station_s_is_none() -> None:
    assert all(is_pause_of(OWN.mac, pause) for pause in PAUSES)
    assert not is_pause_of(OWN.mac, PAUSES[2][:-1])
    assert not any(is_pause_of(OTHER_MAC, pause) for pause in PAUSES)
