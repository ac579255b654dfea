# SPDX-License-Identifier: BSD-2-Clause
"""A cocotb testbench of its own, without wrapper or bridge; roceproof judges its frames.

The core's own ports are driven: registers, payload words, frames. Every frame goes to the checker,
to a model of the peer, and to Scapy's layers. `python run.py` runs it; docs/neighbours.md tells.
"""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from scapy.layers.l2 import Ether

from roceproof.conformance.model.device import Device
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire.scapy import BTH, RETH, registered
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import PathMtu, Service

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
PEER = Host(bytes.fromhex("020000000002"), bytes((192, 168, 1, 2)))
PSN, PEER_QPN = 0xFFFFFF, 0x11
GO, STATUS, QP = 0x0D, 0x03, 0x10


async def start(dut) -> None:
    """Clock and reset; frames are always taken."""
    cocotb.start_soon(Clock(dut.clk, 6400, units="ps").start())
    for port in (dut.bus_we, dut.s_axis_tvalid, dut.rx_valid, dut.rx_last, dut.rx_bad):
        port.value = 0
    dut.m_axis_tready.value = 1
    dut.rst.value = 1
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


async def write(dut, address: int, value: int) -> None:
    dut.bus_we.value, dut.bus_addr.value, dut.bus_wdata.value = 1, address, value
    await RisingEdge(dut.clk)
    dut.bus_we.value = 0


async def configure(dut) -> None:
    """The port's addresses, and queue pair 0."""
    mac, peer = int.from_bytes(OWN.mac, "big"), int.from_bytes(PEER.mac, "big")
    for address, value in {
        0x00: mac >> 32,
        0x01: mac & 0xFFFFFFFF,
        0x02: int.from_bytes(OWN.ip, "big"),
        QP + 0: peer >> 32,
        QP + 1: peer & 0xFFFFFFFF,
        QP + 2: int.from_bytes(PEER.ip, "big"),
        QP + 3: 0xC000 << 16 | 64,
        QP + 4: PathMtu.MTU_1024 << 24 | PEER_QPN,
        QP + 5: PSN,
        QP + 6: 0,
    }.items():
        await write(dut, address, value)


async def feed(dut, payload: bytes) -> None:
    """Words of the message, first byte on top."""
    dut.s_axis_tvalid.value = 1
    for at in range(0, len(payload), 4):
        dut.s_axis_tdata.value = int.from_bytes(payload[at : at + 4].ljust(4, b"\xff"), "big")
        taken = False
        while not taken:
            await ReadOnly()
            taken = bool(dut.s_axis_tready.value)
            await RisingEdge(dut.clk)
    dut.s_axis_tvalid.value = 0


async def collect(dut, frames: list[bytes]) -> None:
    """Frames as they leave, for good."""
    frame = b""
    while True:
        await ReadOnly()
        if dut.m_axis_tvalid.value:
            count = int(dut.m_axis_tkeep.value).bit_count()
            frame += int(dut.m_axis_tdata.value).to_bytes(4, "big")[:count]
            if dut.m_axis_tlast.value:
                frames.append(frame)
                frame = b""
        await RisingEdge(dut.clk)


@cocotb.test()
async def writes_land_and_break_no_rule(dut) -> None:
    """Messages of some lengths, over the wrap of the PSN."""
    peer, checker, frames = Device(PEER), Checker(), []
    peer.open(QpSpec(service=Service.UC, remote=OWN, remote_qpn=2, local_qpn=PEER_QPN, rq_psn=PSN))
    region = peer.register(8192)
    await start(dut)
    await configure(dut)
    cocotb.start_soon(collect(dut, frames))
    messages = [bytes((7 * at + size) % 251 for at in range(size)) for size in (64, 3000, 1)]
    for number, payload in enumerate(messages):
        for address, value in enumerate(
            (region.addr >> 32, (region.addr & 0xFFFFFFFF) + 4096 * (number % 2), region.rkey)
        ):
            await write(dut, 0x08 + address, value)
        await write(dut, 0x0B, len(payload))
        await write(dut, GO, 0)
        dut.bus_addr.value = STATUS
        await feed(dut, payload)
        while int(dut.bus_rdata.value) & 1:
            await RisingEdge(dut.clk)
    for _ in range(8):
        await RisingEdge(dut.clk)

    findings = [finding for frame in frames for finding in checker.feed(frame)]
    broken = [f"{each.rule.id}: {each.message}" for each in (*findings, *checker.finish())]
    assert not broken, broken
    assert (checker.counts.icrc_ok, checker.counts.icrc_bad) == (5, 0)
    for frame in frames:
        peer.receive(frame, 0)
    assert region.read(0, 64) == messages[2] + messages[0][1:]
    assert region.read(4096, 3000) == messages[1]
    with registered():
        first = Ether(frames[1])
    assert (first[BTH].psn, first[RETH].length) == (0, 3000)
