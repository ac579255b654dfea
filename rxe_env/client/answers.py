# SPDX-License-Identifier: BSD-2-Clause
"""What an agent's answers must look like (docs/agent.md): it may be any program, and broken."""

from typing import Any

from roceproof.common.document import parsed
from roceproof.common.shape import Word, flaw
from roceproof.rxe_env.errors import AgentError, PeerDied

_GID = {"index": range(1 << 16), "gid": Word, "type": Word}
_TOLD = ("host", "netdev", "mac", "node_guid", "port_state", "fw_ver", "hca_type", "board_id")
_COUNT = range(1 << 62)
_BOTH_ENDS = {
    name: _COUNT for name in ("completions", "events", "far_completions", "far_events", "right")
}
_SHAPES = {
    "hello": {
        "kernel": Word,
        "device": Word,
        "active_mtu": range(1, 1 << 16),
        "gids": [_GID],
        **{f"{name}?": Word for name in (*_TOLD, "driver")},
    },
    "look": {
        "exists": bool,
        "readable": bool,
        "writable": bool,
        "text?": (str, type(None)),
        "names?": [Word],
        "link?": Word,
    },
    "ping": _BOTH_ENDS,
    "blast": {**_BOTH_ENDS, "posts": _COUNT, "elapsed_us": _COUNT, "cpu_us": _COUNT},
}
_REFUSED = {"error": str, "errno": int}
_TAKEN = {"id": (int, type(None))}


class Answer(dict[str, Any]):
    """The fields of an answer; asking for one that it lacks is the peer's fault, not ours."""

    def __init__(self, op: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self._op = op

    def __missing__(self, name: str) -> Any:
        raise PeerDied(f"the peer answered '{self._op}' without '{name}'")


def answer(op: str, line: bytes) -> Answer:
    """What a line says, whatever it answers."""
    try:
        document = parsed(line)
    except ValueError:
        raise PeerDied(f"the peer answered '{op}' with what is no JSON") from None
    if not isinstance(document, dict):
        raise PeerDied(f"the peer answered '{op}' with what is no object")
    return Answer(op, document)


def agreed(op: str, found: Answer) -> Answer:
    """An answer that agrees; AgentError if it refuses, PeerDied if it is none."""
    is_agreed = found["ok"] is True
    for shape in (_TAKEN, _SHAPES.get(op, object)) if is_agreed else (_REFUSED,):
        if wrong := flaw(dict(found), shape):
            raise PeerDied(f"the peer answered '{op}' wrongly: {wrong}")
    if not is_agreed:
        raise AgentError(op, found["error"], found["errno"])
    return found
