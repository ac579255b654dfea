# SPDX-License-Identifier: BSD-2-Clause
"""What ``roceproof new`` writes: examples/skeleton, with no more than was asked for."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from roceproof.common.paths import REPOSITORY

SKELETON = REPOSITORY / "examples" / "skeleton"
_COMMENTS = 43  # the column
_NEEDED = {
    "local_write": ("SEND", "SEND_IMM", "SEND_INV", "WRITE", "WRITE_IMM"),
    "remote_write": ("WRITE", "WRITE_IMM"),
    "remote_read": ("READ",),
    "remote_atomic": ("CMP_SWAP", "FETCH_ADD"),
}
"""Rights of a region, and which operations of a peer ask for them."""
USUAL = ("SEND", "WRITE")
"""What a responder executes if nothing is said."""
MANIFEST, WRAPPER = "dut.toml", "roceproof_wrapper.sv"


@dataclass(frozen=True, kw_only=True)
class Device:
    """What is asked for: services with their operations, data widths, and parts of a responder."""

    name: str | None
    widths: Sequence[int]
    operations: Mapping[str, Sequence[str]]
    executed: Sequence[str] = ()  # on RC; a responder executes something
    static_keys: bool = False
    backdoor: bool = False
    cm: bool = False


def manifest_text(device: Device, *, name: str) -> str:
    """Its claims stand, every other key is a comment."""
    text = (SKELETON / MANIFEST).read_text(encoding="utf-8")
    claims = _claims(device.operations) or '# RC = ["WRITE"]\n# UC = ["WRITE"]'
    for old, put in (
        ('name = "skeleton" ', f"name = {json.dumps(name)} "),
        ("data_widths = [64]", f"data_widths = {list(device.widths)}"),
        ('RC = ["WRITE"]\n# UC = ["WRITE"]', claims),
        ('# RC = ["SEND", "WRITE"]', f"# {_claims({'RC': device.executed})}"),
        ('access = ["local_write", "remote_write"]', _rights(device.executed or USUAL)),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, put)
    for table, keys in _stated(device):
        text = _with_table(text, table, keys)
    return "".join(map(_aligned, text.splitlines(keepends=True)))


def wrapper_text(macros: Collection[str], *, width: int) -> str:
    """The ports that a build with these macros connects; its own width comes first."""
    text = (SKELETON / WRAPPER).read_text(encoding="utf-8")
    kept, taken = [], [True]
    for line in text.splitlines(keepends=True):
        word, _, macro = line.strip().partition(" ")
        if word in ("`ifdef", "`ifndef"):
            taken.append((macro in macros) == (word == "`ifdef"))
        elif word == "`else":
            taken[-1] = not taken[-1]
        elif word == "`endif":
            taken.pop()
        elif all(taken):
            kept.append(line)
    return "".join(kept).replace("DataWidth = 64", f"DataWidth = {width}")


def _aligned(line: str) -> str:
    """Its comment in the column of all others."""
    code, sign, comment = line.partition("  # ")
    return f"{code.rstrip() + ' ':<{_COMMENTS}}# {comment.lstrip()}" if sign else line


def _claims(operations: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f"{service} = {json.dumps(list(of))}" for service, of in operations.items())


def _rights(executed: Collection[str]) -> str:
    """The line of memory in which all that is executed finds what it needs."""
    needed = [right for right, operations in _NEEDED.items() if {*operations} & {*executed}]
    return f"access = {json.dumps(needed)}"


def _stated(device: Device) -> list[tuple[str, tuple[str, ...]]]:
    """Tables of the skeleton that are no comments, with their keys."""
    if not device.executed:
        returning = {*_NEEDED["remote_read"], *_NEEDED["remote_atomic"]}
        has_memory = returning & {*device.operations.get("RC", ())}
        return [("[responder]", ("regions",))] if has_memory else []
    backdoor = ("backdoor",) if device.backdoor else ()
    tables = [("[responder]", ("RC", "receives", *backdoor))]
    if device.static_keys or device.backdoor:
        tables.append(("[[region]]", ("rkey", "length", "access")))
    if device.cm:
        tables.append(("[cm]", ("service_id",)))
    return tables


def _with_table(text: str, table: str, keys: Collection[str]) -> str:
    before, head, rest = text.partition(f"# {table}")
    assert head, table
    inside, gap, after = rest.partition("\n\n")
    for key in keys:
        assert inside.count(f"\n# {key} = ") == 1, (table, key)
        inside = inside.replace(f"\n# {key} = ", f"\n{key} = ")
    return before + table + inside + gap + after
