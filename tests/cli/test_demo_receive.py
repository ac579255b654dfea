# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration in which a real kernel sends: into the simulated endpoint's memory."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT, REPOSITORY, RESPONDER_DUT
from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.demo.memory import ReceivingEndpoint
from roceproof.conformance.demo.plan import FIRST_QPN, Connection, Message
from roceproof.conformance.demo.receive import received_plan
from roceproof.conformance.wire.codec import parse
from roceproof.dpi import PathMtu, Service, SimulationTimeout, load_manifest
from roceproof.dpi.contract.receive_records import ReceiveFlags
from roceproof.dpi.contract.records import Status
from roceproof.dpi.session.streams import Signals, Stream
from roceproof.verbs.work import Op

STILL = (Stream(1, 0, Signals(0)),) * 6
PAYLOAD = bytes(range(100))
SMALL = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"


@pytest.mark.whole
@pytest.mark.rxe
@pytest.mark.sim
def test_every_message_of_a_kernel_lands(console: Any, tmp_path: Path) -> None:
    run = console.run("demo-receive", "--short", "--out", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    document = json.loads((tmp_path / "result.json").read_text())
    assert document["ok"] and all(message["ok"] for message in document["messages"])
    kinds = Counter(message["operation"] for message in document["messages"])
    claimed = load_manifest(RESPONDER_DUT).responder
    assert claimed is not None
    assert kinds.keys() >= {op.name for op in claimed.operations[Service.UC]}
    assert (
        f"{len(document['messages'])} of {len(document['messages'])} messages landed" in run.stdout
    )
    requests = [r for r in read(tmp_path / "capture.pcapng") if r.flow is Flow.INBOUND]
    assert sum(parse(record.frame) is not None for record in requests) > len(document["messages"])


@pytest.mark.whole
@pytest.mark.rxe
@pytest.mark.sim
def test_a_device_with_keys_built_in_receives_into_its_own_memory(
    console: Any, tmp_path: Path
) -> None:
    run = console.run("demo-receive", "--dut", str(SMALL), "--width", "8", "--out", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "44 of 44 messages landed" in run.stdout


@pytest.mark.whole
@pytest.mark.rxe
@pytest.mark.sim
def test_what_is_lost_on_the_way_lands_once_all_the_same(console: Any, tmp_path: Path) -> None:
    run = console.run("demo-receive", "--short", "--loss", "3", "--out", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    document = json.loads((tmp_path / "result.json").read_text())
    assert {message["service"] for message in document["messages"]} == {"RC"}
    lost = re.search(r"frames, (\d+) lost of (\d+), 0 findings", run.stdout)
    assert lost and 0 < int(lost[1]) < int(lost[2]) // 8


def test_a_message_that_comes_twice_is_told() -> None:
    def arrives(device: Device, at: int) -> None:
        whole(device, at)
        completed(device)
        completed(device)

    assert fate(arrives, op=Op.WRITE_IMM) == "receives completed that it did not take"


def test_a_completion_that_no_receive_is_due_for_is_told() -> None:
    def arrives(device: Device, at: int) -> None:
        whole(device, at)
        completed(device)

    assert fate(arrives, op=Op.WRITE) == "receives completed that it did not take"


def test_a_device_without_a_responder_cannot_receive() -> None:
    with pytest.raises(RoceproofError, match=r"it has no \[responder\]"):
        list(received_plan(seed=1, device=load_manifest(REFERENCE_DUT)))


def test_what_is_sent_to_a_small_device_fits_into_its_memory() -> None:
    device = load_manifest(SMALL)
    (connection,) = received_plan(seed=1, device=device)
    assert device.responder is not None
    room = max(region.length for region in device.responder.static_regions)
    assert 3000 < max(len(message.payload) for message in connection.messages) < room


def test_a_device_that_executes_nothing_of_it_is_told(tmp_path: Path) -> None:
    text = RESPONDER_DUT.read_text().replace("endpoint.f", str(RESPONDER_DUT.parent / "endpoint.f"))
    path = tmp_path / "dut.toml"
    path.write_text(text.replace("qps = 16", "qps = 16\npath_mtus = [256]"))
    with pytest.raises(RoceproofError, match="executes nothing that the demonstration sends"):
        list(received_plan(seed=1, device=load_manifest(path)))


class Device:
    """A simulation with memory, into which a message falls as a test says."""

    log = Path("simulation.log")

    def __init__(self) -> None:
        self.memory: dict[int, int] = {}
        self.receives: list[Any] = []
        self.regions: list[Any] = []
        self._cycle = 0

    def port(self, index: int) -> Device:
        return self

    def configure(self, config: object) -> None:
        """Nothing of it matters."""

    def register(self, region: Any) -> None:
        self.regions.append(region)

    def post_receive(self, receive: object) -> None:
        """Nothing of it matters."""

    def poke(self, address: int, data: bytes) -> None:
        self.memory.update(enumerate(data, address))

    def peek(self, index: int, address: int, length: int) -> bytes:
        return bytes(self.memory.get(at, 0) for at in range(address, address + length))

    def take_receives(self) -> list[Any]:
        taken, self.receives = self.receives, []
        return taken

    def wait(self, until: Callable[[], bool], *, timeout: float) -> None:
        if not until():
            raise SimulationTimeout("not yet")

    def statistics(self) -> Any:
        self._cycle += 10_000_000
        port = SimpleNamespace(frames_out=0, streams=STILL)
        return SimpleNamespace(cycle=self._cycle, ports=[port])


def fate(
    arrives: Callable[[Device, int], None], *, op: Op, service: Service = Service.UC
) -> str | None:
    """What a message lacks that arrives like that at an address of the device's memory."""
    device = Device()
    message = Message(op, PAYLOAD, 7 if op.name.endswith("_IMM") else None)
    connection = Connection(service, PathMtu.MTU_1024, 0, (message,))
    peer = SimpleNamespace(mac="02:00:00:00:00:02", ipv4="10.0.0.2")
    endpoint = ReceivingEndpoint(
        device,  # type: ignore[arg-type]
        peer,  # type: ignore[arg-type]
        device=load_manifest(RESPONDER_DUT),
        clock_ps=6400,
    )
    endpoint.open(connection, remote_qpn=5)
    address, _ = endpoint.prepare(message, alignment=3)
    region = device.regions[0]
    arrives(device, address - region.va + region.base)
    return endpoint.landing(message).lack(message)


def whole(device: Device, at: int) -> None:
    device.poke(at, PAYLOAD)


def completed(device: Device, *, status: Status = Status.SUCCESS, immediate: int = 7) -> None:
    done = SimpleNamespace(
        wr_id=1,
        qpn=FIRST_QPN,
        status=status,
        flags=ReceiveFlags.IMMEDIATE,
        immediate=immediate,
        byte_len=len(PAYLOAD),
    )
    device.receives.append(SimpleNamespace(completion=done))


def test_what_is_in_memory_has_landed() -> None:
    assert fate(whole, op=Op.WRITE) is None


def test_one_other_byte_is_told() -> None:
    def arrives(device: Device, at: int) -> None:
        whole(device, at)
        device.memory[at + 3] ^= 1

    assert fate(arrives, op=Op.WRITE) == "its bytes differ"


@pytest.mark.parametrize("beside", [-1, len(PAYLOAD)])
def test_a_byte_beside_the_message_is_told(beside: int) -> None:
    def arrives(device: Device, at: int) -> None:
        whole(device, at)
        device.memory[at + beside] = 0

    assert fate(arrives, op=Op.WRITE) == "bytes around it were overwritten"


def test_what_never_comes_is_told_by_the_device_s_own_time() -> None:
    lack = fate(lambda device, at: None, op=Op.WRITE)
    assert lack is not None and lack.startswith("no 100 bytes in ") and "cycles" in lack


def test_a_receive_that_fails_is_told_by_its_status() -> None:
    def arrives(device: Device, at: int) -> None:
        completed(device, status=Status.LOC_LEN_ERR)

    assert fate(arrives, op=Op.SEND) == "receive completion LOC_LEN_ERR"


def test_another_immediate_is_told() -> None:
    def arrives(device: Device, at: int) -> None:
        whole(device, at)
        completed(device, immediate=8)

    assert fate(arrives, op=Op.WRITE_IMM) == "its immediate is 8, sent 7"
