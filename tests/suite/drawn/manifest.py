# SPDX-License-Identifier: BSD-2-Clause
"""Manifests drawn at random: what a device claims, cannot do, and does not let anybody choose."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roceproof.dpi.manifest.dut import CONTRACT

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
    "ip_id": (0, 0xFFFF),
    "max_rd_atomic": (1, 2, 4, 16),
    "max_dest_rd_atomic": (0, 1, 2, 4, 16),
    "qkey": (5,),
    "pd": (0, 7, 0xFFFF),
    "payload_offset": (0, 3),
    "remote_addr": (0, 0x1000),
    "rkey": (0x1234,),
    "immediate": (0, 0xFFFFFFFF),
}
_FIXED_OF_ONE = {"local_qpn": (2, 17, 0xABCDE), "remote_qpn": (2, 17, 0xABCDE)}
_ONCE = ("rkey", "remote_addr", "immediate")
_RIGHTS = ("local_write", "remote_write", "remote_read", "remote_atomic")


class _Draw(Random):
    """Of a device that lacks little, something or much."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._lack = self.choice((0.2, 0.5, 1.0))

    def lacks(self, chance: float) -> bool:
        """Whether something is not as anybody would like it that often is not."""
        return self.random() < chance * self._lack

    def some(self, names: Sequence[str], counts: Sequence[int]) -> list[str]:
        """All, or as many of them as one of these counts says."""
        return sorted(self.sample(names, self.choice(counts)) if self.lacks(0.8) else names)

    def truth(self) -> str:
        """Either, as TOML has it."""
        return self.choice(("true", "false"))


def drawn_manifest(source: Random) -> str:
    """The text of one; it has no hardware."""
    draw = _Draw(source.getrandbits(64))
    one = draw.lacks(0.4)
    has_responder = not draw.lacks(0.4)
    sends = not has_responder or not draw.lacks(0.3)
    has_cm = has_responder and draw.random() < 0.3
    lines = [
        'schema = 2\nname = "drawn"\ntop = "roce_endpoint"\nclock_ps = 6400\ndata_widths = [64]',
        f'sources = ["{CONTRACT}"]',
        "[capabilities]",
        *(_capabilities(draw, reads=has_responder) if sends else []),
        *_features(draw),
        "[limits]",
        f"qps = {1 if one else draw.choice((2, 3, 4, 16, 64))}",
        *_lengths(draw),
        *_depths(draw),
        *_habits(draw),
        "[environment]",
        f"resolves_addresses = {str(draw.random() < 0.3).lower()}",
        "[fixed]",
    ]
    for name, values in {**_FIXED, **(_FIXED_OF_ONE if one else {})}.items():
        if draw.lacks(0.3) and not has_cm:
            lines.append(f"{name} = {draw.choice(values)}")
    lines += _responder(draw) if has_responder else []
    if has_cm:
        lines += ["[cm]", f"service_id = {_SERVICE_ID}", f"calls = {draw.truth()}"]
    return "\n".join(lines) + "\n"


def _capabilities(draw: _Draw, *, reads: bool) -> list[str]:
    services = ["RC", "UC"] if not draw.lacks(0.6) else [draw.choice(("RC", "UC"))]
    lines = []
    for service in services:
        names = draw.some(_OPERATIONS, (1, 1, 2, 3))
        if reads and service == "RC":
            names = draw.choice((names, [*names, "READ"], [*names, "READ"], ["READ"]))
            names = draw.choice((names, [*names, "CMP_SWAP", "FETCH_ADD"]))
        lines.append(f"{service} = {sorted(names)}")
    if draw.random() < 0.5:
        lines.append(f"UD = {draw.some(('SEND', 'SEND_IMM'), (1,))}")
    return [*lines, f"retransmission = {draw.truth()}"]


def _features(draw: _Draw) -> list[str]:
    names = [name for name in ("cnp", "credits", "ipv6", "pfc", "vlan") if draw.random() < 0.5]
    return [f"features = {names}"] if names else []


def _lengths(draw: _Draw) -> list[str]:
    lines, multiple = [], draw.choice((4, 8, 16, 64)) if draw.lacks(0.6) else 1
    if draw.random() < 0.5:
        lines.append(f"path_mtus = {sorted(draw.sample(_MTUS, draw.choice((1, 1, 2, 3))))}")
    if multiple > 1:
        lines.append(f"length_multiple = {multiple}")
    shortest, longest = draw.choice((0, 1, 4, 8, 64)), draw.choice((64, 256, 1500, 4096, 65536))
    if draw.lacks(0.5):
        lines.append(f"length = [{-(-shortest // multiple) * multiple}, {longest}]")
    return lines


def _depths(draw: _Draw) -> list[str]:
    lines = []
    if draw.lacks(0.5):
        lines.append(f"outstanding_messages = {draw.choice((1, 2, 3, 4, 8))}")
    if draw.lacks(0.5):
        lines.append(f"outstanding_packets = {draw.choice((1, 2, 4, 8, 16, 64))}")
    if lines and draw.random() < 0.3:
        lines.append("outstanding_shared = true")
    return lines


def _habits(draw: _Draw) -> list[str]:
    lines = [f'identification = "{draw.choice(("counted", "constant", "any"))}"']
    if draw.lacks(0.5):
        lines.append("flushes = false")
    if draw.random() < 0.2:
        lines.append(f"answer_cycles = {draw.choice((15_625, 40_000, 200_000))}")
    if draw.random() < 0.3:
        lines.append(f"progress_cycles = {draw.choice((100_000, 400_000))}")
    if draw.random() < 0.2:
        lines.append(f"quiet_cycles = {draw.choice((3_125, 5_000, 10_000))}")
    if draw.lacks(0.5):
        lines.append(f"per_queue_pair = {draw.sample(_ONCE, draw.choice((1, 1, 2, 3)))}")
    return lines


def _responder(draw: _Draw) -> list[str]:
    are_built_in = draw.lacks(0.5)
    executed = {
        "RC": [*_OPERATIONS, "READ", "CMP_SWAP", "FETCH_ADD", "SEND_INV"],
        "UC": [*_OPERATIONS],
        "UD": ["SEND", "SEND_IMM"],
    }
    lines = ["[responder]"]
    for service, operations in executed.items():
        if are_built_in and "SEND_INV" in operations:
            operations.remove("SEND_INV")
        if service == "RC" or not draw.lacks(0.6):
            counts = [each for each in (1, 2, 4) if each <= len(operations)]
            lines.append(f"{service} = {draw.some(operations, counts)}")
    lines += [f"{name} = {draw.truth()}" for name in ("states", "message_count", "notifies")]
    lines.append(f"shared_receives = {draw.truth()}")
    lines.append(f"shared_queues = {draw.choice((1, 2)) if draw.lacks(0.5) else 16}")
    lines.append(f"receives = {draw.choice((1, 2, 4)) if draw.lacks(0.5) else 256}")
    lines.append(f"regions = {draw.choice((1, 2, 4, 16)) if draw.lacks(0.5) else 256}")
    return lines + (_built_in(draw) if are_built_in else [])


def _built_in(draw: _Draw) -> list[str]:
    lines, base = [], 0
    first, step = draw.choice((0, 1, 0xBE000000)), draw.choice((1, 0x80, 0x100, 1 << 24))
    for place in range(draw.choice((1, 1, 2, 4, 8))):
        length = draw.choice((64, 1024, 4096, 65536, 1 << 20))
        rights = draw.choice((_RIGHTS, _RIGHTS, draw.sample(_RIGHTS, 2)))
        lines += [
            "[[region]]",
            f"rkey = {first + step * place}",
            f"va = {draw.choice((0, 0x1000, (1 << 62)))}",
            f"base = {base}",
            f"length = {length}",
            f"access = {sorted(rights)}",
        ]
        base += length
    return lines
