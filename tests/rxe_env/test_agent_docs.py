# SPDX-License-Identifier: BSD-2-Clause
"""The protocol table and the agent's own table name the same operations."""

from __future__ import annotations

import re
from pathlib import Path

from roceproof.rxe_env.client.agent_build import SOURCE_DIR

DOCUMENT = Path(__file__).parents[2] / "docs" / "agent.md"


def test_every_operation_and_each_of_its_fields_is_documented() -> None:
    source = (SOURCE_DIR / "ops" / "dispatch.c").read_text()
    joined = re.sub(r'"\s*\n\s*"', "", source)
    entries = re.findall(r'\{"(\w+)",\s*op_\w+,\s*"([^"]*)"\}', joined)
    document = DOCUMENT.read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", document, re.MULTILINE))
    assert {name for name, _ in entries} <= documented
    for name, fields in entries:
        for field in set(fields.split()) - {"id", "op"}:
            assert f"`{field}`" in document, f"{name}: {field}"
