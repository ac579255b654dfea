# SPDX-License-Identifier: BSD-2-Clause
"""Which syndromes a completion may name: those of the responses that may have decided it."""

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import Outcome

_ACKNOWLEDGE = 0x11
_NONE = 0xFF
_BY_A_NAK = ("rnr_retry_exc_err", "rem_inv_req_err", "rem_access_err", "rem_op_err")
_BY_NOBODY = ("wr_flush_err", "loc_qp_op_err")


class DecidingCodes:
    """Of one life of a reliable queue pair, whose PSNs count from its first."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._reached: dict[int, int] = {}
        """Of each syndrome the last PSN at which it was heard."""
        self._data = -1
        """The last PSN of data, which need no syndrome."""

    def heard(self, response: Segment) -> None:
        """A response to the device."""
        place = distance(response.bth.psn, self._start)
        if response.bth.opcode != _ACKNOWLEDGE:
            self._data = max(self._data, place)
        elif (aeth := response.extension(Aeth)) is not None:
            self._reached[aeth.syndrome] = max(place, self._reached.get(aeth.syndrome, -1))

    def admit(self, outcome: Outcome, last: int) -> bool:
        """Whether work whose last PSN that is may end with this syndrome."""
        said = outcome.syndrome
        if said is None:
            return True
        if outcome.status in _BY_NOBODY:
            return said == _NONE
        if outcome.status in _BY_A_NAK:
            return said in self._reached
        is_of_data = outcome.status != "success" or self._data >= last
        return is_of_data or self._reached.get(said, -1) >= last
