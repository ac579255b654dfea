# SPDX-License-Identifier: BSD-2-Clause
"""What GTKWave shows first of a run: the contract's streams, grouped, in a save file (.gtkw)."""

from collections.abc import Iterator
from pathlib import Path

from roceproof.common.whole_file import whole_file

_BITS, _NUMBER, _OPEN, _CLOSE = "@28", "@22", "@800200", "@1000200"
"""How GTKWave's save files mark traces: in binary, in hexadecimal; ends of a group."""
_FRAMES = ("tvalid", "tready", "tlast", "tuser")
_RECORDS = {
    "qpc": ("configurations taken", 512, {"command": 8, "local_qpn": 32, "sq_psn": 24}),
    "wr": ("work requests taken", 320, {"operation": 8, "qpn": 32, "length": 32}),
    "cpl": ("completions", 128, {"status": 8, "qpn": 32}),
}


def write_groups(waves: Path, *, ports: int, data_width: int) -> Path:
    """Write it beside the waves of so many ports; `gtkwave FILE` opens both."""
    path = waves.with_suffix(".gtkw")
    lines = [f'[dumpfile] "{waves.resolve()}"', *_time(), *_groups(ports, data_width)]
    with whole_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _time() -> Iterator[str]:
    yield _BITS
    yield from ("TOP.clk_i", "TOP.rst_ni")


def _groups(ports: int, width: int) -> Iterator[str]:
    for port in range(ports):
        place = f"TOP.roceproof_top.gen_port[{port}].u_port"
        behind = f", port {port}" if ports > 1 else ""
        for stream, (says, bits, fields) in _RECORDS.items():
            inside = f"{place}.u_dut.{stream}_{'o' if stream == 'cpl' else 'i'}"
            numbers = [f"{place}.{stream}[{bits - 1}:0]"]
            numbers += [f"{inside}.{name}[{size - 1}:0]" for name, size in fields.items()]
            flags = [f"{place}.{stream}_{name}" for name in ("valid", "ready")]
            yield from _group(f"{stream}: {says}{behind}", flags, numbers)
        for stream, says in (("pl", "payload"), ("tx", "frames sent"), ("rx", "frames received")):
            flags = [f"{place}.{stream}_{name}" for name in _FRAMES]
            if stream == "pl":
                flags.pop()
            sizes = {"tdata": width, "tkeep": width // 8}
            numbers = [f"{place}.{stream}_{name}[{bits - 1}:0]" for name, bits in sizes.items()]
            yield from _group(f"{stream}: {says}{behind}", flags, numbers)


def _group(name: str, flags: list[str], numbers: list[str]) -> Iterator[str]:
    yield from (_OPEN, f"-{name}", _BITS, *flags, _NUMBER, *numbers, _CLOSE, f"-{name}")
