# SPDX-License-Identifier: BSD-2-Clause
"""The rules that a capture alone can decide, one row each.

MUST breaks are failures, SHOULD breaks are warnings. The sentence says what
holds on a healthy wire; the checks live in the modules named `*_checks`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a broken rule weighs."""

    MUST = "must"
    SHOULD = "should"


class Rule(NamedTuple):
    """One row of the table."""

    id: str
    severity: Severity
    sentence: str


_M, _S = Severity.MUST, Severity.SHOULD

RULES: dict[str, Rule] = {
    row[0]: Rule(*row)
    for row in (
        ("ETH-02", _M, "A frame is padded to 60 bytes behind its ICRC, and never beyond."),
        ("ETH-04", _S, "Ethernet pad bytes are zero."),
        ("ETH-05", _M, "A RoCE frame goes to the MAC address of one station."),
        ("IP-01", _M, "The IPv4 header has no options."),
        ("IP-02", _M, "The IP length counts the IP header and the whole UDP datagram."),
        ("IP-03", _M, "Don't Fragment is set and the packet is no fragment."),
        ("IP-04", _M, "The IPv4 identification is final before the ICRC is taken over it."),
        ("IP-05", _M, "The IPv4 header checksum is right."),
        ("UDP-01", _M, "RoCEv2 packets go to UDP port 4791."),
        ("UDP-02", _M, "The UDP length counts header, BTH to pad and ICRC; it divides by 4."),
        ("UDP-03", _S, "The UDP checksum is zero, or else right."),
        ("UDP-04", _S, "The UDP source port of a QP never changes."),
        ("ICRC-01", _M, "Every packet ends with an ICRC."),
        ("ICRC-02", _M, "The ICRC of an IPv4 packet is right."),
        ("ICRC-03", _M, "The ICRC of an IPv6 packet is right."),
        ("BTH-01", _M, "The opcode is defined and belongs to the QP's service."),
        ("BTH-02", _M, "Solicited Event appears only where a receive can complete."),
        ("BTH-04", _M, "The transport header version is 0."),
        ("BTH-06", _M, "The partition key is the default, 0xFFFF."),
        ("BTH-08", _M, "FECN, the six bits beside BECN, and BECN outside a CNP are 0."),
        ("OPC-01", _M, "MIDDLE and LAST follow a FIRST, and as many as the length asks for."),
        ("OPC-02", _M, "A message of several packets ends in LAST, with or without immediate."),
        ("OPC-03", _M, "A QP starts a message only after the previous one has ended."),
        ("OPC-05", _M, "SEND and WRITE packets are not mixed inside a message."),
        ("OPC-11", _M, "UC carries SEND and WRITE opcodes only."),
        ("MTU-01", _M, "FIRST carries exactly one path MTU."),
        ("MTU-02", _M, "MIDDLE carries exactly one path MTU."),
        ("MTU-03", _M, "LAST carries 1 byte to one path MTU."),
        ("MTU-04", _M, "ONLY carries at most one path MTU."),
        ("MTU-07", _M, "The payloads of a WRITE add up to the length in its RETH."),
        ("MTU-09", _M, "No packet exceeds the MTU of the IP layer."),
        ("PAD-01", _M, "PadCnt rounds the payload up to 4 bytes."),
        ("PAD-02", _S, "Pad bytes are zero."),
        ("PAD-04", _M, "FIRST and MIDDLE have no pad."),
        ("PAD-05", _M, "A packet that cannot carry payload has no pad."),
        ("PSN-02", _M, "Each new request packet has the PSN after the one before it."),
        ("PSN-03", _M, "PSNs count modulo 2^24."),
        ("PSN-18", _M, "UC neither skips nor repeats a PSN."),
        ("PSN-19", _M, "Beside AckReq, the byte above the PSN is zero."),
        ("RETH-01", _M, "A packet that opens a WRITE or asks for a READ has a whole RETH."),
        ("RETH-02", _M, "The length in the RETH of a FIRST is that of the whole message."),
        ("RETH-03", _M, "MIDDLE and LAST carry no RETH."),
        ("IMM-01", _M, "Immediate data stand behind BTH, or behind the RETH if there is one."),
        ("IMM-03", _M, "FIRST and MIDDLE carry no immediate data."),
        ("ACK-07", _M, "An ACK is 28 bytes of UDP without Solicited Event and AckReq."),
        ("AETH-01", _M, "The AETH is on every response but the middle ones of a READ."),
        ("AETH-02", _M, "The syndrome is an ACK, an RNR NAK or a defined NAK code."),
        ("AETH-03", _M, "Responses with data carry an ACK syndrome."),
        ("MSN-02", _M, "MSN counts completed messages: never back, never faster than the PSN."),
        ("UC-02", _S, "AckReq is 0 on UC."),
    )
}
