# SPDX-License-Identifier: BSD-2-Clause
"""What the specification leaves to a requester, as switches whose values are sentences.

Each default conforms. Numbers say in which range they do.
"""

from dataclasses import dataclass
from enum import Enum


class Retransmission(Enum):
    """Whether the requester can send a packet again."""

    NONE = "a sequence NAK, an RNR NAK or a timeout ends the queue pair"
    GO_BACK_N = "everything from the packet in question on is sent again"


class Reread(Enum):
    """RTX-17: what asks for lost READ responses."""

    REST = "a request at the PSN of the first one missing, for what is left"
    WHOLE = "the first request again"


class DataRequest(Enum):
    """ACK-02: whether a READ or an atomic, which data answer anyway, asks for an ACK besides."""

    ASKS = "AckReq is set, as on each packet that closes a message"
    SILENT = "AckReq is clear"


class ResponseGap(Enum):
    """RTX-19: what a READ response does that is ahead of the next one, besides being discarded."""

    RETRY = "it is an implied NAK"
    WAIT = "nothing: the ACK timeout brings the rest"


class Unexpected(Enum):
    """AETH-05, FUZZ-12: what a response does that makes no sense where it stands."""

    IGNORED = "nothing: a timeout settles the matter"
    BAD_RESPONSE = "it ends the queue pair"


class NakRetries(Enum):
    """RTX-05: whether a NAK that brings no progress uses up a retry, as a timeout does."""

    COUNTED = "it does"
    FREE = "it does not"


class RnrAgain(Enum):
    """RNR-03: an RNR NAK for the PSN whose RNR NAK is being waited for."""

    IGNORED = "it says nothing new"
    WAITS_ANEW = "the wait begins again, with its time, and a retry is used up"


class FlowControl(Enum):
    """CRED-03: whether credits in ACKs bound the messages that take a receive."""

    NONE = "any credit code is an ACK and nothing more"
    CREDITS = "beyond the credits one packet at a time is sent, and asks for an ACK"


@dataclass(frozen=True, kw_only=True)
class RequesterPolicy:
    retransmission: Retransmission = Retransmission.GO_BACK_N
    reread: Reread = Reread.REST
    data_request: DataRequest = DataRequest.ASKS
    response_gap: ResponseGap = ResponseGap.RETRY
    unexpected: Unexpected = Unexpected.IGNORED
    nak_retries: NakRetries = NakRetries.COUNTED
    rnr_again: RnrAgain = RnrAgain.IGNORED
    flow_control: FlowControl = FlowControl.NONE

    ack_interval: int = 32
    """AckReq is set on each packet that closes a message, and on every so many inside one."""
    max_outstanding: int = 128
    """PSNs from the oldest without an answer to the newest; up to 2^23 conform (PSN-11)."""
    timeout_percent: int = 200
    """When a timeout is noticed, in percent of T; 100 to 400 conform (RTX-01)."""

    packet_interval_ns: int = 100
    """The least time between two packets of the queue pair."""
    max_slowdown: int = 6
    """How often CNPs double that time; 0: not at all."""
    congestion_recovery_ns: int = 50_000
    """How long after a CNP it is halved, and again, until it is what it was."""
