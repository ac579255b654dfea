# SPDX-License-Identifier: BSD-2-Clause
"""Documents of anybody, damaged in hundreds of ways: read, or refused in one line, and soon."""

from __future__ import annotations

import copy
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable_lines
from roceproof.conformance.coverage.run_report import run_merge, run_show
from roceproof.conformance.devices.document import matrix_of
from roceproof.conformance.gate.document import read_baseline
from roceproof.conformance.nic.matrix_report import merge, run_diff
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.rules.waivers import load_waivers
from roceproof.dpi.manifest.edam import read_description

DAMAGES = 300
LONGEST_SECONDS = 2.0
COVERAGE = {
    "schema": 1,
    "target": "hdl",
    "device": "it",
    "claims": {
        "capabilities": ["RC", "REQUESTER", "WRITE"],
        "path_mtus": [256, 1024],
        "qps": 16,
        "widths": [64],
        "serves": None,
        "sends": ["RC"],
    },
    "runs": [{"suite": "smoke", "seed": 1, "expression": "a and b"}],
    "hits": {"config.command": {"RC/reset": 3}},
}
RESULTS = {
    "target": "nic",
    "suite": "full",
    "seed": 1,
    "made_of": {"nic device": "rxe0", "nic kernel": "6.1.0"},
    "cases": [
        {"file": "test_a.py", "case": "a", "outcome": "passed", "rules": ["PSN-02"]},
        {"file": "test_a.py", "case": "b", "outcome": "failed", "rules": [], "broken": ["ACK-04"]},
    ],
}
BASELINE = {"schema": 1, "failures": ["case test_a.py::a", "plan 64bit 3"]}
END = {"service": "RC", "address": "10.0.0.1", "qpn": 17, "remote_address": "10.0.0.2"}
FACTS = {"schema": 1, "mtu": 1500, "qps": [END | {"remote_qpn": 18, "start_psn": 5, "dscp": 1}]}
EDAM = {
    "files": [{"name": "a.sv", "file_type": "systemVerilogSource"}],
    "parameters": {"DEPTH": {"paramtype": "vlogdefine", "default": 4}},
}
WAIVERS = """\
[[waiver]]
rule = "PSN-02"
device = "it"
flow = "10.0.0.1 > 10.0.0.2 QPN 0x11"
reason = "as agreed"
expires = 2099-01-31
"""
DEEP = "[" * 5000 + "]" * 5000
STRANGE: tuple[Any, ...] = (
    *(-1, 0, 2**24, 2**64, 10**30, 0.5, float("inf"), float("nan"), None, True, [], {}, ""),
    *("\x1b[2J\n", "\ud800", "\u202e", "a" * 5000, "deviation", [[]] * 999, {"\x1b": {"": 1}}),
)
PIECES = ("1e999", "-", "\\", '"', "{", "]", "\0", "\ufeff", "9" * 5000, DEEP, "Infinity", "\n")


def read_results(path: Path) -> None:
    run_diff(path, path, as_json=False)
    merge([path, path], path.parent / "out")


def read_coverage(path: Path) -> None:
    run_show([path], page=path.with_suffix(".html"), as_json=False)
    run_show([path, path], page=None, as_json=False)
    run_merge([path, path], path.with_suffix(".sum"))


READERS: dict[str, tuple[Any, Callable[[Path], object]]] = {
    "coverage.json": (COVERAGE, read_coverage),
    "results.json": (RESULTS, read_results),
    "devices.json": (matrix_of([RESULTS]), lambda path: merge([path], path.parent / "out")),
    "gate.json": (BASELINE, read_baseline),
    "qps.json": (FACTS, Facts.load),
    "core.eda.yml": (EDAM, read_description),
    "waivers.toml": (WAIVERS, load_waivers),
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container and key in a document."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    return [*((value, key) for key in keys), *(at for key in keys for at in places(value[key]))]


def damaged(document: Any, draw: random.Random) -> bytes:
    if not isinstance(document, str):
        document = copy.deepcopy(document)
        for _ in range(draw.choice((0, 1, 1, 2))):
            found = places(document)
            if not found:
                break
            within, key = draw.choice(found)
            if draw.random() < 0.2:
                del within[key]
            else:
                within[key] = draw.choice(STRANGE)
    text = document if isinstance(document, str) else json.dumps(document)
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw.choice((0, 0, 1, 2)) if text is not document else 1):
        at = draw.randrange(len(data) + 1)
        span = slice(at, at + draw.choice((0, 1, 9)))
        data[span] = draw.choice(
            (b"", bytes([draw.randrange(256)]), draw.choice(PIECES).encode(), bytes(data[span]) * 3)
        )
    return bytes(data)


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_document_is_read_or_refused_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, read = READERS[name]
    (tmp_path / "a.sv").touch()
    path = tmp_path / name
    refused = 0
    for seed in range(DAMAGES):
        path.write_bytes(damaged(document, random.Random(seed)))
        began = time.process_time()
        try:
            read(path)
        except RoceproofError as error:
            refused += 1
            words = str(error)
            assert words.isprintable() and len(words) < 1000, (seed, words)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
        assert time.process_time() - began < LONGEST_SECONDS, seed
        said = "".join(capsys.readouterr())
        assert said == printable_lines(said), seed
    assert DAMAGES / 4 < refused < DAMAGES


def test_what_has_no_end_takes_little(tmp_path: Path) -> None:
    """Under half a gigabyte of addresses, which is more than what is used."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from pathlib import Path; from test_documents import READERS, RoceproofError\n"
        "for reader in READERS:\n"
        "  for name in sys.argv[2:]:\n"
        "    try: READERS[reader][1](Path(name))\n"
        "    except RoceproofError: continue\n"
        "    raise SystemExit(reader + ' ' + name)"
    )
    many = tmp_path / "many"
    many.write_text("[" + "{}," * 4_000_000)
    deep = tmp_path / "deep"
    deep.write_text("[" * 3_000_000)
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent), "/dev/zero", many, deep],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_as_many_queue_pairs_as_there_can_be_are_no_list(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps(COVERAGE | {"claims": {**COVERAGE["claims"], "qps": 1 << 24}}))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read_coverage(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
