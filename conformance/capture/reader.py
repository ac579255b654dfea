# SPDX-License-Identifier: BSD-2-Clause
"""Reads captures: pcap and pcapng in either byte order, plain or gzipped, from a file or stdin.

Yields every packet with its number, interface, nanosecond time and both sizes.
Input of any kind is safe: what cannot be read on raises `CaptureError` after
all the whole packets before that place. `docs/captures.md` says what is read.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from roceproof.conformance.capture import STDIN
from roceproof.conformance.capture.pcap import PCAP_MAGICS, read_pcap
from roceproof.conformance.capture.pcapng import SECTION, read_pcapng
from roceproof.conformance.capture.record import CaptureError, Flow, Record, Source

__all__ = ["STDIN", "CaptureError", "Flow", "Record", "read"]

_GZIP_MAGIC = b"\x1f\x8b"


def read(path: Path | str, *, name: str | None = None) -> Iterator[Record]:
    """The packets of a capture in file order; "-" is stdin. Errors call it `name` if given."""
    place = str(path)
    name = name or place
    with _stdin() if place == STDIN else _file(place, name) as stream:
        source = Source(name, _unpacked(name, stream))
        magic = source.take(4)
        if magic == SECTION:
            yield from read_pcapng(source)
        elif magic in PCAP_MAGICS:
            yield from read_pcap(source, magic)
        else:
            reason = "is no capture" if magic else "is empty"
            raise CaptureError(name, 0, reason, "pass a pcap or pcapng file")


@contextmanager
def _stdin() -> Iterator[BufferedReader[RawIOBase]]:
    stream = BufferedReader(cast(RawIOBase, sys.stdin.buffer))
    try:
        yield stream
    finally:
        stream.detach()


@contextmanager
def _file(place: str, name: str) -> Iterator[BufferedReader[Any]]:
    try:
        stream = Path(place).open("rb")  # noqa: SIM115
    except OSError as error:
        why = error.strerror or str(error)
        raise CaptureError(name, 0, f"cannot be opened ({why})", "check the path") from error
    with stream:
        yield stream


def _unpacked(name: str, stream: BufferedReader[Any]) -> BinaryIO:
    try:
        packed = stream.peek(2)[:2] == _GZIP_MAGIC
    except OSError as error:
        raise CaptureError(name, 0, f"cannot be read ({error})", "check the path") from error
    return cast(BinaryIO, gzip.GzipFile(fileobj=stream) if packed else stream)
