# SPDX-License-Identifier: BSD-2-Clause
"""Compares frames to the last byte with what their own fields call for.

Fields that a case predicts are compared where it expects them; here lengths, checksum, pads
and ICRC are, and that nothing stands in front or behind.
"""

from roceproof.conformance.rules.table import breaks_a_must
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.expect.length_fields import wrong_frame_pad, wrong_lengths
from roceproof.conformance.suite.expect.wrong_bytes import wrong_bytes
from roceproof.conformance.suite.reporting.failure import CaseFailed, rule_of
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.frame_edits import without_udp_checksum
from roceproof.conformance.wire.ip import checksum
from roceproof.conformance.wire.notation import first_difference


def frames_are_exact(bench: Bench) -> None:
    """Every frame that the device has sent is as a right sender makes it.

    A frame in which only what no must asks for is wrong is told if no other frame is wrong.
    """
    mild: CaseFailed | None = None
    for index, sent in enumerate(bench.frames_sent()):
        frame = without_udp_checksum(sent)
        packet = parse(frame)
        right = b"" if packet is None else build(packet)
        if right != frame:
            at = first_difference(right, frame)
            rules: list[str] = []
            lines = [f"frame {index} of the device is wrong from byte {at} on"]
            if packet is not None and (made := parse(right)) is not None:
                wrong = wrong_lengths(packet, made.udp_length) or wrong_frame_pad(frame, packet)
                wrong = wrong or [wrong_bytes(right, frame)]
                lines += [f"      {each.field}: want {each.want}, got {each.got}" for each in wrong]
                named = [rule for each in wrong if (rule := rule_of(each)) is not None]
                is_mild = len(named) == len(wrong) and not breaks_a_must(named)
                rules = named if is_mild else []
            text = "\n".join([*lines, f"want  {right.hex()}", f"got   {frame.hex()}"])
            failure = bench.failed(text, rules=rules)
            if not rules:
                raise failure
            mild = mild or failure
    if mild is not None:
        raise mild


def icrcs_are_right(bench: Bench) -> None:
    """Every frame that the device has sent ends with the right ICRC."""
    for index, frame in enumerate(bench.frames_sent()):
        verdict = icrc.check(frame)
        if verdict.judgement is not icrc.Judgement.OK:
            want = "one" if verdict.computed is None else verdict.computed.hex()
            got = verdict.judgement if verdict.found is None else verdict.found.hex()
            raise bench.failed(f"frame {index} of the device, icrc: want {want}, got {got}")


def header_checksums_are_right(bench: Bench) -> None:
    """The words of every IPv4 header sent add up to ones."""
    for frame in bench.frames_sent():
        assert checksum(frame[14:34]) == 0, f"header {frame[14:34].hex()}"


def idents_that_carry_twice(bench: Bench) -> tuple[int, int, int]:
    """With two of these identifications the sum of the first RoCE packet's header carries again.

    That is once its carry is added; with the third it does not.
    """
    frame = next(frame for frame in bench.frames_sent() if parse(frame) is not None)
    words = [int.from_bytes(frame[at : at + 2], "big") for at in range(14, 34, 2)]
    total = sum(words) - words[2] - words[5]
    return (-1 - total & 0xFFFF, -2 - total & 0xFFFF, -total & 0xFFFF)
