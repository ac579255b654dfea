# SPDX-License-Identifier: BSD-2-Clause
"""Features of messages in words: what each row of `observations` is, and is not, one may say of it.

The order is that in which causes are preferred that explain as much, but that bounds go in front
of the less likely ones.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from roceproof.conformance.runner.findings.bounds import BOUNDS, lines_of
from roceproof.conformance.runner.findings.observations import FEATURES
from roceproof.verbs.limit_table import LONGEST_MESSAGE

Features = Mapping[str, Any]


class Kind(NamedTuple):
    """A statement about a message or one of its packets."""

    holds: Callable[[Features], bool]
    words: str
    limits: tuple[str, ...] = ()
    """Lines of `[limits]` by which none of them would be tried."""


def _is(name: str, value: Any, words: str) -> Kind:
    return Kind(lambda row: row[name] == value, words)


LATER = Kind(lambda row: row["nth"] > 1, "behind the first message of its queue pair")
_WORDS = lines_of({"length_multiple": 4})
_LIKELY = (
    Kind(lambda row: row["rest"] != 0, "of a length that is no multiple of 4", _WORDS),
    _is("empty", True, "of no bytes")._replace(limits=lines_of({"length": [1, LONGEST_MESSAGE]})),
    Kind(lambda row: row["packets"] > 1, "of several packets"),
    _is("service", "RC", "on RC"),
    _is("service", "UC", "on UC"),
    _is("service", "UD", "on UD"),
    *(_is("mtu", size, f"at path MTU {size}") for size in (256, 512, 1024, 2048, 4096)),
    _is("carries", "SEND", "of a SEND"),
    _is("carries", "WRITE", "of an RDMA WRITE"),
    _is("carries", "READ", "of an RDMA READ"),
    _is("immediate", True, "with immediate"),
    Kind(lambda row: row["qp"] > 0, "on any queue pair but the first", lines_of({"qps": 1})),
    Kind(lambda row: row["qp"] > 1, "on any queue pair behind the second", lines_of({"qps": 2})),
    _is("qp", 0, "on the first queue pair"),
    LATER,
    _is("nth", 1, "as the first message of its queue pair"),
    _is("life", True, "on a queue pair that was connected anew"),
)
_OTHERS = (
    _is("place", "first", "the FIRST packet"),
    _is("place", "middle", "a MIDDLE packet"),
    _is("place", "last", "the LAST packet"),
    _is("place", "only", "an ONLY packet"),
    Kind(lambda row: row["place"] in ("first", "only"), "the packet that begins"),
    Kind(lambda row: row["place"] in ("last", "only"), "the packet that ends"),
    Kind(lambda row: row["packets"] > 2, "of three packets or more"),
    _is("packets", 2, "of two packets"),
    _is("packets", 1, "of one packet"),
    _is("whole", True, "of whole packets"),
    *(
        _is("rest", rest, f"of a length of 4n+{rest} bytes")._replace(limits=_WORDS)
        for rest in (1, 2, 3)
    ),
    _is("rest", 0, "of a length that is a multiple of 4"),
    _is("ip", 6, "over IPv6"),
    _is("ip", 4, "over IPv4"),
    _is("offset", True, "whose payload starts in another byte lane than the first"),
    _is("solicited", True, "that are solicited"),
    *(_is("op", op, f"of {op}") for op in ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM")),
    *(_is("width", bits, f"at {bits} bits") for bits in (8, 16, 32, 64, 128, 256, 512, 1024)),
    _is("nak", True, "of a queue pair that had a NAK"),
    _is("nak", False, "of a queue pair that had no NAK"),
    _is("turn", True, "whose PSNs reach 0xffffff"),
    _is("immediate", False, "without immediate"),
    _is("empty", False, "that are not empty"),
    _is("life", False, "on a queue pair in its first life"),
    _is("solicited", False, "that are not solicited"),
)
KINDS = (*_LIKELY, *_OTHERS)
PREFERENCE = (
    *range(len(_LIKELY)),
    *range(len(KINDS), len(KINDS) + len(BOUNDS)),
    *range(len(_LIKELY), len(KINDS)),
)
"""The numbers of KINDS, and of bounds behind those, in the order in which they are preferred."""

_ENDS = ("begins", "ends")
_PLACES = (*_ENDS, " packet")
"""How words end that are about one packet of a message."""
_OF_SIZE = "of "
"""How they begin if it is the only one."""
_CLAUSES = ("that ", "whose ")
"""How those begin that stand behind the others."""


def kinds_of(features: list[Any]) -> frozenset[int]:
    """The numbers of all kinds that a row is of."""
    return _kinds_of(tuple(features))


@cache
def _kinds_of(features: tuple[Any, ...]) -> frozenset[int]:
    row = dict(zip(FEATURES, features, strict=True))
    return frozenset(number for number, kind in enumerate(KINDS) if kind.holds(row))


def in_words(kinds: tuple[Kind, ...]) -> str:
    """Which messages a conjunction of kinds means, or which of their packets."""
    words = sorted((kind.words for kind in kinds), key=lambda each: each.startswith(_CLAUSES))
    places = [each for each in words if each.endswith(_PLACES) and not each.startswith(_OF_SIZE)]
    told = " ".join(["messages", *(each for each in words if each not in places)])
    if not places:
        return told
    if places[-1].endswith(_ENDS):
        return f"{places[-1]} {told}"
    return places[-1] if words == places else f"{places[-1]} of {told}"


_IN_RETH = ("va", "rkey", "dmalen")


def carries(field: str, features: list[Any]) -> bool:
    """Whether packets of a row have a field at all."""
    row = dict(zip(FEATURES, features, strict=True))
    if field in _IN_RETH:
        return row["place"] in ("first", "only")
    if field == "imm":
        return bool(row["immediate"]) and row["place"] in ("last", "only")
    return field != "payload" or not row["empty"]
