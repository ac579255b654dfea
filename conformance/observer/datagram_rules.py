# SPDX-License-Identifier: BSD-2-Clause
"""Rules on UD, communication management and CNPs that one packet decides by itself."""

from collections.abc import Iterator

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.observer.psn import LARGEST_PATH_MTU
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire.headers import CnpReserved

UD_SEND_ONLY = 0x64
CM_QPN = 1
CM_CLASS = 7
_GSI_QKEY = 0x80010000
MAD_BYTES = 256
_CM_BASE_VERSION, _CM_CLASS_VERSION = 1, 2
_SEND = 3
_CM_ATTRIBUTES = range(0x10, 0x1B)
_CLASS_PORT_INFO, _CLASS_PORT_INFO_METHODS = 0x01, (0x01, 0x02, 0x81)
_JUDGED_MAD_BYTES = 18  # up to the attribute
_BECN = 0x40


def datagram(packet: Observed, path_mtu: int | None) -> Iterator[Violation]:
    """UD-01 on the reserved byte, UD-04."""
    deth = packet.deth
    if deth is not None and deth[1] >> 24:
        yield Violation("UD-01", "reserved byte 0x00 in the DETH", f"{deth[1] >> 24:#04x}")
    limit = path_mtu or LARGEST_PATH_MTU
    if packet.payload_size > limit:
        yield Violation("UD-04", f"at most {limit} bytes", str(packet.payload_size))


def management(packet: Observed) -> Iterator[Violation]:
    """CM-01 and CM-02, for what goes to QPN 1."""
    if packet.opcode != UD_SEND_ONLY:
        yield Violation("CM-01", f"opcode {UD_SEND_ONLY:#04x}", f"{packet.opcode:#04x}")
        return
    qkey, source = packet.deth or (_GSI_QKEY, CM_QPN)
    source &= 0xFFFFFF
    size = packet.payload_size
    is_broken = qkey != _GSI_QKEY or size != MAD_BYTES
    if is_broken or source != CM_QPN:  # which may have been redirected
        expected = f"Q_Key {_GSI_QKEY:#x}, source QPN {CM_QPN}, {MAD_BYTES} bytes"
        severity = None if is_broken else Severity.SHOULD
        yield Violation("CM-01", expected, f"{qkey:#010x}, {source:#x}, {size}", severity)
    mad = packet.payload
    if len(mad) >= _JUDGED_MAD_BYTES and mad[1] == CM_CLASS:
        yield from mad_rules(mad)


def mad_rules(mad: bytes) -> Iterator[Violation]:
    """CM-02: the header of a MAD of the communication management class."""
    base, version, method = mad[0], mad[2], mad[3]
    attribute = int.from_bytes(mad[16:18], "big")
    exchange = method == _SEND and attribute in _CM_ATTRIBUTES
    port_info = attribute == _CLASS_PORT_INFO and method in _CLASS_PORT_INFO_METHODS
    is_known = exchange or port_info
    if (base, version) != (_CM_BASE_VERSION, _CM_CLASS_VERSION) or not is_known:
        got = f"{base}, {version}, attribute {attribute:#06x} with method {method:#04x}"
        yield Violation("CM-02", "base version 1, class version 2, an attribute of CM", got)


def notification(packet: Observed) -> Iterator[Violation]:
    """CNP-01, CNP-10: the form of a congestion notification packet."""
    reserved = packet.header_at(CnpReserved)
    wrong = {
        "SE": packet.solicited,
        "PadCnt": packet.pad_count,
        "AckReq": packet.ack_requested,
        "PSN": packet.psn,
        "reserved bytes": reserved and any(packet.frame[reserved : reserved + CnpReserved.SIZE]),
    }
    if any(wrong.values()):
        got = ", ".join(name for name, there in wrong.items() if there)
        yield Violation("CNP-01", "a CNP of zeros", got)
    if packet.migreq or not packet.byte4 & _BECN:
        got = f"MigReq {int(packet.migreq)}, BTH byte 4 {packet.byte4:#04x}"
        yield Violation("CNP-10", "MigReq 0 and BECN", got)
