# SPDX-License-Identifier: BSD-2-Clause
"""Memory of a device behind the verbs agent: regions, and room for what work sends."""

from collections.abc import Callable
from typing import Any

from roceproof.verbs.work import Region

Call = Callable[..., dict[str, Any]]

CHUNK_BYTES = 64 * 1024
STAGING_BYTES = 1 << 20
LANE_BYTES = 64


class VerbsRegion(Region):
    """A registered buffer of the agent."""

    def __init__(self, call: Call, *, pd: int, size: int, access: frozenset[str]) -> None:
        self._call = call
        made = call("reg_mr", pd=pd, size=size, access=sorted(access))
        self.handle = int(made["mr"])
        self.addr = int(made["addr"])
        self.rkey = int(made["rkey"])
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        parts = []
        for at in range(offset, offset + length, CHUNK_BYTES):
            span = min(CHUNK_BYTES, offset + length - at)
            got = self._call("read", mr=self.handle, offset=at, length=span)
            parts.append(bytes.fromhex(got["data"]))
        return b"".join(parts)

    def write(self, offset: int, data: bytes) -> None:
        for at in range(0, len(data), CHUNK_BYTES):
            chunk = data[at : at + CHUNK_BYTES]
            self._call("write", mr=self.handle, offset=offset + at, data=chunk.hex())

    def deregister(self) -> None:
        """Make its key invalid; the bytes are gone with it."""
        self._call("destroy", handle=self.handle)


class Staging:
    """Where the data of posted work lies. Nothing is used twice, since work may be sent again."""

    def __init__(self, call: Call, pd: int) -> None:
        self._call = call
        self._pd = pd
        self._region: VerbsRegion | None = None
        self._used = 0

    def place(self, data: bytes, *, size: int, lane: int) -> dict[str, int]:
        """An entry of a scatter/gather list for `size` bytes that begin with `data`.

        Its address is `lane` modulo LANE_BYTES.
        """
        offset = -(-self._used // LANE_BYTES) * LANE_BYTES + lane % LANE_BYTES
        if self._region is None or offset + size > self._region.size:
            room = max(STAGING_BYTES, size + LANE_BYTES)
            access = frozenset({"local_write"})
            self._region = VerbsRegion(self._call, pd=self._pd, size=room, access=access)
            offset = lane % LANE_BYTES
        self._used = offset + size
        self._region.write(offset, data)
        return {"mr": self._region.handle, "offset": offset, "length": size}
