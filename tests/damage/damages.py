# SPDX-License-Identifier: BSD-2-Clause
"""What can happen to a directory that was made once: each takes one and a file in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from roceproof.common.checksum_stamp import SEAL

Damage = Callable[[Path, Path], None]


def _cut(place: Path, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _emptied(place: Path, file: Path) -> None:
    file.write_bytes(b"")


def _flipped(place: Path, file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 0x10
    file.write_bytes(raw)


def _garbage(place: Path, file: Path) -> None:
    file.write_bytes(bytes(range(255, -1, -1)) * 5)


def _grown(place: Path, file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\n")


def _removed(place: Path, file: Path) -> None:
    file.unlink()


def _a_directory(place: Path, file: Path) -> None:
    file.unlink()
    file.mkdir()


def _a_dangling_link(place: Path, file: Path) -> None:
    file.unlink()
    file.symlink_to("/nowhere")


def _not_executable(place: Path, file: Path) -> None:
    file.chmod(0o644)


def _all_gone(place: Path, file: Path) -> None:
    shutil.rmtree(place)
    place.mkdir()


def _a_file(place: Path, file: Path) -> None:
    shutil.rmtree(place)
    place.write_bytes(b"")


def _no_seal(place: Path, file: Path) -> None:
    (place / SEAL).unlink()


def _seal_cut(place: Path, file: Path) -> None:
    _cut(place, place / SEAL)


def _seal_emptied(place: Path, file: Path) -> None:
    _emptied(place, place / SEAL)


def _seal_of_nothing(place: Path, file: Path) -> None:
    (place / SEAL).write_text("null")


def _seal_of_other_words(place: Path, file: Path) -> None:
    (place / SEAL).write_text('{"file": "whole"}')


def _seal_a_directory(place: Path, file: Path) -> None:
    _a_directory(place, place / SEAL)


DAMAGES: dict[str, Damage] = {
    function.__name__.lstrip("_"): function
    for function in (
        *(_cut, _emptied, _flipped, _garbage, _grown, _removed, _a_directory, _a_dangling_link),
        *(_not_executable, _all_gone, _a_file),
        *(_no_seal, _seal_cut, _seal_emptied, _seal_of_nothing, _seal_of_other_words),
        _seal_a_directory,
    )
}
