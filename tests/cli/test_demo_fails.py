# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration with a transmitter whose ICRC is wrong: no byte lands, and it says so."""

from __future__ import annotations

import json

import pytest

from roceproof.common.paths import REFERENCE_DUT

pytestmark = [pytest.mark.rxe, pytest.mark.sim, pytest.mark.slow]


def test_a_wrong_icrc_lands_nowhere_and_fails_the_run(console, tmp_path, request) -> None:
    manifest = tmp_path / "dut.toml"
    reference = REFERENCE_DUT.read_text()
    for source in REFERENCE_DUT.parent.glob("*.sv"):
        reference = reference.replace(f'"{source.name}"', f'"{source}"')
    wrapper = request.path.parent / "bad_icrc_dut" / "bad_icrc_endpoint.sv"
    reference = reference.replace('top = "roce_endpoint"', 'top = "bad_icrc_endpoint"')
    top = REFERENCE_DUT.parent / "roce_endpoint.sv"
    manifest.write_text(reference.replace(f'"{top}"', f'"{top}", "{wrapper}"'))
    run = console.run("demo", "--dut", str(manifest), "--short", "--out", str(tmp_path))
    assert run.returncode == 1, run.stderr
    document = json.loads((tmp_path / "result.json").read_text())
    assert document["ok"] is False
    # In the frame of an empty SEND the last byte is Ethernet padding, which no ICRC covers.
    landed = {(m["operation"], m["length"]) for m in document["messages"] if m["ok"]}
    assert landed <= {("SEND", 0)}
    assert "did not land: completed RETRY_EXC_ERR" in run.stderr
    assert "ICRC-02" in run.stdout
