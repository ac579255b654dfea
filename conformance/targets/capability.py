# SPDX-License-Identifier: BSD-2-Clause
"""What a target may claim to do; a case that needs more is skipped with that reason."""

from enum import Enum


class Capability(Enum):
    """A claim; the value is the sentence that a skip prints behind "does not"."""

    # what the device does
    REQUESTER = "send requests"
    RESPONDER = "answer requests"
    RC = "serve reliable connections"
    UC = "serve unreliable connections"
    UD = "serve unreliable datagrams"
    SEND = "send SEND"
    SEND_IMM = "send SEND with immediate"
    SEND_INV = "send SEND with invalidate"
    WRITE = "send RDMA WRITE"
    WRITE_IMM = "send RDMA WRITE with immediate"
    READ = "send RDMA READ"
    ATOMIC = "send atomic operations"
    RETRANSMISSION = "retransmit"
    CREDITS = "obey end-to-end credits"
    IPV6 = "speak IPv6"
    VLAN = "send VLAN tags"
    PFC = "obey pause frames"
    CNP = "react to congestion notifications"
    MARKS = "notify of congestion"
    CM = "take part in connection management"
    INVALIDATE = "invalidate memory keys"
    FLUSH = "execute FLUSH and ATOMIC WRITE"
    RECEIVE_CREDITS = "advertise end-to-end credits"

    # what the bench can do with it
    LOCKSTEP = "have a clock that stands still between steps"
    DISTURBANCE = "let the bench stall its streams"
    STATES = "show the states of a queue pair"
    RESET = "reset a queue pair without connecting it anew"
    TOLD_KEYS = "take memory and keys from the bench"
    MEMORY = "let the bench look at its memory"
    COUNTERS = "count what it drops"
    MSN_PRESET = "start counting messages anywhere"
    SHARED_RECEIVE = "share receive queues"
    FCS = "show the frame check sequence"
    ALIGNMENT = "take payload at any byte lane"
    PING = "answer ARP and ping"
    POWER_ON = "be reset as a whole amid its life"
    RESTART = "restart a queue pair amid its traffic"
    DAMAGE = "let the bench mark frames as damaged"
