# SPDX-License-Identifier: BSD-2-Clause
"""An agent that answers with whatever its first argument says: a line for each request, or no end.

It greets, unless that is what is asked for; `@` in a line stands for the request's id.
"""

from __future__ import annotations

import json
import sys

LINES = sys.argv[1:]

print(json.dumps({"event": "ready", "schema": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    text = LINES.pop(0) if len(LINES) > 1 else LINES[0]
    if text == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if text == "events":
        while True:
            sys.stdout.write('{"event": "x"}\n' * 5000)
    if text == "complains":
        sys.stderr.write("\x1b[2J\x1b]0;owned\x07" * 100_000 + "\nlast \u202ewords\n")
        break
    print(text.replace("@", str(request["id"])), flush=True)
