# SPDX-License-Identifier: BSD-2-Clause
"""Reading dut.toml: what is right is read, what is wrong is named with its remedy."""

from __future__ import annotations

import pytest

from roceproof.dpi import ManifestError, Operation, PathMtu, Service, load_manifest

GOOD = """\
schema = 1
name = "mine"
top = "my_top"
sources = ["a.sv"]
clock_ps = 6400
data_widths = [64, 512]
[clock_ps_by_width]
512 = 3200
[capabilities]
services = ["RC", "UC"]
operations = ["SEND", "WRITE_IMM"]
path_mtus = [1024, 4096]
qps = 4
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "a.sv").write_text("module my_top; endmodule\n")

    def write(text: str):
        path = tmp_path / "dut.toml"
        path.write_text(text)
        return path

    return write


def test_manifest_is_read_whole(write, tmp_path):
    manifest = load_manifest(write(GOOD))
    assert manifest.sources == (tmp_path / "a.sv",)
    assert manifest.clock_ps_at(64) == 6400
    assert manifest.clock_ps_at(512) == 3200
    assert manifest.capabilities.services == {Service.RC, Service.UC}
    assert manifest.capabilities.operations == {Operation.SEND, Operation.WRITE_IMM}
    assert manifest.capabilities.path_mtus == {PathMtu.MTU_1024, PathMtu.MTU_4096}
    assert manifest.capabilities.retransmission is False


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "schema = 2", "schema: 2 is not supported"),
        ('top = "my_top"\n', "", "top: missing"),
        ('"a.sv"', '"b.sv"', "b.sv does not exist"),
        ("clock_ps = 6400", "clock_ps = 0", "clock_ps: 0 ps is no clock period"),
        ("clock_ps = 6400", 'clock_ps = "fast"', "clock_ps: expected int, got 'fast'"),
        ("[64, 512]", "[100]", "data_widths: 100 is none of"),
        ("[64, 512]", "[64]", "clock_ps_by_width.512: unknown key"),
        ('"UC"', '"XRC"', "capabilities.services: 'XRC' is none of RC, UC, UD"),
        ("4096]", "1500]", "capabilities.path_mtus: 1500 is none of"),
        ("qps = 4", "qp = 4", "capabilities.qps: missing"),
        ("qps = 4", "qps = 4\ncolour = 1", "capabilities.colour: unknown key"),
        ("schema = 1", "schema", "not TOML"),
    ],
)
def test_wrong_manifest_is_named(write, old, new, words):
    assert old in GOOD
    with pytest.raises(ManifestError) as caught:
        load_manifest(write(GOOD.replace(old, new)))
    assert words in str(caught.value)


def test_width_the_device_lacks_is_named(write):
    with pytest.raises(ManifestError, match="no data width 128"):
        load_manifest(write(GOOD)).clock_ps_at(128)


def test_missing_manifest_is_named(tmp_path):
    with pytest.raises(ManifestError, match="No such file"):
        load_manifest(tmp_path / "dut.toml")
