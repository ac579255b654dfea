# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof new`: what it writes is a device that builds, and the gate says what is missing."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from roceproof.common.paths import REPOSITORY
from roceproof.dpi import Operation, Service, load_manifest
from roceproof.verbs.limit_table import LIMITS

FINE, FAIL, UNUSABLE = 0, 1, 2


def test_it_writes_what_was_asked_for_and_says_what_is_next(console, tmp_path: Path) -> None:
    place = tmp_path / "my core"
    run = console.run(
        "new",
        str(place),
        *("--width", "64", "--width", "512"),
        "--rc",
        "SEND,WRITE",
        "--uc",
        "WRITE",
    )
    assert run.returncode == FINE, run.stderr
    assert run.stdout.splitlines()[-1].endswith(f"'{place / 'dut.toml'}'")
    manifest = load_manifest(place / "dut.toml")
    assert (manifest.name, manifest.data_widths) == ("my_core", (64, 512))
    assert manifest.capabilities.services == {Service.RC, Service.UC}
    assert manifest.capabilities.operations == {Operation.SEND, Operation.WRITE}
    assert [path.name for path in manifest.sources] == [
        "roceproof_dut_pkg.sv",
        "roceproof_wrapper.sv",
    ]
    text = (place / "dut.toml").read_text()
    schema = place / text.splitlines()[0].removeprefix("#:schema ")
    Draft7Validator(json.loads(schema.read_text())).validate(tomllib.loads(text))


def test_every_key_that_the_manifest_has_in_comments_is_one(tmp_path: Path) -> None:
    (tmp_path / "core" / "include").mkdir(parents=True)
    (tmp_path / "roceproof_wrapper.sv").touch()
    text = (REPOSITORY / "examples" / "skeleton" / "dut.toml").read_text()
    said = [
        line.removeprefix("# ") if "=" in line or line.startswith("# [") else line
        for line in text.splitlines()
    ]
    (tmp_path / "dut.toml").write_text("\n".join(said))
    manifest = load_manifest(tmp_path / "dut.toml")
    assert {row.key for row in LIMITS} <= tomllib.loads("\n".join(said))["limits"].keys()
    assert manifest.capabilities.retransmission
    assert manifest.limits.length_multiple == 4
    assert manifest.limits.fixed["hop_limit"] == 64
    assert manifest.environment.resolves_addresses
    assert len(manifest.waivers) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--width", "100"), "data_widths: 100 is none of"),
        (("--rc", "WRITES"), "'WRITES' is none of"),
        (("--name", "a/b"), "name: 'a/b' will not do"),
    ],
)
def test_what_is_no_device_is_refused_and_leaves_nothing(console, tmp_path, words, told) -> None:
    run = console.run("new", str(tmp_path / "mine"), *words)
    assert (run.returncode, run.stdout) == (UNUSABLE, "")
    assert told in run.stderr
    assert list((tmp_path / "mine").iterdir()) == []


def test_nothing_is_overwritten_but_the_schema_where_that_is_asked_for(console, tmp_path) -> None:
    assert console.run("new", str(tmp_path)).returncode == FINE
    (tmp_path / "dut.schema.json").write_text("old")
    again = console.run("new", str(tmp_path))
    assert again.returncode == UNUSABLE
    assert "dut.toml exists" in again.stderr
    assert (tmp_path / "dut.schema.json").read_text() == "old"
    assert console.run("new", "--schema", str(tmp_path)).returncode == FINE
    assert json.loads((tmp_path / "dut.schema.json").read_text())["type"] == "object"


@pytest.mark.sim
@pytest.mark.slow
def test_the_gate_says_which_stream_is_missing_next(console, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    console.run("new", str(place))
    wrapper = place / "roceproof_wrapper.sv"
    words = ("gate", str(place / "dut.toml"), "--suite", "smoke", "--no-guest")
    for port, done in (("qpc_ready_o", "qpc_ready_o = 1'b1"), ("wr_ready_o", None)):
        run = console.run(*words, "--out", str(tmp_path / "out"))
        assert run.returncode == FAIL, run.stderr
        assert f"look at {port}" in run.stdout
        assert "the suite had no device that sends" in run.stdout
        if done:
            old = f"{port} = 1'b0"
            wrapper.write_text(wrapper.read_text().replace(old, done))
