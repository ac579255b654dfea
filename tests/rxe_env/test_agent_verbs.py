# SPDX-License-Identifier: BSD-2-Clause
"""Every operation refuses what would hurt it, in the guest, with a sanitised agent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from roceproof.rxe_env import AgentError, SoftRoce
from roceproof.rxe_env.client import agent_build
from roceproof.rxe_env.vm import vm_backend
from roceproof.rxe_env.vm.vm_backend import VmBackend

pytestmark = pytest.mark.rxe


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def peer() -> Iterator[SoftRoce]:
    agent = agent_build.build_agent(flags=agent_build.SANITISED)
    backend = VmBackend(vm_backend.machine(silent, agent=agent), silent)
    with SoftRoce(backend) as started:
        yield started


@pytest.fixture(scope="module")
def objects(peer: SoftRoce) -> dict[str, int]:
    pd = peer.pd
    cq = peer.call("create_cq", depth=8)["cq"]
    qp = peer.call("create_qp", pd=pd, type="RC", send_cq=cq, recv_cq=cq)["qp"]
    return {
        "pd": pd,
        "cq": cq,
        "qp": qp,
        "mr": peer.reg_mr(100).handle,
        "mw": peer.call("alloc_mw", pd=pd)["mw"],
        "srq": peer.call("create_srq", pd=pd)["srq"],
    }


def queues(**fields: Any) -> dict[str, Any]:
    """What connections need for their queue pairs, and these fields."""
    return {"pd": "pd", "type": "RC", "send_cq": "cq", "recv_cq": "cq", **fields}


ALL_ONES = "0xffffffffffffffff"

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("alloc_pd", {"pd": 1}, "unknown field"),
    ("reg_mr", {"pd": 0, "size": 1}, "'pd'"),
    ("reg_mr", {"pd": 99999, "size": 1}, "'pd'"),
    ("reg_mr", {"pd": "cq", "size": 1}, "not a pd"),
    ("reg_mr", {"pd": "pd", "size": 0}, "'size'"),
    ("reg_mr", {"pd": "pd", "size": ALL_ONES}, "'size'"),
    ("reg_mr", {"pd": "pd", "size": 1, "fill": 256}, "'fill'"),
    ("reg_mr", {"pd": "pd", "size": 1, "access": ["root"]}, "'root'"),
    ("reg_mr", {"pd": "pd", "size": 1, "access": [3]}, "not a string"),
    ("reg_mr", {"pd": "pd", "size": 1, "access": "local_write"}, "list of names"),
    ("create_cq", {"depth": 0}, "'depth'"),
    ("create_srq", {"pd": "pd", "max_sge": 33}, "'max_sge'"),
    ("create_qp", {"pd": "pd", "type": "XRC", "send_cq": "cq", "recv_cq": "cq"}, "'XRC'"),
    ("create_qp", {"pd": "pd", "type": "RC", "send_cq": "qp", "recv_cq": "cq"}, "not a cq"),
    ("create_ah", {"pd": "pd", "dgid": "10.77.0.1"}, "'dgid'"),
    ("modify_qp", {"qp": "qp", "state": "INIT", "access": [None]}, "'access'"),
    ("modify_qp", {"qp": "qp", "state": "GONE"}, "'GONE'"),
    ("modify_qp", {"qp": "qp", "state": "RTR", "path_mtu": 1500}, "'path_mtu'"),
    ("modify_qp", {"qp": "qp", "state": "RTS", "sq_psn": 1 << 24}, "'sq_psn'"),
    ("listen", queues(address="10.77.0.2"), "'port'"),
    ("listen", queues(address="rxe", port=7), "'address'"),
    ("listen", queues(address="10.77.0.9", port=7), "listen"),
    ("listen", queues(address="10.77.0.2", port=1 << 16), "'port'"),
    ("listen", queues(address="10.77.0.2", port=7, retry_cnt=8), "unknown field"),
    ("connect", queues(address="10.77.0.1", port=7, retry_cnt=8), "'retry_cnt'"),
    ("connect", queues(address="10.77.0.1", port=7, type="XRC"), "'XRC'"),
    ("connect", queues(address="10.77.0.1", port=7, pd="cq"), "not a pd"),
    ("disconnect", {"cm": "qp"}, "not a cm"),
    ("post_recv", {"qp": "qp", "wrs": []}, "'wrs'"),
    ("post_recv", {"qp": "qp", "wrs": [1]}, "'wrs'"),
    ("post_recv", {"qp": "qp", "wrs": [{"sge": [{"mr": "mr", "length": 101}]}]}, "exceeds"),
    ("post_send", {"qp": "qp", "wrs": [{"opcode": "write"}]}, "'raddr'"),
    ("post_send", {"qp": "qp", "wrs": [{"opcode": "fly"}]}, "'fly'"),
    (
        "post_send",
        {
            "qp": "qp",
            "wrs": [{"opcode": "send", "sge": [{"mr": "mr", "offset": 1, "length": 100}]}],
        },
        "exceeds",
    ),
    (
        "post_send",
        {"qp": "qp", "wrs": [{"opcode": "bind_mw", "mw": "mw", "mr": "mr", "length": 101}]},
        "'length'",
    ),
    ("poll_cq", {"cq": "cq", "max": 2, "min": 3}, "'min'"),
    ("poll_cq", {"cq": "cq", "timeout_ms": 60001}, "'timeout_ms'"),
    ("read", {"mr": "mr", "offset": 101, "length": 0}, "'offset'"),
    ("read", {"mr": "mr", "offset": 1, "length": 100}, "exceeds"),
    ("sha256", {"mr": "mr", "offset": 1, "length": ALL_ONES}, "exceeds"),
    ("fill", {"mr": "mr", "offset": 100, "length": 1, "byte": 0}, "exceeds"),
    ("write", {"mr": "mr", "data": "abc"}, "hex"),
    ("write", {"mr": "mr", "data": "zz"}, "hex"),
    ("write", {"mr": "mr", "offset": 99, "data": "0000"}, "exceeds"),
    ("write", {"mr": "mr", "data": "00" * 65537}, "hex"),
    ("destroy", {"handle": 16384}, "not in use"),
    ("destroy", {"handle": "pd"}, "destroy"),
]


def filled_in(value: Any, objects: dict[str, int]) -> Any:
    """The request with handles in place of the names of objects."""
    if isinstance(value, dict):
        return {key: filled_in(inner, objects) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled_in(inner, objects) for inner in value]
    return objects.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize(("op", "fields", "reason"), REFUSED)
def test_a_wrong_request_is_refused_in_words(
    peer: SoftRoce, objects: dict[str, int], op: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(AgentError) as caught:
        peer.call(op, **filled_in(fields, objects))
    assert reason in caught.value.text


def test_a_handle_in_use_cannot_be_destroyed_and_keeps_working(
    peer: SoftRoce, objects: dict[str, int]
) -> None:
    with pytest.raises(AgentError, match="busy"):
        peer.call("destroy", handle=objects["pd"])
    assert peer.reg_mr(8).size == 8


def test_a_listener_can_be_destroyed_and_its_port_used_again(
    peer: SoftRoce, objects: dict[str, int]
) -> None:
    for _ in range(2):
        fields = filled_in(queues(address="10.77.0.2", port=77), objects)
        listener = peer.call("listen", **fields)["cm"]
        (known,) = peer.call("query_cm")["connections"]
        assert known == {"cm": listener, "listener": 0, "state": "listening"}
        peer.call("destroy", handle=listener)
    assert peer.call("query_cm")["connections"] == []


def test_destroyed_handles_are_used_again_and_cannot_be_used_before(peer: SoftRoce) -> None:
    first = peer.reg_mr(64)
    peer.call("destroy", handle=first.handle)
    with pytest.raises(AgentError, match="free handle"):
        peer.read(first)
    assert peer.reg_mr(64).handle == first.handle


def test_memory_reads_back_as_written_and_hashes_alike(peer: SoftRoce) -> None:
    region = peer.reg_mr(200_001, fill=0xA5)
    data = bytes(range(256)) * 600
    peer.write(region, data, offset=3)
    expected = b"\xa5" * 3 + data + b"\xa5" * (200_001 - 3 - len(data))
    assert peer.read(region) == expected
    assert peer.sha256(region) == hashlib.sha256(expected).hexdigest()
    assert peer.sha256(region, offset=3, length=0) == hashlib.sha256(b"").hexdigest()


def test_an_empty_queue_is_polled_until_the_deadline_and_gives_nothing(
    peer: SoftRoce, objects: dict[str, int]
) -> None:
    assert peer.call("poll_cq", cq=objects["cq"], timeout_ms=20)["wcs"] == []


def test_quit_ends_the_agent_without_a_sanitiser_report(peer: SoftRoce) -> None:
    assert peer.call("quit")["ok"]
    report = peer.console_tail()
    assert "Sanitizer" not in report
    assert "runtime error" not in report
