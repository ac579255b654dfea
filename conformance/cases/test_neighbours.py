# SPDX-License-Identifier: BSD-2-Clause
"""Frames right behind others: one that a device does not want hides none that it must answer.

A kernel on the same wire says much that is no business of a device: tagged with a priority alone,
tagged for another VLAN, to everybody, of any length. What comes right behind it is taken.
"""

from collections.abc import Iterator
from itertools import cycle

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, RESPONDER, case, over, over_ip_versions
from roceproof.conformance.suite.checks.station import answers_ping
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.sweep import FIRST_ACK, ignores_each, one_bit_off
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import ETHER_IPV6, ETHERNET_BYTES, ETHERNET_MINIMUM
from roceproof.conformance.wire.icmp import icmp_frame, icmp_message
from roceproof.conformance.wire.neighbours import (
    ND_HOPS,
    ND_SOLICITATION,
    UNASKED,
    answer,
    solicit,
)
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service

ASKED = [Capability.PING, Capability.LOCKSTEP]
VID, PRIORITY = 7, 5 << 13
TAGS = {"untagged": None, "priority": PRIORITY, "vlan": VID, "both": PRIORITY | VID}
TOO_LONG = (0x7FFF, 0x8000, 0xFFC0, 0xFFCA, 0xFFD0, 0xFFD8, 0xFFFF)
"""With the headers in front some are more than sixteen bits hold."""
NOBODYS = bytes.fromhex("88b5") + bytes(46)
SIZES = (60, 61, 62, 63, 64, 65, 66, 67, 68, 90, 128, 255, 342, 590, 1514, 1518)
"""Whole frames, the tag included; of 1518 bytes only a tagged one may be."""
NO_QUESTIONS = (0x0000, 0x0002, 0x0003, 0x0100, 0x0101, 0x8001)
"""Operations of ARP, 1 being a request."""
ECHO_REQUEST, ECHO_REPLY = 8, 0
ECHO_REQUEST_V6, ECHO_REPLY_V6 = 128, 129
NOBODY = bytes(16)
"""As what a host asks that has no address yet."""
TURNING = (0x0000, 0x0001, 0x07FF, 0x0800, 0xF7FE, 0xF7FF, 0xF800, 0xF801, 0xFFFE)
"""Checksums of echo requests: that of the answer is 0x0800 more, and may turn over."""
TRAILERS = (1, 2, 7, 8, 65, 140)
"""Bytes behind all that the lengths of a frame count."""
TURNING_V6 = (0x0000, 0x0001, 0x00FF, 0x0100, 0x0101, 0x7FFF, 0x8000, 0xFFFE)
"""The same over IPv6, where it is 0x0100 less."""
PINGS = range(1000, 9001, 1000)
HEADERS = 28  # of IPv4 and ICMP
NEAR = 16
HEADERS_V6 = 48
HEAD_V6 = 54  # bytes in front of what an IPv6 length counts
LACKING = (1, 2, 8, 14, 15, 40, 54)

over_tags = over("tag", TAGS.values(), ids=TAGS)


def foreign(bench: Bench, tag: int | None) -> Iterator[bytes]:
    """Frames of every length, in turn to everybody, to a group and to the device itself."""
    own, peer, draw = bench.target.host, bench.peers[1], bench.random
    stranger = own.ip[:-1] + bytes([own.ip[-1] ^ 0x40])
    arp = bytes.fromhex("08060001080006040001") + peer.mac + peer.ip + bytes(6) + stranger
    kinds = (
        (b"\xff" * 6, arp),
        (bytes.fromhex("333300000001"), b"\x86\xdd\x60" + bytes(5)),
        (bytes.fromhex("0180c200000e"), b"\x88\xcc"),
        (own.mac, b"\x88\xb5"),
    )
    for place, size in enumerate(SIZES):
        to, body = kinds[place % len(kinds)]
        head = to + peer.mac + (b"" if tag is None else b"\x81\0" + tag.to_bytes(2, "big"))
        frame = head + body
        yield (frame + draw.randbytes(max(0, size - len(frame))))[: max(size, ETHERNET_MINIMUM)]


def come(bench: Bench, asked: Neighbourhood, *frames: bytes) -> bool:
    """Whether the questions among these frames, sent back to back, are answered; each rightly."""
    for frame in frames:
        bench.send(frame, is_void=True)

    def has_all() -> bool:
        asked.judge(bench, bench.target.asides())
        return not asked.is_owing

    return bench.comes_true(has_all)


def answers(bench: Bench, asked: Neighbourhood, *frames: bytes) -> None:
    if not come(bench, asked, *frames):
        before = f" right behind {len(frames[0])} bytes, {frames[0][:18].hex()}..."
        told = asked.settled()
        raise bench.failed(f"{told}{before if len(frames) > 1 else ''}", rules=["LIVE-01"])


@case("LIVE-03", needs=ASKED, smoke=True)
def test_what_asks_for_nothing_draws_nothing(bench: Bench) -> None:
    host, peer = bench.target.host, bench.peers[0]
    question = solicit(peer, host.ip)
    for operation in NO_QUESTIONS:
        said = question[6:20] + operation.to_bytes(2) + question[22:]
        for to in (question[:6], host.mac):
            bench.send(to + said, is_void=True)
    bench.send(icmp_frame(peer, host, ECHO_REPLY, bytes(36)), is_void=True)
    bench.settle()
    Neighbourhood(host).judge(bench, bench.target.asides())


@case("LIVE-01", needs=ASKED, smoke=True)
def test_the_checksum_of_an_echo_turns_over_where_it_must(bench: Bench) -> None:
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for total in TURNING:
        answers(bench, asked, asked.asks(asker, 32, total=total))


@case("LIVE-01", needs=ASKED, smoke=True)
def test_bytes_behind_a_question_are_no_part_of_its_answer(bench: Bench) -> None:
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for trailer in TRAILERS:
        for size in (None, 0, 18, 32, 99):
            answers(bench, asked, asked.asks(asker, size, trailer=trailer))


@case("LIVE-01", "LIVE-03", needs=ASKED, smoke=True)
@over_tags
def test_arp_and_ping_behind_any_frame_are_answered(bench: Bench, tag: int | None) -> None:
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for frame in foreign(bench, tag):
        answers(bench, asked, frame, asked.asks(asker, None))
        answers(bench, asked, frame, asked.asks(asker, 32))


def tagged(frame: bytes, tag: int | None) -> bytes:
    return frame if tag is None else frame[:12] + b"\x81\0" + tag.to_bytes(2) + frame[12:]


@case("LIVE-01", "VLAN-01", "VLAN-03", "VLAN-05", needs=[*ASKED, Capability.VLAN], smoke=True)
@over_tags
@over_ip_versions
def test_a_question_with_a_tag_is_answered_with_that_tag(
    bench: Bench, tag: int | None, ipv6: bool
) -> None:
    """And without one, if it has none; the pad makes up for what the tag leaves, or for more.

    A frame of nobody with another tag follows at once.
    """
    asker = bench.peer(ipv6=ipv6)
    host = bench.target.host.facing(asker)
    behind = tagged(asker.mac + asker.mac + NOBODYS, VID if tag is None else tag ^ 0xFFF)
    for size in (None, *range(36), 900):
        body = bytes(4) + bench.random.randbytes(size or 0)
        kind = ECHO_REQUEST_V6 if ipv6 else ECHO_REQUEST
        question = solicit(asker, host.ip) if size is None else icmp_frame(asker, host, kind, body)
        replies = told(bench, tagged(question, tag), behind)
        if len(replies) != 1:
            text = f"{len(replies)} answers to {question[12:14].hex()}, tag {tag}: want one"
            raise bench.failed(text, rules=["LIVE-01"] if tag is None else ["VLAN-03"])
        (reply,) = replies
        if tag is not None:
            wanted = tagged(reply[:12], tag)
            if not reply.startswith(wanted):
                text = f"an answer begins {reply[:16].hex()}: want {wanted.hex()}"
                raise bench.failed(text, rules=["VLAN-01"])
            reply = reply[:12] + reply[16:]
            assert len(reply) >= ETHERNET_MINIMUM - 4
        reply = reply.ljust(ETHERNET_MINIMUM, b"\0")
        if size is None:
            assert reply == answer(question, {host.ip: host.mac})
            continue
        message = icmp_message(reply)
        assert message is not None
        assert (message.kind, message.body) == (ECHO_REPLY_V6 if ipv6 else ECHO_REPLY, body)
        assert reply[:12] == asker.mac + host.mac
        assert len(reply) == max(ETHERNET_MINIMUM, len(icmp_frame(asker, host, kind, body)))


@case("LIVE-03", "ACK-08", needs=[Capability.RC], smoke=True)
@REQUESTER
@over_tags
def test_an_ack_behind_any_frame_is_taken(bench: Bench, tag: int | None) -> None:
    qp = bench.connect(path_mtu=256)
    served(bench, Service.RC)
    op = operations(bench, Service.RC)[0]
    for frame in foreign(bench, tag):
        message = qp.post(op, 8)
        qp.expect_message(message)
        bench.send(frame, is_void=True)
        qp.finish(message)


@case("LIVE-03", "PSN-12", needs=[Capability.RC], smoke=True)
@RESPONDER
@over_tags
def test_a_request_behind_any_frame_is_served(bench: Bench, tag: int | None) -> None:
    qp = bench.connect()
    for psn, frame in enumerate(foreign(bench, tag)):
        bench.send(frame, is_void=True)
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=psn, msn=psn + 1))


@case("LIVE-01", needs=ASKED, smoke=True)
def test_pings_of_kilobytes_are_answered_or_leave_no_trace(bench: Bench) -> None:
    """A device need not answer more than fits the largest path MTU that it claims."""
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    longest = max(bench.claims.path_mtus)
    for size in sorted({*PINGS, *range(longest - ETHERNET_BYTES, longest + 2)}):
        question = asked.asks(asker, size - HEADERS)
        if size <= longest:
            answers(bench, asked, question)
        elif not come(bench, asked, question):
            asked.settled()
        answers(bench, asked, asked.asks(asker, 32))


def told(bench: Bench, *frames: bytes) -> list[bytes]:
    """What the device says of itself when these have come."""
    for frame in frames:
        bench.send(frame, is_void=True)
    bench.settle()
    return bench.target.asides()


def ping(asker: Host, host: Host, data: bytes, total: int) -> bytes:
    """An echo request over IPv6 whose checksum is `total`."""
    blank = icmp_frame(asker, host, ECHO_REQUEST_V6, bytes(4) + data)
    number = (int.from_bytes(blank[56:58]) - total) % 0xFFFF
    return icmp_frame(asker, host, ECHO_REQUEST_V6, number.to_bytes(4) + data)


def with_hops(frame: bytes, hops: int) -> bytes:
    return frame[:21] + bytes([hops]) + frame[22:]


def with_length(frame: bytes, length: int) -> bytes:
    return frame[:18] + length.to_bytes(2) + frame[20:]


@case("LIVE-01", needs=[*ASKED, Capability.IPV6], smoke=True)
def test_a_solicitation_is_answered_to_who_asks(bench: Bench) -> None:
    askers = [bench.peer(index, ipv6=True) for index in range(len(bench.peers))]
    host = bench.target.host.facing(askers[0])
    for asker in (*askers, askers[0]._replace(ip=NOBODY)):
        to_group = solicit(asker, host.ip)
        alone = icmp_frame(asker, host, ND_SOLICITATION, bytes(4) + host.ip, hops=ND_HOPS)
        for question in [to_group] if asker.ip == NOBODY else [to_group, alone]:
            after_another = solicit(asker, askers[1].ip), question
            assert told(bench, *after_another) == [answer(question, {host.ip: host.mac})]


@case("LIVE-03", needs=[*ASKED, Capability.IPV6], smoke=True)
def test_what_asks_a_host_for_nothing_over_ipv6_draws_nothing(bench: Bench) -> None:
    asker = bench.peer(ipv6=True)
    host = bench.target.host.facing(asker)
    question, ping = solicit(asker, host.ip), icmp_frame(asker, host, ECHO_REQUEST_V6, bytes(36))
    frames = {f"a solicitation with hop limit {n}": with_hops(question, n) for n in (0, 64, 254)}
    frames |= {
        f"a solicitation as type {kind}": question[:54] + bytes([kind]) + question[55:]
        for kind in (133, 134, 136, 137)
    }
    frames |= {
        f"an echo request as type {kind}": ping[:54] + bytes([kind]) + ping[55:]
        for kind in (1, 8, ECHO_REPLY_V6, 130)
    }
    for what, frame in (("a solicitation", question), ("an echo request", ping)):
        frames[f"{what} with code 1"] = frame[:55] + b"\1" + frame[56:]
        for length in (*(len(frame) - HEAD_V6 + n for n in LACKING), *TOO_LONG):
            frames[f"{what} that says {length:,} bytes"] = with_length(frame, length)
    for bit, ip in one_bit_off(host.ip).items():
        other, off = Host(host.mac, ip), f"its address with {bit}"
        frames |= {
            f"a solicitation for {off}": solicit(asker, ip),
            f"a solicitation to its own group for {off}": question[:62] + ip + question[78:],
            f"an echo request to {off}": icmp_frame(asker, other, ECHO_REQUEST_V6, bytes(36)),
        }
    if not (replies := told(bench, *frames.values())):
        return
    for number, (what, frame) in enumerate(frames.items(), 1):
        if found := told(bench, frame):
            text = f"{UNASKED}: {found[0].hex()} to frame {number} of {len(frames)}, {what}"
            raise bench.failed(text, rules=["LIVE-03"])
    raise bench.failed(
        f"{UNASKED}: {replies[0].hex()}, to these frames together", rules=["LIVE-03"]
    )


@case("LIVE-01", needs=[*ASKED, Capability.IPV6], smoke=True)
def test_pings_of_every_length_over_ipv6_are_answered(bench: Bench) -> None:
    """Of those whose packet fits the largest path MTU: a device may drop longer ones."""
    asker, draw = bench.peer(ipv6=True), bench.random
    host = bench.target.host.facing(asker)
    longest = max(bench.claims.path_mtus) - HEADERS_V6
    sizes = [size for size in (*range(140), 1000, longest) if size <= longest]
    for size, total in zip(sizes, cycle(TURNING_V6), strict=False):
        question = ping(asker, host, draw.randbytes(size), total)
        replies = told(bench, question)
        if len(replies) != 1:
            text = f"{len(replies)} answers to an echo request with {size} bytes of data: want one"
            raise bench.failed(text, rules=["LIVE-01"])
        (reply,) = replies
        assert icmp_message(reply) == (ETHER_IPV6, ECHO_REPLY_V6, question[58:])
        assert reply[:12] == asker.mac + host.mac
        assert reply[22:54] == host.ip + asker.ip
        assert len(reply) == len(question)


@case("LIVE-01", "GID-01", "GID-05", needs=[*ASKED, Capability.IPV6, Capability.WRITE], smoke=True)
@REQUESTER
def test_a_gid_that_is_no_ipv4_address_is_the_own_address(bench: Bench) -> None:
    own = Host(bench.target.host.mac, bytes.fromhex("20010db8") + bench.random.randbytes(12))
    with bench.another(1, own) as other:
        service = served(other, Service.RC, Service.UC)[0]
        asker = other.peer(ipv6=True)
        answers_ping(other, asker, what="a ping to the port's GID was")
        other.connect(service, ipv6=True).transfer(operations(other, service)[0], 100)
        if service is Service.RC:
            near = bench.random.sample([*one_bit_off(own.ip).items()], NEAR)
            ignores_each(other, {name: FIRST_ACK.but(dst_ip=ip) for name, ip in near}, ipv6=True)
