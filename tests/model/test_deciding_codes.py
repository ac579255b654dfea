# SPDX-License-Identifier: BSD-2-Clause
"""A completion names a syndrome that has come, for its work or for what is behind it."""

import pytest

from roceproof.conformance.model.monitor.deciding_codes import DecidingCodes
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Aeth, Bth
from roceproof.verbs.work import Outcome

START, LAST = 0xFFFFFE, 3
ACK, DATA = 0x11, 0x10


def heard(*responses: tuple[int, int, int]) -> DecidingCodes:
    codes = DecidingCodes(START)
    for opcode, place, syndrome in responses:
        bth = Bth(opcode=opcode, dest_qpn=7, psn=(START + place) % (1 << 24))
        codes.heard(Segment(bth, (Aeth(syndrome, 1),)))
    return codes


@pytest.mark.parametrize(
    ("status", "syndrome", "is_admitted"),
    [
        ("success", 0x05, True),
        ("success", None, True),
        ("success", 0x04, False),  # of an ACK before it
        ("success", 0xFF, False),
        ("rem_access_err", 0x62, True),
        ("rem_access_err", 0xFF, False),
        ("rem_op_err", 0x63, False),  # which has not come
        ("wr_flush_err", 0xFF, True),
        ("wr_flush_err", 0x62, False),
        ("loc_qp_op_err", 0x00, False),
        ("retry_exc_err", 0xFF, True),
        ("retry_exc_err", 0x60, True),
    ],
)
def test_a_syndrome_has_come_as_far_as_the_work_goes(
    status: str, syndrome: int | None, is_admitted: bool
) -> None:
    codes = heard((ACK, LAST - 1, 0x04), (ACK, LAST, 0x05), (ACK, LAST + 1, 0x62))
    outcome = Outcome(wr_id=1, status=status, syndrome=syndrome)
    assert codes.admit(outcome, LAST) == is_admitted


@pytest.mark.parametrize(("last", "is_admitted"), [(LAST, True), (LAST + 1, False)])
def test_work_that_data_have_acknowledged_may_name_any(last: int, is_admitted: bool) -> None:
    codes = heard((DATA, LAST, 0x1F))
    assert codes.admit(Outcome(wr_id=1, status="success", syndrome=0xFF), last) == is_admitted
