# SPDX-License-Identifier: BSD-2-Clause
"""Where the specification leaves a responder a choice, or sources read it differently.

Every choice is an enumeration whose values are the sentences. The default of a switch
is the strict reading. `DEVIATIONS` names the values that known devices show although
a rule forbids them: the model can play such a device, but what it then answers is
never among the answers that conform.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum


class HalfSpace(Enum):
    """PSN-13, PSN-14: whose is the PSN exactly 2^23 away from the expected one."""

    DUPLICATE = "it is a duplicate"
    AHEAD = "it is ahead"


class AfterRnr(Enum):
    """RNR-06: a request ahead of one that drew an RNR NAK."""

    SILENT = "the RNR NAK counts as the NAK that is pending, and the request is dropped"
    SEQUENCE_NAK = "it raises a sequence NAK of its own"


class DuplicateAck(Enum):
    """DUP-03: the PSN of the ACK for a repeated SEND or WRITE."""

    OWN = "the PSN of the duplicate itself"
    LATEST = "the latest PSN of a SEND or WRITE that was executed"


class UnaskedDuplicate(Enum):
    """DUP-10: a repeated SEND or WRITE that does not ask for an ACK."""

    ACKNOWLEDGED = "it is acknowledged all the same"
    DROPPED = "it is dropped"


class UnsupportedDuplicate(Enum):
    """OPC-13: a SEND or WRITE of a kind that the responder does not have, at a PSN of the past."""

    ACKNOWLEDGED = "it is acknowledged as any duplicate"
    DROPPED = "it is dropped: nothing of that kind was ever executed"


class PastRequest(Enum):
    """DUP-04, DUP-07: a READ or an atomic again whose resource a later one has taken."""

    FORGOTTEN = "it is dropped"
    REMEMBERED = "it is answered as long as it is remembered, beyond what was agreed on"


class OddReread(Enum):
    """DUP-05, DUP-06: a repeated READ inside the first one that is not its rest from there on."""

    ANSWERED = "it is answered as what it asks for"
    DROPPED = "it is dropped: address and length do not belong to its PSN"


class BeforeFirst(Enum):
    """DUP-12: a duplicate before any request was executed."""

    DROPPED = "it is dropped"
    UNNAMED = "it is dropped, as all are until a SEND or WRITE was executed that an ACK can name"
    ACKNOWLEDGED = "the PSN before the first expected one is acknowledged"


class Unasked(Enum):
    """ACK-04: a request that does not ask for an ACK."""

    SILENT = "it draws none"
    ACKNOWLEDGED = "it is acknowledged all the same"


class AskedAck(Enum):
    """ACK-01, ACK-05: a SEND or WRITE that asks for an ACK."""

    AT_ONCE = "it gets its own"
    LATER = "a later response may stand for it, too"


class RepeatedAck(Enum):
    """DUP-11: a repeated SEND or WRITE that is acknowledged."""

    AT_ONCE = "it gets its own"
    LATER = "a later response may stand for it, too"


class ReplayMsn(Enum):
    """DUP-07: the MSN in the repeated answer to a repeated atomic."""

    SAVED = "that of the first answer, so that all bytes repeat"
    CURRENT = "the one of now"


class ReadOverLimit(Enum):
    """READ-06: a READ or atomic beyond the responder's resources."""

    REFUSED = "it draws an invalid-request NAK"
    RECYCLED = "the oldest resource serves it, unless there is none at all"


class PartialReread(Enum):
    """DUP-05: the opcodes of the answer to a repeated READ that starts later."""

    AFRESH = "as of a READ of its own, from FIRST or ONLY"
    CONTINUED = "as in the answer to the whole READ, MIDDLE to LAST"


class MidReadFault(Enum):
    """NAK-07: the PSN of the NAK where a READ fails after it has begun to answer."""

    RESPONSE = "of the response that cannot be given"
    REQUEST = "of the request"


class ExactFill(Enum):
    """RETH-11: a WRITE packet that is not the last carries all that DMALen leaves."""

    LATER = "it is executed; the next packet, which is too long, draws the NAK"
    AT_ONCE = "it draws the NAK itself"


class EarlyEnd(Enum):
    """RETH-11: a WRITE LAST or ONLY of exactly the path MTU that leaves some of DMALen open."""

    REFUSED = "it draws an invalid-request NAK"
    EXECUTED = "it ends the message"


class PlainSize(Enum):
    """MTU-06, PAD-06: the payload of requests other than WRITEs."""

    CHECKED = "it is as long as the opcode and the path MTU say, and padded to whole words"
    UNPADDED = "a SEND need not fill words; that of a READ or an atomic is not looked at"
    UNCHECKED = "it is taken as it is, by a READ or an atomic not looked at"


class LongSend(Enum):
    """NAK-07: a SEND on RC that its receive cannot hold."""

    INVALID = "it is an invalid request"
    OPERATIONAL = "it draws the NAK of a receive that cannot be used"


class LongUnreliableSend(Enum):
    """UC-09: a SEND on UC that its receive cannot hold."""

    DROPPED = "it is dropped, and its receive waits for the next"
    FATAL = "its receive ends in error, and so does the queue pair"


class UdpLength(Enum):
    """UDP-09: a UDP length below that of IP."""

    CHECKED = "the packet is dropped"
    BELIEVED = "the packet ends where UDP says"


class SeveralFaults(Enum):
    """NAK-14: which of its faults refuses a request in its place that has several."""

    FIRST = "the first of: permission, receive or READ resource, length, R_Key"
    SECOND = "the second of these that it has"
    LAST = "the last of these that it has"


class PadFault(Enum):
    """PAD-06: PadCnt exceeds the payload, or the two do not add up to whole words."""

    DROPPED = "the packet is malformed and is dropped"
    REFUSED = "an RC request of that kind draws an invalid-request NAK"


class HeaderFault(Enum):
    """BTH-16: the packet ends before the headers of its opcode do."""

    DROPPED = "the packet is malformed and is dropped"
    REFUSED = "an RC request of that kind draws an invalid-request NAK in its place"


class ReservedOpcode(Enum):
    """BTH-13: a reserved RC opcode."""

    REFUSED = "at the expected PSN it draws an invalid-request NAK"
    DROPPED = "it is dropped before its PSN is looked at"


class InvalidateFault(Enum):
    """INV-02: SEND with invalidate names a key that cannot be invalidated."""

    DELIVERED = "the message is delivered and acknowledged as any other"
    SILENT_ERROR = "the queue pair enters the error state without a NAK"
    REFUSED = "it draws a remote-access NAK"


class Persistence(Enum):
    """ATOM-08: FLUSH and ATOMIC WRITE."""

    SUPPORTED = "they are executed and answered by an empty READ RESP ONLY"
    UNSUPPORTED = "they draw an invalid-request NAK, as any operation that is not supported"


class IpOptions(Enum):
    """IP-16: an IPv4 packet with options and the right ICRC."""

    DROPPED = "it is dropped"
    ACCEPTED = "it is taken as any other"


class UdpChecksum(Enum):
    """UDP-08: a UDP checksum that is not zero."""

    VERIFIED = "a wrong one drops the packet"
    IGNORED = "it is not looked at"


class Credits(Enum):
    """CRED-01: what the credit code of an ACK says."""

    COUNTED = "how many receives are posted"
    INVALID = "that there is no end-to-end flow control"


NEVER = 1 << 62

DEVIATIONS: dict[Enum, str] = {
    AfterRnr.SEQUENCE_NAK: "RNR-06",
    ReadOverLimit.RECYCLED: "READ-06",
    PartialReread.CONTINUED: "DUP-05",
    EarlyEnd.EXECUTED: "RETH-11",
    PlainSize.UNCHECKED: "MTU-06",
    PlainSize.UNPADDED: "MTU-06",
    LongSend.OPERATIONAL: "NAK-07",
    LongUnreliableSend.FATAL: "UC-09",
    MidReadFault.REQUEST: "NAK-07",
    ReservedOpcode.DROPPED: "BTH-13",
    UdpLength.BELIEVED: "UDP-09",
    IpOptions.ACCEPTED: "IP-16",
}
"""Values that break a rule, which the catalogue or a device makes worth modelling."""


@dataclass(frozen=True, kw_only=True)
class ResponderPolicy:
    """One reading of the specification."""

    half_space: HalfSpace = HalfSpace.DUPLICATE
    after_rnr: AfterRnr = AfterRnr.SILENT
    duplicate_ack: DuplicateAck = DuplicateAck.OWN
    unasked_duplicate: UnaskedDuplicate = UnaskedDuplicate.ACKNOWLEDGED
    before_first: BeforeFirst = BeforeFirst.DROPPED
    unsupported_duplicate: UnsupportedDuplicate = UnsupportedDuplicate.ACKNOWLEDGED
    past_request: PastRequest = PastRequest.FORGOTTEN
    odd_reread: OddReread = OddReread.ANSWERED
    unasked: Unasked = Unasked.SILENT
    asked_ack: AskedAck = AskedAck.AT_ONCE
    repeated_ack: RepeatedAck = RepeatedAck.AT_ONCE
    replay_msn: ReplayMsn = ReplayMsn.SAVED
    read_over_limit: ReadOverLimit = ReadOverLimit.REFUSED
    partial_reread: PartialReread = PartialReread.AFRESH
    mid_read_fault: MidReadFault = MidReadFault.RESPONSE
    exact_fill: ExactFill = ExactFill.LATER
    early_end: EarlyEnd = EarlyEnd.REFUSED
    plain_size: PlainSize = PlainSize.CHECKED
    long_send: LongSend = LongSend.INVALID
    long_unreliable_send: LongUnreliableSend = LongUnreliableSend.DROPPED
    udp_length: UdpLength = UdpLength.CHECKED
    several_faults: SeveralFaults = SeveralFaults.FIRST
    header_fault: HeaderFault = HeaderFault.DROPPED
    pad_fault: PadFault = PadFault.DROPPED
    reserved_opcode: ReservedOpcode = ReservedOpcode.REFUSED
    invalidate_fault: InvalidateFault = InvalidateFault.DELIVERED
    persistence: Persistence = Persistence.SUPPORTED
    ip_options: IpOptions = IpOptions.DROPPED
    udp_checksum: UdpChecksum = UdpChecksum.VERIFIED
    credits: Credits = Credits.COUNTED

    ack_interval: int = NEVER
    """Where ACKs come later: after so many requests to be acknowledged one leaves."""
    ack_delay_ns: int = NEVER
    """Where ACKs come later: so long after the first such request one leaves."""

    @classmethod
    def switches(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls) if isinstance(field.default, Enum))

    def turned(self, switch: str, value: Enum) -> ResponderPolicy:
        """The same reading but for one switch."""
        return replace(self, **{switch: value})  # type: ignore[arg-type]
