# SPDX-License-Identifier: BSD-2-Clause
"""What only a NIC behind a packet socket has; test_nic.py runs it in nic_namespace.py."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import pytest
from conftest import nic_options
from verbs_peer import answer, frame, silence, spec_for

from roceproof.conformance.nic.doctor import run_nic_doctor
from roceproof.conformance.targets.interface import CasePlace, DeviceDied, TargetError
from roceproof.conformance.targets.verbs.nic import NicFactory
from roceproof.conformance.targets.verbs.packet_port import PacketPort
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import Reth

PLACE = CasePlace(name="nic", seed=1)
TAG = bytes.fromhex("81006007")
DEVICE_MAC = bytes.fromhex("525400770002")
WRITE_ONLY, ACKNOWLEDGE = 0x0A, 0x11


def agents() -> list[int]:
    """The agent commands that are our children."""
    children = Path("/proc/thread-self/children").read_text().split()
    return [pid for pid in map(int, children) if b"agent_pipe" in _command(pid)]


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def writes(target: object) -> None:
    assert isinstance(target, VerbsTarget)
    qp = target.open(spec_for(target))
    region = target.register(64)
    target.send(frame(target, qp, WRITE_ONLY, 0, Reth(region.addr, region.rkey, 4), data=b"wire"))
    assert answer(target).bth.opcode == ACKNOWLEDGE
    assert region.read(0, 4) == b"wire"
    silence(target)


def test_the_device_is_what_the_agent_says(source: NicFactory) -> None:
    with source.device(PLACE) as target:
        writes(target)
        assert target.host.mac == DEVICE_MAC
    told = source.versions()
    assert (told["nic device"], told["nic host"]) == ("rxe0", "rxe-peer")
    assert source.claims.path_mtus == (256, 512, 1024, 2048, 4096)
    source.close()


def test_the_doctor_finds_both_ends_and_the_link_between_them_well(
    source: NicFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    source.close()  # an interface is one run's at a time
    code = run_nic_doctor(os.environ["NIC_INTERFACE"], os.environ["NIC_AGENT"], as_json=True)
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert code == 0, checks
    assert checks["RDMA device"]["detail"].startswith("rxe0: ")
    assert checks["addresses"]["detail"] == "10.77.0.2, 10.78.0.2, fd77::2"
    assert {checks[name]["status"] for name in ("link", "MTU", "frame", "ping")} == {"ok"}


def test_a_mirror_port_shows_only_what_the_device_sends() -> None:
    source = NicFactory(nic_options(mirror=True))
    try:
        for _ in range(2):
            with source.device(PLACE) as target:
                writes(target)
    finally:
        source.close()


def test_an_agent_that_goes_away_is_a_death_and_the_next_case_has_another() -> None:
    source = NicFactory(nic_options())
    try:
        with (
            pytest.raises(DeviceDied, match=r"rxe0 on rxe-peer died: .*went away"),
            source.device(PLACE) as target,
        ):
            writes(target)
            (pid,) = agents()
            os.kill(pid, signal.SIGKILL)
        with source.device(PLACE) as target:
            writes(target)
    finally:
        source.close()
    assert agents() == []


def test_an_interface_is_one_runs_at_a_time() -> None:
    first, second = NicFactory(nic_options()), NicFactory(nic_options())
    try:
        with (
            first.device(PLACE),
            pytest.raises(TargetError, match="in use by another run"),
            second.device(PLACE),
        ):
            pass
    finally:
        first.close()
        second.close()


def test_a_tag_that_the_kernel_puts_aside_is_back_in_the_frame() -> None:
    # To its own sender a frame is outgoing; the cable carries it to the mirror, where it arrives.
    options = nic_options(mirror=True)
    assert options.mirror
    port = PacketPort(options.interface, mirror=options.mirror, device_mac=DEVICE_MAC)
    sent = b"\x02" * 6 + DEVICE_MAC + TAG + b"\x08\x00" + bytes(60)
    try:
        port.send(sent)
        assert select.select([port], [], [], 5)[0]
        assert port.take() == [sent]
        assert port.lost() == 0
    finally:
        port.close()


def test_frames_without_room_are_counted() -> None:
    options = nic_options(mirror=True)
    assert options.mirror
    port = PacketPort(options.interface, mirror=options.mirror, device_mac=DEVICE_MAC)
    big = b"\x02" * 6 + DEVICE_MAC + b"\x08\x00" + bytes(4000)
    lost = 0
    try:
        for _ in range(100_000):
            port.send(big)
            lost = lost or port.lost()
            if lost:
                break
    finally:
        port.close()
    assert lost


def test_a_frame_longer_than_the_interface_takes_is_the_benchs_failure() -> None:
    options = nic_options()
    port = PacketPort(options.interface, device_mac=DEVICE_MAC)
    try:
        with pytest.raises(TargetError, match="mtu"):
            port.send(bytes(9100))
    finally:
        port.close()
