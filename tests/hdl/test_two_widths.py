# SPDX-License-Identifier: BSD-2-Clause
"""Two simulated endpoints of different widths on one wire: one sends, the other's memory has it."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.targets.hdl.memory import HdlMemory
from roceproof.dpi import (
    Operation,
    PathMtu,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Status,
    WorkRequest,
    load_manifest,
)
from roceproof.dpi.contract.records import Access
from roceproof.dpi.session.deadline import Due, wait_until_due

pytestmark = pytest.mark.sim
DUT = load_manifest(REPOSITORY / "rtl" / "responder.toml")
ENDS = (("02:00:00:00:00:01", "10.0.0.1", 0xABC1), ("02:00:00:00:00:02", "10.0.0.2", 0xABC2))
RIGHTS = Access.LOCAL_WRITE | Access.REMOTE_WRITE
LENGTHS = (0, 1, 63, 64, 65, 255, 256, 257, 1500, 20_001)
SECONDS = 60
DUE = Due(what="last bytes in memory", cycles=1_000_000, frames=1_000, why="all has left")


@contextmanager
def wire(folder: Path) -> Iterator[list[str]]:
    """Two links whose ends hear each other; frames pass as they are."""
    listeners = [socket.socket(socket.AF_UNIX) for _ in ENDS]
    paths = [folder / f"end{number}" for number in range(len(ENDS))]
    for listener, path in zip(listeners, paths, strict=True):
        listener.bind(str(path))
        listener.listen(1)

    def carry() -> None:
        ends = [listener.accept()[0] for listener in listeners]
        threads = [
            threading.Thread(target=_pass_on, args=pair) for pair in (ends, list(reversed(ends)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for end in ends:
            end.close()

    carrier = threading.Thread(target=carry)
    carrier.start()
    yield [f"socket:{path}" for path in paths]
    carrier.join()
    for listener in listeners:
        listener.close()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        return  # the other end is gone


@contextmanager
def endpoint(end: int, width: int, link: str) -> Iterator[Simulation]:
    mac, ipv4, _ = ENDS[end]
    port = PortOptions(mac=mac, ipv4=ipv4, link=link)
    with Simulation.start(DUT, data_width=width, ports=[port], free_running=True) as simulation:
        yield simulation


def config(end: int, service: Service, psn: int) -> QpConfig:
    """Towards the other one."""
    mac, ipv4, number = ENDS[1 - end]
    return QpConfig(
        service=service,
        path_mtu=PathMtu.MTU_256,
        local_qpn=ENDS[end][2],
        remote_qpn=number,
        remote_mac=mac,
        remote_gid=f"::ffff:{ipv4}",
        sq_psn=psn,
        rq_psn=psn,
        access=RIGHTS,
    )


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
@pytest.mark.parametrize("widths", [(64, 512), (512, 64)], ids=str)
def test_what_one_width_writes_the_other_has(
    tmp_path: Path, service: Service, widths: tuple[int, int]
) -> None:
    payloads = [random.Random(length).randbytes(length) for length in LENGTHS]
    with (
        wire(tmp_path) as links,
        endpoint(0, widths[0], links[0]) as near,
        endpoint(1, widths[1], links[1]) as far,
    ):
        memory = HdlMemory(far, regions=4)
        region = memory.add(sum(LENGTHS), RIGHTS, pd=0)
        far.port(0).configure(config(1, service, 0xFFFFF0))
        far.statistics()  # and with it, all that was said before
        near.port(0).configure(config(0, service, 0xFFFFF0))
        offset = 0
        for number, payload in enumerate(payloads):
            request = WorkRequest(
                wr_id=number,
                qpn=ENDS[0][2],
                operation=Operation.WRITE,
                length=len(payload),
                remote_addr=region.addr + offset,
                rkey=region.rkey,
            )
            near.port(0).post(request, payload=payload)
            offset += len(payload)
        done: list[Status] = []

        def all_done() -> bool:
            done.extend(each.completion.status for each in near.port(0).take_completions())
            return len(done) == len(payloads)

        near.wait(all_done, timeout=SECONDS, what="completions")
        assert done == [Status.SUCCESS] * len(payloads)
        wanted = b"".join(payloads)

        def arrived() -> bool:
            return region.read(0, len(wanted)) == wanted

        wait_until_due(far, arrived, DUE)
