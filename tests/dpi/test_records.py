# SPDX-License-Identifier: BSD-2-Clause
"""Records, against bytes written out by hand from the contract's package."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from roceproof.dpi import (
    Completion,
    Operation,
    PathMtu,
    PatternPayload,
    QpCommand,
    QpConfig,
    Service,
    Status,
    WorkRequest,
)
from roceproof.dpi.contract.receive_records import (
    MemoryRegion,
    PostedReceive,
    ReceiveCompletion,
    ReceiveFlags,
)
from roceproof.dpi.contract.records import Access, RecordError


def test_qp_configuration_is_its_64_bytes():
    config = QpConfig(
        command=QpCommand.ACTIVATE,
        service=Service.UC,
        path_mtu=PathMtu.MTU_4096,
        local_qpn=0x010203,
        remote_qpn=0x040506,
        sq_psn=0xFFFFFF,
        rq_psn=7,
        remote_mac="02:11:22:33:44:55",
        remote_gid="10.1.2.3",
        udp_sport=0xC123,
        traffic_class=0x28,
        hop_limit=64,
        ip_id=0x1234,
        ack_timeout=14,
        retry_count=6,
        rnr_retry=5,
        min_rnr_timer=12,
    )
    assert config.pack().hex() == (
        "01010500" "00010203" "00040506" "00ffffff" "00000007"
        "021122334455" "c123" "00000000000000000000ffff0a010203"
        "28" "40" "1234" "0e06050c" + "00" * 12
    )  # fmt: skip


def test_the_second_versions_fields_take_the_places_of_reserved_ones():
    config = QpConfig(
        local_qpn=1,
        access=Access.LOCAL_WRITE | Access.REMOTE_READ,
        pd=0x0102,
        srq=0x0304,
        qkey=0x05060708,
        max_rd_atomic=9,
        max_dest_rd_atomic=10,
    )
    packed = config.pack()
    assert packed[3] == 0x05
    assert packed[-12:].hex() == "0102030405060708090a0000"
    assert len(packed) == QpConfig.SIZE == 64


def test_a_tag_stands_above_the_start_psns_and_nowhere_else():
    config = QpConfig(local_qpn=1, sq_psn=0x010203, rq_psn=0x040506)
    plain, tagged = config.pack(), replace(config, vlan=0x6007).pack()
    assert (plain[12:20].hex(), tagged[12:20].hex()) == ("0001020300040506", "7001020307040506")
    assert plain[:12] + plain[20:] == tagged[:12] + tagged[20:]
    assert replace(config, vlan=0).pack()[12] == 0x10


def test_that_credits_are_obeyed_stands_beside_the_rights():
    config = QpConfig(local_qpn=1, access=Access.REMOTE_WRITE)
    plain, obeys = config.pack(), replace(config, flow_control=True).pack()
    assert (plain[3], obeys[3]) == (0x02, 0x82)
    assert plain[:3] + plain[4:] == obeys[:3] + obeys[4:]


def test_memory_region_is_its_40_bytes():
    region = MemoryRegion(
        access=Access.REMOTE_WRITE,
        pd=0x0A0B,
        lkey=0x11223344,
        rkey=0x55667788,
        va=0x0102030405060708,
        length=1 << 32,
        base=0x99,
    )
    assert region.pack().hex() == (
        "01" "02" "0a0b" "11223344" "55667788"
        "0102030405060708" "0000000100000000" "0000000000000099" "00000000"
    )  # fmt: skip


def test_posted_receive_is_its_32_bytes():
    receive = PostedReceive(
        wr_id=0x0102030405060708, qpn=0x11, lkey=0xAABBCCDD, address=1 << 40, length=77, srq=3
    )
    assert receive.pack().hex() == (
        "0102030405060708" "00000011" "aabbccdd" "0000010000000000" "0000004d" "0003" "0000"
    )  # fmt: skip


def test_receive_completion_is_its_32_bytes():
    completion = ReceiveCompletion(
        wr_id=9,
        qpn=0x11,
        status=Status.LOC_PROT_ERR,
        flags=ReceiveFlags.IMMEDIATE | ReceiveFlags.SOLICITED,
        byte_len=5,
        immediate=0xFFFFFFFE,
        src_qpn=0x22,
    )
    packed = completion.pack()
    assert packed.hex() == (
        "0000000000000009" "00000011" "04" "05" "0000" "00000005" "fffffffe" "00000022" "00000000"
    )  # fmt: skip
    assert ReceiveCompletion.unpack(packed) == completion
    with pytest.raises(RecordError, match="31 bytes, expected 32"):
        ReceiveCompletion.unpack(packed[1:])
    with pytest.raises(RecordError, match="receive 0x9 completed with status 99"):
        ReceiveCompletion.unpack(packed[:12] + bytes([99]) + packed[13:])


def test_work_request_is_its_40_bytes():
    request = WorkRequest(
        wr_id=0x1122334455667788,
        qpn=0x10,
        operation=Operation.WRITE_IMM,
        solicited=True,
        payload_offset=5,
        remote_addr=0xAABBCCDD00112233,
        rkey=0xDEADBEEF,
        length=2**31 - 1,
        immediate=0x01020304,
    )
    assert request.pack().hex() == (
        "1122334455667788" "00000010" "03" "01" "0005"
        "aabbccdd00112233" "deadbeef" "7fffffff" "01020304" "00000000"
    )  # fmt: skip


def test_completion_is_its_16_bytes_both_ways():
    completion = Completion(wr_id=2, qpn=3, status=Status.RETRY_EXC_ERR, syndrome=0x60)
    data = bytes.fromhex("0000000000000002000000030c600000")
    assert completion.pack() == data
    assert Completion.unpack(data) == completion


def test_every_status_of_verbs_is_known_by_its_name():
    for number in range(24):
        data = bytes(12) + bytes([number, 0xFF, 0, 0])
        assert Completion.unpack(data).status == number


@pytest.mark.parametrize("data", [bytes(15), bytes(17), bytes(12) + b"\x63\xff\0\0"])
def test_malformed_completion_is_refused(data):
    with pytest.raises(ValueError, match=r"completion of|completed with status 99, expected"):
        Completion.unpack(data)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (QpConfig(local_qpn=1 << 24), "QpConfig.local_qpn is 0x1000000, expected 0..0xffffff"),
        (QpConfig(local_qpn=1, sq_psn=-1), "QpConfig.sq_psn"),
        (QpConfig(local_qpn=1, vlan=1 << 16), "QpConfig.vlan"),
        (QpConfig(local_qpn=1, vlan=1 << 12), "QpConfig.vlan is 0x1000, expected DEI, bit 12"),
        (QpConfig(local_qpn=1, udp_sport=70_000), "does not fit its width"),
        (QpConfig(local_qpn=1, remote_mac="02:00"), "expected six hex pairs"),
        (QpConfig(local_qpn=1, remote_gid="1.2.3"), "1.2.3"),
    ],
)
def test_value_that_does_not_fit_is_named(config, words):
    with pytest.raises(ValueError) as caught:
        config.pack()
    assert words in str(caught.value)


def test_path_mtu_codes_have_their_sizes():
    assert [PathMtu.from_size(size) for size in (256, 512, 1024, 2048, 4096)] == list(PathMtu)
    with pytest.raises(ValueError, match="path MTU 1500"):
        PathMtu.from_size(1500)


def test_pattern_pieces_make_the_whole():
    pattern = PatternPayload(seed=9, length=10_001)
    whole = bytes(pattern)
    assert len(whole) == 10_001
    assert b"".join(pattern.chunks(33)) == whole
    assert pattern.read(9_999, 100) == whole[9_999:]
    assert bytes(PatternPayload(seed=10, length=10_001)) != whole


def test_pattern_of_a_huge_message_has_a_known_end():
    pattern = PatternPayload(seed=1, length=2**31 - 1)
    word = 0x9E3779B97F4A7C15 // 2 + (2**28 - 1) * 0x9E3779B1
    assert pattern.read(2**31 - 8, 100) == word.to_bytes(8, "little")[:7]


def test_pattern_hash_does_not_change_between_versions():
    digest = hashlib.sha256()
    for chunk in PatternPayload(seed=3, length=1_048_577).chunks():
        digest.update(chunk)
    assert digest.hexdigest().startswith("1c4953d182706619")
