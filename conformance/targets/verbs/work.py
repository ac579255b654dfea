# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs and work in the words of the verbs agent (docs/agent.md), and back."""

from collections.abc import Mapping
from typing import Any

from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

Fields = dict[str, Any]

# The path from RESET; ERR is reached from anywhere.
LADDER = (State.RESET, State.INIT, State.RTR, State.RTS)
RECEIVE_BIT = 1 << 62
SPORT_BITS = 0x3FFF
REMOTE_OPS = frozenset({Op.WRITE, Op.WRITE_IMM, Op.READ, Op.CMP_SWAP, Op.FETCH_ADD})
ATOMIC_BYTES = 8


def steps(start: State, end: State) -> tuple[State, ...]:
    """The states to go through, the last one included; `start` is where verbs last put it."""
    if start is end:
        return ()
    if end is State.ERR:
        return (State.INIT, State.ERR) if start is State.RESET else (State.ERR,)
    at, goal = (LADDER.index(s) if s in LADDER else len(LADDER) for s in (start, end))
    if at < goal:
        return LADDER[at + 1 : goal + 1]
    return LADDER[: goal + 1]


def address(spec: QpSpec, sgid_index: int) -> Fields:
    """The way to the other end. Hardware makes the source port from the flow label."""
    ip = spec.remote.ip
    gid = bytes(10) + b"\xff\xff" + ip if len(ip) == 4 else ip
    return {
        "dgid": gid.hex(":", 2),
        "sgid_index": sgid_index,
        "hop_limit": spec.hop_limit,
        "traffic_class": spec.traffic_class,
        "flow_label": spec.udp_sport & SPORT_BITS,
        "sl": 0 if spec.vlan is None else spec.vlan >> 13,
    }


def attributes(spec: QpSpec, state: State, sgid_index: int) -> Fields:
    """The fields of modify_qp for one step."""
    reliable = spec.service is Service.RC
    datagram = spec.service is Service.UD
    if state is State.INIT:
        return {"qkey": spec.qkey} if datagram else {"access": sorted(spec.access)}
    if state is State.RTR and not datagram:
        fields = {
            "path_mtu": spec.path_mtu,
            "dest_qpn": spec.remote_qpn,
            "rq_psn": spec.rq_psn,
            **address(spec, sgid_index),
        }
        if reliable:
            fields["max_dest_rd_atomic"] = spec.max_dest_rd_atomic
            fields["min_rnr_timer"] = spec.min_rnr_timer
        return fields
    if state is State.RTS:
        fields = {"sq_psn": spec.sq_psn}
        if reliable:
            fields["timeout"] = spec.ack_timeout
            fields["retry_cnt"] = spec.retry_count
            fields["rnr_retry"] = spec.rnr_retry
            fields["max_rd_atomic"] = spec.max_rd_atomic
        return fields
    return {}


def send_request(work: Work, sge: list[Fields], ah: int | None) -> Fields:
    """One entry of post_send. Numbers of 64 bits go as text, since JSON's may end before."""
    fields: Fields = {
        "wr_id": work.wr_id,
        "opcode": work.op.value.lower(),
        "solicited": work.solicited,
    }
    if sge:
        fields["sge"] = sge
    if work.op in REMOTE_OPS:
        fields |= {"raddr": hex(work.remote_addr), "rkey": work.rkey}
    if work.op in (Op.SEND_IMM, Op.WRITE_IMM):
        fields["imm"] = work.immediate
    if work.op is Op.SEND_INV:
        fields["inv_rkey"] = work.invalidate
    if work.op is Op.CMP_SWAP:
        fields |= {"compare": hex(work.compare), "swap": hex(work.swap_or_add)}
    if work.op is Op.FETCH_ADD:
        fields["add"] = hex(work.swap_or_add)
    if ah is not None:
        fields |= {"ah": ah, "remote_qpn": work.datagram_qpn, "remote_qkey": work.datagram_qkey}
    return fields


def outcome(wc: Mapping[str, Any]) -> Outcome:
    """A completion. Of a failed one only number and status mean anything."""
    return Outcome(
        wr_id=wc["wr_id"] & ~RECEIVE_BIT,
        status=wc["status"],
        is_receive=bool(wc["wr_id"] & RECEIVE_BIT),
        byte_len=wc.get("byte_len"),
        immediate=wc.get("imm"),
        invalidated=wc.get("invalidated_rkey"),
    )
