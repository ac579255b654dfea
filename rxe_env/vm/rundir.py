# SPDX-License-Identifier: BSD-2-Clause
"""A private directory for one machine's sockets and log, and listening sockets in it."""

import os
import socket
import tempfile
from pathlib import Path

# A Unix socket's path is at most 107 bytes long.
MAX_SOCKET_PATH = 107
LONGEST_NAME = "/roceproof-XXXXXXXX/agent.sock"


def make_run_dir() -> Path:
    """Return a new directory of mode 0700, short enough for sockets."""
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if base and len(base) + len(LONGEST_NAME) <= MAX_SOCKET_PATH and os.access(base, os.W_OK):
            return Path(tempfile.mkdtemp(prefix="roceproof-", dir=base))
    raise OSError("no writable directory with a short path: set TMPDIR to one")


def listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(1)
    return listener


def connect(path: Path, *, timeout: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection
