# SPDX-License-Identifier: BSD-2-Clause
"""Devices of which `explain` has said more than it knew: one for each way of doing so."""

from __future__ import annotations

import pytest

from roceproof.conformance.calibration.device import Device, needs_of, play
from roceproof.conformance.calibration.drawing import draw_plan
from roceproof.conformance.calibration.judge import Verdict
from roceproof.conformance.calibration.plan import Richness
from roceproof.conformance.calibration.run import explained, outcome


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (1, 716),  # P06, where empty messages take two PSNs and one packet was lost
        (1, 3987),  # P06, where empty messages take two PSNs and many packets were lost
        (1, 4912),  # PSN-03, where one bit of a READ's length changed, and its sender has S65
        (1, 3099),  # S62, where short packets carry the results of others
        (2, 784),  # S44+S65, where S65 explains all but one packet
        (3, 756),  # P12, where single packets were lost between messages
        (4, 785),  # UDP-02, where one bit of it changed in each of three packets
        (5, 400),  # P21, where a repeated request came with one bit of its PSN changed
        (5, 938),  # P11, where the peer sends one message twice
        (7, 1086),  # P04, where one bit of a READ's length changed, and its sender has S55
        (7, 1367),  # P19, where the sender drops responses for their length
        (7, 2782),  # RETH-02, which a LAST sent as MIDDLE breaks
        (8, 298),  # P17, of one restart that the way may have made look wrong
        (8, 589),  # P06, where back-pressure counts twice and packets were lost
        (8, 1347),  # P23, where back-pressure counts twice on UC
        (8, 1569),  # corrupt, where a byte is left from a packet that was not captured
        (8, 1652),  # S53, where 24 right packets come first
        (11, 509),  # S14, which S15 without dummy bytes is
        (11, 787),  # corrupt, where every packet differs in one bit, half of them behind a tag
        (11, 1797),  # PAD-01, where one bit of a PadCnt changed on the way
        (21, 164),  # P18, behind a READ of unknown length
        (21, 1586),  # P18, where as many packets were lost as had been sent again
        (22, 659),  # P02, where the first packet of the first message was lost
        (22, 1678),  # S13, which S19 with dummy bytes of zeros is
        (22, 2065),  # S57, where unpadded packets put a whole ICRC into the next beat
        (23, 520),  # S19, which S22 with four dummy bytes is
        (23, 902),  # P14, where a loss makes up for a repeated PSN
        (23, 2040),  # S13+S20, which S21 with dummy bytes of zeros is
        (24, 354),  # P23, where the first PSN of a connection changed on the way
        (24, 810),  # P21, where all requests look repeated
        (25, 164),  # P18, where a copy changed on the way and no ICRC tells
        (25, 422),  # lost, where no message ever ends
        (26, 275),  # S53, where acknowledgements of one PSN hold the results of each other
        (270638, 110),  # S65, where a repetition holds what a damaged packet should
        (650127, 557),  # P19, where the responses to a READ were lost
        (841307, 409),  # P06, where losses or P12 explain other connections
        (881001, 34),  # P22, where the requester goes back to PSNs that it has used
        (881001, 1325),  # PAD-03, where pad bytes are missing
        (881001, 1860),  # P22, where the first READ is taken for a repetition
        (881004, 1462),  # OPC-01, where a message is sent again under new PSNs
        (881004, 1934),  # lost, where PSNs of two queue pairs lie alike
        (510044, 188),  # P02, of an answer that changed on the way, with the ICRC of another
        (510044, 1324),  # P04, of a request that did
        (510066, 95),  # S18+S36, where beats are filled up, and all packets have one length
        (510066, 1173),  # P16, where packets wait for results that were lost
        (510088, 1113),  # S63, where all ICRCs lie in two beats
        (510099, 1793),  # lost, where damaged packets took the PSNs that are missing
        (7100002, 74),  # P18, in two packets of a sender whose PSNs are late
        (7100002, 1412),  # P23, where addresses and QPNs changed on the way
        (7100004, 958),  # lost, where packets wait for results that were lost
        (7100012, 1976),  # S29+S34, where the ID of one packet changed on the way
        (7100013, 1612),  # lost, where the only request of another queue pair took the PSN
        (7100014, 638),  # corrupt, where one packet shows one of two faults
        (7100026, 408),  # lost, of a start that acknowledgements moved
        (7200002, 75),  # S65, where one of two exchanged packets changed on the way
        (930055, 569),  # S36+S42, of payloads that are one byte of zeros
        (930088, 285),  # lost, where packets have no ICRC and others wrong lengths
        (930088, 1441),  # OPC-05, of a message that is sent again with the results of others
        (7300001, 162),  # corrupt, where AckReq was set behind the CRC once
        (7300002, 1758),  # corrupt, where the last packet holds the result of the next
        (7300005, 939),  # corrupt, where all packets differ in one bit of the payload
        (947022, 647),  # P19, in two packets beside P18 in two
        (26, 519),  # P06, where four losses between messages follow acknowledgements by chance
        (91003, 88),  # S57, where the Ethernet pad is covered, and unpadded packets tell nothing
        (93005, 1591),  # corrupt, where one bit of the lane that the CRC misses is set
        (93008, 1402),  # the same in another lane
        (94001, 1139),  # lost, where acknowledgements count long after they came
        (94007, 1375),  # corrupt, where dozens of packets have the same bit of one field
        (94008, 1497),  # S34, of two packets of which one bit of the ID changed on the way
        (95005, 1544),  # lost, of a shared register behind a READ of unknown length
        (95007, 567),  # MTU-07, of messages whose packets are short
        (95010, 543),  # P22, where replies of two queue pairs with the same PSNs are swapped
        (96004, 1811),  # S55+S65, where S55 explains what they leave over, too
        (96009, 1388),  # P14, where an empty message of P13 changed on the way into another
        (98010, 1506),  # S55 of the ID, where a lane that is dead shows in its beat alone
        (98011, 1602),  # P07, where READs take one PSN and damaged ones are not counted
        (97004, 1159),  # S46, of payloads that end in zeros where no ICRC is sent
        (92002, 82),  # P21, where two results in wrong packets look like one changed bit each
    ],
)
def test_a_drawn_device_is_given_no_wrong_name(seed: int, number: int) -> None:
    found = outcome(number, seed)
    assert found.verdict is not Verdict.WRONG, found.reasons


@pytest.mark.parametrize(
    ("faults", "richness", "seed"),
    [
        (("short middles", "S61"), Richness.FAIR, 3),  # S62
        (("short middles", "S65"), Richness.FAIR, 4),  # S62
        (("short middles", "S53"), Richness.FAIR, 2),  # MTU-07
        (("P07", "LAST as ONLY"), Richness.FAIR, 0),  # MTU-07, of what is no RETH
        (("LAST as ONLY", "S62"), Richness.FAIR, 0),  # MTU-07
        (("short middles", "S62"), Richness.POOR, 8),  # S64, learned from copies
        (("P21", "S65"), Richness.FAIR, 900009),  # P20, of answers that are late
        (("P21",), Richness.FAIR, 188501477150185),  # OPC-01, of neighbours that changed on the way
        (("P22",), Richness.RICH, 80392487102342),  # P18, of one loss behind a repetition
        (("P14", "rest for pad count", "S65"), Richness.POOR, 54803542552489),  # PSN-03, of a step
        (("P25",), Richness.FAIR, 141857758667508),  # P09, where others begin rightly
        (("P23",), Richness.FAIR, 227787636566198),  # P16 alone, where packets were lost
        (("P14", "MIDDLE as FIRST"), Richness.POOR, 135154628016204),  # P06, of three steps
        (("P12", "UDP length without ICRC"), Richness.FAIR, 70004363448201),  # P06 alone
    ],
)
def test_a_device_with_those_faults_is_given_no_wrong_name(
    faults: tuple[str, ...], richness: Richness, seed: int
) -> None:
    plan = draw_plan(seed, richness, needs_of(faults))
    device = Device(0, faults, faults, plan, play(plan, faults, seed), None)
    _, judgement = explained(device)
    assert judgement.verdict is not Verdict.WRONG, judgement.reasons
