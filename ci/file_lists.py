# SPDX-License-Identifier: BSD-2-Clause
"""Lists of our own SystemVerilog for other tools: a FuseSoC core and a .f, from one list each.

The endpoint's list is its manifest, the bridge's that of the build. Run it to write them anew;
a test holds them against the lists.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from roceproof import __version__
from roceproof.common.paths import REFERENCE_DUT, REPOSITORY
from roceproof.dpi.compile.cache import BRIDGE_SV
from roceproof.dpi.compile.verilate import BRIDGE, BRIDGE_C, BRIDGE_HEADERS
from roceproof.dpi.manifest.dut import load_manifest

_SPDX = "SPDX-License-Identifier: BSD-2-Clause"
_MADE = "Made by ci/file_lists.py; do not edit."
RX_PATH = REPOSITORY / "rtl" / "rx_path.f"
_RX_PATH = {
    *("roceproof_dut_pkg", "roce_pkg", "icrc_pkg", "crc32_matrix_pkg", "rx_header_pkg"),
    *("request_pkg", "stream_fifo", "crc32_accumulate", "crc32_unwind", "crc32_word"),
    *("icrc_mask", "icrc_engine", "icrc_check", "rx_window", "ipv6_parser", "rx_parser"),
    *("rx_response_join", "arp_reply", "neighbour_reply", "icmp_echo", "frame_mux", "rx_path"),
}
_CORE = """\
CAPI=2:
# {spdx}
# {made}
name: "roceproof::{name}:{version}"
description: "{says}"
filesets:
  rtl:
    files:
{files}
    file_type: systemVerilogSource
{depend}\
targets:
  default:
    filesets: [rtl]
    toplevel: {top}
"""


def file_lists() -> Iterator[tuple[Path, str]]:
    endpoint = load_manifest(REFERENCE_DUT)
    yield (
        RX_PATH,
        "\n".join(
            [
                f"// {_SPDX}",
                f"// {_MADE} Frames in, responses and answers out, for wrappers.",
                *(
                    os.path.relpath(path, RX_PATH.parent)
                    for path in endpoint.sources
                    if path.stem in _RX_PATH
                ),
                "",
            ]
        ),
    )
    yield from _lists("endpoint", "The reference RoCEv2 endpoint", endpoint.sources, endpoint.top)
    yield from _lists(
        "bridge",
        "The DPI bridge around a device; its C is in dpi/src",
        BRIDGE_SV,
        "roceproof_top",
        depend="endpoint",
        beside=(*BRIDGE_HEADERS, *BRIDGE_C),
    )


def _in_c(path: Path) -> str:
    if path.suffix == ".h":
        return f"{{file_type: cSource, is_include_file: true, include_path: {BRIDGE.name}}}"
    return "{file_type: cSource}"


def _lists(
    name: str,
    says: str,
    sources: Sequence[Path],
    top: str,
    *,
    depend: str | None = None,
    beside: Sequence[Path] = (),
) -> Iterator[tuple[Path, str]]:
    folder = REPOSITORY / ("rtl" if depend is None else "dpi")
    names = [os.path.relpath(path, folder) for path in sources]
    first = [f"-F ../rtl/{depend}.f"] if depend else []
    yield (
        folder / f"{name}.f",
        "\n".join([f"// {_SPDX}", f"// {_MADE} {says}.", *first, *names, ""]),
    )
    yield (
        folder / f"{name}.core",
        _CORE.format(
            version=__version__,
            spdx=_SPDX,
            made=_MADE,
            name=name,
            says=says,
            files="\n".join(
                [f"      - {each}" for each in names]
                + [f"      - {os.path.relpath(path, folder)}: {_in_c(path)}" for path in beside]
            ),
            depend=f'    depend: ["roceproof::{depend}"]\n' if depend else "",
            top=top,
        ),
    )


if __name__ == "__main__":
    for path, text in file_lists():
        path.write_text(text, encoding="utf-8")
