# SPDX-License-Identifier: BSD-2-Clause
"""The JSON schema of a manifest, for editors: what may be said, and what it means.

Names and bounds are those that the reading of manifests has; tests hold the keys against those
that it asks for, and have it refuse what the schema refuses.
"""

from typing import Any

from roceproof.dpi.contract.records import ASKING, Operation
from roceproof.dpi.manifest.circuit import IDENTIFIER, MEANINGFUL_WARNINGS
from roceproof.dpi.manifest.dut import (
    DATA_WIDTHS,
    FEATURES,
    NAME,
    SLOWEST_CLOCK_PS,
    WIRES,
    XGMII,
    XGMII_WIDTH,
)
from roceproof.dpi.manifest.responder import (
    HIERARCHY,
    LARGEST_ADDRESS,
    LARGEST_BASE,
    LARGEST_KEY,
    MOST_HELD,
    MOST_OF,
)
from roceproof.verbs.limit_table import LIMITS, LONGEST_MESSAGE, Kind, Limit
from roceproof.verbs.limits import FIXABLE
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

Schema = dict[str, Any]
_FLAG = "solicited"


def manifest_schema() -> Schema:
    """Of manifests of schema 2."""
    clock = _number("Clock period in picoseconds.", 2, SLOWEST_CLOCK_PS)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "roceproof DUT manifest (dut.toml)",
        **_table(
            "A device under test; docs/dut-contract.md.",
            {
                "schema": {"const": 2, "description": "The version of this format."},
                "name": _text("Builds are named by it.", NAME.pattern),
                "top": _text("The wrapper's module.", IDENTIFIER.pattern),
                "sources": _names(
                    "Files, patterns (*, ?), lists (.f), FuseSoC cores (.core) and EDAM files "
                    "(.eda.yml), relative to the manifest, in compile order."
                ),
                "includes": _names("Folders for `include."),
                "vhdl_top": _text(
                    "The entity that the wrapper instantiates, where sources are VHDL.",
                    IDENTIFIER.pattern,
                ),
                "clock_ps": clock,
                "clock_ps_by_width": _table(
                    "Where it differs from clock_ps at a data width.",
                    {str(width): clock for width in DATA_WIDTHS},
                ),
                "data_widths": _list("Bits of the streams.", list(DATA_WIDTHS)),
                "wire": {
                    "enum": list(WIRES),
                    "description": "How frames cross its border: a stream if not said.",
                },
                "warnings": _list(
                    "Verilator's, accepted though they may change the circuit.",
                    list(MEANINGFUL_WARNINGS),
                ),
                "defines": _values("Of the preprocessor."),
                "parameters": _values("Of the top module, besides DataWidth and ClockPs."),
                "capabilities": _capabilities(),
                "limits": _limits(),
                "fixed": _table(
                    "What nobody can choose: compared with, never drawn.",
                    {name: _fixed(name, most) for name, most in FIXABLE.items()},
                ),
                "environment": _table(
                    "What the device wants of the network around it.",
                    {"resolves_addresses": _flag("It asks for its peers by ARP before it sends.")},
                ),
                "responder": _responder(),
                "cm": _table(
                    "It makes connections itself when somebody asks for its service.",
                    {
                        "service_id": _number(
                            "That service: 0x01060000 and a port, for the RDMA IP CM.",
                            0,
                            LARGEST_ADDRESS,
                        ),
                        "calls": _flag("It asks others for it, too, when it is told to."),
                    },
                    needed=("service_id",),
                ),
                "region": {
                    "type": "array",
                    "minItems": 1,
                    "uniqueItems": True,
                    "items": _region(),
                    "description": "Memory of a responder whose keys are built in.",
                },
                "waivers": {
                    "type": "array",
                    "minItems": 1,
                    "items": _waiver(),
                    "description": "Broken rules and cases that are accepted for a time.",
                },
            },
            needed=("schema", "name", "top", "sources", "clock_ps", "data_widths", "capabilities"),
        ),
        "dependencies": {"region": ["responder"], "cm": ["responder"]},
        "allOf": [
            {
                "if": {"not": {"required": ["responder"]}},
                "then": {"properties": {"capabilities": _SENDS}},
            },
            {
                "if": {"properties": {"wire": {"const": XGMII}}, "required": ["wire"]},
                "then": {"properties": {"data_widths": {"items": {"const": XGMII_WIDTH}}}},
            },
            {
                "if": {"properties": {"responder": {"required": ["backdoor"]}}},
                "then": {"anyOf": [{"required": ["region"]}, {"not": {"required": ["responder"]}}]},
            },
        ],
    }


_SENDS: Schema = {"anyOf": [{"required": [service]} for service in Service.__members__]}


def _capabilities() -> Schema:
    everywhere = [each.name for each in Operation if each not in ASKING]
    services = dict.fromkeys(Service.__members__, everywhere)
    services[Service.RC.name] = list(Operation.__members__)
    return _table(
        "What the device claims to support; nothing else is asked for.",
        {
            **{name: _list(f"Operations on {name}.", each) for name, each in services.items()},
            "retransmission": _flag("It repeats what is lost."),
            "features": _list(
                "It obeys CNPs, credits and pauses, speaks IPv6, sends VLAN tags.", list(FEATURES)
            ),
        },
    )


def _responder() -> Schema:
    operations = list(Op.__members__)
    return _table(
        "The device answers requests, too; docs/dut-contract-v2.md.",
        {
            **{
                each: _list(f"What it executes on {each}.", operations)
                for each in Service.__members__
            },
            "regions": _number("Memory regions at once; 16 if not said.", 1, MOST_HELD),
            "receives": _number("Receives on one queue; 16 if not said.", 1, MOST_HELD),
            "states": _flag("It knows the QP commands between reset and activation."),
            "shared_receives": _flag("There are shared receive queues, numbered from 1 on."),
            "shared_queues": _number(
                "So many of them; 1 if not said.", 1, MOST_OF["shared_queues"]
            ),
            "message_count": _flag("Its count of messages begins where it is told."),
            "notifies": _flag("It notifies of congestion: marked requests draw CNPs."),
            "backdoor": _text(
                "The array that is its memory, below the wrapper: u_core.u_ram.bytes.",
                HIERARCHY.pattern,
            ),
        },
    )


def _region() -> Schema:
    return _table(
        "One of them.",
        {
            "rkey": _number("Its key, for peers and receives.", 0, LARGEST_KEY),
            "va": _number("The address of its first byte, for them.", 0, LARGEST_ADDRESS),
            "base": _number("Where that lies in the memory.", 0, LARGEST_BASE),
            "length": _number("Bytes.", 1, LONGEST_MESSAGE),
            "access": _list("What may be done with it.", sorted(FULL_ACCESS)),
        },
        needed=("rkey", "length", "access"),
    )


def _limits() -> Schema:
    return _table(
        "What is not said is not limited; what lies beyond is not tried.",
        {row.key: _limit(row) for row in LIMITS},
    )


def _limit(row: Limit) -> Schema:
    match row.kind:
        case Kind.NUMBER:
            return _number(row.says, 1, row.most)
        case Kind.FLAG:
            return _flag(row.says)
        case Kind.LIST:
            return _list(row.says, list(row.choices))
        case Kind.CHOICE:
            return {"enum": list(row.choices), "description": row.says}
        case Kind.RANGE:
            end = {"type": "integer", "minimum": 0, "maximum": row.most}
            ends = {"type": "array", "items": end, "minItems": 2, "maxItems": 2}
            return {**ends, "description": row.says}


def _fixed(name: str, most: int) -> Schema:
    if name == _FLAG:
        return _flag("Whether it always sets SE in the last packet of a message that may.")
    return _number(f"Its {name}, always.", 0, most)


def _waiver() -> Schema:
    return _table(
        "One of them; docs/waivers.md.",
        {
            "rule": _text("The broken rule, such as BTH-08.", "^[A-Z0-9]+-[0-9]+$"),
            "case": _text("Instead of a rule: the name of a case.", r"\S"),
            "limits": _waived_limits(),
            "reason": _text("Why, for whoever reads the report.", r"\S"),
            "expires": {"description": "The last day, a date without quotes."},
        },
        needed=("reason", "expires"),
    ) | {"oneOf": [{"required": [subject]} for subject in ("rule", "case", "limits")]}


def _waived_limits() -> Schema:
    waivable = {row.key: _limit(row) for row in LIMITS if row.beyond}
    return _table("Instead of a rule: limits beyond which it is broken.", waivable) | {
        "minProperties": 1
    }


def _table(says: str, keys: dict[str, Schema], *, needed: tuple[str, ...] = ()) -> Schema:
    table = {
        "type": "object",
        "description": says,
        "properties": keys,
        "additionalProperties": False,
    }
    return {**table, "required": list(needed)} if needed else table


def _list(says: str, of: list[Any]) -> Schema:
    return _several(says, {"enum": of})


def _names(says: str) -> Schema:
    return _several(says, {"type": "string", "minLength": 1})


def _several(says: str, items: Schema) -> Schema:
    return {
        "type": "array",
        "items": items,
        "minItems": 1,
        "uniqueItems": True,
        "description": says,
    }


def _values(says: str) -> Schema:
    return {
        "type": "object",
        "propertyNames": {"pattern": f"^{IDENTIFIER.pattern}$"},
        "additionalProperties": {"type": ["string", "integer"]},
        "description": says,
    }


def _number(says: str, least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": says}


def _flag(says: str) -> Schema:
    return {"type": "boolean", "description": says}


def _text(says: str, pattern: str) -> Schema:
    if pattern[0] not in "^\\":
        pattern = f"^{pattern}$"
    return {"type": "string", "pattern": pattern, "description": says}
