# SPDX-License-Identifier: BSD-2-Clause
"""What the ids of a diagnosis mean, where to look, and which traffic tells them apart."""

from roceproof.conformance.diagnosis.psn.kinds import AT_THE_END, BY_KIND
from roceproof.conformance.diagnosis.psn.start import MISCOUNTED
from roceproof.conformance.diagnosis.result import CORRUPT, LOST
from roceproof.conformance.rules.signatures import SIGNATURES, title

_OTHERS = {
    CORRUPT: (
        "the bits changed behind the receiver, on the way to the capture alone",
        "",
        "a capture at the responder",
    ),
    BY_KIND: (
        "how far the PSN moves on depends on the kind of packet",
        "the increment of each opcode: one for every request packet",
        "streams of one opcode",
    ),
    AT_THE_END: (
        "the PSN goes wrong at the end of its range",
        "the width of the PSN counter: 24 bits, all values in turn",
        "several connections whose start PSNs lie just below the end of the range",
    ),
    LOST: ("packets were lost in front of the capture", "", "a capture at the sender"),
    MISCOUNTED: (
        "the MSN lacks a message",
        "where the MSN begins, and what it counts",
        "the memory or the receive of the first message, which tells whether it was executed",
    ),
    "PSN-19": (
        "reserved bits beside AckReq are set",
        "what drives the byte above the PSN",
        "two connections whose start PSNs are configured with different upper bytes",
    ),
}
"""What is no signature: its title, where to look, and the traffic that tells it apart."""


def title_of(id_: str) -> str:
    return _OTHERS[id_][0] if id_ in _OTHERS else title(id_)


def first_advice(id_: str) -> str:
    """Where in its RTL to look, or where to capture."""
    if id_ in (LOST, CORRUPT):
        return "Capture at the sender." if id_ == LOST else "Capture at the responder."
    return f"Look at {_OTHERS[id_][1] if id_ in _OTHERS else SIGNATURES[id_].look}."


def separating(id_: str) -> str:
    """The traffic that shows it, and shows it alone."""
    return _OTHERS[id_][2] if id_ in _OTHERS else SIGNATURES[id_].traffic
