# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seed corpus of every fuzz target: one small file for each thing the code can meet.

Usage: make_corpus.py FOLDER; makes FOLDER/TARGET/* anew. The same bytes each time.
"""

import gzip
import json
import shutil
import struct
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from roceproof.conformance.capture.reader import read
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.wire.framing import locate
from roceproof.dpi.session.wire import MessageType, message

LITTLE, BIG = "<", ">"
FRAME_BYTES = 120  # of a seed's frames: enough for all headers
REPAIR, CUT = 1, 2  # of fuzz_oracle.c
READS = (Kind.READ,)
STORED = Path(__file__).parents[1] / "tests" / "captures" / "rxe"


def frames(count: int, *, seed: int) -> list[bytes]:
    """The first packets of a healthy conversation, cut to what a fuzzer can handle."""
    talk = Conversation(seed=seed, connections=2, lengths=(0, 1, 37, 64), path_mtus=(256,))
    return [timed.frame for timed in islice(talk.capture().frames, count)]


def pcap(order: str, magic: int, link: int, packets: list[bytes]) -> bytes:
    """A classic capture; every second packet is cut by a snap length."""
    data = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for i, packet in enumerate(packets):
        kept = packet[: FRAME_BYTES if i % 2 else None]
        data += struct.pack(f"{order}IIII", i, i, len(kept), len(packet)) + kept
    return data


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str, packets: list[bytes]) -> bytes:
    """A pcapng section with two interfaces and every kind of block."""

    def pack(layout: str, *values: int) -> bytes:
        return struct.pack(order + layout, *values)

    clock = option(order, 9, b"\x8a") + option(order, 14, pack("q", 7))
    data = block(order, 0x0A0D0D0A, pack("IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(order, 1, pack("HHI", 1, 0, 96) + clock + option(order, 13, b"\x20") + bytes(4))
    data += block(order, 1, pack("HHI", 113, 0, 0) + option(order, 9, b"\x09"))
    data += block(order, 4, b"names of no interest")
    for i, packet in enumerate(packets):
        size = len(packet)
        if i % 4 == 0:
            flags = option(order, 2, pack("I", 4 << 5)) + bytes(4)
            packet += bytes(-len(packet) % 4)
            data += block(order, 6, pack("IIIII", i % 2, 1, i, size, size) + packet + flags)
        elif i % 4 == 1:
            data += block(order, 3, pack("I", size) + packet[:96])
        elif i % 4 == 2:
            data += block(order, 2, pack("HHIIII", 0, 9, 1, i, size, size) + packet)
        else:
            data += block(order, 6, pack("IIIII", 1, 1, i, size, size) + packet)
    return data


def captures() -> Iterator[tuple[str, bytes]]:
    """Whole capture files by name."""
    packets = frames(6, seed=3)
    yield "empty", b""
    for order, name in ((LITTLE, "little"), (BIG, "big")):
        yield f"{name}-us.pcap", pcap(order, 0xA1B2C3D4, 1, packets)
        yield f"{name}-fcs-ns.pcap", pcap(order, 0xA1B23C4D, 0x24000001, packets[:2])
        yield f"{name}.pcapng", section(order, packets)
    yield "cooked.pcap", pcap(LITTLE, 0xA1B2C3D4, 113, packets[:1])
    yield "no-packets.pcap", pcap(LITTLE, 0xA1B2C3D4, 1, [])
    yield "no-packets.pcapng", section(LITTLE, [])
    yield "two-orders.pcapng", section(LITTLE, packets[:4]) + section(BIG, packets[4:])
    yield "cut.pcap", pcap(LITTLE, 0xA1B2C3D4, 1, packets)[:-3]
    yield "cut.pcapng", section(LITTLE, packets)[:-3]


def streams() -> Iterator[tuple[str, bytes]]:
    """The same through a pipe, and packed."""
    for name, data in captures():
        yield name, data
        yield f"{name}.gz", gzip.compress(data, mtime=0)
    whole = pcap(LITTLE, 0xA1B2C3D4, 1, frames(3, seed=4))
    yield "members.gz", gzip.compress(whole[:50], mtime=0) + gzip.compress(whole[50:], mtime=0)
    yield "stored.gz", gzip.compress(whole, compresslevel=0, mtime=0)
    yield "cut.gz", gzip.compress(whole, mtime=0)[:-9]


def listed(packets: list[bytes], how: int) -> bytes:
    """Frames as fuzz_oracle.c takes them."""
    return b"".join(struct.pack("<HB", len(packet), how) + packet for packet in packets)


def conversations() -> Iterator[tuple[str, bytes]]:
    """Sequences of frames: healthy, disturbed, managed, of both versions of RoCE."""
    for seed, words in enumerate(
        (
            {},
            {"loss": 0.2},
            {"rnr_rate": 0.5},
            {"reconnects": 1},
            {"ce_rate": 0.5},
            {"kinds": READS},
        )
    ):
        talk = Conversation(
            seed=seed, connections=2, lengths=(0, 1, 300, 513), path_mtus=(256,), **words
        )
        packets = [timed.frame for timed in islice(talk.capture().frames, 60)]
        yield f"talk-{seed}", listed(packets, REPAIR)
        yield f"talk-{seed}-facts", listed(packets, REPAIR) + b"?" * (len(packets) % 2)
        yield f"talk-{seed}-cut", listed([packet[:70] for packet in packets], CUT)
        yield f"talk-{seed}-v1", listed([as_v1(packet) for packet in packets], REPAIR)
        bent = [packet[:-1] + bytes([packet[-1] ^ 1]) for packet in packets]
        yield f"talk-{seed}-bent", listed(bent, 0)
    for name in ("rping", "ucmatose", "rping_lost_cm"):
        stored = read(STORED / f"{name}.pcapng.gz")
        yield name, listed([each.frame for each in islice(stored, 12)], REPAIR)


def channels() -> Iterator[tuple[str, bytes]]:
    """What a host says behind the start, as fuzz_control.c takes it: alone, and before it runs."""
    run = message(MessageType.RUN, (3000).to_bytes(8, "little"), b"\0")
    work = b"\1" + bytes(2) + (300).to_bytes(8, "little") + (9).to_bytes(8, "little") + bytes(40)
    said = {
        "run": run,
        "flow": message(MessageType.FLOW, b"\0", bytes(range(9))),
        "qpc": message(MessageType.QPC, b"\0", bytes(64)),
        "work": message(MessageType.WORK_REQUEST, b"\0", work),
        "work-bytes": message(
            MessageType.WORK_REQUEST, b"\0\0\3\0", (5).to_bytes(8, "little"), bytes(48), b"bytes"
        ),
        "frame": message(MessageType.FRAME, b"\1\0", *frames(1, seed=5)),
        "damaged": message(MessageType.FRAME, b"\0\1", bytes(70)),
        "region": message(MessageType.REGION, b"\0", bytes(40)),
        "receive": message(MessageType.RECEIVE, b"\1", bytes(32)),
        "poke": message(MessageType.POKE, b"\0", bytes(8), b"in memory"),
        "peek": message(MessageType.PEEK, b"\0", bytes(8), (5000).to_bytes(4, "little")),
        "reset": message(MessageType.RESET, b"\0\5"),
        "query": message(MessageType.QUERY),
        "stop": message(MessageType.STOP),
        "again": message(MessageType.START),
    }
    for name, data in said.items():
        yield name, b"\0" + data + run
        yield f"{name}-free", b"\1" + data
    yield "all", b"\0" + b"".join(said[name] for name in sorted(said) if name != "run") + run


def requests() -> Iterator[tuple[str, bytes]]:
    """What is asked of the agent: each operation by itself, and all of it, one behind the other."""
    address = {"dgid": "::ffff:10.0.0.1"}
    queues = {"pd": 1, "send_cq": 3, "recv_cq": 3}
    place = {"mr": 2, "offset": 8, "length": 100}
    said: list[dict[str, object]] = [
        {"op": "alloc_pd"},
        {"op": "reg_mr", "pd": 1, "size": 4096, "access": ["local_write", "mw_bind"], "fill": 7},
        {"op": "create_cq", "depth": 16},
        {"op": "create_srq", "pd": 1, "max_wr": 4},
        {"op": "create_qp", "type": "RC", "srq": 4, **queues},
        {"op": "create_qp", "type": "UD", "max_send_wr": 3, "max_inline_data": 64, **queues},
        {"op": "create_ah", "pd": 1, "traffic_class": 96, **address},
        {"op": "alloc_mw", "pd": 1},
        {"op": "modify_qp", "qp": 5, "state": "INIT", "access": ["remote_read"]},
        {"op": "modify_qp", "qp": 5, "state": "RTR", "path_mtu": 256, "dest_qpn": 9, "rq_psn": 1}
        | address,
        {"op": "modify_qp", "qp": 5, "state": "RTS", "sq_psn": 5, "retry_cnt": 7},
        {"op": "query_qp", "qp": 5},
        {"op": "post_recv", "srq": 4, "wrs": [{"wr_id": "0x7", "sge": [place, place]}]},
        {
            "op": "post_send",
            "qp": 5,
            "wrs": [
                {"opcode": "write_imm", "raddr": "0xfffffffffffffff0", "rkey": 1, "imm": 2},
                {"opcode": "fetch_add", "raddr": 8, "rkey": 1, "add": "0x1", "sge": [place]},
                {"opcode": "bind_mw", "mw": 8, "mr": 2, "offset": 0, "length": 64},
            ],
        },
        {
            "op": "post_send",
            "qp": 6,
            "wrs": [{"opcode": "send", "ah": 7, "remote_qpn": 1, "remote_qkey": 5}],
        },
        {"op": "write", "mr": 2, "offset": 16, "data": "00ff"},
        {"op": "read", "mr": 2, "length": 32},
        {"op": "fill", "mr": 2, "length": 8, "byte": 255},
        {"op": "sha256", "mr": 2, "length": 4096},
        {"op": "destroy", "handle": 8},
        {"op": "reset"},
    ]
    lines = [json.dumps({"id": n, **each}).encode() + b"\n" for n, each in enumerate(said)]
    for number, line in enumerate(lines):
        yield f"{said[number]['op']}-{number}", line
        yield f"until-{number}", b"".join(lines[: number + 1])
    yield "cut", lines[-1][:20]
    yield "no-object", b'[1, {"id": 2}]\n\n"x"'


def replayed() -> Iterator[tuple[str, bytes]]:
    """Captures as fuzz_link.c takes them: at their pace, and back to back."""
    for name, data in captures():
        yield name, b"\0" + data
        yield f"{name}-back", b"\1" + data


def lanes() -> Iterator[tuple[str, bytes]]:
    """Columns and frames as fuzz_xgmii.cpp takes them: right ones, and what no MAC may send."""

    def step(kind: int, count: int = 1, data: bytes = b"") -> bytes:
        return bytes([kind | (count - 1) << 3]) + data

    opening, fcs, terminate, aligned = (step(kind) for kind in (3, 5, 6, 7))
    ordered, error = (step(1, 1, bytes([character])) for character in (0x9C, 0xFE))

    def frame(octets: int = 8, *, amid: bytes = b"", end: bytes = fcs + terminate) -> bytes:
        """Of so many times eight bytes."""
        return opening + step(4, octets) + amid + end

    def gap(count: int) -> bytes:
        return step(2, count)

    tail = step(0, 3, b"abc")
    columns = {
        "lane-0": frame(),
        "lane-4": gap(4) + frame(),
        "lane-3": gap(3) + frame(),
        "both-lanes": frame()
        + gap(11)
        + aligned
        + frame(20, amid=tail)
        + gap(9)
        + aligned
        + frame(),
        "gaps": b"".join(
            frame(9, amid=step(0, n, bytes(n))) + gap(8) + aligned for n in range(1, 9)
        ),
        "short-gap": frame() + gap(3) + aligned + frame(),
        "error": frame(amid=error) + gap(15) + frame(),
        "short-error": frame(1, amid=error) + gap(15) + frame(),
        "only-error": opening + error + terminate + gap(15) + frame(),
        "wrong-fcs": frame() + gap(15) + frame(amid=step(1, 1, b"\x07"), end=terminate),
        "no-fcs": frame(9, end=terminate),
        "runt": frame(7),
        "empty": opening + terminate + gap(12) + frame(),
        "ordered": ordered + step(0, 3, bytes(3)) + gap(4) + frame(),
        "ordered-amid": frame(amid=ordered),
        "data-between": step(0, 1, b"x") + frame(),
        "no-delimiter": step(1, 1, b"\xfb")
        + step(0, 7, b"\x55" * 7)
        + step(4, 8)
        + fcs
        + terminate,
        "again": frame(2, end=b"") + frame(),
        "endless": frame(32, end=step(4, 32) * 40),
        "long": frame(32, end=step(4, 32) * 20 + fcs + terminate),
    }
    for name, said in columns.items():
        yield name, b"\0\0" + said
    yield "gaps-slow", b"\0\x11" + columns["gaps"]

    def frames_of(*frames: tuple[int, int]) -> bytes:
        return b"".join(struct.pack("<HB", length, how) for length, how in frames)

    good = [(length, 4 * (length % 3)) for length in (0, 1, 2, 3, 4, 5, 6, 7, 8, 300, 0, 1500)]
    for seed in range(4):
        yield f"sent-{seed}", bytes([1 | seed << 1, 0]) + frames_of(*good)
        yield f"damaged-{seed}", bytes([1 | seed << 1, 0x55]) + frames_of((9, 1), (70, 1), *good)
    yield "sent-late", b"\1\x80" + frames_of(*((length, 2) for length, _ in good))


def as_v1(packet: bytes) -> bytes:
    """The packet behind a GRH; others as they are."""
    layout = locate(packet)
    if layout is None:
        return packet
    body = packet[layout.udp + 8 : layout.end]
    grh = struct.pack(">IHBB", 6 << 28, len(body), 0x1B, 9) + bytes(range(32))
    return packet[:12] + b"\x89\x15" + grh + body


def main(folder: Path) -> None:
    corpora = {
        "capture": captures(),
        "stream": streams(),
        "oracle": conversations(),
        "control": channels(),
        "link": replayed(),
        "agent": requests(),
        "xgmii": lanes(),
    }
    for target, seeds in corpora.items():
        shutil.rmtree(folder / target, ignore_errors=True)
        (folder / target).mkdir(parents=True)
        for name, data in seeds:
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
