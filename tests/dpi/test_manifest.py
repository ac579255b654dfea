# SPDX-License-Identifier: BSD-2-Clause
"""Reading dut.toml: what is right is read, what is wrong is named with its remedy."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from roceproof.dpi import ManifestError, Operation, PathMtu, Service, load_manifest
from roceproof.dpi.manifest.dut import CONTRACT

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
    assert manifest.sources == (CONTRACT, tmp_path / "a.sv")
    assert manifest.clock_ps_at(64) == 6400
    assert manifest.clock_ps_at(512) == 3200
    assert manifest.capabilities.services == {Service.RC, Service.UC}
    assert manifest.capabilities.operations == {Operation.SEND, Operation.WRITE_IMM}
    assert manifest.capabilities.path_mtus == {PathMtu.MTU_1024, PathMtu.MTU_4096}
    assert manifest.capabilities.retransmission is False


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "schema = 1\nlimits = {}", "limits: is a key of schema 2"),
        ("schema = 1", "schema = 3", "schema: 3 is not supported; this version reads 1 and 2"),
        ('top = "my_top"\n', "", "top: missing"),
        ('"a.sv"', '"b.sv"', "b.sv does not exist"),
        ("clock_ps = 6400", "clock_ps = 0", "clock_ps: 0 is out of range; expected 2 to"),
        ("clock_ps = 6400", 'clock_ps = "fast"', "clock_ps: expected int, got 'fast'"),
        ("[64, 512]", "[100]", "data_widths: 100 is none of"),
        ("[64, 512]", "[64]", "clock_ps_by_width.512: unknown key"),
        ('"UC"', '"XRC"', "capabilities.services: 'XRC' is none of RC, UC, UD"),
        ("4096]", "1500]", "capabilities.path_mtus: 1500 is none of"),
        ("qps = 4", "qp = 4", "capabilities.qps: missing"),
        (
            "qps = 4",
            "qps = 4\nfeature = []",
            "capabilities.feature: unknown key; is features meant?",
        ),
        ("qps = 4", "qps = 4\ncolour = 1", "capabilities.colour: unknown key"),
        ("schema = 1", "schema", "not TOML"),
        ('"mine"', '"../../x"', "name: '../../x' will not do; expected letters"),
        ('"mine"', '"a/b"', "name: 'a/b' will not do"),
        ('"mine"', '".."', "name: '..' will not do"),
        ('"mine"', '""', "name: '' will not do"),
        ('"mine"', '"a\\u001bb"', "name: 'a\\x1bb' will not do"),
        ('"my_top"', '"my top"', "top: 'my top' will not do"),
        ('["a.sv"]', '["a.sv", "a.sv"]', "sources: 'a.sv' is listed twice"),
        ('["a.sv"]', "[]", "sources: is empty; name at least one, or delete the line"),
        ('["a.sv"]', '["a\\u0000.sv"]', "is no file name"),
        ('["a.sv"]', '["a\\nb.sv"]', "is no file name"),
        ('["a.sv"]', f'["{"a" * 5000}"]', "File name too long"),
        ("[64, 512]", "[512, 64, 64]", "data_widths: 64 is listed twice"),
        ("512 = 3200", "512 = -1", "clock_ps_by_width.512: -1 is out of range"),
        ("clock_ps = 6400", "clock_ps = 1e3", "clock_ps: expected int, got 1000.0"),
        ("qps = 4", "qps = 0", "capabilities.qps: 0 is out of range"),
        ("qps = 4", "qps = true", "capabilities.qps: expected int, got True"),
        ("qps = 4", f"qps = 0x{'f' * 9000}", "capabilities.qps: a huge int is out of range"),
        ("qps = 4", f"qps = {'9' * 9000}", "not TOML"),
        ("schema = 1", "schema = " + "[" * 5000, "not TOML: nested too deeply"),
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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.touch(), "schema: missing"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
        (lambda path: path.write_bytes(b"\x7fELF\0\xff"), "not TOML"),
        (
            lambda path: path.write_bytes(b"#" * (1 << 21)),
            "not TOML: it has more than",
        ),
    ],
)
def test_what_is_no_manifest_is_said_so(tmp_path, make, words):
    path = tmp_path / "dut.toml"
    make(path)
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


VALUES = ("1", "-1", "true", '""', "[]", "{}", "1.5", "nan", "1979-05-27", '["RC", 1]', "[[64]]")


def damaged(draw: random.Random) -> bytes:
    """The good manifest with a few faults: in its bytes, its lines or its values."""
    text = GOOD.encode()
    for _ in range(draw.randint(1, 3)):
        lines = text.split(b"\n")
        at = draw.randrange(len(lines))
        match draw.randrange(6):
            case 0:
                text = text[: draw.randrange(len(text) + 1)]
            case 1:
                place = draw.randrange(len(text) + 1)
                text = text[:place] + draw.randbytes(draw.randint(1, 4)) + text[place + 1 :]
            case 2:
                text = b"\n".join(lines[:at] + lines[at + 1 :])
            case 3:
                text = b"\n".join([*lines[:at], lines[at], *lines[at:]])
            case 4:
                other = draw.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
                text = b"\n".join(lines)
            case _:
                key = lines[at].partition(b"=")[0]
                lines[at] = key + b"= " + draw.choice(VALUES).encode()
                text = b"\n".join(lines)
    return text


def test_a_damaged_manifest_is_read_or_is_one_line_with_its_name(write):
    draw = random.Random(1)
    path = write("")
    refused = 0
    for _ in range(3000):
        path.write_bytes(damaged(draw))
        try:
            manifest = load_manifest(path)
        except ManifestError as error:
            refused += 1
            text = str(error)
            assert text.startswith(f"{path}: ")
            assert text.isprintable(), text
            assert len(text) < 400, text
        else:
            assert manifest.name == Path(manifest.name).name
    assert refused > 2000
