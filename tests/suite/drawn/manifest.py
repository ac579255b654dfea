# SPDX-License-Identifier: BSD-2-Clause
"""Manifests drawn at random: what a device claims, cannot do, and does not let anybody choose."""

from __future__ import annotations

from random import Random

from roceproof.dpi.manifest import CONTRACT

_OPERATIONS = ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM")
_ASKING = ("READ", "CMP_SWAP")
_MTUS = (256, 512, 1024, 2048, 4096)
_SERVICE_ID = 0x0000_0000_0106_4791
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
_FIXED_OF_ONE = {"local_qpn": (2, 17, 0xABCDE), "remote_qpn": (2, 17, 0xABCDE)}
_ONCE = ("rkey", "remote_addr", "immediate")
_RIGHTS = ("local_write", "remote_write", "remote_read", "remote_atomic")


def drawn_manifest(draw: Random) -> str:
    """The text of one; it has no hardware."""
    one = draw.random() < 0.3
    has_responder = draw.random() < 0.65
    sends = not has_responder or draw.random() < 0.8
    has_cm = has_responder and draw.random() < 0.3
    lines = [
        'schema = 2\nname = "drawn"\ntop = "roce_endpoint"\nclock_ps = 6400\ndata_widths = [64]',
        f'sources = ["{CONTRACT}"]',
        "[capabilities]",
        *(_capabilities(draw, reads=has_responder) if sends else []),
        *_features(draw),
        "[limits]",
        f"qps = {1 if one else draw.choice((2, 3, 4, 16))}",
        *_lengths(draw),
        *_depths(draw),
        *_habits(draw),
        "[environment]",
        f"resolves_addresses = {str(draw.random() < 0.3).lower()}",
        "[fixed]",
    ]
    for name, values in {**_FIXED, **(_FIXED_OF_ONE if one else {})}.items():
        if draw.random() < 0.25 and not has_cm:
            lines.append(f"{name} = {draw.choice(values)}")
    lines += _responder(draw) if has_responder else []
    if has_cm:
        lines += ["[cm]", f"service_id = {_SERVICE_ID}", f"calls = {_drawn_bool(draw)}"]
    return "\n".join(lines) + "\n"


def _drawn_bool(draw: Random) -> str:
    return draw.choice(("true", "false"))


def _capabilities(draw: Random, *, reads: bool) -> list[str]:
    services = [name for name in ("RC", "UC") if draw.random() < 0.65] or [
        draw.choice(("RC", "UC"))
    ]
    lines = []
    for service in services:
        names = draw.sample(_OPERATIONS, draw.choice((1, 1, 2, 3, 4)))
        if reads and service == "RC":
            names = draw.choice((names, names, [*names, "READ"], ["READ"]))
            names = draw.choice((names, names, [*names, "CMP_SWAP", "FETCH_ADD"]))
        lines.append(f"{service} = {sorted(names)}")
    return [*lines, f"retransmission = {_drawn_bool(draw)}"]


def _features(draw: Random) -> list[str]:
    names = [name for name in ("cnp", "ipv6", "pfc") if draw.random() < 0.3]
    return [f"features = {names}"] if names else []


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


def _responder(draw: Random) -> list[str]:
    are_built_in = draw.random() < 0.35
    executed = {
        "RC": [*_OPERATIONS, "READ", "CMP_SWAP", "FETCH_ADD", "SEND_INV"],
        "UC": [*_OPERATIONS],
        "UD": ["SEND", "SEND_IMM"],
    }
    lines = ["[responder]"]
    for service, operations in executed.items():
        if are_built_in and "SEND_INV" in operations:
            operations.remove("SEND_INV")
        if service == "RC" or draw.random() < 0.4:
            count = draw.choice((1, 2, 4, len(operations), len(operations)))
            names = sorted(draw.sample(operations, min(count, len(operations))))
            lines.append(f"{service} = {names}")
    lines += [f"{name} = {_drawn_bool(draw)}" for name in ("states", "message_count")]
    lines.append(f"shared_receives = {_drawn_bool(draw)}")
    lines.append(f"receives = {draw.choice((1, 2, 4, 16, 16, 256))}")
    lines.append(f"regions = {draw.choice((1, 2, 4, 16, 64, 256))}")
    return lines + (_built_in(draw) if are_built_in else [])


def _built_in(draw: Random) -> list[str]:
    lines, base = [], 0
    for place in range(draw.choice((1, 1, 2, 4, 8))):
        length = draw.choice((64, 1024, 4096, 65536, 1 << 20))
        rights = draw.choice((_RIGHTS, _RIGHTS, draw.sample(_RIGHTS, 2)))
        lines += [
            "[[region]]",
            f"rkey = {draw.choice((0, 0xBE000000)) + 0x100 * place + 1}",
            f"va = {draw.choice((0, 0x1000, (1 << 62)))}",
            f"base = {base}",
            f"length = {length}",
            f"access = {sorted(rights)}",
        ]
        base += length
    return lines
