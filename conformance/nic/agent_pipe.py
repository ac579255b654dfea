# SPDX-License-Identifier: BSD-2-Clause
"""Plays ssh's part: the agent behind a Unix socket on standard input and output.

python -m roceproof.conformance.nic.agent_pipe SOCKET

An agent that is started begins with its ready line; the one behind the socket runs already, so
the line is said here.
"""

import os
import select
import socket
import sys

READ_BYTES = 1 << 16
READY = b'{"event":"ready","schema":1}\n'


def main() -> int:
    """Pass lines on until either side ends."""
    agent = socket.socket(socket.AF_UNIX)
    agent.connect(sys.argv[1])
    os.write(1, READY)
    while True:
        ready = select.select([0, agent.fileno()], [], [])[0]
        if agent.fileno() in ready:
            data = agent.recv(READ_BYTES)
            if not data:
                print("Connection to the agent's host closed.", file=sys.stderr)
                return 255
            os.write(1, data)
        if 0 in ready:
            data = os.read(0, READ_BYTES)
            if not data:
                return 0
            agent.sendall(data)


if __name__ == "__main__":
    sys.exit(main())
