# SPDX-License-Identifier: BSD-2-Clause
"""The JSON schema of manifests and the reading of them know the same keys, and refuse the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from roceproof.conformance.rules.waivers import NEEDED, SUBJECTS, WaiverError, read_waivers
from roceproof.dpi import ManifestError, load_manifest
from roceproof.dpi.manifest.schema import manifest_schema
from roceproof.dpi.manifest.toml_table import Table
from roceproof.verbs.limits import FIXABLE

WAIVER = {"rule": "BTH-08", "reason": "agreed", "expires": date(2999, 1, 1)}
Place = tuple[str, ...]
SCHEMA = manifest_schema()
VALIDATOR = Draft7Validator(SCHEMA)
REMOVE = object()


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Reads a document as a manifest, without TOML between."""
    (tmp_path / "a.sv").touch()
    (tmp_path / "b.vhd").touch()
    (tmp_path / "inc").mkdir()

    def read(document: dict[str, Any]) -> None:
        monkeypatch.setattr("roceproof.dpi.manifest.dut.read_toml", lambda path: document)
        manifest = load_manifest(tmp_path / "dut.toml")
        read_waivers(manifest.waivers, place="waivers", scopes=())

    return read


def whole() -> dict[str, Any]:
    """A manifest that says all that can be said."""
    return {
        "schema": 2,
        "name": "mine",
        "top": "my_top",
        "sources": ["a.sv", "b.vhd"],
        "vhdl_top": "core",
        "includes": ["inc"],
        "clock_ps": 6400,
        "clock_ps_by_width": {"64": 3200},
        "data_widths": [64],
        "wire": "xgmii",
        "warnings": ["LATCH"],
        "defines": {"DEPTH": 4},
        "parameters": {"Slots": "4"},
        "capabilities": {
            "RC": ["WRITE"],
            "UC": ["SEND"],
            "UD": ["SEND"],
            "retransmission": True,
            "features": ["cnp", "credits", "pfc"],
        },
        "limits": {
            "path_mtus": [1024],
            "qps": 2,
            "length_multiple": 4,
            "length": [4, 65536],
            "outstanding_messages": 4,
            "outstanding_packets": 16,
            "outstanding_shared": True,
            "per_queue_pair": ["rkey"],
            "flushes": False,
            "identification": "any",
            "answer_cycles": 100,
            "quiet_cycles": 20000,
        },
        "fixed": {name: 1 for name in FIXABLE} | {"solicited": True},
        "environment": {"resolves_addresses": True},
        "responder": {
            "RC": ["WRITE"],
            "UC": ["SEND"],
            "UD": ["SEND"],
            "regions": 2,
            "receives": 3,
            "states": True,
            "shared_receives": True,
            "shared_queues": 4,
            "message_count": True,
            "notifies": True,
            "backdoor": "u_core.bytes",
        },
        "cm": {"service_id": 0x1064791},
        "region": [
            {"rkey": 1, "va": 2, "base": 3, "length": 4, "access": ["local_write"]},
        ],
        "waivers": [dict(WAIVER)],
    }


def keys(schema: dict[str, Any], place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every key that the schema knows, but for free ones."""
    for name, below in schema.get("properties", {}).items():
        yield (*place, name), below
        yield from keys(below, (*place, name))


def changed(place: Place, value: object) -> dict[str, Any]:
    document = whole()
    table = document
    for name in place[:-1]:
        table = table.setdefault(name, {})
    if value is REMOVE:
        del table[place[-1]]
    else:
        table[place[-1]] = value
    return document


def is_read(read, document: dict[str, Any]) -> bool:
    try:
        read(document)
    except (ManifestError, WaiverError):
        return False
    return True


def test_the_schema_is_one_and_takes_what_is_read(read) -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert is_read(read, whole())
    assert VALIDATOR.is_valid(whole())


def test_both_know_the_same_keys(read, monkeypatch) -> None:
    asked: dict[str, set[str]] = {}
    finish = Table.finish

    def noted(table: Table) -> None:
        finish(table)
        asked[table.name] = set(table.asked)

    monkeypatch.setattr(Table, "finish", noted)
    read(whole())
    known: dict[str, set[str]] = {}
    for place, _ in keys(SCHEMA):
        known.setdefault("".join(f"{name}." for name in place[:-1]), set()).add(place[-1])
    known["clock_ps_by_width."] = {"64"}  # of those widths that the device has
    assert known == {name: found for name, found in asked.items() if name in known}
    assert set(asked) <= {*known, "defines.", "parameters.", "region."}
    assert asked["region."] == set(SCHEMA["properties"]["region"]["items"]["properties"])


def test_waivers_have_the_same_keys() -> None:
    items = SCHEMA["properties"]["waivers"]["items"]
    assert set(items["properties"]) == {*SUBJECTS, *NEEDED}
    assert items["required"] == list(NEEDED)


def test_both_refuse_the_same_of_every_key(read, subtests: pytest.Subtests) -> None:
    for place, schema in dict(keys(SCHEMA)).items():
        with subtests.test(".".join(place)):
            check_key(read, place, schema)


def check_key(read, place: Place, schema: dict[str, Any]) -> None:
    probes: list[object] = ["", 1.5, [], {}, True, [1, 1], REMOVE, "no such word"]
    probes += [
        schema[end] + step for end, step in (("minimum", -1), ("maximum", 1)) if end in schema
    ]
    probes += [schema[end] for end in ("minimum", "maximum") if end in schema]
    if "enum" in schema.get("items", {}):
        probes += [[each] for each in schema["items"]["enum"]] + [["other"], [7]]
    probes += [*schema.get("enum", ()), 0, 3, 257, {"other": 1}, ["a.sv"]]
    for probe in probes:
        if probe is REMOVE and place[-1] not in _table_of(place):
            continue
        document = changed(place, probe)
        if _is_beyond_a_schema(place, probe):
            continue
        assert is_read(read, changed(place, probe)) == VALIDATOR.is_valid(document), (
            place,
            probe,
        )


def _table_of(place: Place) -> dict[str, Any]:
    table: Any = whole()
    for name in place[:-1]:
        table = table[name]
    return table


def _is_beyond_a_schema(place: Place, probe: object) -> bool:
    """What only the reading knows: which files are there, and what one key says of another."""
    is_file = place[0] in ("sources", "includes") and isinstance(probe, list)
    is_width = place[0] in ("data_widths", "clock_ps_by_width")
    is_order = place == ("limits", "length")
    is_of_vhdl = place == ("vhdl_top",) and probe is REMOVE
    return is_file or is_width or is_order or is_of_vhdl
