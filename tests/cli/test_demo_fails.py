# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration with transmitters that are wrong: what does not land is told, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi.manifest.dut import load_manifest

pytestmark = [pytest.mark.rxe, pytest.mark.sim, pytest.mark.slow]


def manifest_of(top: str, wrapper: Path, folder: Path) -> Path:
    """The reference endpoint behind a wrapper."""
    manifest = folder / "dut.toml"
    reference = REFERENCE_DUT.read_text()
    for source in load_manifest(REFERENCE_DUT).sources:
        named = source.relative_to(REFERENCE_DUT.parent)
        reference = reference.replace(f'"{named}"', f'"{source}"')
    reference = reference.replace('top = "roce_endpoint"', f'top = "{top}"')
    endpoint = REFERENCE_DUT.parent / "roce_endpoint.sv"
    manifest.write_text(reference.replace(f'"{endpoint}"', f'"{endpoint}", "{wrapper}"'))
    return manifest


def test_a_wrong_icrc_lands_nowhere_and_fails_the_run(console, tmp_path, request) -> None:
    wrapper = request.path.parent / "bad_icrc_dut" / "bad_icrc_endpoint.sv"
    manifest = manifest_of("bad_icrc_endpoint", wrapper, tmp_path)
    run = console.run("demo", "--dut", str(manifest), "--short", "--out", str(tmp_path))
    assert run.returncode == 1, run.stderr
    document = json.loads((tmp_path / "result.json").read_text())
    assert document["ok"] is False
    # In the frame of an empty SEND the last byte is Ethernet padding, which no ICRC covers.
    landed = {(m["operation"], m["length"]) for m in document["messages"] if m["ok"]}
    assert landed <= {("SEND", 0)}
    assert "did not land: completed RETRY_EXC_ERR" in run.stderr
    assert "ICRC-02" in run.stdout


def test_what_is_refused_ends_nothing_and_what_hangs_leaves_the_table_so_far(
    console, tmp_path, request
) -> None:
    wrapper = request.path.parent / "moody_dut" / "moody_endpoint.sv"
    manifest = manifest_of("moody_endpoint", wrapper, tmp_path)
    manifest.write_text(manifest.read_text().replace('["RC", "UC"]', '["UC"]'))
    run = console.run("demo", "--dut", str(manifest), "--short", "--out", str(tmp_path))
    assert run.returncode == 1, run.stderr
    rows = [line.split()[:4] for line in run.stdout.splitlines() if line.startswith("UC")]
    assert rows == [
        ["UC", "1024", "SEND", "0/11"],
        ["UC", "1024", "SEND_IMM", "11/11"],
        ["UC", "1024", "WRITE", "11/11"],
    ]
    assert "22 of 88 messages had landed" in run.stdout
    assert run.stderr.count("did not land: completed LOC_QP_OP_ERR") == 1
    assert "no completion of a UC WRITE_IMM of 0 bytes in" in run.stderr
    assert "due 100,000 cycles behind the last beat" in run.stderr
    assert "the device offers nothing: cpl_valid_o is low" in run.stderr
    assert "last frames: sent at" in run.stderr
    assert "UC WRITE ONLY IMM with PSN 0x0" in run.stderr
