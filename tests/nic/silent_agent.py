# SPDX-License-Identifier: BSD-2-Clause
"""An agent whose device is on no cable: it greets and frees, and nothing of it is on the wire."""

from __future__ import annotations

import json
import sys

HELLO = {
    "device": "mlx5_0",
    "driver": "mlx5_core",
    "fw_ver": "22.31.1014",
    "kernel": "6.12.0",
    "host": "lab",
    "netdev": "ens1",
    "mac": "02:00:00:00:0c:01",
    "active_mtu": 4096,
    "gids": [{"index": 0, "gid": "::ffff:192.168.50.2", "type": "roce_v2"}],
}

print(json.dumps({"event": "ready", "schema": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    fields = HELLO if request["op"] == "hello" else {}
    print(json.dumps({"id": request["id"], "ok": True, **fields}), flush=True)
