# SPDX-License-Identifier: BSD-2-Clause
"""A cpio archive in the kernel's initramfs format (newc), the same bytes for the same content."""

import stat
from collections.abc import Mapping
from pathlib import PurePosixPath


def archive(files: Mapping[str, bytes], *, executable: frozenset[str] = frozenset()) -> bytes:
    """Return an archive of regular files by absolute path, with the directories they need."""
    parents = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    out = bytearray()
    number = 0
    for directory in sorted(parents - {"/"}):
        number += 1
        out += _entry(number, directory, stat.S_IFDIR | 0o755, b"")
    for name, content in sorted(files.items()):
        number += 1
        permissions = 0o755 if name in executable else 0o644
        out += _entry(number, name, stat.S_IFREG | permissions, content)
    return bytes(out + _entry(0, "/TRAILER!!!", 0, b""))


def _entry(number: int, path: str, mode: int, content: bytes) -> bytes:
    name = path.lstrip("/").encode() + b"\0"
    links = 1
    # ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _padded(header + name) + _padded(content)


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 4)
