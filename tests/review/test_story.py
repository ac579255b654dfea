# SPDX-License-Identifier: BSD-2-Clause
"""PSNs count from the start of their flow, messages in the order of PSNs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stories import RC_ONLY, frames_of, story

from roceproof.conformance.capture import reader as capture
from roceproof.conformance.review.caption import caption
from roceproof.conformance.review.story import Frame, Kind, tell

STORED = Path(__file__).parents[1] / "captures" / "rxe"


def stored(name: str) -> list[Frame]:
    return [
        Frame(each.number, each.time_ns, each.frame, each.full_size)
        for each in capture.read(STORED / name)
    ]


def test_psns_start_at_zero_and_do_not_wrap() -> None:
    for flow in {step.flow for step in story(RC_ONLY)}:
        psns = [s.psn for s in story(RC_ONLY) if s.flow == flow and s.kind is Kind.REQUEST]
        assert psns == sorted(psns)
        assert not psns or psns[0] == 0


def test_responses_count_from_the_requests_they_answer() -> None:
    replies = [step for step in story(RC_ONLY) if step.kind is Kind.RESPONSE]
    assert replies
    assert all(step.psn is not None and 0 <= step.psn < 1000 for step in replies)
    alone = tell(frames_of(RC_ONLY.frames()))
    assert all(step.psn is None for step in alone if step.kind is Kind.RESPONSE)


def test_a_message_that_comes_late_keeps_its_number() -> None:
    steps = tell(stored("write_lost.pcapng.gz"))
    numbers = {}
    for step in steps:
        if step.kind is Kind.REQUEST and step.flow.qpn != 1:
            place = (step.flow, step.psn)
            assert numbers.setdefault(place, step.message) == step.message
    assert any(step.copy for step in steps)


def test_a_cut_frame_has_no_icrc_verdict() -> None:
    frames = [frame._replace(data=frame.data[:60]) for frame in frames_of(RC_ONLY.frames())]
    assert {step.icrc_ok for step in tell(frames) if step.packet.udp_length > 60} == {None}


def test_a_caption_names_opcode_psn_and_syndrome() -> None:
    steps = tell(stored("send_rnr.pcapng.gz"))
    captions = [caption(step) for step in steps]
    assert any(text.startswith("RNR NAK timer=") for text in captions)
    assert any("message 1" in text for text in captions)
    bad = replace(steps[0], icrc_ok=False)
    assert caption(bad).endswith("BAD ICRC")
