# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof new`: what it writes is a device that builds, and the gate says what is missing."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from test_output_faults import NAMESPACE, needs_namespaces

from roceproof.cli.new import run_new, write_schema
from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.dpi import Operation, Service, load_manifest
from roceproof.dpi.compile.cache import circuit_of
from roceproof.dpi.manifest.schema import manifest_schema
from roceproof.dpi.manifest.skeleton import Device
from roceproof.verbs.limit_table import LIMITS
from roceproof.verbs.limits import ANSWER_CYCLES, QUIET_CYCLES

COMMENTS = 43  # the column that they begin in
FINE, FAIL, UNUSABLE = 0, 1, 2
WRITER = Device(name=None, widths=(64,), operations={"RC": ["WRITE"]}, executed=[])


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
        if not line.startswith("# vhdl_top")  # which needs sources of VHDL
    ]
    (tmp_path / "dut.toml").write_text("\n".join(said))
    manifest = load_manifest(tmp_path / "dut.toml")
    assert {row.key for row in LIMITS} <= tomllib.loads("\n".join(said))["limits"].keys()
    assert manifest.capabilities.retransmission
    assert manifest.limits.answer_cycles == ANSWER_CYCLES  # what holds where none is said
    assert manifest.limits.quiet_cycles == QUIET_CYCLES
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
        (("--schema", "--rc", "WRITE"), "--schema writes nothing but the schema: leave out"),
    ],
)
def test_what_is_no_device_is_refused_and_leaves_nothing(console, tmp_path, words, told) -> None:
    run = console.run("new", str(tmp_path / "mine"), *words)
    assert (run.returncode, run.stdout) == (UNUSABLE, "")
    assert told in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_operations_add_up(console, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    words = ("--rc", "WRITE", "--rc", "SEND,WRITE", "--uc", "WRITE", "--executes", "READ")
    words += ("--ud", "SEND")
    assert console.run("new", str(place), *words, "--executes", "SEND").returncode == FINE
    said = tomllib.loads((place / "dut.toml").read_text())
    assert said["capabilities"] == {"RC": ["WRITE", "SEND"], "UC": ["WRITE"], "UD": ["SEND"]}
    assert said["responder"]["RC"] == ["READ", "SEND"]


@pytest.mark.parametrize(
    ("executed", "rights"),
    [
        ("READ", {"remote_read"}),
        ("SEND,WRITE", {"local_write", "remote_write"}),
        ("WRITE,READ,CMP_SWAP", {"local_write", "remote_write", "remote_read", "remote_atomic"}),
    ],
)
def test_memory_with_built_in_keys_has_the_rights_that_requests_need(
    console, tmp_path: Path, executed: str, rights: set[str]
) -> None:
    place = tmp_path / "mine"
    assert console.run("new", str(place), "--executes", executed, "--static-keys").returncode == 0
    (region,) = tomllib.loads((place / "dut.toml").read_text())["region"]
    assert set(region["access"]) == rights


@pytest.mark.parametrize(
    ("words", "claims", "ports"),
    [
        (["--rc", "WRITE"], set(), set()),
        (["--ud", "SEND,SEND_IMM"], set(), set()),
        (["--rc", "READ"], {"responder"}, {"rcv", "rcp", "mr", "mwc", "mwd", "mdn"}),
        (["--responder"], {"responder"}, {"rcv", "rcp", "mr", "mwc", "mwd", "mdn"}),
        (
            ["--executes", "READ,WRITE", "--static-keys"],
            {"responder", "region"},
            {"rcv", "rcp", "mwc", "mwd", "mdn", "mrc", "mrd"},
        ),
        (
            ["--responder", "--cm", "--backdoor", "--width", "8"],
            {"responder", "region", "cm"},
            {"rcv", "rcp", "cme"},
        ),
    ],
)
def test_a_responder_has_the_ports_of_its_claims_and_lints(
    console, tmp_path: Path, words, claims, ports
) -> None:
    place = tmp_path / "mine"
    assert console.run("new", str(place), *words).returncode == FINE
    text = (place / "dut.toml").read_text()
    assert {"responder", "region", "cm"} & tomllib.loads(text).keys() == claims
    assert {line.rindex("# ") for line in text.splitlines() if "  # " in line} == {COMMENTS}
    wrapper = place / "roceproof_wrapper.sv"
    found = set(re.findall(r"\b(r?cv|rcp|mr|m[wr][cd]|mdn|cme)_\w*[io]\b", wrapper.read_text()))
    assert found == ports
    manifest = load_manifest(place / "dut.toml")
    macros = [f"-D{name}={value}" for name, value in circuit_of(manifest).defines.items()]
    command = ["verilator", "--lint-only", "-Wall", "--timescale", "1ps/1ps", *macros]
    lint = subprocess.run(
        [*command, *map(str, manifest.sources)], capture_output=True, text=True, check=False
    )
    assert (lint.returncode, lint.stderr) == (0, "")


def test_the_manifest_has_every_key() -> None:
    text = (REPOSITORY / "examples" / "skeleton" / "dut.toml").read_text()
    for keys in _tables(manifest_schema()):
        for key in keys:
            assert re.search(rf"\[{key}\]|\b{key} = ", text), key


def _tables(schema: dict[str, Any]) -> Iterator[Collection[str]]:
    for name, each in schema["properties"].items():
        inside = each.get("items", each)
        if name not in ("fixed", "clock_ps_by_width") and "properties" in inside:
            yield from _tables(inside)
    yield schema["properties"].keys()


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
        assert f"{port} is low" in run.stdout
        assert "the suite was not begun: the first message fails" in run.stdout
        assert "skipped its first message fails" in run.stdout
        if done:
            old = f"{port} = 1'b0"
            wrapper.write_text(wrapper.read_text().replace(old, done))


@pytest.mark.parametrize("name", ["dut.toml", "roceproof_wrapper.sv", "dut.schema.json"])
@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_there_stays_and_nothing_is_put_beside_it(tmp_path, name, is_link) -> None:
    there, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    if is_link:
        there.symlink_to(elsewhere)
    else:
        there.write_text("old")
    with pytest.raises(RoceproofError, match=f"{name} exists; name a new directory"):
        run_new(tmp_path, WRITER)
    assert [*tmp_path.iterdir()] == [there]
    assert is_link or there.read_text() == "old"
    if is_link and name == "dut.schema.json":
        with pytest.raises(RoceproofError, match="a link that leads nowhere"):
            write_schema(tmp_path)
        assert not elsewhere.exists()


@needs_namespaces
def test_a_full_disk_holds_no_half_of_a_wrapper(console, tmp_path: Path) -> None:
    script = """
        mount -t tmpfs -o size=12k none . && cd "$PWD"
        "$1" new a/b; code=$?; ls -AR; exit $code
    """
    run = subprocess.run(
        [*NAMESPACE, "bash", "-c", script, "bash", console.command],
        env=console.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (UNUSABLE, ".:\n")
    assert re.fullmatch(r"roceproof: a/b/\S+: No space left on device\n", run.stderr)


def test_a_name_that_nobody_can_type_is_refused(console, tmp_path: Path) -> None:
    run = console.run("new", str(tmp_path / "\x1b[2Jcore"))
    assert (run.returncode, run.stdout) == (UNUSABLE, "")
    assert "\x1b" not in run.stderr and "\\x1b[2Jcore: a name that cannot be typed" in run.stderr
    assert not list(tmp_path.iterdir())
