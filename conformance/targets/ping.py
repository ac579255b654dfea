# SPDX-License-Identifier: BSD-2-Clause
"""Echo requests to a device's kernel, and how to know its replies.

Every case ends with one, and the same few frames come back each time: each is built or read once.
"""

from collections.abc import Iterable
from functools import lru_cache
from struct import pack

from roceproof.conformance.wire.framing import ETHER_IPV4, ETHER_IPV6
from roceproof.conformance.wire.icmp import icmp_frame, icmp_message, what_is_wrong
from roceproof.verbs.addresses import Host

ECHO_REQUEST = {4: 8, 16: 128}
"""The type of an echo request by the bytes of an address."""
ECHO_REPLIES = {(ETHER_IPV4, 0), (ETHER_IPV6, 129)}
WRONGLY = "ping is answered wrongly"
NUMBER = 7
ECHO_DATA = b"roceproof".ljust(48, b".")
_NUMBERS = pack(">HH", NUMBER, NUMBER)
_ECHO = _NUMBERS + ECHO_DATA


@lru_cache
def echo_request(asker: Host, host: Host) -> bytes:
    return icmp_frame(asker, host, ECHO_REQUEST[len(host.ip)], _ECHO)


@lru_cache
def is_echo_reply(frame: bytes) -> bool:
    """Whether the frame answers our ping, data and checksum and all."""
    message = icmp_message(frame)
    return message is not None and (message[:2] in ECHO_REPLIES) and message.body == _ECHO


def answers_another(frame: bytes) -> bool:
    """Whether it answers a ping of other numbers than ours."""
    message = icmp_message(frame)
    return (
        message is not None
        and message[:2] in ECHO_REPLIES
        and not message.body.startswith(_NUMBERS)
    )


def wrong_answer(asides: Iterable[bytes]) -> str | None:
    """What is wrong with the answer to our ping that is among these frames, if there is one."""
    for frame in asides:
        if not is_echo_reply(frame) and (wrong := what_is_wrong(frame, _ECHO)).startswith("; "):
            return WRONGLY + wrong
    return None
