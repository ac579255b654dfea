# SPDX-License-Identifier: BSD-2-Clause
"""Manifests drawn at random: what a device claims, cannot do, and does not let anybody choose."""

from __future__ import annotations

from random import Random

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import load_manifest

_OPERATIONS = ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM")
_MTUS = (256, 512, 1024, 2048, 4096)
_FIXED = {
    "solicited": ("true", "false"),
    "hop_limit": (1, 64, 255),
    "traffic_class": (0, 8, 104),
    "udp_sport": (1024, 4791, 0xC000, 0xFFFF),
    "sq_psn": (0,),
    "rq_psn": (0,),
    "ack_timeout": (0, 10, 14, 20),
    "retry_count": (0, 3, 7),
    "rnr_retry": (0, 7),
    "min_rnr_timer": (1, 12),
    "max_rd_atomic": (1, 4),
    "max_dest_rd_atomic": (1, 4),
    "qkey": (5,),
    "payload_offset": (0, 3),
    "remote_addr": (0, 0x1000),
    "rkey": (0x1234,),
    "immediate": (0, 0xFFFFFFFF),
}
_ONCE = ("rkey", "remote_addr", "immediate")
_FIXED_OF_ONE = {"local_qpn": (2, 17, 0xABCDE), "remote_qpn": (2, 17, 0xABCDE)}


def drawn_manifest(seed: int) -> str:
    """The text of one; the endpoint stands for its hardware."""
    draw = Random(seed)
    one = draw.random() < 0.3
    lines = [
        'schema = 2\nname = "drawn"\ntop = "roce_endpoint"\nclock_ps = 6400\ndata_widths = [64]',
        f"sources = {[str(path) for path in load_manifest(REFERENCE_DUT).sources]}",
        *_capabilities(draw),
        "[limits]",
        f"qps = {1 if one else draw.choice((2, 3, 4, 16))}",
        *_lengths(draw),
        *_depths(draw),
        *_habits(draw),
        "[fixed]",
    ]
    for name, values in {**_FIXED, **(_FIXED_OF_ONE if one else {})}.items():
        if draw.random() < 0.25:
            lines.append(f"{name} = {draw.choice(values)}")
    return "\n".join(lines) + "\n"


def _capabilities(draw: Random) -> list[str]:
    services = [name for name in ("RC", "UC") if draw.random() < 0.65] or [
        draw.choice(("RC", "UC"))
    ]
    lines = ["[capabilities]"]
    for service in services:
        names = sorted(draw.sample(_OPERATIONS, draw.choice((1, 1, 2, 3, 4))))
        lines.append(f"{service} = {names}")
    return lines + ["retransmission = true"] * (draw.random() < 0.4)


def _lengths(draw: Random) -> list[str]:
    lines, multiple = [], draw.choice((1, 1, 4, 8, 16, 64))
    if draw.random() < 0.5:
        lines.append(f"path_mtus = {sorted(draw.sample(_MTUS, draw.choice((1, 1, 2, 3))))}")
    if multiple > 1:
        lines.append(f"length_multiple = {multiple}")
    shortest, longest = draw.choice((0, 1, 4, 8, 64)), draw.choice((64, 256, 1500, 4096, 65536))
    if draw.random() < 0.5:
        lines.append(f"length = [{-(-shortest // multiple) * multiple}, {longest}]")
    return lines


def _depths(draw: Random) -> list[str]:
    lines = []
    if draw.random() < 0.5:
        lines.append(f"outstanding_messages = {draw.choice((1, 2, 3, 4, 8))}")
    if draw.random() < 0.4:
        lines.append(f"outstanding_packets = {draw.choice((1, 2, 4, 8, 16, 64))}")
    if lines and draw.random() < 0.3:
        lines.append("outstanding_shared = true")
    return lines


def _habits(draw: Random) -> list[str]:
    lines = [f'identification = "{draw.choice(("counted", "constant", "any"))}"']
    if draw.random() < 0.3:
        lines.append("flushes = false")
    if draw.random() < 0.3:
        lines.append(f"per_queue_pair = {draw.sample(_ONCE, draw.choice((1, 1, 2, 3)))}")
    return lines
