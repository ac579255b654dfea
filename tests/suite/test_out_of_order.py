# SPDX-License-Identifier: BSD-2-Clause
"""The rule by which the first packet that is not in its place is refused."""

from __future__ import annotations

from functools import partial

import pytest

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import (
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    Maker,
    opcode,
)
from roceproof.conformance.suite.reporting.out_of_order import rule_out_of_order
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service

START = 0xFFFFFF
FIRST, WHOLE, LAST = SEND_FIRST, SEND_ONLY, SEND_LAST
RESERVED = partial(opcode, 0xFE)


def frames(service: Service, row: list[tuple[Maker, int]]) -> list[bytes]:
    flow = FlowCodec(
        src=Host(bytes(5) + b"\1", bytes([10, 0, 0, 1])),
        dst=Host(bytes(5) + b"\2", bytes([10, 0, 0, 2])),
        dest_qpn=17,
        src_qpn=18,
        service=int(service),
        request_start=START,
        response_start=0,
    )
    rest = {"va": 0, "rkey": 1, "dmalen": 512}
    patterns = [
        maker(psn=psn, payload=bytes(8), **(rest if maker is WRITE_FIRST else {}))
        for maker, psn in row
    ]
    return [flow.build(each) for each in patterns]


@pytest.mark.parametrize(
    ("row", "on_rc", "on_uc"),
    [
        ([(WHOLE, 0), (FIRST, 1), (LAST, 2), (WHOLE, 3)], None, None),
        ([(FIRST, 0), (WHOLE, 1)], "OPC-07", "UC-07"),
        ([(WRITE_FIRST, 0), (LAST, 1)], "OPC-08", "OPC-10"),
        ([(WHOLE, 0), (LAST, 1)], "OPC-06", "UC-08"),
        ([(FIRST, 0), (LAST, 2)], "PSN-14", "UC-04"),
        ([(WHOLE, 0), (WHOLE, 5)], "PSN-14", None),
        ([(WHOLE, 0), (WHOLE, 0)], "DUP-01", None),
        ([(FIRST, 0), (WRITE_LAST, 1), (LAST, 2)], "OPC-08", "OPC-10"),
        ([(RESERVED, 0), (WHOLE, 0)], "BTH-12", "BTH-12"),
        ([(RESERVED, 0), (WHOLE, 0), (LAST, 1)], "OPC-06", "UC-08"),
    ],
)
def test_the_first_packet_that_is_not_in_its_place_decides(
    row: list[tuple[Maker, int]], on_rc: str | None, on_uc: str | None
) -> None:
    assert rule_out_of_order(frames(Service.RC, row), START) == on_rc
    assert rule_out_of_order(frames(Service.UC, row), START) == on_uc
    assert rule_out_of_order([b"no packet"], START) is None
