# SPDX-License-Identifier: BSD-2-Clause
"""Every operation refuses what would hurt it, in the guest, with a sanitised agent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from roceproof.rxe_env import AgentError, SoftRoce
from roceproof.rxe_env.client import agent_build
from roceproof.rxe_env.loops import two_ends
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
    far_cq = peer.call("create_cq", depth=8)["cq"]
    srq = peer.call("create_srq", pd=pd)["srq"]

    def made(kind: str, send_cq: int, recv_cq: int, **more: int) -> int:
        queues = {"send_cq": send_cq, "recv_cq": recv_cq, **more}
        return int(peer.call("create_qp", pd=pd, type=kind, **queues)["qp"])

    return {
        "pd": pd,
        "cq": cq,
        "qp": made("RC", cq, cq),
        "far_qp": made("RC", far_cq, far_cq),
        "two_cqs": made("RC", cq, far_cq),
        "by_srq": made("RC", far_cq, far_cq, srq=srq),
        "uc": made("UC", far_cq, far_cq),
        "ud": made("UD", far_cq, far_cq),
        "mr": peer.reg_mr(100).handle,
        "mw": peer.call("alloc_mw", pd=pd)["mw"],
        "srq": srq,
    }


def queues(**fields: Any) -> dict[str, Any]:
    """What connections need for their queue pairs, and these fields."""
    return {"pd": "pd", "type": "RC", "send_cq": "cq", "recv_cq": "cq", **fields}


def ping(**fields: Any) -> tuple[str, dict[str, Any]]:
    """One that is right, but for these fields."""
    ends = {"qp": "qp", "mr": "mr", "far_qp": "far_qp", "far_mr": "mr"}
    right = {"opcode": "send", "wait": "busy", "size": 50, "rounds": 1}
    return "ping", {**ends, **right, **fields}


def blast(**fields: Any) -> tuple[str, dict[str, Any]]:
    """One that is right, but for these fields."""
    amounts = {"size": 25, "buffers": 4, "messages": 12}
    _, fields = ping(**{**amounts, **fields})
    del fields["rounds"]
    return "blast", fields


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
    (*ping(opcode="read"), "'read'"),
    (*ping(wait="solicited"), "'solicited'"),
    (*ping(size=0), "'size'"),
    (*ping(size=51), "too small"),
    (*ping(rounds=(1 << 20) + 1), "'rounds'"),
    (*ping(signaled=1), "'signaled'"),
    (*ping(timeout_ms=60001), "'timeout_ms'"),
    (*ping(), "after 0 there and 0 back: "),
    (*blast(opcode="cmp_swap"), "'cmp_swap'"),
    (*blast(wait="asleep"), "'asleep'"),
    (*blast(size=ALL_ONES), "'size'"),
    (*blast(size=0xFFFFFFFF), "too small"),
    (*blast(buffers=4097), "'buffers'"),
    (*blast(messages=0), "'messages'"),
    (*blast(list=257), "'list'"),
    (*blast(list=5), "multiple of 'list'"),
    (*blast(signal_every=5), "multiple of 'signal_every'"),
    (*blast(solicit_every=5), "multiple of 'solicit_every'"),
    (*blast(list=3, signal_every=3), "'buffers' must be at least"),
    (*blast(timeout_ms=0), "'timeout_ms'"),
    (*blast(qp="mr"), "not a qp"),
    (*blast(far_mr="qp"), "not a mr"),
    (*blast(far_qp="qp"), "must not share a cq"),
    (*blast(qp="two_cqs"), "one cq for all its work"),
    (*blast(far_qp="by_srq"), "an srq"),
    (*blast(far_qp="ud"), "RC or UC"),
    (*blast(buffers=100, size=1), "a cq holds"),
    (*blast(qp="uc", far_qp="qp", opcode="write"), "only on RC"),
    (*blast(opcode="write"), "after 0 posted, 0 done and 0 received: "),
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


def test_wrong_requests_are_refused_in_words(
    peer: SoftRoce, objects: dict[str, int], subtests: pytest.Subtests
) -> None:
    for op, fields, reason in REFUSED:
        with subtests.test(op, **fields):
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


def test_pings_arrive_as_they_were_sent_and_unsignalled_ones_complete_once(
    peer: SoftRoce, subtests: pytest.Subtests
) -> None:
    for opcode, wait, signaled in product(("send", "write_imm"), ("busy", "event"), (True, False)):
        with subtests.test(opcode=opcode, wait=wait, signaled=signaled):
            words = {"opcode": opcode, "wait": wait, "signaled": signaled}
            told = peer.call("ping", **two_ends(peer, "RC", memory=10), size=5, rounds=6, **words)
            assert told["right"] == 12
            due = 12 if signaled else 6
            assert (told["completions"], told["far_completions"]) == (due, due)
            for events in (told["events"], told["far_events"]):
                assert events == 0 if wait == "busy" else 6 <= events <= due


def test_blasts_arrive_as_they_were_sent_and_are_heard_of_by_opcode(
    peer: SoftRoce, subtests: pytest.Subtests
) -> None:
    opcodes = {"send": 24, "send_imm": 24, "write": 0, "write_imm": 24, "read": 0}
    amounts = {"size": 5000, "buffers": 4, "messages": 24, "list": 2, "signal_every": 3}
    for (opcode, heard), wait in product(opcodes.items(), ("busy", "event", "solicited")):
        with subtests.test(opcode=opcode, wait=wait):
            ends = two_ends(peer, "RC", memory=20000)
            told = peer.call("blast", **ends, opcode=opcode, wait=wait, **amounts)
            counts = [told[name] for name in ("right", "posts", "completions", "far_completions")]
            assert counts == [24, 12, 8, heard]
            if wait == "busy":
                assert told["events"] == told["far_events"] == 0
            else:
                assert 1 <= told["events"] <= 8
                assert bool(heard) <= told["far_events"] <= heard // (1 if wait == "event" else 2)


@pytest.mark.parametrize("wait", ["event", "solicited"])
def test_only_solicited_messages_wake_who_waits_for_those(peer: SoftRoce, wait: str) -> None:
    ends = two_ends(peer, "UC", memory=400)
    amounts = {"size": 100, "buffers": 4, "messages": 8, "solicit_every": 8, "timeout_ms": 300}
    words = {"opcode": "write_imm", "wait": wait, **amounts}
    if wait == "event":
        assert peer.call("blast", **ends, **words)["right"] == 8
    else:
        with pytest.raises(AgentError, match="after 4 posted, 4 done and 0 received: the time"):
            peer.call("blast", **ends, **words)


def test_messages_that_do_not_arrive_as_they_were_sent_are_not_counted(peer: SoftRoce) -> None:
    ends = two_ends(peer, "RC", memory=20)
    same = {**ends, "far_mr": ends["mr"]}  # the place to arrive at, made another, is the source's
    amounts = {"size": 10, "buffers": 2, "messages": 8}
    told = peer.call("blast", **same, opcode="write", wait="busy", **amounts)
    assert (told["completions"], told["right"]) == (8, 0)


def test_quit_ends_the_agent_without_a_sanitiser_report(peer: SoftRoce) -> None:
    assert peer.call("quit")["ok"]
    report = peer.console_tail()
    assert "Sanitizer" not in report
    assert "runtime error" not in report
