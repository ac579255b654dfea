# SPDX-License-Identifier: BSD-2-Clause
"""Changed bits in captures of simulated ports: there is no way on which they could have changed."""

from dataclasses import replace

from roceproof.conformance.capture.origin import Origin
from roceproof.conformance.diagnosis.icrc.wording import CHANGED, ON_THE_WAY
from roceproof.conformance.diagnosis.result import CORRUPT, Diagnosis

_WORDS = {
    Origin.SENT: (
        "have bits that do not fit their ICRC",
        "This was captured at the simulated port itself, and nothing lies between the device and"
        " it: the device drove these bits, or drove the ICRC of others. Look at what changes a"
        " frame behind its ICRC generator, or in front of it, only now and then: back-pressure,"
        " buffers, clock crossings.",
    ),
    Origin.GIVEN: (
        "have bits that do not fit their ICRC",
        "These frames were given to a simulated device. A test bench spoils some on purpose (their"
        " packet comments say so); with a real peer, look at its link.",
    ),
}


def told_of_simulation(found: Diagnosis, origin: Origin) -> Diagnosis:
    """The same diagnosis, but for the blame of a link that is not there."""
    if found.id != CORRUPT or origin not in _WORDS:
        return found
    seen, advice = _WORDS[origin]
    return replace(
        found,
        text=found.text.replace(CHANGED, seen, 1),
        advice=found.advice.replace(ON_THE_WAY, advice, 1),
    )
