# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration sends what a device can send, and says where that is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from roceproof.cli.demo import demo as demo_command
from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT, REPOSITORY
from roceproof.conformance.demo import send as demo
from roceproof.conformance.demo.plan import plan
from roceproof.dpi import Manifest, load_manifest

MANIFEST = """\
schema = 2
name = "small"
top = "roce_endpoint"
sources = ["{package}"]
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
UC = ["SEND"]
[limits]
qps = {qps}
length_multiple = 4
length = [4, 2048]
[fixed]
{fixed}
"""


def device(folder: Path, *, qps: int = 16, fixed: str = "sq_psn = 5") -> Manifest:
    path = folder / "dut.toml"
    package = REFERENCE_DUT.parent / "roceproof_dut_pkg.sv"
    path.write_text(MANIFEST.format(package=package, qps=qps, fixed=fixed))
    return load_manifest(path)


def test_lengths_operations_and_fixed_values_are_those_of_the_device(tmp_path: Path) -> None:
    found = list(plan(seed=1, device=device(tmp_path)))
    kinds = {
        (each.service.name, message.operation.name) for each in found for message in each.messages
    }
    assert kinds == {("RC", "WRITE"), ("UC", "SEND")}
    sizes = [len(message.payload) for each in found for message in each.messages]
    assert all(size % 4 == 0 and 4 <= size <= 2048 for size in sizes)
    assert {each.start_psn for each in found} == {5}


def test_no_more_connections_than_the_device_has(tmp_path: Path) -> None:
    assert len(list(plan(seed=1, device=device(tmp_path, qps=1)))) == 1


@pytest.mark.parametrize("name", ["remote_qpn", "rkey"])
def test_a_device_that_chooses_the_receivers_numbers_cannot_meet_one(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(RoceproofError, match=f"fixes {name}"):
        list(plan(seed=1, device=device(tmp_path, fixed=f"{name} = 5")))


def test_one_address_on_a_queue_pair_is_too_few(tmp_path: Path) -> None:
    once = "per_queue_pair = ['remote_addr']\n[fixed]"
    path = device(tmp_path).path
    path.write_text(path.read_text().replace("[fixed]", once))
    with pytest.raises(RoceproofError, match="remote_addr is the same in all work"):
        list(plan(seed=1, device=load_manifest(path)))


@pytest.mark.parametrize(("words", "width"), [([], 8), (["--width", "16"], 16)])
def test_the_data_path_is_as_wide_as_the_manifest_says_first(
    words: list[str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Any] = []

    def run_demo(asked: Any, *_: Any, **__: Any) -> int:
        wanted.append(asked)
        return 0

    monkeypatch.setattr(demo, "run_demo", run_demo)
    dut = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"
    result = CliRunner().invoke(demo_command, ["--dut", str(dut), *words])
    assert result.exit_code == 0, result.output
    assert [each.data_width for each in wanted] == [width]
    assert f"--width {width} " in wanted[0].command
