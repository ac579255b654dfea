# SPDX-License-Identifier: BSD-2-Clause
"""What two devices do differently is found, and weighed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from stories import RC_ONLY, story

from roceproof.conformance.review.diff import TrackDifference, compare
from roceproof.conformance.review.fields import FIELDS, MESSAGE_CONTENT, MESSAGE_LENGTH
from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire.codec import Packet


def differing(tracks: list[TrackDifference]) -> dict[str, bool]:
    return {each.field.name: each.field.matters for track in tracks for each in track.differences}


def test_the_same_traffic_does_not_differ() -> None:
    tracks = compare(story(RC_ONLY), story(RC_ONLY)).tracks
    assert sum(track.aligned for track in tracks) == len(story(RC_ONLY))
    assert not differing(tracks)
    assert not any(track.matters for track in tracks)


def test_other_start_psns_and_qpns_do_not_differ() -> None:
    def moved(packet: Packet) -> Packet:
        bth = packet.bth
        psn = (bth.psn + 0x7FFFFF) % (1 << 24)
        return replace(packet, bth=replace(bth, psn=psn))

    assert not differing(compare(story(RC_ONLY), story(RC_ONLY, moved)).tracks)


@pytest.mark.parametrize(
    ("field", "matters", "change"),
    [
        ("MigReq", False, {"migreq": False}),
        ("TVer", True, {"version": 3}),
        ("P_Key", True, {"pkey": 0x8001}),
        ("reserved beside AckReq", True, {"reserved7": 5}),
        ("Solicited Event", True, {"solicited": True}),
    ],
)
def test_a_header_field_is_weighed(field: str, matters: bool, change: dict[str, int]) -> None:
    def changed(packet: Packet) -> Packet:
        return replace(packet, bth=replace(packet.bth, **change))

    found = differing(compare(story(RC_ONLY), story(RC_ONLY, changed)).tracks)
    assert found == {field: matters}


def test_a_missing_request_matters_and_a_missing_ack_does_not() -> None:
    whole = story(RC_ONLY)
    request = next(step for step in whole if step.place == 0 and step.message == 2)
    ack = next(step for step in whole if step.row and step.row.value == 0x11)
    without_request = [step for step in whole if step is not request]
    without_ack = [step for step in whole if step is not ack]
    assert any(track.matters for track in compare(whole, without_request).tracks)
    tracks = compare(whole, without_ack).tracks
    assert [track.only_a for track in tracks if track.only_a] == [[ack.number]]
    assert not any(track.matters for track in tracks)


def test_a_flow_of_one_side_only_matters() -> None:
    whole = story(RC_ONLY)
    flow = whole[0].flow
    tracks = compare(whole, [step for step in whole if step.flow != flow]).tracks
    assert any(track.flow_b is None and track.matters for track in tracks)


def test_corrupt_payload_is_seen_in_data_and_icrc() -> None:
    random = Random(1)

    def corrupted(packet: Packet) -> Packet:
        if len(packet.payload) < 2 or random.random() < 0.5:
            return packet
        return replace(packet, payload=packet.payload[:-1] + b"\x55")

    found = differing(compare(story(RC_ONLY), story(RC_ONLY, corrupted)).tracks)
    assert found == {"payload": True}


def test_every_field_names_a_rule_and_a_reason() -> None:
    rows = [*FIELDS, MESSAGE_LENGTH, MESSAGE_CONTENT]
    assert len(rows_of("differences.tsv")) == len({row.name for row in rows}) == len(rows)
    assert all(row.why and (row.rule in RULES or row.rule == "-") for row in rows)
