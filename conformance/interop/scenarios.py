# SPDX-License-Identifier: BSD-2-Clause
"""Which tools are run, what their server has to do, and what a device needs for that."""

from collections.abc import Collection
from dataclasses import dataclass

from roceproof.conformance.interop.answering import Opener, Rping, WriteBack, Writer
from roceproof.conformance.interop.dialogues import (
    Dialogue,
    PerftestByManagement,
    PerftestDialogue,
    PingpongDialogue,
)
from roceproof.conformance.interop.roles import Echo, Memory, Receiver, Role
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

SERVER = "10.77.0.1"
PORT = 18515
"""Of the TCP servers of all these tools."""
_GID = 1
_COUNT = 5
"""The guest's IPv4 address among its GIDs."""
RC, UC, UD = Service.RC, Service.UC, Service.UD


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One client's command line, and the server that it wants."""

    name: str
    command: str
    service: Service
    role: type[Role]
    dialogue: type[Dialogue] | None = None
    """Over TCP; with a port of rdma_cm over a connection of its own, before the one to be used."""
    cm_port: int | None = None
    size: int
    count: int
    path_mtu: int = 1024
    qps: int = 1
    """Each with so many messages of that size."""
    sends: Collection[Op] = ()
    """What the device does by itself."""
    executes: Collection[Op] = ()
    """What the device is asked for."""


def _pingpong(service: Service, size: int, *, mtu: int = 1024) -> Scenario:
    tool = f"ibv_{service.name.lower()}_pingpong"
    mtu_option = "" if service is UD else f" -m {mtu}"
    return Scenario(
        name=tool,
        command=f"{tool} -d rxe0 -g {_GID}{mtu_option} -s {size} -n {_COUNT} {SERVER}",
        service=service,
        dialogue=PingpongDialogue,
        role=Echo,
        size=size,
        count=_COUNT,
        path_mtu=mtu,
        sends=[Op.SEND],
        executes=[Op.SEND],
    )


def _perftest(
    command: str,
    service: Service,
    op: Op,
    role: type[Role] = Memory,
    *,
    size: int,
    count: int = _COUNT,
    mtu: int = 1024,
    qps: int = 1,
    sends: Collection[Op] = (),
) -> Scenario:
    """Of a perftest; one that asks for too long an ACK timeout waits for no slow simulation."""
    which = "" if service is RC else f" -c {service.name}"
    length = "" if op in (Op.FETCH_ADD, Op.CMP_SWAP) else f" -s {size}"
    several = f" -q {qps}" if qps > 1 else ""
    options = f"-F -d rxe0 -x {_GID} -m {mtu}{length} -n {count} -u 20"
    return Scenario(
        name=f"{command}{several}{which}",
        command=f"{command}{several}{which} {options} {SERVER}",
        service=service,
        dialogue=PerftestDialogue,
        role=role,
        size=size,
        count=count,
        path_mtu=mtu,
        qps=qps,
        sends=sends,
        executes=[op],
    )


def _by_cm(
    command: str,
    role: type[Role],
    *,
    port: int,
    size: int,
    count: int,
    sends: Collection[Op] = (),
    executes: Collection[Op] = (),
    dialogue: type[Dialogue] | None = None,
) -> Scenario:
    """A tool that asks for its connections; the path MTU is the kernel's choice."""
    words = command.split()
    name = f"{words[0]} -R" if "-R" in words else words[0]
    return Scenario(
        name=name,
        command=command,
        service=RC,
        role=role,
        dialogue=dialogue,
        cm_port=port,
        size=size,
        count=count,
        sends=sends,
        executes=executes,
    )


def _perftest_by_cm(
    command: str, op: Op, role: type[Role] = Memory, *, size: int, sends: Collection[Op] = ()
) -> Scenario:
    return _by_cm(
        f"{command} -R -F -d rxe0 -s {size} -n {_COUNT} -u 20 {SERVER}",
        role,
        port=PORT,
        size=size,
        count=_COUNT,
        sends={Op.SEND, *sends},
        executes={Op.SEND, op},
        dialogue=PerftestByManagement,
    )


PINGS, MESSAGES = 5, 4
SCENARIOS = (
    _pingpong(RC, 2500),
    _pingpong(UC, 1537, mtu=512),
    _pingpong(UD, 1000),
    _perftest("ib_write_bw", RC, Op.WRITE, size=10000, mtu=4096),
    _perftest("ib_write_bw", UC, Op.WRITE, size=2000, mtu=512),
    _perftest("ib_read_bw", RC, Op.READ, size=9000),
    _perftest("ib_read_lat", RC, Op.READ, size=300, mtu=256),
    _perftest("ib_send_bw", RC, Op.SEND, Receiver, size=1500),
    _perftest("ib_send_bw", UC, Op.SEND, Receiver, size=3000),
    _perftest("ib_send_bw", UD, Op.SEND, Receiver, size=600),
    _perftest("ib_write_bw -b", RC, Op.WRITE, Writer, size=5000, sends=[Op.WRITE]),
    _perftest("ib_write_bw -b", UC, Op.WRITE, Writer, size=5000, sends=[Op.WRITE]),
    _perftest("ib_send_bw -b", RC, Op.SEND, Opener, size=1500, sends=[Op.SEND]),
    _perftest("ib_write_bw", RC, Op.WRITE, size=700, qps=4),
    _perftest("ib_read_bw", RC, Op.READ, size=3000, qps=4),
    _perftest("ib_send_bw", RC, Op.SEND, Receiver, size=700, qps=2),
    _perftest("ib_write_bw -b", RC, Op.WRITE, Writer, size=300, mtu=256, qps=2, sends=[Op.WRITE]),
    _perftest("ib_write_lat", RC, Op.WRITE, WriteBack, size=1500, sends=[Op.WRITE]),
    _perftest("ib_write_lat", UC, Op.WRITE, WriteBack, size=300, mtu=256, sends=[Op.WRITE]),
    _perftest("ib_send_lat", RC, Op.SEND, Echo, size=1500, sends=[Op.SEND]),
    _perftest("ib_send_lat", UC, Op.SEND, Echo, size=1500, sends=[Op.SEND]),
    _perftest("ib_send_lat", UD, Op.SEND, Echo, size=600, sends=[Op.SEND]),
    _perftest("ib_atomic_bw -A FETCH_AND_ADD", RC, Op.FETCH_ADD, size=8, count=10),
    _perftest("ib_atomic_bw -A CMP_AND_SWAP", RC, Op.CMP_SWAP, size=8, count=10),
    _perftest("ib_atomic_lat -A FETCH_AND_ADD", RC, Op.FETCH_ADD, size=8, count=10),
    _by_cm(
        f"rping -c -a {SERVER} -C {PINGS} -S 100 -V",
        Rping,
        port=7174,
        size=16,
        count=2 * PINGS,
        sends=[Op.READ, Op.WRITE, Op.SEND],
        executes=[Op.SEND],
    ),
    _by_cm(
        f"ucmatose -s {SERVER} -c 1 -C {MESSAGES} -S 1000",
        Opener,
        port=7471,
        size=1000,
        count=MESSAGES,
        sends=[Op.SEND],
        executes=[Op.SEND],
    ),
    _perftest_by_cm("ib_write_bw", Op.WRITE, size=10000),
    _perftest_by_cm("ib_write_lat", Op.WRITE, WriteBack, size=1500, sends=[Op.WRITE]),
    _perftest_by_cm("ib_read_bw", Op.READ, size=9000),
    _perftest_by_cm("ib_send_bw", Op.SEND, Receiver, size=1500),
    _perftest_by_cm("ib_send_lat", Op.SEND, Echo, size=1500),
)

BEYOND = {
    "ibv_srq_pingpong": "its server wants a queue pair for each of many lines in one exchange",
    "ibv_xsrq_pingpong": "Soft-RoCE has no XRC",
    "mckey": "multicast: no device here joins a group",
    "udaddy": "it asks by SIDR, which the bench's connection management does not answer",
    "rstream": "rsockets have a protocol of credits of their own, which no server here speaks",
    "pyverbs": "its tests hold both ends in one process, on one device: there is no client to run",
}
"""What is not run, and why."""
