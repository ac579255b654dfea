# SPDX-License-Identifier: BSD-2-Clause
"""Reads a capture as far as it goes: a killed tcpdump leaves one that ends inside a packet."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import CaptureError, Record


class Salvage:
    """The records of a capture, at most `limit` (and about `most_bytes`), up to damage if any.

    Afterwards `damage` says what is wrong, and `cut` that there were more. Damage
    in front of the first packet is an error. Errors call the capture `name` if
    that is given, where the path is that of a copy.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        limit: int,
        name: str | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self.damage: CaptureError | None = None
        self.cut = False
        self._path = path
        self._name = name
        self._limit = limit
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[Record]:
        records = read(self._path, name=self._name)
        count = size = 0
        try:
            for record in islice(records, self._limit):
                yield record
                count += 1
                size += len(record.frame)
                if self._most_bytes is not None and size > self._most_bytes:
                    break
            self.cut = next(records, None) is not None
        except CaptureError as damage:
            if count == 0:
                raise
            self.damage = damage
